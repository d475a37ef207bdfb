package contract_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	right "github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

// direct answers requests by a handler, without a network between.
type direct struct {
	http.Handler
	see func(*http.Request)
}

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	server := httptest.NewRequest(r.Method, r.URL.String(), nil)
	server.Header = r.Header
	if d.see != nil {
		d.see(server)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, server)
	return w.Result(), nil
}

func fuzzed(t *testing.T, s *right.Server, see func(*http.Request), options ...contract.Option) *contract.Report {
	t.Helper()
	target := contract.Target{
		URL: "http://localhost", Token: right.GoodToken,
		HTTPClient: &http.Client{Transport: direct{s, see}},
	}
	if s.Minimal {
		target.Namespace = "prod"
		options = append(options, contract.WithProfile(openapi.ProfileDocument))
	}
	return run(t, target, slices.Concat([]contract.Option{contract.WithOnly("fuzz", "schema")}, options)...)
}

// generated is what came of the generated requests.
func generated(t *testing.T, report *contract.Report) contract.Result {
	t.Helper()
	i := slices.IndexFunc(report.Results, func(r contract.Result) bool { return r.ID == "fuzz.requests" })
	require.GreaterOrEqual(t, i, 0)
	return report.Results[i]
}

// whole is the request of a finding behind the name of the resource, decoded.
func whole(t *testing.T, f contract.Finding) string {
	t.Helper()
	require.NotNil(t, f.Exchange)
	u, err := url.Parse(f.Exchange.URL)
	require.NoError(t, err)
	_, text, found := strings.Cut(u.Path, "/virtualmachineinstances")
	require.True(t, found)
	query, err := url.QueryUnescape(u.RawQuery)
	require.NoError(t, err)
	return text + "?" + query
}

