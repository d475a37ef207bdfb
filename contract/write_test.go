package contract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

// That the checks of writes tell right from wrong is proven by the faults of
// internal/mutant, and by a real API server in interop/apiserver.

func TestWriteOnlyWhenAsked(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Contains(t, []string{http.MethodGet, http.MethodHead}, r.Method)
		s.ServeHTTP(w, r)
	}))
	report := run(t, target, contract.WithRate(0), contract.WithOnly("write"))
	for _, result := range report.Results {
		if result.Subject() == "write" {
			assert.Equal(t, contract.Skipped, result.Outcome, result.ID)
			assert.Equal(t, "not asked for (--write)", result.Message, result.ID)
		}
	}
}

func TestWriteUsage(t *testing.T) {
	target := far(mutant.New(mutant.Fleet()))
	for _, namespace := range []string{"", "Prod", "a/b", "-a", strings.Repeat("a", 64), "a\nb"} {
		_, err := contract.Run(t.Context(), target, contract.WithWrite(namespace))
		assert.ErrorContains(t, err, "writing needs the name of a namespace", namespace)
	}
	target.Namespace = "prod"
	for _, options := range [][]contract.Option{
		{contract.WithWrite("prod"), contract.WithProfile(openapi.ProfileDocument)},
		{contract.WithProfile(openapi.ProfileDocument), contract.WithWrite("prod")},
	} {
		_, err := contract.Run(t.Context(), target, options...)
		assert.ErrorContains(t, err, "profile document has no writes")
	}
}

// A server that is only read from is right, and nothing is left to clean up.
func TestWriteRefused(t *testing.T) {
	report := run(t, far(mutant.New(mutant.Fleet())), contract.WithRate(0), contract.WithWrite("prod"))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	for _, result := range report.Results {
		switch {
		case result.ID == "write.cleanup":
			assert.Equal(t, "nothing was made", result.Message)
		case result.Subject() == "write":
			assert.Equal(t, contract.NotExercised, result.Outcome, result.ID)
			assert.Contains(t, result.Message, "refused with status 405")
		}
	}
}

// writable is a server that creates, gets, lists and deletes in namespace prod, as
// much of it as the cleaning up needs.
type writable struct {
	mu    sync.Mutex
	there map[string]string // machines by name
	// before sees every request, answered or not; false answers nothing.
	before func(r *http.Request) bool
	fleet  http.Handler
	// at is when which request came.
	at []time.Time
}

func newWritable() *writable {
	return &writable{there: make(map[string]string), before: func(*http.Request) bool { return true }, fleet: mutant.New(mutant.Fleet())}
}

func (s *writable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
	if !s.before(r) {
		<-r.Context().Done()
		return
	}
	dry := r.URL.Query().Has("dryRun")
	const collection = "/apis/kubevirt.io/v1/namespaces/prod/virtualmachineinstances"
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, collection), "/")
	body, known := s.there[name]
	switch {
	case r.Method == http.MethodPost:
		sent, _ := io.ReadAll(r.Body)
		var object map[string]any
		json.Unmarshal(sent, &object)
		metadata := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		if prefix, ok := metadata["generateName"].(string); ok {
			name = fmt.Sprint(prefix, len(s.there))
		}
		metadata["name"], metadata["uid"], metadata["resourceVersion"] = name, "uid-of-"+name, fmt.Sprint(1000+len(s.at))
		metadata["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
		made, _ := json.Marshal(object)
		if !dry {
			s.there[name] = string(made)
		}
		s.send(w, http.StatusCreated, string(made))
	case r.Method == http.MethodDelete && known && !dry:
		delete(s.there, name)
		s.send(w, http.StatusOK, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`)
	case known && r.Method == http.MethodGet:
		s.send(w, http.StatusOK, body)
	case r.URL.Path == collection && strings.HasPrefix(r.URL.Query().Get("labelSelector"), "vmikit-contract="):
		items := slices.Collect(maps.Values(s.there))
		s.send(w, http.StatusOK, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{},"items":[`+strings.Join(items, ",")+`]}`)
	default:
		if r.Method == http.MethodDelete {
			r.Method = http.MethodGet // for a 404
		}
		s.fleet.ServeHTTP(w, r)
	}
}

func (s *writable) send(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	io.WriteString(w, body)
}

// However slow a run is, when it is told to end it cleans up within ten seconds.
func TestWriteCleansUpWhenTheContextEnds(t *testing.T) {
	for _, rate := range []float64{0, 5, 0.1} {
		synctest.Test(t, func(t *testing.T) {
			s := newWritable()
			ctx, cancel := context.WithCancel(t.Context())
			var ended time.Time
			s.before = func(r *http.Request) bool {
				if r.Method == http.MethodPut {
					ended = time.Now()
					cancel()
				}
				return true
			}
			report, err := contract.Run(ctx, far(s), contract.WithRate(rate), contract.WithWrite("prod"), contract.WithOnly("write"))
			require.ErrorIs(t, err, context.Canceled)
			assert.Empty(t, s.there)
			assert.Less(t, time.Since(ended), 10*time.Second)
			at := slices.IndexFunc(report.Results, func(r contract.Result) bool { return r.ID == "write.cleanup" })
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, contract.Pass, report.Results[at].Outcome)
			assert.Len(t, report.Results[at].Notes, 3, text(t, report))
			if rate == 5 {
				for i := range s.at[1:] {
					assert.GreaterOrEqual(t, s.at[i+1].Sub(s.at[i]), 199*time.Millisecond)
				}
			}
		})
	}
}

// A target that no longer answers keeps what was made; the report says what.
func TestWriteNamesWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWritable()
		ctx, cancel := context.WithCancel(t.Context())
		hanging := false
		var ended time.Time
		s.before = func(r *http.Request) bool {
			if r.Method == http.MethodPut {
				hanging, ended = true, time.Now()
				cancel()
			}
			return !hanging
		}
		report, err := contract.Run(ctx, far(s), contract.WithRate(0), contract.WithWrite("prod"), contract.WithOnly("write"))
		require.ErrorIs(t, err, context.Canceled)
		assert.InDelta(t, 10, time.Since(ended).Seconds(), 1)
		require.Len(t, s.there, 3)
		for name := range s.there {
			assert.Contains(t, text(t, report), "LEFT BEHIND, remove it with: kubectl delete vmi -n prod "+name)
		}
		assert.Equal(t, []string{"write.cleanup"}, with(report, contract.Fail)[len(with(report, contract.Fail))-1:])
	})
}

// The switches for checks do not keep a run from cleaning up.
func TestWriteCleansUpUnasked(t *testing.T) {
	for _, option := range []contract.Option{contract.WithOnly("write.create"), contract.WithSkip("write.cleanup")} {
		s := newWritable()
		report := run(t, far(s), contract.WithRate(0), contract.WithWrite("prod"), option)
		assert.Empty(t, s.there, text(t, report))
		assert.Contains(t, text(t, report), "made and deleted: prod/vmikit-contract-")
	}
}
