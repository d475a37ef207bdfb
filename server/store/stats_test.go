package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func TestStats(t *testing.T) {
	s := store.NewMemory()
	empty := s.Stats()
	assert.Zero(t, empty.Objects)
	assert.Zero(t, empty.HistoryBytes)
	for _, name := range []string{"a", "b"} {
		_, err := s.Create(t.Context(), draft("vms", name))
		require.NoError(t, err)
	}
	two := s.Stats()
	assert.Equal(t, 2, two.Objects)
	assert.Equal(t, empty.Revision+2, two.Revision)
	assert.Positive(t, two.HistoryBytes)
	_, err := s.Delete(t.Context(), store.Key{Namespace: "vms", Name: "a"}, 0)
	require.NoError(t, err)
	one := s.Stats()
	assert.Equal(t, 1, one.Objects)
	assert.Greater(t, one.HistoryBytes, two.HistoryBytes, "what was deleted is history")
	_, err = s.Create(t.Context(), draft("vms", "c"))
	require.NoError(t, err)
	page, err := s.List(t.Context(), store.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.True(t, page.More)
	before := s.Stats().HistoryBytes
	_, err = s.Delete(t.Context(), store.Key{Namespace: "vms", Name: "c"}, 0)
	require.NoError(t, err)
	assert.Greater(t, s.Stats().HistoryBytes-before, one.HistoryBytes-two.HistoryBytes, "and more so where a page still shows it")
}
