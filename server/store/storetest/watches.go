package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func mustWatch(t *testing.T, s store.Store, opts store.WatchOptions) store.Watch {
	t.Helper()
	w, err := s.Watch(t.Context(), opts)
	require.NoError(t, err)
	return w
}

func revision(t *testing.T, s store.Store) int64 {
	t.Helper()
	r, err := s.Revision(t.Context())
	require.NoError(t, err)
	return r
}

// drain returns what there is to see, as "TYPE namespace/name n".
func drain(t *testing.T, w store.Watch) []string {
	t.Helper()
	var seen []string
	for {
		c, ok, err := w.TryNext()
		require.NoError(t, err)
		if !ok {
			return seen
		}
		seen = append(seen, fmt.Sprintf("%s %s %d", c.Type, c.Object.Key, number(t, c.Object)))
	}
}

func watchAll(t *testing.T, h Harness) {
	before := mustCreate(t, h.Store, draft("vms", "before", 0, nil))
	w := mustWatch(t, h.Store, store.WatchOptions{Revision: before.Revision})
	require.Empty(t, drain(t, w))
	require.Equal(t, before.Revision, w.Revision())

	created := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	updated, err := h.Store.Update(t.Context(), draft("vms", "web", 2, nil), 0)
	require.NoError(t, err)
	gone, err := h.Store.Delete(t.Context(), created.Key, 0)
	require.NoError(t, err)
	again := mustWatch(t, h.Store, store.WatchOptions{Revision: created.Revision})
	require.Equal(t, []string{"ADDED vms/web 1", "MODIFIED vms/web 2", "DELETED vms/web 2"}, drain(t, w))
	require.Equal(t, gone.Revision, w.Revision())
	require.Equal(t, []string{"MODIFIED vms/web 2", "DELETED vms/web 2"}, drain(t, again))

	again = mustWatch(t, h.Store, store.WatchOptions{Revision: updated.Revision})
	c, err := again.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, gone.Revision, c.Object.Revision, "the last state has the revision of the deletion")
	requireSpells(t, draft("vms", "web", 2, nil), c.Object)
}

// watchSelected sees objects come into a selection and leave it.
func watchSelected(t *testing.T, h Harness) {
	selector, err := store.ParseSelector("app=web")
	require.NoError(t, err)
	fields, err := store.ParseFieldSelector("metadata.name=a")
	require.NoError(t, err)
	from := revision(t, h.Store)
	web, db := map[string]string{"app": "web"}, map[string]string{"app": "db"}
	mustCreate(t, h.Store, draft("vms", "a", 1, db))
	mustCreate(t, h.Store, draft("vms", "b", 1, web))
	mustCreate(t, h.Store, draft("other", "a", 1, web))
	var left *store.Object
	for n, labels := range []map[string]string{web, web, db, db, web} {
		o, err := h.Store.Update(t.Context(), draft("vms", "a", n+2, labels), 0)
		require.NoError(t, err)
		if n == 2 {
			left = o
		}
	}
	_, err = h.Store.Delete(t.Context(), store.Key{Namespace: "vms", Name: "a"}, 0)
	require.NoError(t, err)
	selected := []string{"ADDED vms/a 2", "MODIFIED vms/a 3", "DELETED vms/a 3", "ADDED vms/a 6", "DELETED vms/a 6"}
	for _, test := range []struct {
		opts store.WatchOptions
		want []string
	}{
		{store.WatchOptions{Namespace: "vms", Labels: selector, Fields: fields}, selected},
		{store.WatchOptions{Namespace: "vms", Labels: selector}, append([]string{"ADDED vms/b 1"}, selected...)},
		{store.WatchOptions{Namespace: "other"}, []string{"ADDED other/a 1"}},
		{store.WatchOptions{Namespace: "nobody"}, nil},
	} {
		test.opts.Revision = from
		w := mustWatch(t, h.Store, test.opts)
		require.Equal(t, test.want, drain(t, w), "%+v", test.opts)
		require.Equal(t, revision(t, h.Store), w.Revision(), "it has looked at everything")
	}
	w := mustWatch(t, h.Store, store.WatchOptions{Labels: selector, Revision: left.Revision - 1})
	c, err := w.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, left.Revision, c.Object.Revision)
	value, _ := c.Object.Label("app")
	require.Equal(t, "web", value, "what leaves a selection is shown as it was in it")
}

func watchFuture(t *testing.T, h Harness) {
	w := mustWatch(t, h.Store, store.WatchOptions{Revision: revision(t, h.Store) + 2})
	for i := range 4 {
		mustCreate(t, h.Store, draft("vms", fmt.Sprint("vm", i), i, nil))
	}
	require.Equal(t, []string{"ADDED vms/vm2 2", "ADDED vms/vm3 3"}, drain(t, w))
}

