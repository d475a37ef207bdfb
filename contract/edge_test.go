package contract_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

// plain are the paths that clients send, but for letters that are encoded; what
// stands in front of a server may refuse all others.
var plain = regexp.MustCompile(`^([a-z0-9./-]|%[67][0-9A-F])+$`)

var encodedLetter = regexp.MustCompile(`%[67][0-9A-F]`)

func unusual(r *http.Request) bool {
	p := r.URL.EscapedPath()
	return !plain.MatchString(p) || strings.Contains(p, "..") || strings.Contains(p, "//") ||
		len(p) > 300 || len(r.URL.RawQuery) > 4096 || strings.Contains(r.URL.RawQuery, "%3C")
}

// Whatever stands in front of a server may refuse what is unusual in any way.
func TestEdgesMayBeRefusedInAnyWay(t *testing.T) {
	page := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(code)
			w.Write([]byte("<html><body>refused</body></html>"))
		}
	}
	for name, refuse := range map[string]func(http.ResponseWriter, *http.Request){
		"400":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "400 Bad Request", http.StatusBadRequest) },
		"403 page":  page(http.StatusForbidden),
		"404 page":  page(http.StatusNotFound),
		"414":       page(http.StatusRequestURITooLong),
		"431":       page(http.StatusRequestHeaderFieldsTooLarge),
		"closed":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no answer": func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") },
		"no HTTP":   func(w http.ResponseWriter, _ *http.Request) { hijack(w, "what?\n") },
		"empty 400": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		"name as is": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.URL.String()+r.URL.Path, http.StatusBadRequest)
		},
	} {
		for _, profile := range openapi.Profiles() {
			if testing.Short() && profile == openapi.ProfileKubernetes {
				continue
			}
			t.Run(name+"/"+string(profile), func(t *testing.T) {
				t.Parallel()
				s := mutant.New(mutant.Fleet())
				hs := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if unusual(r) {
						refuse(w, r)
						return
					}
					s.ServeHTTP(w, r)
				}))
				hs.Config.ErrorLog = quiet
				hs.Start()
				t.Cleanup(hs.Close)
				target := contract.Target{URL: hs.URL, Token: mutant.GoodToken, ForbiddenToken: mutant.ForbiddenToken}
				if profile == openapi.ProfileDocument {
					target.Namespace = "prod"
				}
				report := run(t, target, contract.WithProfile(profile))
				assert.Empty(t, with(report, contract.Fail), text(t, report))
				assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
				assert.Empty(t, report.Stopped)
				assert.Equal(t, contract.ExitGood, report.ExitCode())
			})
		}
	}
}

func hijack(w http.ResponseWriter, say string) {
	c, _, _ := w.(http.Hijacker).Hijack()
	c.Write([]byte(say))
	c.Close()
}

// Odd but right at the edges.
func TestOddEdges(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*mutant.Server)
		warnings []string
	}{
		"two slashes are one": {change: paths(func(p string) string { return strings.ReplaceAll(p, "//", "/") })},
		"paths tidied up by a redirect": {change: func(s *mutant.Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if p := r.URL.EscapedPath(); p != path.Clean(p) {
					w.Header().Set("Location", path.Clean(p))
					code = http.StatusMovedPermanently
				}
				send(w, r, code, body)
			}
			paths(path.Clean)(s)
		}},
		"an unbounded limit": {change: queries(func(q url.Values) {
			if len(q.Get("limit")) > 18 {
				q.Del("limit")
			}
		}), warnings: []string{"edge.limit"}},
		"an empty limit is none": {change: queries(func(q url.Values) {
			if q.Get("limit") == "" {
				q.Del("limit")
			}
		}), warnings: []string{"edge.limit"}},
		"repeated parameters refused": {change: queries(func(q url.Values) {
			for _, values := range q {
				if len(values) > 1 {
					q.Set("limit", "refused")
				}
			}
		}), warnings: []string{"edge.repeated-parameter"}},
		"a letter that is encoded refused": {change: refuse(func(r *http.Request) bool {
			return encodedLetter.MatchString(r.URL.EscapedPath())
		}, http.StatusForbidden, "Forbidden"), warnings: []string{"edge.encoded-name"}},
		"any limit below 1 is none": {change: func(s *mutant.Server) { s.ZeroLimit = http.StatusOK }, warnings: []string{"paging.limit-zero"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mutant.New(mutant.Fleet())
			c.change(s)
			report := run(t, targetOf(t, s))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.ElementsMatch(t, c.warnings, with(report, contract.Warning), text(t, report))
		})
	}
}

