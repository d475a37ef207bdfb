package store_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func revisionOf(tb testing.TB, s store.Store) int64 {
	tb.Helper()
	revision, err := s.Revision(context.Background())
	require.NoError(tb, err)
	return revision
}

// watch begins at the current revision when the options have none.
func watch(tb testing.TB, s store.Store, opts store.WatchOptions) store.Watch {
	tb.Helper()
	if opts.Revision == 0 {
		opts.Revision = revisionOf(tb, s)
	}
	w, err := s.Watch(context.Background(), opts)
	require.NoError(tb, err)
	return w
}

// reach counts the changes that the log of a store holds.
func reach(tb testing.TB, s store.Store) int {
	tb.Helper()
	last := revisionOf(tb, s)
	for n := 0; ; n++ {
		if _, err := s.Watch(context.Background(), store.WatchOptions{Revision: last - int64(n) - 1}); err != nil {
			require.ErrorIs(tb, err, store.ErrExpired)
			return n
		}
	}
}

// A watch says how far it has come, also when nothing concerns it, so that it
// can be gone on with from a bookmark for as long as possible.
func TestWatchRevisionMovesWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		machines(t, s, 10)
		w := watch(t, s, store.WatchOptions{Namespace: "elsewhere"})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			go func() {
				time.Sleep(time.Second / 2) // the watch waits by now
				churn(t, s, 1, 10)
			}()
			_, err := w.Next(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, revisionOf(t, s), w.Revision())
		}
		churn(t, s, 1, 10)
		_, ok, err := w.TryNext()
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, revisionOf(t, s), w.Revision())
	})
}

// Who waits for a change in a quiet namespace has missed nothing when the log
// gives up what happened elsewhere.
func TestWaitingWatchOutlivesTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory(store.WithHistory(store.History{Changes: 5}))
		machines(t, s, 10)
		w := watch(t, s, store.WatchOptions{Namespace: "elsewhere"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			time.Sleep(time.Second / 2)
			for i := range 100 {
				churn(t, s, i, 10)
			}
		}()
		_, err := w.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		go func() {
			time.Sleep(time.Second)
			for i := range 100 {
				churn(t, s, i, 10)
			}
			d := machine(0, 0)
			d.Key.Namespace = "elsewhere"
			_, err := s.Create(context.Background(), d)
			assert.NoError(t, err)
		}()
		change, err := w.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, "elsewhere", change.Object.Key.Namespace)
	})
}

// Nor has a watch of the future, which stays where it is.
func TestFutureWatchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory(store.WithHistory(store.History{Changes: 5}))
		machines(t, s, 10)
		future := revisionOf(t, s) + 20
		w := watch(t, s, store.WatchOptions{Revision: future})
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			go func() {
				time.Sleep(time.Second / 2)
				for i := range 10 {
					churn(t, s, i, 10)
				}
			}()
			_, err := w.Next(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, future, w.Revision())
		}
		churn(t, s, 0, 10)
		require.Equal(t, future+1, next(t, w, store.Modified).Revision)
	})
}

// Those who wait for the same namespace do not depend on each other, nor on
// what the log still holds of it.
func TestWatchesWaitIndependently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory(store.WithHistory(store.History{Changes: 5}))
		machines(t, s, 10)
		var told atomic.Int64
		for range 3 {
			w := watch(t, s, store.WatchOptions{Namespace: "ns-9"})
			go func() {
				change, err := w.Next(context.Background())
				assert.NoError(t, err)
				assert.Equal(t, "ns-9", change.Object.Key.Namespace)
				told.Add(1)
			}()
			synctest.Wait()
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := watch(t, s, store.WatchOptions{Namespace: "ns-9"}).Next(short)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
			for i := range 9 {
				churn(t, s, i, 10)
			}
		}
		churn(t, s, 9, 10)
		synctest.Wait()
		require.EqualValues(t, 3, told.Load())
	})
}

// A change that the log has given up is not forgotten with its namespace.
func TestGivenUpChangesAreNotSkipped(t *testing.T) {
	s := store.NewMemory(store.WithHistory(store.History{Changes: 5}))
	machines(t, s, 10)
	w := watch(t, s, store.WatchOptions{Namespace: "ns-1"})
	churn(t, s, 1, 10)
	for range 10 {
		churn(t, s, 2, 10)
	}
	_, _, err := w.TryNext()
	require.ErrorIs(t, err, store.ErrExpired)
	churn(t, s, 1, 10)
	_, _, err = w.TryNext()
	require.ErrorIs(t, err, store.ErrExpired)
	_, err = w.Next(t.Context())
	require.ErrorIs(t, err, store.ErrExpired)
}

