package store

import (
	"context"
	"fmt"
)

// memoryWatch is the [Watch] of a [Memory]. It is a revision and what to look
// for after it; nothing in the store refers to it but while it waits.
type memoryWatch struct {
	ctx       context.Context
	log       *changeLog
	namespace string
	labels    matcher
	fields    FieldSelector
	revision  int64
}

// Watch implements [Store]. The watch needs no goroutine and may be dropped.
func (m *Memory) Watch(ctx context.Context, opts WatchOptions) (Watch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opts.Revision <= 0 {
		return nil, fmt.Errorf("a watch from revision %d: it must be above zero", opts.Revision)
	}
	if err := m.log.check(opts.Revision, m.clock()); err != nil {
		return nil, err
	}
	w := &memoryWatch{ctx: ctx, log: m.log, namespace: opts.Namespace, fields: opts.Fields, revision: opts.Revision}
	if !opts.Labels.Empty() {
		w.labels = newMatcher(opts.Labels)
	}
	if exact, ok := opts.Fields.Namespace(); ok && w.namespace == "" {
		w.namespace = exact
	}
	return w, nil
}

// Next implements [Watch].
func (w *memoryWatch) Next(ctx context.Context) (Change, error) {
	for {
		if err := w.ended(ctx); err != nil {
			return Change{}, err
		}
		change, found, more, err := w.step()
		if found || err != nil {
			return change, err
		}
		if more {
			continue
		}
		bed, ok := w.log.sleep(w.namespace, w.revision)
		if !ok {
			continue
		}
		select {
		case <-bed.woken:
		case <-ctx.Done():
		case <-w.ctx.Done():
		}
		w.revision = w.log.leave(bed, w.revision)
	}
}

// TryNext implements [Watch].
func (w *memoryWatch) TryNext() (Change, bool, error) {
	for {
		if err := w.ctx.Err(); err != nil {
			return Change{}, false, err
		}
		change, found, more, err := w.step()
		if !more {
			return change, found, err
		}
	}
}

// Revision implements [Watch].
func (w *memoryWatch) Revision() int64 {
	return w.revision
}

func (w *memoryWatch) ended(ctx context.Context) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

// step looks at a few records and stops at one that is to be shown. When it
// has found none, there may be more to look at.
func (w *memoryWatch) step() (change Change, found, more bool, err error) {
	var room [32]*record
	n, upTo, err := w.log.read(w.namespace, w.revision, room[:])
	if err != nil {
		return Change{}, false, false, err
	}
	for _, r := range room[:n] {
		if change, ok := w.show(r); ok {
			w.revision = r.revision
			return change, true, false, nil
		}
	}
	w.revision = upTo
	return Change{}, false, n == len(room), nil
}

// show says what a record is to this watch, and whether it is anything.
func (w *memoryWatch) show(r *record) (Change, bool) {
	was := r.old != nil && w.fields.Matches(r.old) && w.labels.matches(r.old)
	is := r.next != nil && w.fields.Matches(r.next) && w.labels.matches(r.next)
	switch {
	case was && is:
		return Change{Type: Modified, Object: r.next}, true
	case is:
		return Change{Type: Added, Object: r.next}, true
	case was:
		return Change{Type: Deleted, Object: r.farewell()}, true
	}
	return Change{}, false
}
