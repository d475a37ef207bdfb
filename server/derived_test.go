package server_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// awaited counts who waits for machines, and fails one of them for each fail.
type awaited struct {
	*store.Memory
	waits atomic.Int64
	fail  chan struct{}
}

func newAwaited() *awaited { return &awaited{Memory: store.NewMemory(), fail: make(chan struct{})} }

func (a *awaited) Wait(ctx context.Context, revision int64) error {
	a.waits.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- a.Memory.Wait(ctx, revision) }()
	select {
	case err := <-done:
		return err
	case <-a.fail:
		cancel()
		<-done
		return errors.New("the machines are not to be had")
	}
}

// settled waits until nobody begins to wait any more, and says how often somebody did.
func (a *awaited) settled(t *testing.T) (waits int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		was := waits
		waits = a.waits.Load()
		return waits == was
	}, 10*time.Second, 50*time.Millisecond)
	return waits
}

// What changes no node wakes no watch of nodes.
func TestIdleDerivedWatches(t *testing.T) {
	st := newAwaited()
	f := startStore(t, st).create("vms/a")
	const watches, writes = 20, 10
	var all []*watch
	for range watches {
		w := f.watch("/api/v1/nodes?watch=1")
		w.next(1)
		all = append(all, w)
	}
	before := st.settled(t)
	for i := range writes {
		f.update(fmt.Sprintf("vms/a n=%d", i))
	}
	assert.LessOrEqual(t, st.settled(t)-before, int64(writes), "one waits for all")

	f.send("PATCH", inVMs+"/a", `{"status":{"nodeName":"node-2"}}`).written(t, 200)
	for _, w := range all {
		events, names := w.next(2)
		assert.ElementsMatch(t, []string{"DELETED /node-1", "ADDED /node-2"}, names, events)
	}
}

// A failure ends all watches, and not the next.
func TestDerivedWatchesOfFailingStore(t *testing.T) {
	st := newAwaited()
	f := startStore(t, st).create("vms/a")
	var all []*watch
	for range 2 {
		w := f.watch("/api/v1/nodes?watch=1")
		w.next(1)
		all = append(all, w)
	}
	st.settled(t)
	st.fail <- struct{}{}
	for _, w := range all {
		assert.Empty(t, w.rest())
	}
	again := f.watch("/api/v1/nodes?watch=1")
	_, names := again.next(1)
	assert.Equal(t, []string{"ADDED /node-1"}, names)
	f.send("PATCH", inVMs+"/a", `{"status":{"nodeName":"node-2"}}`).written(t, 200)
	again.next(2)
}