// However many changes that it does not show come first.
func TestTryNextFindsWhatThereIs(t *testing.T) {
	s := store.NewMemory()
	machines(t, s, 100)
	selector, err := store.ParseSelector("kubevirt.io/vm=vm-000099")
	require.NoError(t, err)
	w := watch(t, s, store.WatchOptions{Labels: selector})
	for i := range 100 {
		churn(t, s, i, 100)
	}
	next(t, w, store.Modified)
}

func TestSlowWatchIsCutOff(t *testing.T) {
	const held = 10
	s := store.NewMemory(store.WithHistory(store.History{Changes: held}))
	machines(t, s, 20)
	for _, c := range []struct {
		namespace string
		behind    int
		expired   bool
	}{
		{"", held, false},
		{"", held + 1, true},
		{"ns-0", held, false},
		{"ns-0", held + 1, true}, // of which its first is given up
		{"ns-9", held, false},
	} {
		w := watch(t, s, store.WatchOptions{Namespace: c.namespace})
		revision := w.Revision()
		for i := range c.behind {
			churn(t, s, i, 20)
		}
		_, ok, err := w.TryNext()
		if c.expired {
			require.ErrorIs(t, err, store.ErrExpired, "%q %d behind", c.namespace, c.behind)
			require.Equal(t, revision, w.Revision())
			continue
		}
		require.NoError(t, err, "%q %d behind", c.namespace, c.behind)
		require.True(t, ok)
	}
}

func TestLogAge(t *testing.T) {
	clock := newClock()
	s := store.NewMemory(store.WithClock(clock.Now))
	machines(t, s, 10)
	before := revisionOf(t, s)
	churn(t, s, 1, 10)
	clock.Advance(5 * time.Minute)
	churn(t, s, 2, 10)
	assert.Equal(t, 12, reach(t, s))
	assert.True(t, held(t, s, store.ListOptions{Revision: before}))
	clock.Advance(1)
	assert.Equal(t, 1, reach(t, s))
	assert.False(t, held(t, s, store.ListOptions{Revision: before}))
	assert.True(t, held(t, s, store.ListOptions{Revision: before + 1}), "the state before the change that is held")
	clock.Advance(5 * time.Minute)
	assert.Zero(t, reach(t, s))
	clock.Advance(-time.Hour) // clocks do
	churn(t, s, 3, 10)
	assert.Equal(t, 1, reach(t, s))
}

// Each version that a change supersedes is charged, and twice when a watch may
// be told of it under another revision.
func TestLogBytes(t *testing.T) {
	const objects = 20
	s := store.NewMemory(store.WithHistory(store.History{Bytes: 2 * 40 * 5000}))
	machines(t, s, objects)
	count := func() int {
		for i := range 200 {
			_, err := s.Update(t.Context(), machine(i%objects, i), 0)
			require.NoError(t, err)
		}
		return reach(t, s)
	}
	want := count()
	assert.InDelta(t, 45, want, 5)

	for i := range 2000 { // of everything, also in many namespaces
		d := machine(i%objects, i)
		d.Labels["n"] = fmt.Sprint(i)
		_, err := s.Update(t.Context(), d, 0)
		require.NoError(t, err)
		d.Key.Namespace = fmt.Sprint("brief-", i)
		_, err = s.Create(t.Context(), d)
		require.NoError(t, err)
		_, err = s.Delete(t.Context(), d.Key, 0)
		require.NoError(t, err)
	}
	assert.InDelta(t, 3*200_000/(4*4400), reach(t, s), 3, "of three changes in turn, two cost two versions each")
	assert.Equal(t, want, count(), "nothing of that is still charged")
}

func TestLogDoesNotGrowTheHeap(t *testing.T) {
	const objects, bound = 300, 8 << 20
	s := store.NewMemory(store.WithHistory(store.History{Bytes: bound}))
	machines(t, s, objects)
	w := watch(t, s, store.WatchOptions{})
	before := heap()
	for i := range 5000 { // 20 MB
		churn(t, s, i, objects)
		if _, _, err := w.TryNext(); err != nil { // so that farewells are said
			require.NoError(t, err)
		}
	}
	grown := heap() - before
	assert.Less(t, grown, int64(bound/2+bound/8), "half of the bound and some slack")
	assert.Greater(t, grown, int64(bound/4), "changes were held at all, and the measure is a measure")
	runtime.KeepAlive(s)
}

