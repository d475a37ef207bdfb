package apiserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/interop/apiserver"
)

func TestFleet(t *testing.T) {
	server := start(t, apiserver.Options{})
	_, err := server.CreateFleet(t.Context(), apiserver.FleetOptions{Machines: 1})
	require.EqualError(t, err, "no fleet has 1 machines in 0 namespaces")

	fleet := create(t, server, apiserver.FleetOptions{Machines: 60, Namespaces: 7, Seed: 3})
	before := list(t, server)
	assert.Len(t, before, 60)
	namespaces, phases, keys := make(map[string]int), make(map[string]int), make(map[string]int)
	for _, m := range before {
		namespaces[m.Metadata.Namespace]++
		phases[m.Status.Phase]++
		for key := range m.Metadata.Labels {
			keys[key]++
		}
	}
	assert.Len(t, namespaces, 7)
	assert.Len(t, phases, 3)
	assert.Len(t, keys, 6)
	for key, n := range keys {
		assert.Less(t, n, 60, "%s is on every machine", key)
	}

	_, err = fleet.Churn(t.Context(), 0)
	require.EqualError(t, err, "churn: the rate must be positive, got 0")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	changes, err := fleet.Churn(ctx, 50)
	require.NoError(t, err)
	assert.Greater(t, changes, 20)

	// What there was is there, changed, made anew or gone, and nothing else is.
	was := make(map[string]machine)
	for _, m := range before {
		was[m.Metadata.Namespace+"/"+m.Metadata.Name] = m
	}
	var changed, anew int
	after := list(t, server)
	for _, m := range after {
		old, known := was[m.Metadata.Namespace+"/"+m.Metadata.Name]
		assert.True(t, known)
		switch {
		case old.Metadata.UID != m.Metadata.UID:
			anew++
		case old.Metadata.ResourceVersion != m.Metadata.ResourceVersion:
			changed++
			assert.JSONEq(t, string(old.Spec), string(m.Spec), "a specification never changes")
		}
	}
	assert.Positive(t, changed)
	assert.Positive(t, anew+60-len(after), "machines that were deleted")
	assert.GreaterOrEqual(t, len(after), 30)
}
