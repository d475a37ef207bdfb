package contract_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// A target that is busy now and then is asked again.
func TestBusyNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mutant.New(mutant.Fleet())
		n := 0
		report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n++; n%5 == 0 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			s.ServeHTTP(w, r)
		})))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
		assert.Equal(t, contract.ExitGood, report.ExitCode())
	})
}

// Of a target that has no time at all nothing is told, least of all that it is wrong.
func TestBusyForGood(t *testing.T) {
	for header, want := range map[string]struct {
		why  string
		most time.Duration
	}{
		"":      {"the target is busy: status 429, asked 3 times for curl ", time.Minute},
		"5":     {"the target is busy: status 429, asked 3 times for curl ", time.Minute},
		"86400": {"the target asks to wait 24h0m0s", time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", header)
				w.WriteHeader(http.StatusTooManyRequests)
			})))
			assert.LessOrEqual(t, time.Since(began), want.most)
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Contains(t, report.Stopped, want.why)
			assert.Contains(t, text(t, report), want.why)
			assert.Equal(t, contract.ExitTooLittle, report.ExitCode())
		})
	}
}

// A target that asks to be left alone later on is.
func TestAsksToWaitLong(t *testing.T) {
	for _, at := range []int{20, 150, 250} { // in the edges, too
		synctest.Test(t, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			n := 0
			report := run(t, far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n++; n >= at {
					w.Header().Set("Retry-After", "86400")
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				s.ServeHTTP(w, r)
			})))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Equal(t, "the target asks to wait 24h0m0s", report.Stopped)
			assert.LessOrEqual(t, n, at+1)
		})
	}
}

// An answer that no change of objects explains is a fault, though the next one
// is right.
func TestWrongOnce(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	match, wrong := s.MatchField, 0
	s.MatchField = func(q mutant.Term, o mutant.Object) bool {
		if q.Op == "=" && o.Name == q.Values[0] && wrong == 0 {
			wrong++
			return false
		}
		return match(q, o)
	}
	report := run(t, targetOf(t, s))
	assert.Equal(t, []string{"selector.both"}, with(report, contract.Fail), text(t, report))
}

// What the target answers with is nothing that a run breaks down over.
func FuzzAnswer(f *testing.F) {
	right := mutant.New(nil).Envelope(mutant.Fleet()[0].Body, `{"continue":"3"}`)
	for _, seed := range []string{
		right, right[:len(right)/2], right + right, "", "null", "[]", "{}", `{"items":null}`, `{"items":{}}`, `{"items":[],"items":[]}`,
		`{"items":[null,1,"",[],{},{"metadata":[]},{"metadata":{"name":1,"labels":[]}}],"metadata":{"continue":7}}`,
		`{"metadata":{"name":"a","labels":{"":"","a/b/c":"ü"}},"items":[{"metadata":{"name":"a","namespace":"../x"}},{"metadata":{"name":"a","namespace":"../x"}}]}`,
		`{"kind":"Status","status":"Failure","code":1e999,"reason":{}}`, strings.Repeat("[", 20000), "\xff\xfe{}", "\ufeff{}",
		`{"items":[{"metadata":{"name":"n","namespace":"p","labels":{"a":"1"},"x":1e400}},{"metadata":{"name":"m","namespace":"p"}}]}`,
	} {
		f.Add(seed, seed, 200, 404)
	}
	f.Add(right, "<html>", 302, 500)
	f.Fuzz(func(t *testing.T, list, item string, listStatus, itemStatus int) {
		// In a bubble a run does not really wait for a target that is busy.
		synctest.Test(t, func(t *testing.T) { answer(t, list, item, listStatus, itemStatus) })
	})
}

// answer runs against a target that always answers the same.
func answer(t *testing.T, list, item string, listStatus, itemStatus int) {
	target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, status := item, itemStatus
		if isList(r) {
			body, status = list, listStatus
		}
		if status < 200 || status > 599 {
			status = 200
		}
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	report, err := contract.Run(t.Context(), target, contract.WithMaxRequests(40))
	if err != nil {
		return
	}
	assert.Empty(t, with(report, contract.Error), text(t, report))
	assert.NotContains(t, text(t, report), "\x1b")
	var xml testWriter
	assert.NoError(t, report.WriteJUnit(&xml))
}