// A path with dots may be resolved, as the rules for URLs have it. No API server
// does, which the given document does not speak of.
func TestDotsInPaths(t *testing.T) {
	s := mutant.NewMinimal(mutant.Fleet())
	paths(path.Clean)(s)
	report := run(t, targetOf(t, s), contract.WithProfile(openapi.ProfileDocument))
	assert.Empty(t, with(report, contract.Fail), text(t, report))

	s = mutant.New(mutant.Fleet())
	paths(path.Clean)(s)
	report = run(t, targetOf(t, s), contract.WithOnly("edge"))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Equal(t, []string{"edge.traversal"}, with(report, contract.Warning))
	assert.Contains(t, text(t, report), "the dots of a path are resolved")
	assert.Regexp(t, `curl .* --path-as-is .*/\.\./\.\./prod/virtualmachineinstances/vm\d\d'`, text(t, report))
}

// A server that breaks at every unusual request is told so, and the run goes on.
func TestBreaksAtEdges(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	breaks(unusual)(s)
	report := run(t, targetOf(t, s), contract.WithProbeMethods())
	assert.Equal(t, []string{
		"edge.near-name", "edge.decoding", "edge.traversal", "edge.long-name", "edge.namespace", "edge.html", "edge.long-selector",
	}, with(report, contract.Fail), text(t, report))
	assert.Contains(t, text(t, report), "the server breaks at a request that it should refuse or answer")
	assert.Empty(t, with(report, contract.Inconclusive))
	assert.Empty(t, report.Stopped)
}

// A request that hangs while others are answered is a fault, and costs its check
// alone.
func TestHangsAtAnEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mutant.New(mutant.Fleet())
		report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "\x00") {
				<-r.Context().Done()
				return
			}
			s.ServeHTTP(w, r)
		})))
		assert.Equal(t, []string{"edge.decoding"}, with(report, contract.Fail), text(t, report))
		assert.Contains(t, text(t, report), "a request is not answered, while others are")
		assert.Contains(t, text(t, report), "%00'")
		assert.Empty(t, with(report, contract.Inconclusive))
		assert.Empty(t, report.Stopped)
	})
}

// A server that answers nothing any more is not told that a request is to blame.
func TestDownAtAnEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, down := mutant.New(mutant.Fleet()), false
		report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if down = down || strings.Contains(r.URL.Path, "\x00"); down {
				<-r.Context().Done()
				return
			}
			s.ServeHTTP(w, r)
		})))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Equal(t, contract.Inconclusive, result(t, report, "edge.decoding").Outcome)
		assert.NotEmpty(t, report.Stopped)
	})
}

// One error, or a server that is busy, is no fault of an edge.
func TestTroubleAtEdges(t *testing.T) {
	for name, c := range map[string]struct {
		code, times int
		outcome     contract.Outcome
	}{
		"500 once":   {http.StatusInternalServerError, 1, contract.Pass},
		"503 once":   {http.StatusServiceUnavailable, 1, contract.Pass},
		"429 twice":  {http.StatusTooManyRequests, 2, contract.Pass},
		"503 always": {http.StatusServiceUnavailable, 1000, contract.Inconclusive},
		"429 always": {http.StatusTooManyRequests, 1000, contract.Inconclusive},
		"500 always": {http.StatusInternalServerError, 1000, contract.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mutant.New(mutant.Fleet())
				n := 0
				report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, "\x00") {
						if n++; n <= c.times {
							w.Header().Set("Retry-After", "3")
							w.WriteHeader(c.code)
							return
						}
					}
					s.ServeHTTP(w, r)
				})), contract.WithOnly("edge", "service"))
				assert.Equal(t, c.outcome, result(t, report, "edge.decoding").Outcome, text(t, report))
				assert.Empty(t, report.Stopped)
				if c.code != http.StatusInternalServerError && c.times < 10 {
					assert.NotEmpty(t, result(t, report, "service.flaky").Notes, "it had to be asked again")
				}
			})
		})
	}
}

// Names of every kind are asked for in other forms without an error.
func TestEdgesOfOddNames(t *testing.T) {
	for _, names := range [][2]string{{"a", "b"}, {"1", "2"}, {"7.7", "0"}, {"v", "vm"}, {"a.", "a"}, {"ü", "ä"}, {"m", "M"}, {strings.Repeat("n", 253), "x"}} {
		objects := []mutant.Object{mutant.Machine(1, names[0], names[0], nil), mutant.Machine(2, names[0], names[1], nil), mutant.Machine(3, names[1], names[1], nil)}
		report := run(t, targetOf(t, mutant.New(objects)), contract.WithOnly("edge"))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Empty(t, with(report, contract.Error), text(t, report))
	}
}

// What comes back as part of a page is shown in a report as text.
func TestMarkerInReports(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
		w.Header().Set("Content-Type", "application/json")
		if code == http.StatusNotFound {
			w.Header().Set("Content-Type", "text/html")
			body = "<p>" + path.Base(r.URL.Path)
		}
		w.WriteHeader(code)
		w.Write([]byte(body))
	}
	report := run(t, targetOf(t, s), contract.WithOnly("edge.html"))
	assert.Equal(t, []string{"edge.html"}, with(report, contract.Fail))
	var html bytes.Buffer
	require.NoError(t, report.WriteHTML(&html))
	assert.NotContains(t, html.String(), "vmikit<i>x")
}
