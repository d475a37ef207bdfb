package storetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// patience is how long a change may take to arrive at a watch.
const patience = 10 * time.Second

// revisionOf returns the current revision.
func revisionOf(t *testing.T, s store.Store) int64 {
	t.Helper()
	revision, err := s.Revision(t.Context())
	require.NoError(t, err)
	return revision
}

// watch begins at the current revision when the options have none.
func watch(t *testing.T, s store.Store, opts store.WatchOptions) store.Watch {
	t.Helper()
	if opts.Revision == 0 {
		opts.Revision = revisionOf(t, s)
	}
	w, err := s.Watch(t.Context(), opts)
	require.NoError(t, err)
	require.Equal(t, opts.Revision, w.Revision())
	return w
}

func next(t *testing.T, w store.Watch) (store.Change, error) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return w.Next(ctx)
}

// requireNext checks what the watch tells next: the type of the change, and
// the object with the revision of that change.
func requireNext(t *testing.T, w store.Watch, want store.ChangeType, o *store.Object) {
	t.Helper()
	change, err := next(t, w)
	require.NoError(t, err)
	require.Equal(t, want, change.Type, "%s at %d", change.Object.Key, change.Object.Revision)
	require.Equal(t, o.Key, change.Object.Key)
	require.Equal(t, o.Revision, change.Object.Revision)
	require.Equal(t, string(o.JSON), string(change.Object.JSON))
	require.GreaterOrEqual(t, w.Revision(), o.Revision)
}

func mustUpdate(t *testing.T, s store.Store, d store.Draft) *store.Object {
	t.Helper()
	o, err := s.Update(t.Context(), d, 0)
	require.NoError(t, err)
	return o
}

func mustDelete(t *testing.T, s store.Store, key store.Key) *store.Object {
	t.Helper()
	o, err := s.Delete(t.Context(), key, 0)
	require.NoError(t, err)
	return o
}

func watchShows(t *testing.T, h Harness) {
	before := mustCreate(t, h.Store, draft("vms", "before", 1, nil))
	w := watch(t, h.Store, store.WatchOptions{})
	first := draft("vms", "web", 1, map[string]string{"app": "web"})
	created := mustCreate(t, h.Store, first)
	updated := mustUpdate(t, h.Store, draft("vms", "web", 2, nil))
	deleted := mustDelete(t, h.Store, first.Key)
	again := mustCreate(t, h.Store, first)
	other := mustDelete(t, h.Store, before.Key)

	requireNext(t, w, store.Added, created)
	requireNext(t, w, store.Modified, updated)
	requireNext(t, w, store.Deleted, deleted)
	requireNext(t, w, store.Added, again)
	requireNext(t, w, store.Deleted, other)
	require.Greater(t, other.Revision, before.Revision, "a deletion has its own revision")
}

func watchFrom(t *testing.T, h Harness) {
	start := revisionOf(t, h.Store)
	var objects []*store.Object
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		objects = append(objects, mustCreate(t, h.Store, draft("vms", name, 1, nil)))
	}
	for i := range objects {
		w := watch(t, h.Store, store.WatchOptions{Revision: start})
		for _, o := range objects[i:] {
			requireNext(t, w, store.Added, o)
		}
		start = objects[i].Revision
	}
	w := watch(t, h.Store, store.WatchOptions{Revision: start})
	requireNext(t, w, store.Added, mustCreate(t, h.Store, draft("vms", "f", 1, nil)))
}

func watchWaits(t *testing.T, h Harness) {
	w := watch(t, h.Store, store.WatchOptions{Namespace: "vms"})
	for n := range 3 {
		got := make(chan store.Change)
		go func() {
			change, err := next(t, w)
			assert.NoError(t, err)
			got <- change
		}()
		mustCreate(t, h.Store, draft("elsewhere", "web"+strconv.Itoa(n), 1, nil))
		select {
		case change := <-got:
			t.Fatalf("%s of %s, which the watch does not show", change.Type, change.Object.Key)
		case <-time.After(5 * time.Millisecond): // a watch that shows too much has had its chance
		}
		want := mustCreate(t, h.Store, draft("vms", "web"+strconv.Itoa(n), 1, nil))
		change := <-got
		require.Equal(t, store.Added, change.Type)
		require.Equal(t, want.Revision, change.Object.Revision)
	}
}

func watchNamespace(t *testing.T, h Harness) {
	all := []string{"a", "a-b", "a.b", "a0", "ab", "b"}
	watches := map[string]store.Watch{}
	for _, namespace := range append(all, "none") {
		watches[namespace] = watch(t, h.Store, store.WatchOptions{Namespace: namespace})
	}
	for n := range 3 {
		for _, namespace := range all {
			mustCreate(t, h.Store, draft(namespace, "vm"+strconv.Itoa(n), 1, nil))
		}
	}
	mustCreate(t, h.Store, draft("none", "vm0", 1, nil))
	for namespace, w := range watches {
		for _, o := range list(t, h.Store, store.ListOptions{Namespace: namespace}).Objects {
			requireNext(t, w, store.Added, o)
		}
	}
}