var generatedMutants = []struct {
	name    string
	fault   func(*right.Server)
	minimal bool
	// want matches the request that the fault is told by.
	want string
}{
	{name: "the third requirement ignored", fault: func(s *right.Server) {
		s.All = func(met []bool) bool { return !slices.Contains(met[:min(2, len(met))], false) }
	}, want: `^\?labelSelector=!?[^,() ]+,!?[^,() ]+,!?[^,() ]+$`},
	{name: "notin with one value selects nothing without the key", fault: func(s *right.Server) {
		s.MatchLabel = func(t right.Term, labels map[string]string) bool {
			_, has := labels[t.Key]
			return t.MatchLabel(labels) && (has || t.Op != "notin" || len(t.Values) > 1)
		}
	}, want: `^\?labelSelector=[^,() ]+ notin \([^,() ]*\)$`},
	{name: "limit ignored with a fieldSelector", fault: query(func(q url.Values) {
		if q.Has("fieldSelector") {
			q.Del("limit")
		}
	}), want: `^\?(limit=[^&]+&fieldSelector=[^,&]*|fieldSelector=[^,&]*&limit=[^&]+)$`},
	{name: "the last of repeated parameters counts", fault: query(func(q url.Values) {
		for name, values := range q {
			q.Set(name, values[len(values)-1])
		}
	}), want: `^\?(limit=[^&]+&limit=[^&]+|labelSelector=[^&]*&labelSelector=[^&]*|fieldSelector=[^&]*&fieldSelector=[^&]*)$`},
	{name: "numbers of other bases", fault: func(s *right.Server) {
		s.ParseLimit = func(text string) (int64, error) { return strconv.ParseInt(text, 0, 64) }
	}, want: `^\?limit=(0[89]|0x\d|\d+_0)$`},
	{name: "a selector cut at 63 characters", fault: func(s *right.Server) {
		s.ParseLabels = func(text string) ([]right.Term, error) { return right.ParseLabels(text[:min(63, len(text))]) }
	}, want: `^\?labelSelector=.{64,130}$`},
	{name: "a limit that is no number is a large one", fault: func(s *right.Server) {
		s.ParseLimit = func(text string) (int64, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil && text != "" {
				return 1 << 30, nil
			}
			return n, err
		}
	}, want: `^\?limit=-?[0-9]*[^0-9-]`},
	{name: "parentheses do not count", fault: func(s *right.Server) {
		s.ParseLabels = func(text string) ([]right.Term, error) {
			return right.ParseLabels(strings.NewReplacer("((", "(", "))", ")").Replace(text))
		}
	}, want: `^\?labelSelector=[^,() ]+ in \(\([^,() ]*\)\)$`},
	{name: "white space in a selector is refused", fault: func(s *right.Server) {
		s.ParseLabels = func(text string) ([]right.Term, error) {
			if strings.HasPrefix(text, " ") {
				return nil, fmt.Errorf("unable to parse requirement")
			}
			return right.ParseLabels(text)
		}
	}, want: `^\?labelSelector= (! )?[^,() ]+ (!?=+ [^,() ]* |[<>] \d+ )?$`},
	{name: "encoded in lower case is not decoded", fault: func(s *right.Server) {
		s.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.URL.RawQuery = regexp.MustCompile(`%[0-9A-F]?[a-f][0-9A-F]?`).ReplaceAllStringFunc(r.URL.RawQuery, url.QueryEscape)
				next.ServeHTTP(w, r)
			})
		})
	}, want: `^\?(label|field)Selector=`},
	{name: "a name is trimmed", fault: func(s *right.Server) {
		find := s.Find
		s.Find = func(namespace, name string) (right.Object, bool) { return find(namespace, strings.Trim(name, ". ")) }
	}, want: `^/( [a-z0-9]+|[a-z0-9]+[. ])\?$`},
	{name: "long names break the server", fault: func(s *right.Server) {
		s.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/"+strings.Repeat("a", 64)) {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
	}, want: `^/a{64}\?$`},
	{name: "an empty value is the same as no label", fault: func(s *right.Server) {
		s.MatchLabel = func(t right.Term, labels map[string]string) bool {
			_, has := labels[t.Key]
			return t.MatchLabel(labels) || !has && (t.Op == "=" || t.Op == "==") && t.Values[0] == ""
		}
	}, want: `^\?labelSelector=[^,() =]+=$`},
	{name: "fields that are not known are ignored", fault: func(s *right.Server) {
		s.ParseFields = func(text string) ([]right.Term, error) {
			terms := slices.DeleteFunc(strings.Split(text, ","), func(t string) bool { return strings.HasPrefix(t, "spec.") || strings.HasPrefix(t, "status.") })
			return right.ParseFields(strings.Join(terms, ","))
		}
	}, want: `^\?fieldSelector=(spec|status)\.[a-zA-Z.]+!?=[^,]*$`},
	{name: "a cached list knows no labels", fault: query(func(q url.Values) {
		if q.Get("resourceVersion") == "0" {
			q.Del("labelSelector")
		}
	}), want: `^\?(labelSelector=[^&]*&resourceVersion=0|resourceVersion=0&labelSelector=[^&]*)$`},
	{name: "document: the third requirement ignored", minimal: true, fault: func(s *right.Server) {
		s.All = func(met []bool) bool { return !slices.Contains(met[:min(2, len(met))], false) }
	}, want: `^\?labelSelector=!?[^,() ]+,!?[^,() ]+,!?[^,() ]+$`},
	{name: "document: a limit of 0", minimal: true, fault: func(s *right.Server) { s.ZeroLimit = http.StatusOK }, want: `^\?limit=0$`},
}

// query is a fault in how the query of a list is read.
func query(change func(url.Values)) func(*right.Server) {
	return func(s *right.Server) { s.Query = func(_ string, q url.Values) { change(q) } }
}

