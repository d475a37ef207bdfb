package contract_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

// runWrite runs the checks of writes, in a bubble of synctest: to wait for events that
// do not come takes no time there.
func runWrite(t *testing.T, s *mutant.Server, options ...contract.Option) *contract.Report {
	t.Helper()
	target := far(nil)
	target.HTTPClient = &http.Client{Transport: mutant.Transport{Handler: s}}
	options = append([]contract.Option{contract.WithRate(0), contract.WithWrite("prod")}, options...)
	report, err := contract.Run(t.Context(), target, options...)
	require.NotNil(t, report, err)
	time.Sleep(time.Minute) // until what is late has come
	return report
}

// assertFirst asserts that of all checks of writes and bodies this one is the first to
// notice.
func assertFirst(t *testing.T, report *contract.Report, id string) {
	t.Helper()
	for _, result := range report.Results {
		if result.Outcome == contract.Fail || result.Outcome == contract.Warning {
			assert.Equal(t, id, result.ID, text(t, report))
			return
		}
	}
}

// assertNamed asserts that the report names every machine that was left behind.
func assertNamed(t *testing.T, report *contract.Report, s *mutant.Server) {
	t.Helper()
	for _, o := range s.Objects {
		if strings.Contains(o.Body, `"vmikit-contract"`) && !strings.Contains(o.Body, `"deletionTimestamp"`) {
			assert.Contains(t, text(t, report), "LEFT BEHIND, remove it with: kubectl delete vmi -n prod "+o.Name)
		}
	}
}

// The server without a fault is accused of nothing, and nothing is left in it, whether
// it stands still or somebody else writes to all machines meanwhile, the run's own
// among them.
func TestRightWriting(t *testing.T) {
	profiles := []openapi.Profile{openapi.ProfileKubernetes, openapi.ProfileKubeVirt}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mutant.NewWriting(mutant.Fleet())
				r := rand.New(rand.NewPCG(seed, 0))
				touched := 0
				s.Before = func(s *mutant.Server) {
					for range seed { // none for the first
						if r.IntN(20) == 0 {
							o := s.Objects[r.IntN(len(s.Objects))]
							touched++
							s.Touch(o.Namespace, o.Name, "touched", fmt.Sprint(touched))
						}
					}
				}
				report := runWrite(t, s, contract.WithProfile(profiles[seed%2]), contract.WithOnly("write", "schema"))
				assert.Empty(t, with(report, contract.Fail), text(t, report))
				assert.Empty(t, with(report, contract.Warning), text(t, report))
				assert.Len(t, s.Objects, len(mutant.Fleet()))
				if seed > 0 {
					assert.Positive(t, touched)
					return
				}
				for _, result := range report.Results {
					if result.Subject() == "write" {
						assert.Equal(t, contract.Pass, result.Outcome, text(t, report))
					}
				}
				assert.Less(t, report.Requests, 70, "what is kept for writing")
			})
		})
	}
}

// Each check alone makes for itself what the others would have made.
func TestWriteChecksAlone(t *testing.T) {
	for _, c := range contract.Checks() {
		if c.Subject() != "write" || c.ID == "write.watch-selector" { // that needs two patches
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mutant.NewWriting(mutant.Fleet())
				report := runWrite(t, s, contract.WithOnly(c.ID))
				want := contract.Pass
				if c.ID == "write.cleanup" {
					want = contract.NotExercised // nothing was made
				}
				assert.Equal(t, want, result(t, report, c.ID).Outcome, text(t, report))
				assert.Len(t, s.Objects, len(mutant.Fleet()))
			})
		})
	}
}

// Whoever hangs up in the middle of an event has not been told half of one.
func TestWatchLeftInTheMiddleOfAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mutant.NewWriting(mutant.Fleet())
		flush := s.Writing.Flush
		s.Writing.Flush = func(w http.ResponseWriter) {
			io.WriteString(w, `{"type":"MODIFIED","object":{"apiVer`)
			flush(w)
		}
		report := runWrite(t, s, contract.WithOnly("write.watch-replay", "schema"))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Equal(t, "1 change in 1 event", result(t, report, "write.watch-replay").Message)
	})
}