func watchWaits(t *testing.T, h Harness) {
	w := mustWatch(t, h.Store, store.WatchOptions{Namespace: "vms", Revision: revision(t, h.Store)})
	seen := make(chan string)
	go func() {
		c, err := w.Next(t.Context())
		seen <- fmt.Sprint(c.Type, err)
	}()
	mustCreate(t, h.Store, draft("elsewhere", "web", 1, nil))
	mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	require.Equal(t, "ADDED<nil>", <-seen)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := w.Next(ctx)
		seen <- fmt.Sprint(err)
	}()
	cancel()
	require.Equal(t, context.Canceled.Error(), <-seen)
	_, err := h.Store.Watch(ctx, store.WatchOptions{Revision: 1})
	require.ErrorIs(t, err, context.Canceled)
}

// watchExpired is too slow, or begins too late.
func watchExpired(t *testing.T, h Harness) {
	if h.Expire == nil {
		t.Skip("this store cannot be made to forget")
	}
	from := revision(t, h.Store)
	slow := mustWatch(t, h.Store, store.WatchOptions{Revision: from})
	mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	h.Expire()
	last := mustCreate(t, h.Store, draft("vms", "db", 1, nil))
	_, _, err := slow.TryNext()
	require.ErrorIs(t, err, store.ErrExpired)
	_, err = slow.Next(t.Context())
	require.ErrorIs(t, err, store.ErrExpired)
	_, err = h.Store.Watch(t.Context(), store.WatchOptions{Revision: from})
	require.ErrorIs(t, err, store.ErrExpired)
	require.Empty(t, drain(t, mustWatch(t, h.Store, store.WatchOptions{Revision: last.Revision})), "the newest state does not expire")
}

// concurrentWatches replays a list and the changes after it, while others write:
// what comes out must be the list at the end.
func concurrentWatches(t *testing.T, h Harness) {
	const writers, writes, watches = 4, 200, 12
	selector, err := store.ParseSelector("app in (a,b)")
	require.NoError(t, err)
	var writing, watching sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for n := range writes {
				d := draft(fmt.Sprint("ns", rng.IntN(3)), fmt.Sprint("vm", rng.IntN(5)), n, map[string]string{"app": string(rune('a' + rng.IntN(4)))})
				switch rng.IntN(3) {
				case 0:
					_, _ = h.Store.Delete(t.Context(), d.Key, 0)
				case 1:
					_, _ = h.Store.Update(t.Context(), d, 0)
				default:
					_, _ = h.Store.Create(t.Context(), d)
				}
			}
		})
	}
	end := make(chan int64, watches)
	for i := range watches {
		opts := store.ListOptions{Namespace: []string{"", "ns0", "ns1"}[i%3]}
		if i%2 == 0 {
			opts.Labels = selector
		}
		watching.Go(func() { replay(t, h.Store, opts, end) })
	}
	writing.Wait()
	for range watches {
		end <- revision(t, h.Store)
	}
	watching.Wait()
}

func replay(t *testing.T, s store.Store, opts store.ListOptions, end <-chan int64) {
	page, err := s.List(t.Context(), opts)
	if !assert.NoError(t, err) {
		return
	}
	have := make(map[store.Key]*store.Object)
	for _, o := range page.Objects {
		have[o.Key] = o
	}
	w, err := s.Watch(t.Context(), store.WatchOptions{Namespace: opts.Namespace, Labels: opts.Labels, Revision: page.Revision})
	if !assert.NoError(t, err) {
		return
	}
	until, seen := int64(-1), page.Revision
	for until < 0 || w.Revision() < until {
		c, ok, err := w.TryNext()
		if !assert.NoError(t, err) {
			return
		}
		if !ok {
			select {
			case until = <-end:
			default:
			}
			continue
		}
		assert.Greater(t, c.Object.Revision, seen, "in order, each once")
		seen = c.Object.Revision
		_, there := have[c.Object.Key]
		assert.Equal(t, c.Type != store.Added, there, "%s of %s", c.Type, c.Object.Key)
		if have[c.Object.Key] = c.Object; c.Type == store.Deleted {
			delete(have, c.Object.Key)
		}
	}
	opts.Revision = until
	page, err = s.List(t.Context(), opts)
	if !assert.NoError(t, err) {
		return
	}
	assert.Len(t, have, len(page.Objects))
	for _, o := range page.Objects {
		assert.Equal(t, string(o.JSON), string(have[o.Key].JSON))
	}
}
