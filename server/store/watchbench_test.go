package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// audience is watches that count what they are told, each in a goroutine.
type audience struct {
	told atomic.Int64
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// attend starts that many.
func attend(tb testing.TB, s store.Store, n int, opts func(i int) store.WatchOptions) *audience {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &audience{stop: cancel}
	revision := revisionOf(tb, s)
	for i := range n {
		o := opts(i)
		o.Revision = revision
		w, err := s.Watch(ctx, o)
		require.NoError(tb, err)
		a.wg.Go(func() {
			for {
				if _, err := w.Next(ctx); err != nil {
					if ctx.Err() == nil {
						tb.Errorf("watch %d: %v", i, err)
					}
					return
				}
				a.told.Add(1)
			}
		})
	}
	return a
}

// leave returns when all watches have ended.
func (a *audience) leave() {
	a.stop()
	a.wg.Wait()
}

// await returns when so much was told.
func (a *audience) await(tb testing.TB, told int64) {
	tb.Helper()
	for end := time.Now().Add(time.Minute); a.told.Load() < told; time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			tb.Fatalf("told of %d changes instead of %d", a.told.Load(), told)
		}
	}
}

// BenchmarkUpdateWatched writes with nobody watching, with a thousand watches
// that wait for changes in other namespaces, and with a thousand that wait for
// this one. The first two should not differ. The third ends when all of them
// were told, so that what the watches do is in it.
func BenchmarkUpdateWatched(b *testing.B) {
	const objects = 10_000
	for _, c := range []struct {
		name      string
		watches   int
		opts      func(i int) store.WatchOptions
		concerned bool
	}{
		{"nobody", 0, nil, false},
		{"elsewhere-1000", 1000, func(i int) store.WatchOptions {
			return store.WatchOptions{Namespace: fmt.Sprintf("elsewhere-%d", i%50)}
		}, false},
		{"all-1000", 1000, func(int) store.WatchOptions { return store.WatchOptions{} }, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := store.NewMemory()
			machines(b, s, objects)
			drafts := make([]store.Draft, objects)
			for i := range drafts {
				drafts[i] = machine(i, 1)
			}
			a := attend(b, s, c.watches, c.opts)
			defer a.leave()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := s.Update(context.Background(), drafts[i*7919%objects], 0); err != nil {
					b.Fatal(err)
				}
				if i++; c.concerned {
					a.await(b, int64(i*c.watches))
				}
			}
		})
	}
}

// BenchmarkFanOut delivers 20,000 changes: 20 writes to a thousand watches of
// everything, each when the one before has arrived, with and without
// a selector, and a thousand writes, as fast as they come, to a thousand
// watches over fifty namespaces. A server is to do that in a second, with TLS,
// so that a delivery should take no more than a few microseconds here.
func BenchmarkFanOut(b *testing.B) {
	const watches, deliveries, namespaces = 1000, 20_000, 50
	selector, err := store.ParseSelector("app in (app-07,app-08),tier")
	require.NoError(b, err)
	for _, c := range []struct {
		name   string
		opts   func(i int) store.WatchOptions
		writes int
		each   int64 // watches that a write is waited for to arrive at
	}{
		{"all", func(int) store.WatchOptions { return store.WatchOptions{} }, 20, watches},
		{"selected", func(int) store.WatchOptions { return store.WatchOptions{Labels: selector} }, 20, watches},
		{"namespaces", func(i int) store.WatchOptions {
			return store.WatchOptions{Namespace: fmt.Sprintf("ns-%d", i%namespaces)}
		}, 1000, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := store.NewMemory()
			drafts := make([]store.Draft, namespaces)
			for i := range drafts {
				drafts[i] = machine(i, 0)
				drafts[i].Key.Namespace = fmt.Sprintf("ns-%d", i)
				drafts[i].Labels["app"] = "app-07"
				_, err := s.Create(context.Background(), drafts[i])
				require.NoError(b, err)
			}
			a := attend(b, s, watches, c.opts)
			defer a.leave()
			b.ReportAllocs()
			for b.Loop() {
				told := a.told.Load()
				for i := range c.writes {
					if _, err := s.Update(context.Background(), drafts[i%namespaces], 0); err != nil {
						b.Fatal(err)
					}
					a.await(b, told+int64(i+1)*c.each)
				}
				a.await(b, told+deliveries)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deliveries, "ns/delivery")
		})
	}
}

// BenchmarkListAt lists the state before the last changes, each of another
// object. It is made anew each time, since no page has a rest.
func BenchmarkListAt(b *testing.B) {
	const objects = 10_000
	for _, changes := range []int{1, 100, 9000} {
		b.Run(fmt.Sprint(changes), func(b *testing.B) {
			s := store.NewMemory()
			machines(b, s, objects)
			revision := revisionOf(b, s)
			for i := range changes {
				_, err := s.Update(context.Background(), machine(i, 1), 0)
				require.NoError(b, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.List(context.Background(), store.ListOptions{Namespace: "ns-7", Revision: revision}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
