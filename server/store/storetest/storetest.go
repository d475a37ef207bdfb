// Package storetest is the contract of [store.Store] as tests. An
// implementation proves itself with one call:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Harness {
//			return storetest.Harness{Store: open(t)}
//		})
//	}
package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// Harness is one empty store, and what the tests cannot do through its
// interface.
type Harness struct {
	Store store.Store
	// Expire makes the store give up every state but the newest, and what has
	// changed until then, as time or the bounds of its history do in real
	// life. When it is nil, what happens
	// afterwards is skipped.
	Expire func()
}

// Run tests every promise of the documentation of [store.Store]. It opens
// a new store for each test; open closes it with t.Cleanup if it needs to be.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"create", create},
		{"create refuses what is there", createExisting},
		{"create refuses a malformed draft", createMalformed},
		{"get of nothing", getMissing},
		{"update", update},
		{"update expects a revision", updateExpected},
		{"update of nothing", updateMissing},
		{"delete", remove},
		{"delete expects a revision", removeExpected},
		{"delete of nothing", removeMissing},
		{"versions never change", versionsStay},
		{"revisions grow", revisionsGrow},
		{"wait", wait},
		{"wait ends with its context", waitEnds},
		{"list of nothing", listEmpty},
		{"list is in the order of keys", listOrder},
		{"list of one namespace", listNamespace},
		{"namespaces", namespaces},
		{"pages", pages},
		{"pages show one state", pagesPinned},
		{"start is a position", listStart},
		{"states of the past", listStates},
		{"a state expires", listExpired},
		{"a state of the future", listFuture},
		{"label selectors", labelSelectors},
		{"field selectors", fieldSelectors},
		{"selected pages", selectedPages},
		{"watch", watchShows},
		{"watch begins after a revision", watchFrom},
		{"watch waits", watchWaits},
		{"watch of one namespace", watchNamespace},
		{"watch with a label selector", watchLabels},
		{"watch with a field selector", watchFields},
		{"selectable fields", selectableFields},
		{"watch of the future", watchFuture},
		{"watch needs a revision", watchNothing},
		{"watch expires", watchExpired},
		{"a slow watch skips nothing", watchSlow},
		{"watch ends with its context", watchEnds},
		{"watch without waiting", watchTry},
		{"watch resumes", watchResumes},
		{"writers do not lose updates", concurrentWriters},
		{"lists are consistent", concurrentLists},
		{"watches are lists that go on", concurrentWatches},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// draft makes an object whose spec is one number.
func draft(namespace, name string, n int, labels map[string]string) store.Draft {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"labels":          labels,
			"name":            name,
			"namespace":       namespace,
			"resourceVersion": "",
		},
		"spec": map[string]int{"n": n},
	})
	if err != nil {
		panic(err) // strings and numbers
	}
	member := []byte(`"resourceVersion":"`)
	return store.Draft{
		Key:        store.Key{Namespace: namespace, Name: name},
		JSON:       body,
		RevisionAt: bytes.Index(body, member) + len(member),
		Labels:     labels,
	}
}

// mustCreate stores an object for a test that is about something else.
func mustCreate(t *testing.T, s store.Store, d store.Draft) *store.Object {
	t.Helper()
	o, err := s.Create(t.Context(), d)
	require.NoError(t, err)
	return o
}

// requireSpells checks that JSON is that of the draft with the revision in it,
// and that the other fields of the object agree.
func requireSpells(t *testing.T, d store.Draft, o *store.Object) {
	t.Helper()
	want := fmt.Sprintf("%s%d%s", d.JSON[:d.RevisionAt], o.Revision, d.JSON[d.RevisionAt:])
	require.Equal(t, want, string(o.JSON))
	require.Equal(t, d.Key, o.Key)
	for key, value := range d.Labels {
		got, ok := o.Label(key)
		require.True(t, ok, "label %s", key)
		require.Equal(t, value, got)
	}
	_, ok := o.Label("not-" + d.Key.Name)
	require.False(t, ok)
}

// number reads what draft has written.
func number(t *testing.T, o *store.Object) int {
	t.Helper()
	var body struct{ Spec struct{ N int } }
	require.NoError(t, json.Unmarshal(o.JSON, &body))
	return body.Spec.N
}

// list returns a page without a rest.
func list(t *testing.T, s store.Store, opts store.ListOptions) *store.Page {
	t.Helper()
	page, err := s.List(t.Context(), opts)
	require.NoError(t, err)
	return page
}

func keys(objects []*store.Object) []string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Key.String()
	}
	return names
}
