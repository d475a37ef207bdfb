package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func TestCompact(t *testing.T) {
	s := store.NewMemory()
	machines(t, s, 10)
	before := revisionOf(t, s)
	rest := token(t, s, store.ListOptions{Limit: 3})
	running, err := s.Watch(t.Context(), store.WatchOptions{Revision: before})
	require.NoError(t, err)
	churn(t, s, 1, 10)

	s.Compact()
	now := revisionOf(t, s)
	assert.Greater(t, now, before+1, "nothing that somebody knows is the newest")
	assert.False(t, held(t, s, rest))
	assert.False(t, held(t, s, store.ListOptions{Revision: now - 1}))
	assert.True(t, held(t, s, store.ListOptions{Revision: now}))
	_, err = s.Watch(t.Context(), store.WatchOptions{Revision: now - 1})
	var expired *store.ExpiredError
	require.ErrorAs(t, err, &expired)
	assert.Equal(t, now, expired.Oldest)

	change, ok, err := running.TryNext()
	require.NoError(t, err)
	require.True(t, ok, "a watch that was there is told what it has not read yet")
	assert.Equal(t, before+1, change.Object.Revision)
	later, err := s.Watch(t.Context(), store.WatchOptions{Revision: now})
	require.NoError(t, err)
	churn(t, s, 2, 10)
	for _, w := range []store.Watch{running, later} {
		change, err := w.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, now+1, change.Object.Revision)
	}
}

// A watch that waits is not disturbed, and one that waits for a revision has it.
func TestCompactWakes(t *testing.T) {
	s := store.NewMemory()
	machines(t, s, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	now := revisionOf(t, s)
	w, err := s.Watch(ctx, store.WatchOptions{Revision: now, Namespace: machine(0, 0).Key.Namespace})
	require.NoError(t, err)
	next := make(chan error)
	go func() { next <- s.Wait(ctx, now+1) }()
	go func() { _, err := w.Next(ctx); next <- err }()
	time.Sleep(time.Millisecond)
	s.Compact()
	require.NoError(t, <-next)
	churn(t, s, 1, 1)
	require.NoError(t, <-next)
}
