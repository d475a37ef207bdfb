package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/btree"
)

// Memory is a [Store] in memory. Make one with [NewMemory].
//
// A list works on a snapshot, which costs two small allocations to take, and
// holds no lock while it does; the write after it copies the tree nodes that
// it changes. Lists of the same revision share one snapshot.
//
// A watch reads the log of changes that all watches share. It costs a few
// hundred bytes, and nothing at a write in a namespace that it does not show.
// [History] bounds the log.
type Memory struct {
	clock func() time.Time
	log   *changeLog

	mu       sync.RWMutex
	revision int64
	objects  *btree.BTreeG[*Object]
	index    *btree.BTreeG[posting]
	snapshot *snapshot // of this revision, once a list has asked for it
	pins     pins      // snapshots of earlier revisions that have a name outside
}

var _ Store = (*Memory)(nil)

// Option changes what [NewMemory] makes.
type Option func(*Memory)

// WithClock sets the clock, [time.Now] by default. It gives the first
// revision and the age of old ones.
func WithClock(now func() time.Time) Option {
	return func(m *Memory) { m.clock = now }
}

// WithHistory bounds what is kept of the past.
func WithHistory(h History) Option {
	return func(m *Memory) { m.pins.limits = h }
}

// NewMemory returns an empty store. Its first revision is the clock's time in
// microseconds since 1970: a client that has seen revisions of an earlier
// process is never told of a future one, because no process writes a million
// times a second for all of its life.
func NewMemory(opts ...Option) *Memory {
	m := &Memory{clock: time.Now, objects: newObjects(), index: newIndex()}
	for _, opt := range opts {
		opt(m)
	}
	m.pins.limits = m.pins.limits.withDefaults()
	now := m.clock()
	m.revision = max(1, now.UnixMicro())
	m.log = newChangeLog(m.pins.limits, m.revision, now)
	return m
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key Key) (*Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.find(key, 0)
}

// Create implements [Store].
func (m *Memory) Create(ctx context.Context, d Draft) (*Object, error) {
	r, err := m.write(ctx, func(revision int64) (*record, error) {
		switch _, err := m.find(d.Key, 0); {
		case err == nil:
			return nil, fmt.Errorf("%s: %w", d.Key, ErrExists)
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
		o, err := NewObject(d, revision)
		return &record{next: o}, err
	})
	if err != nil {
		return nil, err
	}
	return r.next, nil
}

// Update implements [Store].
func (m *Memory) Update(ctx context.Context, d Draft, expected int64) (*Object, error) {
	r, err := m.write(ctx, func(revision int64) (*record, error) {
		old, err := m.find(d.Key, expected)
		if err != nil {
			return nil, err
		}
		o, err := NewObject(d, revision)
		return &record{old: old, next: o}, err
	})
	if err != nil {
		return nil, err
	}
	return r.next, nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key Key, expected int64) (*Object, error) {
	r, err := m.write(ctx, func(int64) (*record, error) {
		old, err := m.find(key, expected)
		return &record{old: old}, err
	})
	if err != nil {
		return nil, err
	}
	return r.farewell(), nil
}

// find returns the newest version of an object; m.mu is held.
func (m *Memory) find(key Key, expected int64) (*Object, error) {
	o, ok := m.objects.Get(at(key.String()))
	if !ok {
		return nil, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if expected != 0 && expected != o.Revision {
		return nil, fmt.Errorf("%s at revision %d, not %d: %w", key, o.Revision, expected, ErrConflict)
	}
	return o, nil
}

// write makes the change that a function says, which is given its revision
// and called with m.mu held. Those who wait for a change are woken without it,
// since they will want it.
func (m *Memory) write(ctx context.Context, change func(revision int64) (*record, error)) (*record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var waiting sleepers
	defer func() { waiting.wake() }()
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := change(m.revision + 1)
	if err != nil {
		return nil, err
	}
	r.revision = m.revision + 1
	waiting = m.commit(r)
	return r, nil
}

// commit is the one place where the store changes. m.mu is held.
func (m *Memory) commit(r *record) sleepers {
	m.revision = r.revision
	m.snapshot = nil
	if r.next != nil {
		m.objects.Set(r.next)
	} else {
		m.objects.Delete(r.old)
	}
	touched := reindex(m.index, r.old, r.next)
	m.pins.supersede(r.old, m.objects.Height()*objectsNodeBytes+touched*m.index.Height()*indexNodeBytes)
	now := m.clock()
	m.pins.evict(now)
	return m.log.append(r, now)
}

// List implements [Store].
func (m *Memory) List(ctx context.Context, opts ListOptions) (*Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := m.stateAt(ctx, opts.Revision)
	if err != nil {
		return nil, err
	}
	page, err := s.list(ctx, opts)
	if err != nil {
		return nil, err
	}
	if page.More {
		m.pin(s)
	}
	return page, nil
}

// Namespaces implements [Store].
func (m *Memory) Namespaces(ctx context.Context) ([]string, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s, err := m.stateAt(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	return slices.Sorted(s.namespaces()), s.revision, nil
}

// stateAt returns the state at a revision, 0 being the newest. One that is
// neither the newest nor pinned takes time, for which no lock is held: about
// a microsecond for each object that has changed since.
func (m *Memory) stateAt(ctx context.Context, revision int64) (*snapshot, error) {
	s, since, err := m.basisOf(revision)
	if err != nil || since == nil {
		return s, err
	}
	return s, s.rewind(ctx, revision, since)
}

// basisOf returns the state at a revision, or one of its own to the caller,
// with what has to be undone to come there.
func (m *Memory) basisOf(revision int64) (*snapshot, []*record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	m.pins.evict(now)
	switch {
	case revision > m.revision:
		return nil, nil, &FutureRevisionError{Requested: revision, Current: m.revision}
	case revision == 0 || revision == m.revision:
		if m.snapshot == nil {
			m.snapshot = m.take(m.index.Copy())
		}
		return m.snapshot, nil, nil
	}
	if s := m.pins.get(revision); s != nil {
		return s, nil, nil
	}
	since, err := m.log.since(revision, now)
	if err != nil {
		return nil, nil, err
	}
	return m.take(nil), since, nil
}

// take returns a snapshot of the newest state. m.mu is held.
func (m *Memory) take(index *btree.BTreeG[posting]) *snapshot {
	return &snapshot{
		revision:   m.revision,
		objects:    m.objects.Copy(),
		index:      index,
		superseded: m.pins.superseded,
	}
}

func (m *Memory) pin(s *snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	m.pins.add(s, now)
	m.pins.evict(now)
}

// Revision implements [Store].
func (m *Memory) Revision(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.revision, nil
}

// Wait implements [Store].
func (m *Memory) Wait(ctx context.Context, revision int64) error {
	for {
		current := m.log.reached()
		if current >= revision {
			return nil
		}
		bed, ok := m.log.sleep("", current)
		if !ok {
			continue
		}
		select {
		case <-bed.woken:
			m.log.leave(bed, current)
		case <-ctx.Done():
			m.log.leave(bed, current)
			return fmt.Errorf("%w: %w", &FutureRevisionError{Requested: revision, Current: current}, context.Cause(ctx))
		}
	}
}