// watchLabels has one object go in and out of a selection.
func watchLabels(t *testing.T, h Harness) {
	selector, err := store.ParseSelector("app in (web,db),!retired")
	require.NoError(t, err)
	w := watch(t, h.Store, store.WatchOptions{Labels: selector})
	key := store.Key{Namespace: "vms", Name: "x"}
	n := 0
	step := func(labels map[string]string) *store.Object {
		t.Helper()
		n++
		return mustUpdate(t, h.Store, draft("vms", "x", n, labels))
	}
	mustCreate(t, h.Store, draft("vms", "x", 0, nil))
	step(map[string]string{"app": "mail"})
	requireNext(t, w, store.Added, step(map[string]string{"app": "web", "tier": "gold"}))
	requireNext(t, w, store.Modified, step(map[string]string{"app": "web"}))
	last := step(map[string]string{"app": "db"})
	requireNext(t, w, store.Modified, last)

	left := step(map[string]string{"app": "db", "retired": ""})
	change, err := next(t, w)
	require.NoError(t, err)
	require.Equal(t, store.Deleted, change.Type)
	requireSpells(t, draft("vms", "x", n-1, map[string]string{"app": "db"}), change.Object)
	require.Equal(t, left.Revision, change.Object.Revision, "that of the change")
	_, ok := change.Object.Label("retired")
	require.False(t, ok, "the labels are the old ones")
	require.Less(t, last.Revision, left.Revision)
	got, err := h.Store.Get(t.Context(), key)
	require.NoError(t, err)
	requireSpells(t, draft("vms", "x", n, map[string]string{"app": "db", "retired": ""}), got)

	step(map[string]string{"retired": ""})
	mustDelete(t, h.Store, key)
	created := mustCreate(t, h.Store, draft("vms", "x", 0, map[string]string{"app": "web"}))
	requireNext(t, w, store.Added, created)
	requireNext(t, w, store.Deleted, mustDelete(t, h.Store, key))
	requireNext(t, w, store.Added, mustCreate(t, h.Store, draft("vms", "y", 1, map[string]string{"app": "web"})))
}

func watchFields(t *testing.T, h Harness) {
	start := revisionOf(t, h.Store)
	for _, namespace := range []string{"a", "b"} {
		for _, name := range []string{"x", "y", "z"} {
			mustCreate(t, h.Store, draft(namespace, name, 1, nil))
		}
	}
	last := mustCreate(t, h.Store, draft("z", "z", 1, nil))
	for _, c := range []struct {
		namespace, fields string
		want              []string
	}{
		{"", "metadata.name=y", []string{"a/y", "b/y"}},
		{"b", "metadata.name=y", []string{"b/y"}},
		{"", "metadata.namespace=b", []string{"b/x", "b/y", "b/z"}},
		{"", "metadata.namespace=b,metadata.name!=y", []string{"b/x", "b/z"}},
		{"a", "metadata.namespace=b", nil},
		{"a", "metadata.name=x,metadata.name=y", nil},
		{"", "metadata.namespace!=a,metadata.name=x", []string{"b/x"}},
	} {
		fields, err := store.ParseFieldSelector(c.fields)
		require.NoError(t, err)
		w := watch(t, h.Store, store.WatchOptions{Namespace: c.namespace, Fields: fields, Revision: start})
		var got []string
		for range c.want {
			change, err := next(t, w)
			require.NoError(t, err)
			require.Equal(t, store.Added, change.Type)
			got = append(got, change.Object.Key.String())
		}
		require.Equal(t, c.want, got, "%s of %q", c.fields, c.namespace)
		_, ok, err := w.TryNext()
		require.NoError(t, err)
		require.False(t, ok, "%s of %q", c.fields, c.namespace)
		require.LessOrEqual(t, w.Revision(), last.Revision)
	}
}

// watchFuture asks for a revision that is some writes away.
func watchFuture(t *testing.T, h Harness) {
	mustCreate(t, h.Store, draft("vms", "web", 0, nil))
	future := revisionOf(t, h.Store) + 3
	w := watch(t, h.Store, store.WatchOptions{Revision: future})
	for n := 1; ; n++ {
		_, ok, err := w.TryNext()
		require.NoError(t, err)
		require.False(t, ok)
		o := mustUpdate(t, h.Store, draft("vms", "web", n, nil))
		if o.Revision > future {
			requireNext(t, w, store.Modified, o)
			return
		}
	}
}

func watchNothing(t *testing.T, h Harness) {
	for _, revision := range []int64{0, -1} {
		_, err := h.Store.Watch(t.Context(), store.WatchOptions{Revision: revision})
		require.Error(t, err, "%d", revision)
		require.NotErrorIs(t, err, store.ErrExpired, "%d: it never was one", revision)
	}
}

