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
type Memory struct {
	clock func() time.Time

	mu       sync.RWMutex
	revision int64
	objects  *btree.BTreeG[*Object]
	index    *btree.BTreeG[posting]
	snapshot *snapshot     // of this revision, once a list has asked for it
	pins     pins          // snapshots of earlier revisions that have a name outside
	log      changeLog     // the recent changes, for watches and for states before them
	bells    bells         // of the watches that wait
	written  chan struct{} // closed by the next write, once somebody waits for it
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
	return func(m *Memory) {
		m.pins.limits = h.withDefaults()
		m.log.limits = m.pins.limits
	}
}

// NewMemory returns an empty store. Its first revision is the clock's time in
// microseconds since 1970: a client that has seen revisions of an earlier
// process is never told of a future one, because no process writes a million
// times a second for all of its life.
func NewMemory(opts ...Option) *Memory {
	m := &Memory{clock: time.Now, objects: newObjects(), index: newIndex(), bells: make(bells)}
	WithHistory(History{})(m)
	for _, opt := range opts {
		opt(m)
	}
	m.revision = max(1, m.clock().UnixMicro())
	m.log.oldest = m.revision
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch _, err := m.find(d.Key, 0); {
	case err == nil:
		return nil, fmt.Errorf("%s: %w", d.Key, ErrExists)
	case !errors.Is(err, ErrNotFound):
		return nil, err
	}
	o, err := NewObject(d, m.revision+1)
	if err != nil {
		return nil, err
	}
	m.commit(nil, o)
	return o, nil
}

// Update implements [Store].
func (m *Memory) Update(ctx context.Context, d Draft, expected int64) (*Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, err := m.find(d.Key, expected)
	if err != nil {
		return nil, err
	}
	o, err := NewObject(d, m.revision+1)
	if err != nil {
		return nil, err
	}
	m.commit(old, o)
	return o, nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key Key, expected int64) (*Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, err := m.find(key, expected)
	if err != nil {
		return nil, err
	}
	return m.commit(old, nil).last(), nil
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

// commit is the one place where the store changes: a nil old is a creation, a
// nil next a deletion. m.mu is held.
func (m *Memory) commit(old, next *Object) *change {
	m.revision++
	now := m.clock()
	c := &change{revision: m.revision, at: now, old: old, next: next}
	m.snapshot = nil
	if next != nil {
		m.objects.Set(next)
	} else {
		m.objects.Delete(old)
	}
	touched := reindex(m.index, old, next)
	m.pins.supersede(old, m.objects.Height()*objectsNodeBytes+touched*m.index.Height()*indexNodeBytes)
	m.log.append(c)
	m.evict(now)
	m.bells.ring("")
	m.bells.ring(c.key().Namespace)
	if m.written != nil {
		close(m.written)
		m.written = nil
	}
	return c
}

// evict brings what is kept of the past within its bounds; m.mu is held.
func (m *Memory) evict(now time.Time) {
	m.pins.evict(now)
	if m.log.evict(now) {
		m.bells.ringAll()
	}
}

// List implements [Store].
func (m *Memory) List(ctx context.Context, opts ListOptions) (*Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := m.snapshotAt(opts.Revision)
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
	s, err := m.snapshotAt(0)
	if err != nil {
		return nil, 0, err
	}
	return slices.Sorted(s.namespaces()), s.revision, nil
}

// snapshotAt returns the state at a revision, 0 being the newest.
func (m *Memory) snapshotAt(revision int64) (*snapshot, error) {
	s, since, err := m.snapshotAfter(revision)
	if len(since) > 0 {
		s.undo(since) // Many changes take a while: writes need not wait.
		s.revision = revision
	}
	return s, err
}

// snapshotAfter returns the state at a revision, or a later one of nobody else's with
// the changes to undo.
func (m *Memory) snapshotAfter(revision int64) (*snapshot, []*change, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evict(m.clock())
	switch {
	case revision > m.revision:
		return nil, nil, &FutureRevisionError{Requested: revision, Current: m.revision}
	case revision != 0 && revision != m.revision:
		if s := m.pins.get(revision); s != nil {
			return s, nil, nil
		}
		if revision < m.log.oldest {
			return nil, nil, fmt.Errorf("revision %d: %w", revision, ErrExpired)
		}
		return m.newest().copy(), m.log.since(revision), nil
	}
	return m.newest(), nil, nil
}

// newest is the state as it is now; m.mu is held.
func (m *Memory) newest() *snapshot {
	if m.snapshot == nil {
		m.snapshot = &snapshot{
			revision:   m.revision,
			objects:    m.objects.Copy(),
			index:      m.index.Copy(),
			superseded: m.pins.superseded,
		}
	}
	return m.snapshot
}

func (m *Memory) pin(s *snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	m.pins.add(s, now)
	m.evict(now)
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
		current, written := m.nextWrite()
		if current >= revision {
			return nil
		}
		select {
		case <-written:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", &FutureRevisionError{Requested: revision, Current: current}, context.Cause(ctx))
		}
	}
}

// nextWrite returns the revision and a channel that is closed when it changes.
func (m *Memory) nextWrite() (int64, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written == nil {
		m.written = make(chan struct{})
	}
	return m.revision, m.written
}
