package storetest

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// listStates lists every state that there has been, in an order that is not
// theirs, whole, selected and in pages, and compares them with the lists taken
// when they were the newest.
func listStates(t *testing.T, h Harness) {
	const writes = 200
	rnd := rand.New(rand.NewPCG(7, 0))
	selector, err := store.ParseSelector("app in (0,1)")
	require.NoError(t, err)
	options := []store.ListOptions{{}, {Namespace: "ns-1"}, {Labels: selector}, {Namespace: "ns-0", Labels: selector}}
	type state struct {
		options int
		page    *store.Page
	}
	var states []state
	take := func() {
		for i, opts := range options {
			states = append(states, state{i, list(t, h.Store, opts)})
		}
	}
	take()
	for n := range writes {
		write(t, h.Store, rnd, n)
		take()
	}
	rnd.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
	for _, s := range states {
		opts := options[s.options]
		opts.Revision = s.page.Revision
		if rnd.IntN(4) == 0 {
			opts.Limit = 1 + rnd.IntN(4)
			got := walk(t, h.Store, opts, func() {})
			requireSame(t, s.page.Objects, got)
			continue
		}
		page := list(t, h.Store, opts)
		require.Equal(t, s.page.Revision, page.Revision)
		requireSame(t, s.page.Objects, page.Objects)
	}
}

// write does something with one of twenty objects in three namespaces.
func write(t *testing.T, s store.Store, rnd *rand.Rand, n int) {
	t.Helper()
	i := rnd.IntN(20)
	d := draft("ns-"+strconv.Itoa(i%3), "vm-"+strconv.Itoa(i), n, map[string]string{"app": strconv.Itoa(rnd.IntN(4))})
	_, err := s.Get(t.Context(), d.Key)
	switch {
	case err != nil:
		_, err = s.Create(t.Context(), d)
	case rnd.IntN(3) == 0:
		_, err = s.Delete(t.Context(), d.Key, 0)
	default:
		_, err = s.Update(t.Context(), d, 0)
	}
	require.NoError(t, err)
}

func requireSame(t *testing.T, want, got []*store.Object) {
	t.Helper()
	require.Equal(t, spelled(want), spelled(got))
}

func spelled(objects []*store.Object) []string {
	var json []string
	for _, o := range objects {
		json = append(json, string(o.JSON))
	}
	return json
}
