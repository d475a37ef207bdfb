package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
	"github.com/vmikit/vmikit/server/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		clock := newClock()
		return storetest.Harness{
			Store:  store.NewMemory(store.WithClock(clock.Now), store.WithHistory(store.History{Age: time.Minute})),
			Expire: func() { clock.Advance(time.Minute + 1) },
		}
	})
}

// patient is a context that ends after it was looked at a few times.
type patient struct {
	context.Context
	looks int
}

func (p *patient) Err() error {
	if p.looks--; p.looks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A selector can be as long as somebody cares to send.
func TestListStopsWhenNobodyWaits(t *testing.T) {
	s := store.NewMemory()
	machines(t, s, 200)
	long, err := store.ParseSelector(strings.TrimSuffix(strings.Repeat("!nosuch,", 1000), ","))
	require.NoError(t, err)
	_, err = s.List(&patient{t.Context(), 2}, store.ListOptions{Labels: long})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	page, err := s.List(&patient{t.Context(), 100}, store.ListOptions{Labels: long})
	require.NoError(t, err)
	assert.Len(t, page.Objects, 200)
}

// Neither does it undo changes that nobody waits for.
func TestRewindStopsWhenNobodyWaits(t *testing.T) {
	s := store.NewMemory()
	machines(t, s, 1)
	old := store.ListOptions{Revision: revisionOf(t, s)}
	for i := range 5000 {
		churn(t, s, i, 1)
	}
	_, err := s.List(&patient{t.Context(), 2}, old)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	page, err := s.List(t.Context(), old)
	require.NoError(t, err)
	assert.Equal(t, old.Revision, page.Objects[0].Revision)
}
