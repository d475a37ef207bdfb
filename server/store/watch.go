package store

import "context"

// WatchOptions says what a watch shows.
type WatchOptions struct {
	// Namespace restricts the watch to one namespace; "" is all of them.
	Namespace string
	// Labels and Fields select objects; their zero values select all.
	Labels Selector
	Fields FieldSelector
	// Revision is above zero: the watch shows what changed after it. That of
	// a list makes the watch go on where the list ends. One that the store has
	// not reached is waited for in silence, as on a Kubernetes API server.
	Revision int64
}

// Watch is a place in the sequence of changes. It is for one goroutine at
// a time.
type Watch interface {
	// Next returns the change that follows, and waits for it. When ctx or the
	// context of the watch ends, it returns the error of that, and can be
	// called again if it was ctx. It fails with [ErrExpired] when the store has
	// given up changes that the watch may not have seen yet, which happens when
	// it is not read for long; who waits here is reading.
	Next(ctx context.Context) (Change, error)

	// TryNext is Next that does not wait; false is that there is nothing more
	// just now.
	TryNext() (Change, bool, error)

	// Revision says how far the watch has come: all that it shows of the
	// changes up to there has been returned, and a watch from there goes on
	// where this one is. It moves when Next or TryNext are called, also with
	// changes that the watch does not show, and never back.
	Revision() int64
}

// Change is what a watch tells.
type Change struct {
	Type ChangeType
	// Object after the change. When it is [Deleted], the state before, labels
	// included, under the revision of the change. It is shared by all watches.
	Object *Object
}

// ChangeType says what became of an object in the eyes of one watch.
type ChangeType string

// The types as a Kubernetes API server writes them.
const (
	// Added: the object is new, or has begun to be selected.
	Added ChangeType = "ADDED"
	// Modified: it is selected, as it was before.
	Modified ChangeType = "MODIFIED"
	// Deleted: it is gone, or no longer selected.
	Deleted ChangeType = "DELETED"
)