// Every fault is found by few requests, whatever the seed (make soak asks with
// several), and told by a request
// that has in it what the fault is about and nothing else.
func TestGeneratedRequestsFindFaults(t *testing.T) {
	seeds := []uint64{1, 2, 3}
	for i, m := range generatedMutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && i%3 > 0 {
				t.Skip("every third is enough for a short run")
			}
			mine := seeds
			if os.Getenv("CONTRACT_SOAK") == "" {
				mine = seeds[i%3:][:1]
			}
			for _, seed := range mine {
				s := right.New(right.Fleet())
				if m.minimal {
					s = right.NewMinimal(right.Fleet())
				}
				m.fault(s)
				result := generated(t, fuzzed(t, s, nil, contract.WithFuzz(500), contract.WithSeed(seed)))
				assert.Equal(t, contract.Fail, result.Outcome)
				var requests []string
				for _, f := range result.Findings {
					if f.Outcome == contract.Fail {
						requests = append(requests, whole(t, f))
						assert.Contains(t, f.Message, fmt.Sprintf("(seed %d, request ", seed))
					}
				}
				t.Logf("%-40s %q", m.name, requests)
				require.NotEmpty(t, requests)
				for _, request := range requests {
					assert.Regexp(t, m.want, request)
				}
			}
		})
	}
}

// What is right has no failures, whatever the seed, the profile and the fleet.
func TestGeneratedRequestsAccuseNobody(t *testing.T) {
	const beyond = 510 // a page has 500
	many := make([]right.Object, 0, beyond)
	for i := range beyond {
		labels := map[string]string{"n": strconv.Itoa(i % 7), "own": fmt.Sprintf("vm%04d", i)}
		many = append(many, right.Machine(i, fmt.Sprintf("ns%d", i%2*i%8), fmt.Sprintf("vm%04d", i), labels))
	}
	slices.SortFunc(many, func(a, b right.Object) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	digits := right.New(right.Fleet())
	digits.ParseLimit = func(text string) (int64, error) {
		if strings.Trim(text, "0123456789") != "" || text == "" || text[0] == '0' {
			return 0, errors.New("limit must be a number")
		}
		return strconv.ParseInt(text, 10, 64)
	}
	lenient := right.New(right.Fleet())
	lenient.ParseLimit = func(text string) (int64, error) {
		if text == "" {
			return 1 << 20, nil
		}
		return strconv.ParseInt(text, 10, 64)
	}
	for name, s := range map[string]*right.Server{
		"digits and nothing else": digits,
		"an empty limit is none":  lenient,
		"twenty objects":          right.New(right.Fleet()),
		"none":                    right.New(nil),
		"one":                     right.New(right.Fleet()[:1]),
		"more than a page":        right.New(many),
		"the document alone":      right.NewMinimal(right.Fleet()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 300
			switch {
			case len(s.Objects) == beyond:
				requests = 60
			case testing.Short():
				requests = 100
			}
			for seed := range uint64(2) {
				report := fuzzed(t, s, nil, contract.WithFuzz(requests), contract.WithSeed(100+seed))
				assert.Empty(t, with(report, contract.Fail), text(t, report))
				assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
				assert.NotEmpty(t, generated(t, report).Message)
				assert.LessOrEqual(t, report.Requests, 400)
			}
		})
	}
}

// Objects that change with every request are no fault.
func TestGeneratedRequestsWhileObjectsMove(t *testing.T) {
	for _, every := range []int{1, 10} {
		s := right.New(right.Fleet())
		n := 0
		s.Before = func(s *right.Server) {
			if n++; n%every == 0 {
				i := n % len(s.Objects)
				labels := map[string]string{"app": []string{"web", "db", "cache"}[n%3]}
				o := right.Machine(i+1, s.Objects[i].Namespace, s.Objects[i].Name, labels)
				s.Objects[i] = o.Edited(fmt.Sprintf(`"resourceVersion":"%d"`, 101+i), fmt.Sprintf(`"resourceVersion":"%d"`, 10000+n))
			}
		}
		report := fuzzed(t, s, nil, contract.WithFuzz(150))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.LessOrEqual(t, report.Requests, 3*150+400)
	}
}

