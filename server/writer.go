package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// Writer puts objects into a store from inside the process: each is validated by
// the profile, given what a Kubernetes API server gives (namespace, uid, creation
// time, resourceVersion), and kept byte for byte otherwise, fields that no
// document names included.
//
// A store that a handler serves is to be written by a Writer with the same
// profile, since answers name the profile's schema and objects are validated once.
type Writer struct {
	*config
	doc   *openapi.Document
	store store.Store
}

// NewWriter returns a Writer for the store. Of the options, those that are about
// requests do nothing here.
func NewWriter(st store.Store, opts ...Option) (*Writer, error) {
	c, doc, err := prepare(st, opts)
	if err != nil {
		return nil, err
	}
	return &Writer{config: c, doc: doc, store: st}, nil
}

// InvalidError says why an object is refused.
type InvalidError struct {
	// Key has no name where the object says none.
	Key    store.Key
	Issues openapi.Issues
}

func (e *InvalidError) Error() string {
	if e.Key.Name == "" {
		return fmt.Sprintf("invalid object: %v", e.Issues)
	}
	return fmt.Sprintf("invalid object %s: %v", e.Key, e.Issues)
}

// Create stores a new VirtualMachineInstance, given as JSON. An object of
// kubevirt.io/v1alpha3 becomes kubevirt.io/v1, as a cluster would answer it. uid,
// creation time, labels, annotations, status and managedFields are kept where the
// object has them; a resourceVersion it has is replaced.
//
// It fails with an [*InvalidError] that has all issues, or [store.ErrExists].
func (w *Writer) Create(ctx context.Context, object []byte) (*store.Object, error) {
	in, err := w.read(object)
	if err != nil {
		return nil, err
	}
	d, err := w.draft(in, nil)
	if err != nil {
		return nil, err
	}
	return w.store.Create(ctx, d)
}

// Update replaces a VirtualMachineInstance as a whole, whatever version is there.
// uid, creation time and generation are those of the object that is there, unless the
// new one has its own; the generation is one more when anything but metadata differs. It fails as Create does, and with [store.ErrNotFound].
func (w *Writer) Update(ctx context.Context, object []byte) (*store.Object, error) {
	in, err := w.read(object)
	if err != nil {
		return nil, err
	}
	for {
		old, err := w.store.Get(ctx, in.key)
		if err != nil {
			return nil, err
		}
		d, err := w.draft(in, old)
		if err != nil {
			return nil, err
		}
		stored, err := w.store.Update(ctx, d, old.Revision)
		// Somebody wrote in between: what is inherited is read again.
		if !errors.Is(err, store.ErrConflict) || ctx.Err() != nil {
			return stored, err
		}
	}
}

// Delete removes a VirtualMachineInstance at once. It fails with [store.ErrNotFound].
func (w *Writer) Delete(ctx context.Context, namespace, name string) error {
	_, err := w.store.Delete(ctx, store.Key{Namespace: namespace, Name: name}, 0)
	return err
}

// draft is the object as it is stored, completed with what its predecessor has.
func (w *Writer) draft(in *incoming, old *store.Object) (store.Draft, error) {
	meta, err := w.complete(in, old)
	if err != nil {
		return store.Draft{}, err
	}
	return in.render(meta)
}
