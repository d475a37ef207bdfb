package storetest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// fill stores objects whose names and namespaces sort in surprising ways, in
// an order that is not theirs, and returns the keys in the order of bytes.
func fill(t *testing.T, s store.Store) []string {
	t.Helper()
	var want []string
	for _, namespace := range []string{"b", "a", "a-b", "a.b", "a0", "ab"} {
		for _, name := range []string{"x", "vm-10", "vm1", "vm", "0"} {
			mustCreate(t, s, draft(namespace, name, 1, nil))
			want = append(want, namespace+"/"+name)
		}
	}
	slices.Sort(want)
	return want
}

func listEmpty(t *testing.T, h Harness) {
	revision, err := h.Store.Revision(t.Context())
	require.NoError(t, err)
	for _, opts := range []store.ListOptions{{}, {Namespace: "vms"}, {Limit: 3}, {Start: "vms/x"}, {Revision: revision}} {
		require.Equal(t, &store.Page{Revision: revision}, list(t, h.Store, opts))
	}
	names, at, err := h.Store.Namespaces(t.Context())
	require.NoError(t, err)
	require.Empty(t, names)
	require.Equal(t, revision, at)
}

func listOrder(t *testing.T, h Harness) {
	want := fill(t, h.Store)
	page := list(t, h.Store, store.ListOptions{})
	require.Equal(t, want, keys(page.Objects))
	require.False(t, page.More)
	require.Zero(t, page.Remaining)
	require.True(t, slices.IsSortedFunc(page.Objects, func(a, b *store.Object) int { return a.Key.Compare(b.Key) }))
	for _, o := range page.Objects {
		requireSpells(t, draft(o.Key.Namespace, o.Key.Name, 1, nil), o)
	}
}

func listNamespace(t *testing.T, h Harness) {
	all := fill(t, h.Store)
	for _, namespace := range []string{"a", "a-b", "a.b", "a0", "ab", "b", "none", "a/vm"} {
		want := slices.DeleteFunc(slices.Clone(all), func(key string) bool {
			return len(key) <= len(namespace) || key[:len(namespace)+1] != namespace+"/"
		})
		page := list(t, h.Store, store.ListOptions{Namespace: namespace})
		require.Equal(t, want, keys(page.Objects), namespace)
	}
}

func namespaces(t *testing.T, h Harness) {
	fill(t, h.Store)
	for _, name := range []string{"x", "vm-10", "vm1", "vm", "0"} {
		_, err := h.Store.Delete(t.Context(), store.Key{Namespace: "a.b", Name: name}, 0)
		require.NoError(t, err)
	}
	names, at, err := h.Store.Namespaces(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "a-b", "a0", "ab", "b"}, names)
	revision, err := h.Store.Revision(t.Context())
	require.NoError(t, err)
	require.Equal(t, revision, at)
}

// walk follows pages to the end, calling between for what happens meanwhile.
func walk(t *testing.T, s store.Store, opts store.ListOptions, between func()) []*store.Object {
	t.Helper()
	var all []*store.Object
	for {
		page := list(t, s, opts)
		require.LessOrEqual(t, len(page.Objects), opts.Limit)
		if opts.Revision != 0 {
			require.Equal(t, opts.Revision, page.Revision)
		}
		all = append(all, page.Objects...)
		if !page.More {
			require.Zero(t, page.Remaining)
			return all
		}
		require.Len(t, page.Objects, opts.Limit, "a page with a rest is a full one")
		opts.Revision = page.Revision
		opts.Start = page.Objects[len(page.Objects)-1].Key.After()
		between()
	}
}

