package server

import (
	"context"
	"errors"
	"sync"

	"github.com/vmikit/vmikit/server/store"
)

// derived is a store whose objects follow from those of another one: namespaces and
// nodes from machines. It catches up when it is asked, so that nobody pays for it who
// does not, and has a goroutine only while somebody waits.
type derived struct {
	*store.Memory
	source store.Store
	follower

	mu      sync.Mutex
	changes store.Watch // nil until asked for the first time

	joining sync.Mutex
	pursuit *pursuit // nil while nobody waits
}

// follower says what follows from the objects of a source. It is called by one
// goroutine at a time.
type follower interface {
	// begin is called before it is told of all there is.
	begin()
	// add tells of an object. It cannot fail, since it is told only once.
	add(change store.Change)
	// settle makes the store what follows from all that was added. It is called until
	// it has succeeded.
	settle(ctx context.Context) error
}

var _ store.Store = (*derived)(nil)

// catchUp brings the store up to the newest state of its source. It does not end with
// the request that asks for it, whose client may go away at any time.
func (d *derived) catchUp(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if d.changes == nil {
			if err := d.start(ctx); err != nil {
				return err
			}
		}
		change, ok, err := d.changes.TryNext()
		switch {
		case errors.Is(err, store.ErrExpired):
			d.changes = nil
		case err != nil:
			d.changes = nil
			return err
		case !ok:
			return d.settle(ctx)
		default:
			d.add(change)
		}
	}
}

// start tells of all there is, and watches from there.
func (d *derived) start(ctx context.Context) error {
	page, err := d.source.List(ctx, store.ListOptions{})
	if err != nil {
		return err
	}
	d.begin()
	for _, o := range page.Objects {
		d.add(store.Change{Type: store.Added, Object: o})
	}
	d.changes, err = d.source.Watch(ctx, store.WatchOptions{Revision: page.Revision})
	return err
}

// with lets somebody in while nobody derives, and settles what that has changed.
func (d *derived) with(ctx context.Context, do func()) error {
	d.mu.Lock()
	do()
	d.mu.Unlock()
	return d.catchUp(context.WithoutCancel(ctx))
}

// seen is the revision of the source up to which all was derived.
func (d *derived) seen() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changes == nil {
		return 0
	}
	return d.changes.Revision()
}

// Get implements [store.Store].
func (d *derived) Get(ctx context.Context, key store.Key) (*store.Object, error) {
	if err := d.catchUp(ctx); err != nil {
		return nil, err
	}
	return d.Memory.Get(ctx, key)
}

// List implements [store.Store].
func (d *derived) List(ctx context.Context, opts store.ListOptions) (*store.Page, error) {
	if err := d.catchUp(ctx); err != nil {
		return nil, err
	}
	return d.Memory.List(ctx, opts)
}

// Namespaces implements [store.Store].
func (d *derived) Namespaces(ctx context.Context) ([]string, int64, error) {
	if err := d.catchUp(ctx); err != nil {
		return nil, 0, err
	}
	return d.Memory.Namespaces(ctx)
}

// Create implements [store.Store].
func (d *derived) Create(ctx context.Context, draft store.Draft) (*store.Object, error) {
	if err := d.catchUp(ctx); err != nil {
		return nil, err
	}
	return d.Memory.Create(ctx, draft)
}

// Revision implements [store.Store].
func (d *derived) Revision(ctx context.Context) (int64, error) {
	if err := d.catchUp(ctx); err != nil {
		return 0, err
	}
	return d.Memory.Revision(ctx)
}

// Wait implements [store.Store].
func (d *derived) Wait(ctx context.Context, revision int64) error {
	return d.awaiting(ctx, func(ctx context.Context) error { return d.Memory.Wait(ctx, revision) })
}

// awaiting waits for something in the store, kept up with its source meanwhile.
func (d *derived) awaiting(ctx context.Context, wait func(context.Context) error) error {
	p := d.join()
	defer d.leave(p)
	if err := d.catchUp(ctx); err != nil {
		return err
	}
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	err := wait(until)
	if err != nil && ctx.Err() == nil && p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return err
}

// pursuit catches up whenever the source moves, for all who wait together: what they do
// not wait for wakes one goroutine, not each of theirs.
type pursuit struct {
	ctx     context.Context // ends when nobody waits any more, or by what went wrong
	end     context.CancelCauseFunc
	done    chan struct{}
	waiting int
}

// join is for who begins to wait, and leave for who has waited.
func (d *derived) join() *pursuit {
	d.joining.Lock()
	defer d.joining.Unlock()
	if d.pursuit == nil || d.pursuit.ctx.Err() != nil {
		p := &pursuit{done: make(chan struct{})}
		p.ctx, p.end = context.WithCancelCause(context.Background())
		d.pursuit = p
		go func() {
			defer close(p.done)
			p.end(d.pursue(p.ctx))
		}()
	}
	d.pursuit.waiting++
	return d.pursuit
}

func (d *derived) leave(p *pursuit) {
	d.joining.Lock()
	p.waiting--
	last := p.waiting == 0
	if d.pursuit == p && (last || p.ctx.Err() != nil) {
		d.pursuit = nil // who comes now begins another one
	}
	d.joining.Unlock()
	if last {
		p.end(context.Canceled)
		<-p.done
	}
}

func (d *derived) pursue(ctx context.Context) error {
	for {
		if err := d.catchUp(ctx); err != nil {
			return err
		}
		if err := d.source.Wait(ctx, d.seen()+1); err != nil {
			return err
		}
	}
}

// Watch implements [store.Store].
func (d *derived) Watch(ctx context.Context, opts store.WatchOptions) (store.Watch, error) {
	if err := d.catchUp(ctx); err != nil {
		return nil, err
	}
	w, err := d.Memory.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &derivedWatch{Watch: w, ctx: ctx, store: d}, nil
}

// derivedWatch is a watch that catches up before it says that there is nothing.
type derivedWatch struct {
	store.Watch
	ctx   context.Context
	store *derived
}

// Next implements [store.Watch].
func (w *derivedWatch) Next(ctx context.Context) (change store.Change, err error) {
	err = w.store.awaiting(ctx, func(until context.Context) (err error) {
		change, err = w.Watch.Next(until)
		return err
	})
	if ended := w.ctx.Err(); ended != nil && err != nil {
		err = ended
	}
	return change, err
}

// TryNext implements [store.Watch].
func (w *derivedWatch) TryNext() (store.Change, bool, error) {
	if err := w.ctx.Err(); err != nil {
		return store.Change{}, false, err
	}
	if err := w.store.catchUp(w.ctx); err != nil {
		return store.Change{}, false, err
	}
	return w.Watch.TryNext()
}
