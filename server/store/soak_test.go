//go:build soak

package store_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// TestSoakChurn writes and takes first pages as fast as it can for the
// duration in the environment variable SOAK, 10m by default, and abandons
// nearly all of the continue tokens. Watches of everything, of namespaces and
// of labels are read meanwhile, and others begun and abandoned. It prints the
// heap ten times and fails when it is not flat, or when a watch was not told
// of every change.
//
//	SOAK=10m go test -tags soak -run TestSoakChurn -timeout 0 -v ./server/store
func TestSoakChurn(t *testing.T) {
	const objects, bound, samples = 10_000, 32 << 20, 10
	duration := 10 * time.Minute
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	s := store.NewMemory(store.WithHistory(store.History{Bytes: bound}))
	machines(t, s, objects)
	empty := heap()
	selector, err := store.ParseSelector("app in (app-07,app-08)")
	require.NoError(t, err)

	// Some watches of everything, some of each namespace, and some that select.
	const each = 5
	scopes := []store.WatchOptions{{}}
	for i := range 10 {
		scopes = append(scopes, store.WatchOptions{Namespace: fmt.Sprintf("ns-%d", i)})
	}
	everybody := attend(t, s, each*len(scopes), func(i int) store.WatchOptions { return scopes[i%len(scopes)] })
	selecting := attend(t, s, each, func(int) store.WatchOptions { return store.WatchOptions{Labels: selector} })

	var wg sync.WaitGroup
	var writes, tokens, abandoned atomic.Int64
	end := time.Now().Add(duration)
	wg.Go(func() {
		for i := 0; time.Now().Before(end); i++ {
			w, err := s.Watch(t.Context(), store.WatchOptions{Revision: revisionOf(t, s) - int64(i%5000), Labels: selector})
			for n := 0; n < i%10 && err == nil; n++ {
				_, _, err = w.TryNext()
			}
			if err != nil { // it is longer ago than what is held
				assert.ErrorIs(t, err, store.ErrExpired)
			}
			abandoned.Add(1)
		}
	})
	wg.Go(func() {
		for step := 0; time.Now().Before(end); step++ {
			churn(t, s, step*7919, objects)
			// Not so fast that a watch may be cut off.
			everybody.await(t, 2*each*(writes.Add(1)-20))
		}
	})
	wg.Go(func() {
		for i := 0; time.Now().Before(end); i++ {
			opts := store.ListOptions{Limit: 1 + i%500}
			if i%3 == 0 {
				opts.Labels = selector
				opts.Limit = 1 + i%50
			}
			if i%7 == 0 { // not the newest state
				opts.Revision = revisionOf(t, s) - int64(i%100)
			}
			next := token(t, s, opts)
			if i%10 == 0 { // some do go on
				held(t, s, next)
			}
			tokens.Add(1)
		}
	})
	for i := range samples {
		time.Sleep(time.Until(end.Add(-duration * time.Duration(samples-1-i) / samples)))
		grown := heap() - empty
		t.Logf("%d writes, %d tokens, %d changes told, %d watches abandoned: heap %d MiB with %d objects, and %.1f MiB",
			writes.Load(), tokens.Load(), everybody.told.Load()+selecting.told.Load(), abandoned.Load(), empty>>20, objects, float64(grown)/(1<<20))
		// What a request has in its hands, and the garbage made while the
		// heap is measured, come on top of the bound.
		assert.Less(t, grown, int64(bound+bound/2))
	}
	wg.Wait()
	// A change is told to the watches of everything and those of its namespace.
	everybody.await(t, 2*each*writes.Load())
	everybody.leave()
	selecting.leave()
	require.Equal(t, 2*each*writes.Load(), everybody.told.Load())
	require.Positive(t, selecting.told.Load())
	require.Greater(t, tokens.Load(), int64(1000))
	assert.Less(t, heap()-empty, int64(bound+bound/8))
	runtime.KeepAlive(s)
}