func pages(t *testing.T, h Harness) {
	all := fill(t, h.Store)
	for _, limit := range []int{1, 2, 7, len(all) - 1, len(all), len(all) + 1, 1 << 40} {
		page := list(t, h.Store, store.ListOptions{Limit: limit})
		require.Equal(t, max(0, len(all)-limit), int(page.Remaining), "limit %d", limit)
		require.Equal(t, page.Remaining > 0, page.More)
		require.Equal(t, all, keys(walk(t, h.Store, store.ListOptions{Limit: limit}, func() {})))
	}
	for _, limit := range []int{0, -1} {
		require.Equal(t, all, keys(list(t, h.Store, store.ListOptions{Limit: limit}).Objects))
	}
	page := list(t, h.Store, store.ListOptions{Namespace: "a", Limit: 2})
	require.EqualValues(t, 3, page.Remaining, "what other namespaces have does not count")
	rest := list(t, h.Store, store.ListOptions{Namespace: "a", Start: page.Objects[1].Key.After(), Revision: page.Revision})
	require.Equal(t, []string{"a/vm-10", "a/vm1", "a/x"}, keys(rest.Objects), "without a limit the rest comes whole")
}

func pagesPinned(t *testing.T, h Harness) {
	fill(t, h.Store)
	want := list(t, h.Store, store.ListOptions{}).Objects
	n := 0
	got := walk(t, h.Store, store.ListOptions{Limit: 4}, func() {
		n++
		mustCreate(t, h.Store, draft("a-b", "new-"+strconv.Itoa(n), n, nil))
		mustCreate(t, h.Store, draft("zz", "new-"+strconv.Itoa(n), n, nil))
		_, err := h.Store.Update(t.Context(), draft("b", "x", 1+n, nil), 0)
		require.NoError(t, err)
		_, err = h.Store.Delete(t.Context(), want[len(want)-1-n].Key, 0)
		require.NoError(t, err)
	})
	require.Greater(t, n, 3)
	require.Equal(t, keys(want), keys(got))
	for i := range want {
		require.Equal(t, string(want[i].JSON), string(got[i].JSON))
	}
	require.NotEqual(t, keys(want), keys(list(t, h.Store, store.ListOptions{}).Objects))
}

func listStart(t *testing.T, h Harness) {
	all := fill(t, h.Store)
	for _, start := range []string{
		"", "\x00", "a", "a-", "a-b", "a-b/", "a-b/vm", "a-b/vm\x00", "a-b/vm-", "a/", "a/vm1\x00", "a/zz", "a0", "a0/", "b/x", "b/x\x00", "c", "\xff",
	} {
		i, _ := slices.BinarySearchFunc(all, start, cmp.Compare)
		require.Equal(t, all[i:], keys(list(t, h.Store, store.ListOptions{Start: start}).Objects), "start %q", start)

		inA := []string{}
		for _, key := range all[i:] {
			if key[:2] == "a/" {
				inA = append(inA, key)
			}
		}
		require.Equal(t, inA, keys(list(t, h.Store, store.ListOptions{Namespace: "a", Start: start}).Objects), "start %q", start)
	}
}

func listExpired(t *testing.T, h Harness) {
	if h.Expire == nil {
		t.Skip("this store cannot be made to forget")
	}
	fill(t, h.Store)
	page := list(t, h.Store, store.ListOptions{Limit: 2})
	next := store.ListOptions{Limit: 2, Revision: page.Revision, Start: page.Objects[1].Key.After()}
	h.Expire()
	require.Len(t, list(t, h.Store, next).Objects, 2, "the newest state does not expire")

	mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	h.Expire()
	_, err := h.Store.List(t.Context(), next)
	require.ErrorIs(t, err, store.ErrExpired)
	next.Revision = -1
	_, err = h.Store.List(t.Context(), next)
	require.ErrorIs(t, err, store.ErrExpired)
	next.Revision = 0
	require.Len(t, list(t, h.Store, next).Objects, 2)
}

func listFuture(t *testing.T, h Harness) {
	o := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	_, err := h.Store.List(t.Context(), store.ListOptions{Revision: o.Revision + 1000})
	var future *store.FutureRevisionError
	require.True(t, errors.As(err, &future), "%v", err)
	require.Equal(t, store.FutureRevisionError{Requested: o.Revision + 1000, Current: o.Revision}, *future)
}
