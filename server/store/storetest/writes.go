package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func create(t *testing.T, h Harness) {
	d := draft("vms", "web", 1, map[string]string{"app": "web", "tier": "", "example.com/x": "y"})
	before := bytes.Clone(d.JSON)
	created := mustCreate(t, h.Store, d)
	require.Equal(t, before, d.JSON, "the draft was written to")
	requireSpells(t, d, created)

	clear(d.JSON) // the store has its own copy
	clear(d.Labels)
	got, err := h.Store.Get(t.Context(), d.Key)
	require.NoError(t, err)
	require.Equal(t, created.Revision, got.Revision)
	d.JSON = before
	d.Labels = map[string]string{"app": "web", "tier": "", "example.com/x": "y"}
	requireSpells(t, d, got)
}

func createExisting(t *testing.T, h Harness) {
	first := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	_, err := h.Store.Create(t.Context(), draft("vms", "web", 2, nil))
	require.ErrorIs(t, err, store.ErrExists)
	requireUntouched(t, h.Store, first)
}

// requireUntouched checks that an object is the newest thing in the store.
func requireUntouched(t *testing.T, s store.Store, o *store.Object) {
	t.Helper()
	got, err := s.Get(t.Context(), o.Key)
	require.NoError(t, err)
	require.Equal(t, string(o.JSON), string(got.JSON))
	revision, err := s.Revision(t.Context())
	require.NoError(t, err)
	require.Equal(t, o.Revision, revision)
}

