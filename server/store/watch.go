package store

import (
	"context"
	"fmt"
)

// ChangeType says what a change means to a watch, in the words of Kubernetes' watch
// events.
type ChangeType string

const (
	// Added: there is an object that was not there, or was not selected.
	Added ChangeType = "ADDED"
	// Modified: an object is there in another version.
	Modified ChangeType = "MODIFIED"
	// Deleted: an object is no longer there, or no longer selected. The object of the
	// change is the last one that was, under the revision of the change.
	Deleted ChangeType = "DELETED"
)

// Change is what a watch shows.
type Change struct {
	Type   ChangeType
	Object *Object
}

// WatchOptions say which changes a watch shows. Objects are selected as in
// [ListOptions].
type WatchOptions struct {
	Namespace string
	Labels    Selector
	Fields    FieldSelector
	// Revision is the state that is known: what changed after it is shown. It may be
	// in the future.
	Revision int64
}

// Watch shows changes in the order in which they were made, each once. It is for one
// goroutine at a time, holds nothing when it is dropped, and needs no closing.
type Watch interface {
	// Next waits for a change. It fails with the error of ctx when that ends, and with
	// [ErrExpired] when what comes next is no longer held: the watch was too slow.
	Next(ctx context.Context) (Change, error)

	// TryNext returns a change if there is one. It fails with [ErrExpired] as Next
	// does.
	TryNext() (change Change, ok bool, err error)

	// Revision is how far the watch has come: what it shows next is behind it. It
	// moves with changes that are not shown, too, when they have been looked at.
	Revision() int64
}

// Watch implements [Store].
func (m *Memory) Watch(ctx context.Context, opts WatchOptions) (Watch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &memoryWatch{memory: m, opts: opts, labels: newMatcher(opts.Labels), revision: opts.Revision}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evict(m.clock())
	if opts.Revision < m.log.oldest {
		return nil, fmt.Errorf("revision %d: %w", opts.Revision, ErrExpired)
	}
	w.seq = m.log.after(opts.Revision)
	return w, nil
}

// memoryWatch is a place in the log of changes, nothing more: no write waits for it,
// and no goroutine works for it.
type memoryWatch struct {
	memory *Memory
	opts   WatchOptions
	labels matcher
	// seq is the number of the next change to look at.
	seq int64
	// revision is that of the last change that was looked at.
	revision int64
}

func (w *memoryWatch) Revision() int64 { return w.revision }

func (w *memoryWatch) TryNext() (Change, bool, error) {
	for {
		c, kind, end, err := w.look()
		if err != nil || end {
			return Change{}, false, err
		}
		switch kind {
		case Deleted:
			return Change{kind, c.last()}, true, nil
		case Added, Modified:
			return Change{kind, c.next}, true, nil
		}
	}
}

// looksAtOnce is how many changes are looked at before a write has its turn.
const looksAtOnce = 256

// look looks at some changes, up to one that is to be shown. end says that there is
// no further one yet.
func (w *memoryWatch) look() (c *change, kind ChangeType, end bool, err error) {
	m := w.memory
	m.mu.RLock()
	defer m.mu.RUnlock()
	if w.seq < m.log.first {
		return nil, "", false, fmt.Errorf("behind revision %d: %w", w.revision, ErrExpired)
	}
	for range looksAtOnce {
		if w.seq == m.log.end() {
			w.revision = max(w.revision, m.revision)
			return nil, "", true, nil
		}
		c := m.log.kept[w.seq-m.log.first]
		w.seq++
		if c.revision <= w.opts.Revision {
			continue // not in the future any more, and known
		}
		w.revision = c.revision
		if kind := w.meaning(c); kind != "" {
			return c, kind, false, nil
		}
	}
	return nil, "", false, nil
}

func (w *memoryWatch) Next(ctx context.Context) (Change, error) {
	for {
		change, ok, err := w.TryNext()
		if ok || err != nil {
			return change, err
		}
		rung := w.memory.bell(w.opts.Namespace, w.seq)
		if rung == nil {
			continue
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return Change{}, context.Cause(ctx)
		}
	}
}

// meaning is what a change means to the watch, "" for nothing.
func (w *memoryWatch) meaning(c *change) ChangeType {
	key := c.key()
	if w.opts.Namespace != "" && w.opts.Namespace != key.Namespace || !w.opts.Fields.Matches(key) {
		return ""
	}
	before := c.old != nil && w.labels.matches(c.old)
	after := c.next != nil && w.labels.matches(c.next)
	switch {
	case before && after:
		return Modified
	case after:
		return Added
	case before:
		return Deleted
	}
	return ""
}

// bells are what waiting watches listen to, by the namespace that they are over, ""
// for all of them. One is made by the first who waits and rung once.
type bells map[string]chan struct{}

func (b bells) ring(namespace string) {
	if bell, ok := b[namespace]; ok {
		close(bell)
		delete(b, namespace)
	}
}

func (b bells) ringAll() {
	for _, bell := range b {
		close(bell)
	}
	clear(b)
}

// bell returns what is closed by the next change that a watch of the namespace has to
// look at, nil when there is one already.
func (m *Memory) bell(namespace string, seq int64) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq != m.log.end() {
		return nil
	}
	bell, ok := m.bells[namespace]
	if !ok {
		bell = make(chan struct{})
		m.bells[namespace] = bell
	}
	return bell
}
