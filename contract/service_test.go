package contract_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

func result(t *testing.T, report *contract.Report, id string) contract.Result {
	t.Helper()
	for _, r := range report.Results {
		if r.ID == id {
			return r
		}
	}
	require.Fail(t, "no result of "+id)
	return contract.Result{}
}

// A slow answer is a note with figures, and a failure beyond a limit.
func TestLatency(t *testing.T) {
	for limit, want := range map[time.Duration]contract.Outcome{0: contract.Pass, time.Second: contract.Fail, 3 * time.Second: contract.Pass} {
		synctest.Test(t, func(t *testing.T) {
			s, n := mutant.New(mutant.Fleet()), 0
			target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				delay := 10 * time.Millisecond
				if n++; n == 20 {
					delay = 2 * time.Second
				}
				time.Sleep(delay)
				s.ServeHTTP(w, r)
			}))
			options := []contract.Option{contract.WithRate(0)}
			if limit > 0 {
				options = append(options, contract.WithMaxLatency(limit))
			}
			got := result(t, run(t, target, options...), "service.latency")
			assert.Equal(t, want, got.Outcome)
			assert.Regexp(t, `^\d+ answers: half of them within 10ms, 99% within 10ms, all within 2s$`, got.Message)
			require.Len(t, got.Notes, 1)
			assert.Regexp(t, `^slow: 2s for curl .*https://cluster\.example`, got.Notes[0])
			if want == contract.Fail {
				assert.Equal(t, "at most 1s", got.Findings[0].Expected)
			}
		})
	}
}

// What is answered at the second try is a note with figures, and a failure beyond
// a share.
func TestFlaky(t *testing.T) {
	for share, want := range map[float64]contract.Outcome{-1: contract.Pass, 0.01: contract.Fail, 0.5: contract.Pass} {
		synctest.Test(t, func(t *testing.T) {
			s, n := mutant.New(mutant.Fleet()), 0
			target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n++; n%10 == 5 {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				s.ServeHTTP(w, r)
			}))
			options := []contract.Option{contract.WithRate(0)}
			if share >= 0 {
				options = append(options, contract.WithMaxFlaky(share))
			}
			got := result(t, run(t, target, options...), "service.flaky")
			assert.Equal(t, want, got.Outcome)
			require.Len(t, got.Notes, 1)
			assert.Regexp(t, `^asked again after status 503: \d+$`, got.Notes[0])
		})
	}
	for _, o := range []contract.Option{contract.WithMaxFlaky(1.5), contract.WithMaxLatency(0), contract.WithRequireExercised(-0.1)} {
		_, err := contract.Run(t.Context(), contract.Target{URL: "http://localhost:1"}, o)
		assert.Error(t, err)
	}
}