func watchExpired(t *testing.T, h Harness) {
	if h.Expire == nil {
		t.Skip("this store cannot be made to forget")
	}
	first := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	second := mustUpdate(t, h.Store, draft("vms", "web", 2, nil))
	requireNext(t, watch(t, h.Store, store.WatchOptions{Revision: first.Revision}), store.Modified, second)
	h.Expire()
	third := mustUpdate(t, h.Store, draft("vms", "web", 3, nil))
	h.Expire()
	for _, revision := range []int64{1, first.Revision} {
		for _, namespace := range []string{"", "vms", "none"} {
			_, err := h.Store.Watch(t.Context(), store.WatchOptions{Namespace: namespace, Revision: revision})
			require.ErrorIs(t, err, store.ErrExpired, "%d of %q", revision, namespace)
		}
	}
	w := watch(t, h.Store, store.WatchOptions{Revision: third.Revision})
	requireNext(t, w, store.Modified, mustUpdate(t, h.Store, draft("vms", "web", 4, nil)))
}

// watchSlow does not read while the store forgets. What the store still gives
// it afterwards is for the store to say; but it must not skip anything.
func watchSlow(t *testing.T, h Harness) {
	if h.Expire == nil {
		t.Skip("this store cannot be made to forget")
	}
	w := watch(t, h.Store, store.WatchOptions{})
	var want []*store.Object
	for n := range 20 {
		want = append(want, mustCreate(t, h.Store, draft("vms", "web"+strconv.Itoa(n), n, nil)))
		if n == 10 {
			h.Expire()
		}
	}
	for _, o := range want {
		change, err := next(t, w)
		if err != nil {
			require.ErrorIs(t, err, store.ErrExpired)
			_, _, err = w.TryNext()
			require.ErrorIs(t, err, store.ErrExpired, "and so it stays")
			require.Less(t, w.Revision(), o.Revision)
			return
		}
		require.Equal(t, o.Revision, change.Object.Revision)
	}
}

func watchEnds(t *testing.T, h Harness) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := h.Store.Watch(ctx, store.WatchOptions{Revision: revisionOf(t, h.Store)})
	require.NoError(t, err)

	short, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	_, err = w.Next(short)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	o := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	requireNext(t, w, store.Added, o)

	ended := make(chan error)
	go func() {
		_, err := w.Next(context.Background())
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("came back with nothing to tell: %v", err)
	case <-time.After(5 * time.Millisecond): // it waits by now, or else this tests less
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	mustCreate(t, h.Store, draft("vms", "db", 1, nil))
	_, err = w.Next(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = w.TryNext()
	require.ErrorIs(t, err, context.Canceled)
	_, err = h.Store.Watch(ctx, store.WatchOptions{Revision: o.Revision})
	require.ErrorIs(t, err, context.Canceled)
}

// watchTry reads without waiting, as somebody does who has waited for the
// first of several changes.
func watchTry(t *testing.T, h Harness) {
	w := watch(t, h.Store, store.WatchOptions{Namespace: "vms"})
	_, ok, err := w.TryNext()
	require.NoError(t, err)
	require.False(t, ok)
	var want, got []int64
	for n := range 100 {
		mustCreate(t, h.Store, draft("elsewhere", "web"+strconv.Itoa(n), n, nil))
		want = append(want, mustCreate(t, h.Store, draft("vms", "web"+strconv.Itoa(n), n, nil)).Revision)
	}
	for end := time.Now().Add(patience); len(got) < len(want) && time.Now().Before(end); {
		change, ok, err := w.TryNext()
		require.NoError(t, err)
		if ok {
			got = append(got, change.Object.Revision)
		}
	}
	require.Equal(t, want, got)
	_, ok, err = w.TryNext()
	require.NoError(t, err)
	require.False(t, ok)
}

// watchResumes goes on from the revision that each watch has come to, as
// somebody does who was told it in a bookmark.
func watchResumes(t *testing.T, h Harness) {
	opts := store.WatchOptions{Namespace: "vms", Revision: revisionOf(t, h.Store)}
	for n := range 20 {
		w := watch(t, h.Store, opts)
		mustCreate(t, h.Store, draft("elsewhere", "web"+strconv.Itoa(n), n, nil))
		o := mustCreate(t, h.Store, draft("vms", "web"+strconv.Itoa(n), n, nil))
		mustCreate(t, h.Store, draft("elsewhere", "db"+strconv.Itoa(n), n, nil))
		requireNext(t, w, store.Added, o)
		_, ok, err := w.TryNext()
		require.NoError(t, err)
		require.False(t, ok)
		require.GreaterOrEqual(t, w.Revision(), o.Revision)
		opts.Revision = w.Revision()
	}
}