// Records are small when objects are only created; their number is bounded,
// and what they cost is not more than is charged.
func TestRecordsCostWhatIsCharged(t *testing.T) {
	const changes = 5_000
	s := store.NewMemory(store.WithHistory(store.History{Bytes: 2 * 128 * changes}))
	o := draft("vms", "web")
	for _, c := range []struct {
		name string
		key  func(i int) store.Key
	}{
		{"one namespace", func(int) store.Key { return store.Key{Namespace: "vms", Name: "web"} }},
		{"many namespaces", func(i int) store.Key { return store.Key{Namespace: fmt.Sprint("ns-", i), Name: "web"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := heap()
			for i := range 5 * changes {
				o.Key = c.key(i)
				_, err := s.Create(t.Context(), o)
				require.NoError(t, err)
				_, err = s.Delete(t.Context(), o.Key, 0)
				require.NoError(t, err)
			}
			assert.Less(t, heap()-before, int64(128*changes))
			assert.Greater(t, reach(t, s), 200)
		})
	}
}

// Otherwise nobody could watch objects that are larger than half of what is
// allowed.
func TestOneChangeIsHeldHoweverLarge(t *testing.T) {
	s := store.NewMemory(store.WithHistory(store.History{Bytes: 1}))
	machines(t, s, 1)
	w := watch(t, s, store.WatchOptions{})
	for i := range 3 {
		churn(t, s, i, 1)
		_, ok, err := w.TryNext()
		require.NoError(t, err)
		require.True(t, ok)
	}
	assert.Equal(t, 1, reach(t, s))
}

// A thousand watches are not told of a deletion by a thousand copies.
func TestFarewellsAreShared(t *testing.T) {
	s := store.NewMemory()
	machines(t, s, 10)
	gold, err := store.ParseSelector("tier=gold")
	require.NoError(t, err)
	var all, selected []store.Watch
	for range 3 {
		all = append(all, watch(t, s, store.WatchOptions{}))
		selected = append(selected, watch(t, s, store.WatchOptions{Labels: gold}))
	}
	d := machine(0, 1)
	d.Labels["tier"] = "silver"
	updated, err := s.Update(t.Context(), d, 0)
	require.NoError(t, err)
	deleted, err := s.Delete(t.Context(), machine(3, 0).Key, 0)
	require.NoError(t, err)

	left := next(t, selected[0], store.Deleted)
	assert.Equal(t, updated.Revision, left.Revision)
	for _, w := range selected[1:] {
		assert.Same(t, left, next(t, w, store.Deleted))
	}
	for _, w := range all {
		assert.Same(t, updated, next(t, w, store.Modified))
	}
	for _, w := range append(all, selected...) {
		assert.Same(t, deleted, next(t, w, store.Deleted))
	}
}

func next(tb testing.TB, w store.Watch, want store.ChangeType) *store.Object {
	tb.Helper()
	change, ok, err := w.TryNext()
	require.NoError(tb, err)
	require.True(tb, ok)
	require.Equal(tb, want, change.Type)
	return change.Object
}

// A watch that is let go of, waiting or not, leaves nothing behind: no
// goroutine, no memory, and no namespace that there is not.
func TestWatchesLeaveNothing(t *testing.T) {
	const watches = 2000
	s := store.NewMemory(store.WithHistory(store.History{Changes: 1}))
	machines(t, s, 10)
	round := func(suffix string) {
		synctest.Test(t, func(t *testing.T) { // fails when there is a goroutine left
			ctx, cancel := context.WithCancel(t.Context())
			namespaces := make([]string, watches)
			for i := range namespaces {
				namespaces[i] = fmt.Sprint(i, suffix)
			}
			all := make([]store.Watch, watches)
			before := heap()
			for i := range all {
				var err error
				all[i], err = s.Watch(ctx, store.WatchOptions{Namespace: namespaces[i], Revision: revisionOf(t, s)})
				require.NoError(t, err)
			}
			assert.Less(t, (heap()-before)/watches, int64(300), "bytes for a watch")
			for _, w := range all {
				go func() {
					_, err := w.Next(context.Background())
					assert.ErrorIs(t, err, context.Canceled)
				}()
			}
			synctest.Wait() // until all of them wait
			for i := range 10 {
				churn(t, s, i, 10)
			}
			cancel()
		})
	}
	round("-first") // after which the runtime keeps some memory for other goroutines
	before := heap()
	round(strings.Repeat("-second", 50))
	assert.Less(t, (heap()-before)/watches, int64(50))
	runtime.KeepAlive(s)
}
