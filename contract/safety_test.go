package contract_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

// inProcess answers without a network, so that a test can have its own time.
type inProcess struct{ http.Handler }

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return rec.Result(), nil
}

func far(h http.Handler) contract.Target {
	return contract.Target{
		URL: "https://cluster.example:6443", Token: mutant.GoodToken, ForbiddenToken: mutant.ForbiddenToken,
		HTTPClient: &http.Client{Transport: inProcess{h}},
	}
}

// A run only reads, says who it is and follows nothing.
func TestSafeRequests(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	var methods, agents = map[string]bool{}, map[string]bool{}
	target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods[r.Method], agents[r.UserAgent()] = true, true
		assert.Equal(t, "application/json", r.Header.Get("Accept"))
		s.ServeHTTP(w, r)
	}))
	run(t, target, contract.WithRate(0))
	assert.Equal(t, map[string]bool{"GET": true, "HEAD": true}, methods)
	assert.Equal(t, map[string]bool{"vmikit-contract": true}, agents)
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := run(t, far(mutant.New(mutant.Fleet())))
		assert.InDelta(t, float64(report.Requests-1)/5, report.Duration.Seconds(), 0.1)
	})
	synctest.Test(t, func(t *testing.T) {
		report := run(t, far(mutant.New(mutant.Fleet())), contract.WithRate(50))
		assert.InDelta(t, float64(report.Requests-1)/50, report.Duration.Seconds(), 0.1)
	})
}

func TestRetryAfter(t *testing.T) {
	for _, header := range []string{"7", "date", ""} {
		synctest.Test(t, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			n := 0
			target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n++; n == 4 {
					value := header
					if header == "date" {
						value = time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat)
					}
					w.Header().Set("Retry-After", value)
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				s.ServeHTTP(w, r)
			}))
			report := run(t, target, contract.WithRate(0))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
			want := 7 * time.Second
			if header == "" {
				want = time.Second
			}
			assert.InDelta(t, want.Seconds(), report.Duration.Seconds(), 1)
		})
	}
}

// A target that stays busy is not asked for ever, and not blamed.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mutant.New(mutant.Fleet())
		target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("fieldSelector") {
				w.Header().Set("Retry-After", "5")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			s.ServeHTTP(w, r)
		}))
		report := run(t, target)
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Equal(t, []string{
			"paging.selector", "selector.both", "selector.field-name", "selector.field-namespace", "edge.empty-parameter", "edge.selector-syntax",
		}, with(report, contract.Inconclusive))
	})
}

func TestStopsWhenTheTargetSuffers(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	n := 0
	target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n > 60 {
			http.Error(w, "out of memory", http.StatusInternalServerError)
			return
		}
		s.ServeHTTP(w, r)
	}))
	report := run(t, target, contract.WithRate(0))
	assert.Equal(t, 63, n)
	assert.Equal(t, "three answers in a row were 500 or above", report.Stopped)
	assert.Contains(t, with(report, contract.Inconclusive), "paging.pages")
	assert.NotEqual(t, contract.ExitGood, report.ExitCode())
	assert.Contains(t, text(t, report), "the run ended early: three answers in a row were 500 or above")
}

func TestMaxRequests(t *testing.T) {
	for _, n := range []int{1, 5, 20, 60} {
		s := mutant.New(mutant.Fleet())
		sent := 0
		s.Before = func(*mutant.Server) { sent++ }
		report := run(t, targetOf(t, s), contract.WithMaxRequests(n))
		assert.Equal(t, n, sent)
		assert.Equal(t, n, report.Requests)
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.NotEmpty(t, with(report, contract.NotExercised))
	}
}

// Two runs with the same seed send the same requests; another seed takes another
// sample.
func TestSeed(t *testing.T) {
	requests := func(seed uint64) string {
		var b strings.Builder
		s := mutant.New(mutant.Fleet())
		target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(&b, r.Method, r.URL)
			s.ServeHTTP(w, r)
		}))
		report := run(t, target, contract.WithRate(0), contract.WithSeed(seed), contract.WithMaxRequests(40))
		assert.Equal(t, seed, report.Seed)
		return b.String()
	}
	assert.Equal(t, requests(1), requests(1))
	assert.NotEqual(t, requests(1), requests(2))
}

