package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vmikit/vmikit/server/store"
)

// eventAge is how long an event is kept after it was last written (event-ttl of
// kube-apiserver).
const eventAge = time.Hour

// forgetful is a store that forgets what nobody has written for a while. It does so
// when something is written, so that it holds no more than that while brings.
type forgetful struct {
	*store.Memory
	now func() time.Time

	mu     sync.Mutex
	writes []noted // in their order
}

type noted struct {
	key      store.Key
	revision int64
	at       time.Time
}

// Create implements [store.Store].
func (f *forgetful) Create(ctx context.Context, d store.Draft) (*store.Object, error) {
	o, err := f.Memory.Create(ctx, d)
	if err != nil {
		return nil, err
	}
	return o, f.forget(ctx, o)
}

// Update implements [store.Store].
func (f *forgetful) Update(ctx context.Context, d store.Draft, expected int64) (*store.Object, error) {
	o, err := f.Memory.Update(ctx, d, expected)
	if err != nil {
		return nil, err
	}
	return o, f.forget(ctx, o)
}

// forget notes a write, and removes what was written too long ago and not since.
func (f *forgetful) forget(ctx context.Context, written *store.Object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	f.writes = append(f.writes, noted{written.Key, written.Revision, now})
	for now.Sub(f.writes[0].at) >= eventAge {
		w := f.writes[0]
		_, err := f.Memory.Delete(context.WithoutCancel(ctx), w.key, w.revision)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
			return err
		}
		f.writes = f.writes[1:]
	}
	return nil
}
