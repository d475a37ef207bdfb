package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// selectableFields are those that a draft brings along: lists and watches select by
// them, and a watch tells of an object that begins or ends to be selected.
func selectableFields(t *testing.T, h Harness) {
	with := func(name, phase string) store.Draft {
		d := draft("vms", name, 1, nil)
		d.Fields = map[string]string{"status.phase": phase}
		return d
	}
	running, err := store.ParseFieldSelector("status.phase=Running", "status.phase")
	require.NoError(t, err)
	idle, err := store.ParseFieldSelector("status.phase!=Running", "status.phase")
	require.NoError(t, err)
	begin := revisionOf(t, h.Store)
	mustCreate(t, h.Store, with("a", "Running"))
	b := mustCreate(t, h.Store, with("b", "Pending"))
	mustCreate(t, h.Store, draft("vms", "c", 1, nil))
	require.Equal(t, []string{"vms/a"}, keys(list(t, h.Store, store.ListOptions{Fields: running}).Objects))
	require.Equal(t, []string{"vms/b", "vms/c"}, keys(list(t, h.Store, store.ListOptions{Fields: idle}).Objects))

	b, err = h.Store.Update(t.Context(), with("b", "Running"), b.Revision)
	require.NoError(t, err)
	_, err = h.Store.Update(t.Context(), with("a", "Failed"), 0)
	require.NoError(t, err)
	w := watch(t, h.Store, store.WatchOptions{Fields: running, Revision: begin})
	for _, want := range []struct {
		event store.ChangeType
		key   string
	}{{store.Added, "vms/a"}, {store.Added, "vms/b"}, {store.Deleted, "vms/a"}} {
		change, err := next(t, w)
		require.NoError(t, err)
		require.Equal(t, want.event, change.Type)
		require.Equal(t, want.key, change.Object.Key.String())
	}
	_, err = h.Store.Delete(t.Context(), b.Key, 0)
	require.NoError(t, err)
	change, err := next(t, w)
	require.NoError(t, err)
	require.Equal(t, store.Deleted, change.Type)
}