// Nothing secret is in any output, whatever the target does with it.
func TestNoSecrets(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", "#cloud-config", "#cloud-config "+mutant.GoodToken)(s)
	s.InGet = func(o mutant.Object) string {
		return strings.NewReplacer(`"userData":"`, `"userData":"x`, `"phase":"Running"`, `"phase":"`+mutant.GoodToken+`"`).Replace(o.Body)
	}
	s.Status = func(f mutant.Failure) (int, string) {
		return f.Code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"token %s","reason":"%s %s","code":%d}`, mutant.GoodToken, f.Reason, mutant.ForbiddenToken, f.Code)
	}
	s.Envelope = func(items, meta string) string {
		return `{"apiVersion":"` + mutant.GoodToken + "\x1b[2J" + `","items":[` + strings.ReplaceAll(items, `"userData":"`, `"userData":7,"userdata":"`) + `],"kind":"VirtualMachineInstanceList","metadata":` + meta + "}"
	}
	report := run(t, targetOf(t, s))
	assert.Equal(t, contract.ExitFailures, report.ExitCode())
	var xml testWriter
	require.NoError(t, report.WriteJUnit(&xml))
	for name, out := range map[string]string{"text": text(t, report), "junit": string(xml), "report": fmt.Sprintf("%+v", report)} {
		for _, secret := range []string{mutant.GoodToken, mutant.ForbiddenToken, mutant.CloudInitSecret, "\x1b"} {
			assert.NotContains(t, out, secret, name)
		}
		assert.Contains(t, out, "$TOKEN", name)
	}
}

func TestUnreachable(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hang.Close)
	trickle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, " ")
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(trickle.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	untrusted := httptest.NewTLSServer(mutant.New(mutant.Fleet()))
	t.Cleanup(untrusted.Close)
	untrusted.Config.ErrorLog = quiet
	for url, want := range map[string]string{
		closed.URL:    "connection refused",
		hang.URL:      "nothing within 200ms",
		trickle.URL:   "nothing within 200ms",
		other.URL:     "status 404",
		untrusted.URL: "certificate signed by unknown authority; name the CA of its certificate",
		strings.Replace(untrusted.URL, "https", "http", 1): "so its URL begins with https://",
		strings.Replace(other.URL, "http", "https", 1):     "so its URL begins with http://",
	} {
		var options []contract.Option
		if strings.HasPrefix(want, "nothing") {
			options = append(options, contract.WithTimeout(200*time.Millisecond))
		}
		report, err := contract.Run(t.Context(), contract.Target{URL: url}, options...)
		require.ErrorIs(t, err, contract.ErrUnreachable)
		assert.Contains(t, err.Error(), want)
		assert.Equal(t, contract.ExitUnreachable, contract.ErrorExitCode(err))
		tellsError(t, report, err)
	}
}

// tellsError asserts that a report of a run with an error says so in every form.
func tellsError(t *testing.T, report *contract.Report, err error) {
	t.Helper()
	require.NotNil(t, report)
	assert.Equal(t, contract.ErrorExitCode(err), report.ExitCode())
	assert.Equal(t, []string{"run.end"}, with(report, contract.Error))
	assert.Contains(t, text(t, report), err.Error())
	var suites struct {
		Suite struct {
			Errors int `xml:"errors,attr"`
			Cases  []struct {
				Name  string `xml:"name,attr"`
				Error *struct {
					Message string `xml:"message,attr"`
				} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	var b testWriter
	require.NoError(t, report.WriteJUnit(&b))
	require.NoError(t, xml.Unmarshal(b, &suites))
	assert.Equal(t, 1, suites.Suite.Errors)
	last := suites.Suite.Cases[len(suites.Suite.Cases)-1]
	assert.Equal(t, "run.end", last.Name)
	require.NotNil(t, last.Error)
	assert.Equal(t, err.Error(), last.Error.Message)
}

func TestRefused(t *testing.T) {
	for token, want := range map[string]string{"": "status 401; give it a credential", mutant.ForbiddenToken: "or name a namespace"} {
		target := targetOf(t, mutant.New(mutant.Fleet()))
		target.Token = token
		report, err := contract.Run(t.Context(), target)
		require.ErrorIs(t, err, contract.ErrRefused)
		assert.Contains(t, err.Error(), want)
		assert.Equal(t, contract.ExitError, contract.ErrorExitCode(err))
		tellsError(t, report, err)
	}
}

// A request that hangs later on costs its check, not the run.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mutant.New(mutant.Fleet())
		report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("limit") == "0" {
				<-r.Context().Done()
				return
			}
			s.ServeHTTP(w, r)
		})))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Equal(t, []string{"paging.limit-zero"}, with(report, contract.Inconclusive))
		assert.Contains(t, text(t, report), "nothing within 30s")
		assert.Empty(t, report.Stopped)
	})
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := mutant.New(mutant.Fleet())
	var n atomic.Int32
	s.Before = func(*mutant.Server) {
		if n.Add(1) == 10 {
			cancel()
		}
	}
	report, err := contract.Run(ctx, targetOf(t, s))
	require.ErrorIs(t, err, context.Canceled)
	tellsError(t, report, err)
	assert.Contains(t, with(report, contract.Pass), "consistency.list", "what was told is not lost")
	assert.LessOrEqual(t, n.Load(), int32(11))
}

func TestUsage(t *testing.T) {
	good := "http://localhost:1"
	for _, c := range []struct {
		url    string
		option contract.Option
		want   string
	}{
		{"", nil, "must be http://HOST"},
		{"localhost:6443", nil, "must be http://HOST"},
		{"ftp://localhost", nil, "must be http://HOST"},
		{"https://admin:" + mutant.GoodToken + "@localhost", nil, "no user"},
		{"https://localhost?token=" + mutant.GoodToken, nil, "no user, query"},
		{"https://local host/" + mutant.GoodToken, nil, "cannot be read"},
		{good, contract.WithProfile("strict"), `no profile "strict"`},
		{good, contract.WithProfile(openapi.ProfileDocument), "name a namespace"},
		{good, contract.WithMaxRequests(0), "at least one request"},
		{good, contract.WithRate(-1), "negative"},
		{good, contract.WithRate(math.NaN()), "must be a number"},
		{good, contract.WithRate(math.Inf(1)), "must be a number"},
		{good, contract.WithTimeout(0), "positive"},
		{good, contract.WithOnly("selector", "nothing"), `no check "nothing"`},
		{good, contract.WithSkip("sel"), `no check "sel"`},
	} {
		var options []contract.Option
		if c.option != nil {
			options = append(options, c.option)
		}
		_, err := contract.Run(t.Context(), contract.Target{URL: c.url}, options...)
		require.Error(t, err, c.want)
		assert.Contains(t, err.Error(), c.want)
		assert.NotContains(t, err.Error(), mutant.GoodToken)
		assert.Equal(t, contract.ExitError, contract.ErrorExitCode(err))
	}
}

func TestOnlyAndSkip(t *testing.T) {
	report := run(t, targetOf(t, mutant.New(mutant.Fleet())), contract.WithOnly("selector", "auth.no-token"), contract.WithSkip("selector.and"))
	for _, r := range report.Results {
		want := strings.HasPrefix(r.ID, "selector.") && r.ID != "selector.and" || r.ID == "auth.no-token"
		assert.Equal(t, want, r.Outcome == contract.Pass, r.ID)
		assert.Equal(t, !want, r.Outcome == contract.Skipped, r.ID)
	}
}

// A token that no header can carry is wrong usage, not an unreachable target.
func TestTokens(t *testing.T) {
	for _, token := range []string{mutant.GoodToken + "\n", "a\r\nb", "a b", "a\x00", "a\x7f"} {
		for _, target := range []contract.Target{{Token: token}, {Token: mutant.GoodToken, ForbiddenToken: token}} {
			target.URL = "http://localhost:1"
			report, err := contract.Run(t.Context(), target)
			require.ErrorContains(t, err, "a token has a space, line break or control character")
			assert.NotContains(t, err.Error(), mutant.GoodToken)
			assert.Nil(t, report)
			assert.Equal(t, contract.ExitError, contract.ErrorExitCode(err))
		}
	}
}

// A target that breaks off one request again and again has a fault; one that does
// so once has not.
func TestBrokenOff(t *testing.T) {
	for name, breakOff := range map[string]func(http.ResponseWriter){
		"closed": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"no HTTP": func(w http.ResponseWriter) {
			c, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprint(c, "hello\r\n\r\n")
			c.Close()
		},
		"stream reset": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		for _, times := range []int{1, 1000} {
			t.Run(fmt.Sprintf("%s %d times", name, times), func(t *testing.T) {
				t.Parallel()
				s := mutant.New(mutant.Fleet())
				var n atomic.Int32
				hs := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Query().Get("limit") == "0" && int(n.Add(1)) <= times {
						breakOff(w)
					}
					s.ServeHTTP(w, r)
				}))
				hs.Config.ErrorLog = quiet
				hs.EnableHTTP2 = name == "stream reset"
				if hs.EnableHTTP2 {
					hs.StartTLS()
				} else {
					hs.Start()
				}
				t.Cleanup(hs.Close)
				target := contract.Target{URL: hs.URL, Token: mutant.GoodToken, ForbiddenToken: mutant.ForbiddenToken, HTTPClient: hs.Client()}
				report := run(t, target)
				if times == 1 {
					assert.Equal(t, contract.ExitGood, report.ExitCode(), text(t, report))
					return
				}
				assert.Equal(t, []string{"paging.limit-zero"}, with(report, contract.Fail), text(t, report))
				assert.Contains(t, text(t, report), "a request is taken and not answered")
				assert.Contains(t, text(t, report), "3 times")
				assert.Contains(t, text(t, report), "limit=0'")
				assert.Empty(t, report.Stopped)
			})
		}
	}
}

// What is too long to be a list of machines is not read.
func TestLongAnswer(t *testing.T) {
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000000")
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(hs.Close)
	report := run(t, contract.Target{URL: hs.URL})
	assert.Contains(t, with(report, contract.Fail), "schema.json")
	assert.Contains(t, text(t, report), "the body is longer than 128 MiB")

	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := bytes.Repeat([]byte(" "), 1<<20)
		for err := error(nil); err == nil; {
			_, err = w.Write(piece)
		}
	}))
	t.Cleanup(endless.Close)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report = run(t, contract.Target{URL: endless.URL}, contract.WithOnly("schema.json"), contract.WithMaxRequests(1))
	runtime.ReadMemStats(&after)
	assert.Contains(t, text(t, report), "longer than 128 MiB")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20), "it is not moved as it grows")
}

// A namespace that cannot be is wrong usage.
func TestNamespaceThatCannotBe(t *testing.T) {
	for _, ns := range []string{"../x", "A", "a b", strings.Repeat("a", 64)} {
		_, err := contract.Run(t.Context(), contract.Target{URL: "http://localhost:1", Namespace: ns})
		require.ErrorContains(t, err, "is no name that a namespace can have")
	}
}
