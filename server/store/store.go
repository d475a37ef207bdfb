package store

import "context"

// Store holds objects and tells their versions apart by one counter, the
// revision, which every write moves forward. All methods may be called from
// many goroutines at once; a method that was given an ended context may
// return its error.
//
// What it returns never changes afterwards: later writes make new objects.
type Store interface {
	// Get returns the newest version of an object, or [ErrNotFound].
	Get(ctx context.Context, key Key) (*Object, error)

	// List returns a page of objects in the order of their keys, all as they
	// were at one revision, which may be any that the store still holds. It
	// fails with [ErrExpired] when that revision is
	// no longer held, and with a [*FutureRevisionError] when it is not yet
	// reached; it does not wait, see Wait.
	List(ctx context.Context, opts ListOptions) (*Page, error)

	// Namespaces returns the sorted names of the namespaces that have an
	// object, and the revision at which that was so.
	Namespaces(ctx context.Context) ([]string, int64, error)

	// Revision returns the revision of the latest write. It is above zero
	// even when nothing was written.
	Revision(ctx context.Context) (int64, error)

	// Wait returns nil once the store has reached the revision. When ctx ends
	// first, the error is both the context's and a [*FutureRevisionError].
	Wait(ctx context.Context, revision int64) error

	// Watch returns the changes after a revision one by one, in order and
	// without a gap, until ctx ends. It fails with [ErrExpired] when they are
	// no longer all held. Writes do not wait for watches: one that is not read
	// for long falls behind what the store holds, and ends.
	Watch(ctx context.Context, opts WatchOptions) (Watch, error)

	// Create stores a new object and returns it, or [ErrExists].
	Create(ctx context.Context, d Draft) (*Object, error)

	// Update replaces an object and returns the new version. It fails with
	// [ErrNotFound], or with [ErrConflict] when the object's revision is not
	// the expected one. Expecting 0 means whatever is there.
	Update(ctx context.Context, d Draft, expected int64) (*Object, error)

	// Delete removes an object and returns its last state, in which the
	// revision is that of the deletion. It fails as Update does.
	Delete(ctx context.Context, key Key, expected int64) (*Object, error)
}

// ListOptions says what a list shows. The zero value is everything, newest.
type ListOptions struct {
	// Namespace restricts the list to one namespace; "" is all of them.
	Namespace string
	// Labels and Fields select objects; their zero values select all.
	Labels Selector
	Fields FieldSelector
	// Limit is the most objects to return. 0 and below is no limit.
	Limit int
	// Start is a position in the order of keys: only objects whose
	// [Key.String] is at or after it, byte for byte, are shown. "" is the
	// beginning.
	Start string
	// Revision is the state to show; 0 is the newest, and one below was never
	// held.
	Revision int64
}

// Page is a part of a list, or all of it.
type Page struct {
	// Objects in the order of their keys. The slice is the caller's own.
	Objects []*Object
	// Revision is the state that the page shows. Pass it, with the position
	// after the last object, to get the next page of the same state. A page
	// with More holds it for a while.
	Revision int64
	// More is set when the limit cut the list short. With a selector, what is
	// behind this page may turn out not to be selected, so that the next page
	// is empty.
	More bool
	// Remaining counts the objects behind this page. It is -1 when a selector
	// is in force and More is set: telling would mean to look at all of them.
	// (A Kubernetes API server leaves remainingItemCount out then.)
	Remaining int64
}
