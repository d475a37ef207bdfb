package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func TestFirstRevision(t *testing.T) {
	clock := newClock()
	revision, err := store.NewMemory(store.WithClock(clock.Now)).Revision(t.Context())
	require.NoError(t, err)
	require.Equal(t, clock.Now().UnixMicro(), revision)

	lost := func() time.Time { return time.Unix(-1000, 0) } // a board without a battery
	revision, err = store.NewMemory(store.WithClock(lost)).Revision(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, revision)
}

// token takes a first page and returns what asks for the second one.
func token(t *testing.T, s store.Store, opts store.ListOptions) store.ListOptions {
	t.Helper()
	page, err := s.List(t.Context(), opts)
	require.NoError(t, err)
	require.True(t, page.More)
	opts.Revision = page.Revision
	opts.Start = page.Objects[len(page.Objects)-1].Key.After()
	return opts
}

func held(t *testing.T, s store.Store, token store.ListOptions) bool {
	t.Helper()
	_, err := s.List(t.Context(), token)
	if err != nil {
		require.ErrorIs(t, err, store.ErrExpired)
	}
	return err == nil
}

func TestHistoryAge(t *testing.T) {
	clock := newClock()
	s := store.NewMemory(store.WithClock(clock.Now))
	machines(t, s, 10)
	first := token(t, s, store.ListOptions{Limit: 3})
	churn(t, s, 1, 10)
	clock.Advance(4 * time.Minute)
	second := token(t, s, store.ListOptions{Limit: 3})
	churn(t, s, 2, 10)
	assert.True(t, held(t, s, first))
	clock.Advance(time.Minute + 1)
	assert.False(t, held(t, s, first), "following a token does not make it younger")
	assert.True(t, held(t, s, second))
	clock.Advance(4 * time.Minute)
	assert.False(t, held(t, s, second))
}

func TestHistoryCount(t *testing.T) {
	s := store.NewMemory(store.WithHistory(store.History{Count: 2, Changes: 1}))
	machines(t, s, 10)
	var tokens []store.ListOptions
	for i := range 4 {
		tokens = append(tokens, token(t, s, store.ListOptions{Limit: 3}), token(t, s, store.ListOptions{Limit: 5}))
		churn(t, s, i, 10)
	}
	for i, token := range tokens {
		assert.Equal(t, i >= 4, held(t, s, token), "token %d of 8, two for each revision", i)
	}
}

// Versions that no pinned state shows are nobody's burden: one object written
// a thousand times leaves one old version in the pinned state, not a thousand.
func TestHistoryBytes(t *testing.T) {
	const objects = 20
	s := store.NewMemory(store.WithHistory(store.History{Bytes: 2 * 10 * 4096, Changes: 1}))
	machines(t, s, objects)
	pinned := token(t, s, store.ListOptions{Limit: 3})
	for range 1000 {
		churn(t, s, 1, objects)
	}
	assert.True(t, held(t, s, pinned))
	for step := 2; step < 12; step++ {
		assert.True(t, step >= 10 || held(t, s, pinned), "after %d objects of ten", step)
		churn(t, s, step, objects)
	}
	assert.False(t, held(t, s, pinned))
}

func TestDeletionsCount(t *testing.T) {
	s := store.NewMemory(store.WithHistory(store.History{Bytes: 2 * 10 * 4096, Changes: 1}))
	machines(t, s, 20)
	pinned := token(t, s, store.ListOptions{Limit: 3})
	for i := range 12 {
		_, err := s.Delete(t.Context(), machine(i, 0).Key, 0)
		require.NoError(t, err)
	}
	assert.False(t, held(t, s, pinned))
}

// Only a page with a rest holds its state.
func TestWholeListsAreNotPinned(t *testing.T) {
	s := store.NewMemory(store.WithHistory(store.History{Changes: 1}))
	machines(t, s, 10)
	for _, limit := range []int{0, 10, 11} {
		page, err := s.List(t.Context(), store.ListOptions{Limit: limit})
		require.NoError(t, err)
		require.False(t, page.More)
		churn(t, s, limit, 10)
		assert.True(t, held(t, s, store.ListOptions{Revision: page.Revision}), "by the log, which undoes one change")
		churn(t, s, limit, 10)
		assert.False(t, held(t, s, store.ListOptions{Revision: page.Revision}))
	}
}

func TestAbandonedTokensDoNotGrowTheHeap(t *testing.T) {
	const objects, bound = 300, 4 << 20
	s := store.NewMemory(store.WithHistory(store.History{Bytes: bound}))
	machines(t, s, objects)
	before := heap()
	var last store.ListOptions
	for i := range 1000 {
		last = token(t, s, store.ListOptions{Limit: 1 + i%50})
		for step := range 5 {
			churn(t, s, 5*i+step, objects)
		}
	}
	// 5,000 versions of 4 KB were superseded, 20 MB.
	grown := heap() - before
	assert.Less(t, grown, int64(bound+bound/4), "the bound and some slack")
	assert.Greater(t, grown, int64(bound/4), "states were held at all, and the measure is a measure")
	assert.True(t, held(t, s, last))
}