func createMalformed(t *testing.T, h Harness) {
	before, err := h.Store.Revision(t.Context())
	require.NoError(t, err)
	for name, change := range map[string]func(*store.Draft){
		"no namespace":            func(d *store.Draft) { d.Key.Namespace = "" },
		"no name":                 func(d *store.Draft) { d.Key.Name = "" },
		"slash in the name":       func(d *store.Draft) { d.Key.Name = "a/b" },
		"NUL in the namespace":    func(d *store.Draft) { d.Key.Namespace = "a\x00" },
		"offset before the JSON":  func(d *store.Draft) { d.RevisionAt = -1 },
		"offset behind the JSON":  func(d *store.Draft) { d.RevisionAt = len(d.JSON) },
		"offset in another place": func(d *store.Draft) { d.RevisionAt-- },
		"NUL in a label's key":    func(d *store.Draft) { d.Labels = map[string]string{"a\x00": ""} },
		"no JSON":                 func(d *store.Draft) { d.JSON = nil },
		"a revision already":      func(d *store.Draft) { d.JSON[d.RevisionAt] = '7' },
	} {
		t.Run(name, func(t *testing.T) {
			d := draft("vms", "web", 1, nil)
			change(&d)
			_, err := h.Store.Create(t.Context(), d)
			require.Error(t, err)
			require.Empty(t, list(t, h.Store, store.ListOptions{}).Objects)
		})
	}
	after, err := h.Store.Revision(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func getMissing(t *testing.T, h Harness) {
	mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	for _, key := range []store.Key{{}, {Namespace: "vms", Name: "we"}, {Namespace: "vms", Name: "web0"}, {Namespace: "vm", Name: "web"}, {Name: "vms/web"}} {
		_, err := h.Store.Get(t.Context(), key)
		require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
	}
}

func update(t *testing.T, h Harness) {
	first := mustCreate(t, h.Store, draft("vms", "web", 1, map[string]string{"app": "web"}))
	d := draft("vms", "web", 2, map[string]string{"tier": "gold"})
	second, err := h.Store.Update(t.Context(), d, 0)
	require.NoError(t, err)
	requireSpells(t, d, second)
	require.Greater(t, second.Revision, first.Revision)
	_, ok := second.Label("app")
	require.False(t, ok)
	requireUntouched(t, h.Store, second)
}

func updateExpected(t *testing.T, h Harness) {
	first := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	second, err := h.Store.Update(t.Context(), draft("vms", "web", 2, nil), first.Revision)
	require.NoError(t, err)
	_, err = h.Store.Update(t.Context(), draft("vms", "web", 3, nil), first.Revision)
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = h.Store.Update(t.Context(), draft("vms", "web", 3, nil), second.Revision+1)
	require.ErrorIs(t, err, store.ErrConflict)
	requireUntouched(t, h.Store, second)
}

func updateMissing(t *testing.T, h Harness) {
	other := mustCreate(t, h.Store, draft("vms", "other", 1, nil))
	for _, expected := range []int64{0, other.Revision} {
		_, err := h.Store.Update(t.Context(), draft("vms", "web", 1, nil), expected)
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	requireUntouched(t, h.Store, other)
}

func remove(t *testing.T, h Harness) {
	d := draft("vms", "web", 1, map[string]string{"app": "web"})
	created := mustCreate(t, h.Store, d)
	last, err := h.Store.Delete(t.Context(), d.Key, 0)
	require.NoError(t, err)
	require.Greater(t, last.Revision, created.Revision)
	requireSpells(t, d, last)
	revision, err := h.Store.Revision(t.Context())
	require.NoError(t, err)
	require.Equal(t, last.Revision, revision)

	_, err = h.Store.Get(t.Context(), d.Key)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Empty(t, list(t, h.Store, store.ListOptions{}).Objects)
	again := mustCreate(t, h.Store, d)
	require.Greater(t, again.Revision, last.Revision)
}

func removeExpected(t *testing.T, h Harness) {
	first := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	second, err := h.Store.Update(t.Context(), draft("vms", "web", 2, nil), 0)
	require.NoError(t, err)
	_, err = h.Store.Delete(t.Context(), first.Key, first.Revision)
	require.ErrorIs(t, err, store.ErrConflict)
	requireUntouched(t, h.Store, second)
	_, err = h.Store.Delete(t.Context(), first.Key, second.Revision)
	require.NoError(t, err)
}

func removeMissing(t *testing.T, h Harness) {
	other := mustCreate(t, h.Store, draft("vms", "other", 1, nil))
	_, err := h.Store.Delete(t.Context(), store.Key{Namespace: "vms", Name: "web"}, 0)
	require.ErrorIs(t, err, store.ErrNotFound)
	requireUntouched(t, h.Store, other)
}

func versionsStay(t *testing.T, h Harness) {
	d := draft("vms", "web", 1, map[string]string{"app": "web"})
	first := mustCreate(t, h.Store, d)
	page := list(t, h.Store, store.ListOptions{})
	_, err := h.Store.Update(t.Context(), draft("vms", "web", 2, nil), 0)
	require.NoError(t, err)
	_, err = h.Store.Delete(t.Context(), d.Key, 0)
	require.NoError(t, err)
	requireSpells(t, d, first)
	require.Len(t, page.Objects, 1)
	requireSpells(t, d, page.Objects[0])
}

func revisionsGrow(t *testing.T, h Harness) {
	last, err := h.Store.Revision(t.Context())
	require.NoError(t, err)
	require.Positive(t, last)
	check := func(o *store.Object, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Greater(t, o.Revision, last)
		last, err = h.Store.Revision(t.Context())
		require.NoError(t, err)
		require.Equal(t, o.Revision, last)
		require.Equal(t, last, list(t, h.Store, store.ListOptions{Namespace: "elsewhere"}).Revision)
	}
	for range 3 {
		check(h.Store.Create(t.Context(), draft("vms", "web", 1, nil)))
		check(h.Store.Update(t.Context(), draft("vms", "web", 1, nil), 0))
		check(h.Store.Create(t.Context(), draft("vms", "db", 1, nil)))
		check(h.Store.Delete(t.Context(), store.Key{Namespace: "vms", Name: "web"}, 0))
		check(h.Store.Delete(t.Context(), store.Key{Namespace: "vms", Name: "db"}, 0))
	}
}

func wait(t *testing.T, h Harness) {
	o := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	require.NoError(t, h.Store.Wait(t.Context(), 0))
	require.NoError(t, h.Store.Wait(t.Context(), o.Revision))

	done := make(chan error)
	go func() { done <- h.Store.Wait(t.Context(), o.Revision+3) }()
	for {
		u, err := h.Store.Update(t.Context(), draft("vms", "web", 2, nil), 0)
		require.NoError(t, err)
		if u.Revision >= o.Revision+3 {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("waited for %d, came back at %d: %v", o.Revision+3, u.Revision, err)
		case <-time.After(time.Millisecond): // a store that comes back too early has had its chance
		}
	}
	require.NoError(t, <-done)
}

func waitEnds(t *testing.T, h Harness) {
	o := mustCreate(t, h.Store, draft("vms", "web", 1, nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := h.Store.Wait(ctx, o.Revision+100)
	require.ErrorIs(t, err, context.Canceled)
	var future *store.FutureRevisionError
	require.True(t, errors.As(err, &future))
	require.Equal(t, store.FutureRevisionError{Requested: o.Revision + 100, Current: o.Revision}, *future)
}