// A seed stands for the same requests, whatever else runs.
func TestGeneratedRequestsFollowFromTheSeed(t *testing.T) {
	asked := func(options ...contract.Option) []string {
		var urls []string
		fuzzed(t, right.New(right.Fleet()), func(r *http.Request) { urls = append(urls, r.URL.String()) }, options...)
		return urls
	}
	first := asked(contract.WithFuzz(60), contract.WithSeed(7))
	assert.Equal(t, first, asked(contract.WithFuzz(60), contract.WithSeed(7)))
	assert.Subset(t, asked(contract.WithFuzz(120), contract.WithSeed(7)), first, "more requests begin with the same")
	assert.NotSubset(t, first, asked(contract.WithFuzz(60), contract.WithSeed(8)))
	assert.Subset(t, asked(contract.WithFuzz(60), contract.WithSeed(7), contract.WithOnly("selector", "paging")), first)
}

// Nothing is asked that would hold up a target, and nothing whose meaning is open.
func TestGeneratedRequestsThatAreNotAsked(t *testing.T) {
	asked := make(map[string]map[string]bool)
	fuzzed(t, right.New(right.Fleet()), func(r *http.Request) {
		for name, values := range r.URL.Query() {
			for _, v := range values {
				if asked[name] == nil {
					asked[name] = make(map[string]bool)
				}
				asked[name][v] = true
			}
		}
		assert.Equal(t, http.MethodGet, r.Method)
		assert.Less(t, len(r.URL.String()), 3000)
	}, contract.WithFuzz(1000))
	assert.Equal(t, map[string]bool{"false": true, "0": true}, asked["watch"])
	assert.Equal(t, map[string]bool{"": true, "0": true, "1": true, "x": true, "-1": true}, asked["resourceVersion"])
	for selector := range asked["fieldSelector"] {
		assert.NotContains(t, selector, `\`, "a comma behind it would not count")
	}
}

func TestGeneratedRequestsAreAskedFor(t *testing.T) {
	result := generated(t, fuzzed(t, right.New(right.Fleet()), nil))
	assert.Equal(t, contract.Skipped, result.Outcome)
	assert.Equal(t, "not asked for (--fuzz N)", result.Message)

	_, err := contract.Run(t.Context(), contract.Target{URL: "http://localhost"}, contract.WithFuzz(-1))
	assert.EqualError(t, err, "the number of generated requests must not be negative, got -1")
}

// They are beside the requests that a run may send otherwise, and every one of a
// run over one namespace stays in it.
func TestGeneratedRequestsHaveTheirOwnBudget(t *testing.T) {
	s := right.New(right.Fleet())
	var last contract.Progress
	report := fuzzed(t, s, nil, contract.WithFuzz(200), contract.WithMaxRequests(5), contract.WithProgress(func(p contract.Progress) { last = p }))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Equal(t, "200 requests generated", generated(t, report).Message)
	assert.LessOrEqual(t, last.Requests, last.MaxRequests)

	target := contract.Target{URL: "http://localhost", Token: right.GoodToken, Namespace: "stage"}
	target.HTTPClient = &http.Client{Transport: direct{s, func(r *http.Request) {
		assert.Regexp(t, "^/apis/kubevirt.io/v1/namespaces/(stage|vmikit-contract-nosuch-1)/", r.URL.Path)
	}}}
	report = run(t, target, contract.WithOnly("fuzz"), contract.WithFuzz(200))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
}

// A fault of the server does not end the run as a server in trouble would, and
// what is broken off is told of with the request that breaks it.
func TestGeneratedRequestsThatBreakTheServer(t *testing.T) {
	s := right.New(right.Fleet())
	s.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Query().Get("labelSelector"), " in ") {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	report := fuzzed(t, s, nil, contract.WithFuzz(200))
	assert.Empty(t, report.Stopped)
	result := generated(t, report)
	assert.Equal(t, contract.Fail, result.Outcome)
	for _, f := range result.Findings {
		if f.Outcome == contract.Fail {
			assert.Contains(t, f.Message, "a request is answered with a fault of the server")
			assert.Contains(t, whole(t, f), " in ")
		}
	}

	down := right.New(right.Fleet())
	asked := 0
	down.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked > 20 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	assert.Equal(t, "three answers in a row were 500 or above", fuzzed(t, down, nil, contract.WithFuzz(200)).Stopped)
}
