package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// Exactly the states that the log reaches back to can be listed, and those
// that a page with a rest was answered from.
func TestStatesThatTheLogReaches(t *testing.T) {
	const changes = 50
	rnd := rand.New(rand.NewPCG(3, 0))
	s := store.NewMemory(store.WithHistory(store.History{Changes: changes, Count: 3}))
	machines(t, s, 30)
	versions := map[int64][]string{}
	for step := range 400 {
		page, err := s.List(t.Context(), store.ListOptions{})
		require.NoError(t, err)
		versions[page.Revision] = names(page.Objects)

		revision := page.Revision - int64(rnd.IntN(2*changes))
		page, err = s.List(t.Context(), store.ListOptions{Revision: revision})
		if page != nil {
			require.Equal(t, revision, page.Revision)
		}
		switch reached := revisionOf(t, s)-revision <= changes; {
		case versions[revision] == nil && step < 2*changes: // before the first
		case reached || err == nil:
			require.NoError(t, err)
			require.Equal(t, versions[revision], names(page.Objects))
		default:
			require.ErrorIs(t, err, store.ErrExpired)
		}
		switch i := rnd.IntN(30); rnd.IntN(3) {
		case 0:
			if _, err := s.Delete(t.Context(), machine(i, 0).Key, 0); err == nil {
				break
			}
			_, err := s.Create(t.Context(), machine(i, step))
			require.NoError(t, err)
		default:
			if _, err := s.Update(t.Context(), machine(i, step), 0); err != nil {
				require.ErrorIs(t, err, store.ErrNotFound)
			}
		}
	}
}

func names(objects []*store.Object) []string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = fmt.Sprint(o.Key, " ", o.Revision)
	}
	return all
}

// A page of an old state holds it as any page with a rest does, when the log
// reaches back to it no longer.
func TestRewoundStatesArePinned(t *testing.T) {
	const objects = 20
	s := store.NewMemory(store.WithHistory(store.History{Changes: 10}))
	machines(t, s, objects)
	whole, err := s.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	for i := range 10 {
		churn(t, s, i, objects)
	}
	first, err := s.List(t.Context(), store.ListOptions{Limit: 3, Revision: whole.Revision})
	require.NoError(t, err)
	for i := range 100 {
		churn(t, s, i, objects)
	}
	rest, err := s.List(t.Context(), store.ListOptions{Revision: whole.Revision, Start: first.Objects[2].Key.After()})
	require.NoError(t, err)
	assert.Equal(t, names(whole.Objects), names(append(first.Objects, rest.Objects...)))
}

// What such a state shows that was superseded before it was made is charged
// to it.
func TestRewoundStatesCount(t *testing.T) {
	const objects = 20
	s := store.NewMemory(store.WithHistory(store.History{Bytes: 2 * 10 * 4096, Changes: 7}))
	machines(t, s, objects)
	old := revisionOf(t, s)
	for i := range 7 {
		churn(t, s, i, objects)
	}
	pinned := token(t, s, store.ListOptions{Limit: 3, Revision: old})
	churn(t, s, 7, objects)
	assert.True(t, held(t, s, pinned), "eight versions, of ten")
	for i := 8; i < 12; i++ {
		churn(t, s, i, objects)
	}
	assert.False(t, held(t, s, pinned))
}

// Tokens of ever older states do not keep each other young, and hold no more
// than any others.
func TestRewoundStatesAreBounded(t *testing.T) {
	const objects, bound = 300, 4 << 20
	clock := newClock()
	s := store.NewMemory(store.WithHistory(store.History{Bytes: bound}), store.WithClock(clock.Now))
	machines(t, s, objects)
	before := heap()
	var last store.ListOptions
	for i := range 2000 {
		churn(t, s, i*7, objects)
		if i%20 == 0 {
			last = token(t, s, store.ListOptions{Limit: 1, Revision: revisionOf(t, s) - int64(min(i, 200))})
		}
	}
	grown := heap() - before
	assert.Less(t, grown, int64(bound+bound/4), "the bound and some slack")
	assert.Greater(t, grown, int64(bound/4), "states were held at all, and the measure is a measure")
	assert.True(t, held(t, s, last))

	clock.Advance(3 * 60e9)
	token(t, s, store.ListOptions{Limit: 1, Revision: last.Revision - 1})
	clock.Advance(2*60e9 + 1)
	assert.False(t, held(t, s, last))
	assert.False(t, held(t, s, store.ListOptions{Revision: last.Revision - 1}))
}
