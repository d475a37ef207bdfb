package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// concurrentWatches has many write and many watch. Whoever lists and then
// applies the changes that a watch tells must come to what a list shows in the
// end, by steps of which each makes sense.
func concurrentWatches(t *testing.T, h Harness) {
	const writers, writes, watchesOfAKind = 4, 150, 3
	var scopes []scope
	for _, namespace := range []string{"", "ns-0", "ns-1", "none"} {
		for _, labels := range []string{"", "app=1", "app notin (0,1)"} {
			for _, fields := range []string{"", "metadata.name=vm-3"} {
				scopes = append(scopes, newScope(t, namespace, labels, fields))
			}
		}
	}
	var replays []*replay
	for _, scope := range scopes {
		for range watchesOfAKind {
			replays = append(replays, newReplay(t, h.Store, scope))
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 6*patience)
	defer cancel()
	var writing, watching sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(writer), 0))
			for n := range writes {
				assert.NoError(t, compete(ctx, h.Store, rnd, n))
			}
		})
	}
	done := make(chan struct{})
	for i, r := range replays {
		watching.Go(func() {
			assert.NoError(t, r.run(ctx, done, 1+i%7*10))
		})
	}
	writing.Wait()
	close(done)
	watching.Wait()
}

// scope is what a list and a watch show.
type scope struct {
	namespace string
	labels    store.Selector
	fields    store.FieldSelector
}

func newScope(t *testing.T, namespace, labels, fields string) scope {
	t.Helper()
	l, err := store.ParseSelector(labels)
	require.NoError(t, err)
	f, err := store.ParseFieldSelector(fields)
	require.NoError(t, err)
	return scope{namespace, l, f}
}

func (s scope) String() string {
	return fmt.Sprintf("namespace %q, labels %q, fields %q", s.namespace, s.labels, s.fields)
}

// replay is a list that is kept up to date by what a watch tells.
type replay struct {
	store   store.Store
	scope   scope
	watch   store.Watch
	objects map[store.Key]int64 // revisions
	last    int64               // revision of the latest change
}

func newReplay(t *testing.T, s store.Store, scope scope) *replay {
	t.Helper()
	r := &replay{store: s, scope: scope}
	var err error
	r.objects, r.last, err = r.list(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.resume(t.Context(), r.last))
	return r
}

func (r *replay) list(ctx context.Context) (map[store.Key]int64, int64, error) {
	page, err := r.store.List(ctx, store.ListOptions{Namespace: r.scope.namespace, Labels: r.scope.labels, Fields: r.scope.fields})
	if err != nil {
		return nil, 0, err
	}
	objects := map[store.Key]int64{}
	for _, o := range page.Objects {
		objects[o.Key] = o.Revision
	}
	return objects, page.Revision, nil
}

func (r *replay) resume(ctx context.Context, revision int64) (err error) {
	r.watch, err = r.store.Watch(ctx, store.WatchOptions{
		Namespace: r.scope.namespace, Labels: r.scope.labels, Fields: r.scope.fields, Revision: revision,
	})
	return err
}

// run applies changes until all writes are done and it has come to the same
// as a list. Now and then it drops its watch, and begins another where that
// one was.
func (r *replay) run(ctx context.Context, done <-chan struct{}, resumeAfter int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-done:
			cancel() // so that nobody waits for a change that may not come
		case <-ctx.Done():
		}
	}()
	for n := 1; ; n++ {
		change, err := r.watch.Next(ctx)
		if err != nil && ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if err := r.apply(change); err != nil {
			return err
		}
		if n%resumeAfter == 0 {
			if err := r.resume(context.WithoutCancel(ctx), r.watch.Revision()); err != nil {
				return err
			}
		}
	}
	return r.finish(context.WithoutCancel(ctx))
}

// finish applies what has yet to be told. Being where the list is does not
// mean to be done: an object may be added and deleted still.
func (r *replay) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	want, revision, err := r.list(ctx)
	if err != nil {
		return err
	}
	for {
		change, ok, err := r.watch.TryNext()
		if err == nil && !ok {
			if maps.Equal(want, r.objects) {
				return nil
			}
			change, err = r.watch.Next(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s at %d: %w, with %v instead of %v", r.scope, revision, err, r.objects, want)
		}
		if err := r.apply(change); err != nil {
			return err
		}
	}
}

func (r *replay) apply(c store.Change) error {
	o := c.Object
	fault := func(what string) error {
		return fmt.Errorf("%s: %s of %s at %d after %d, with it at %d: %s", r.scope, c.Type, o.Key, o.Revision, r.last, r.objects[o.Key], what)
	}
	if o.Revision <= r.last {
		return fault("goes back")
	}
	if r.watch.Revision() < o.Revision {
		return fault("the watch is not as far yet")
	}
	r.last = o.Revision
	if r.scope.namespace != "" && o.Key.Namespace != r.scope.namespace || !r.scope.fields.Matches(o) || !r.scope.labels.Matches(o.Label) {
		return fault("is not selected")
	}
	switch _, ok := r.objects[o.Key]; {
	case c.Type == store.Added && !ok, c.Type == store.Modified && ok:
		r.objects[o.Key] = o.Revision
	case c.Type == store.Deleted && ok:
		delete(r.objects, o.Key)
	default:
		return fault("makes no sense")
	}
	return nil
}

// compete does something with one of twelve objects that others write to as
// well, so that what it wanted may be impossible when it comes to it.
func compete(ctx context.Context, s store.Store, rnd *rand.Rand, n int) error {
	i := rnd.IntN(12)
	d := draft("ns-"+strconv.Itoa(i%3), "vm-"+strconv.Itoa(i/3), n, map[string]string{"app": strconv.Itoa(rnd.IntN(4))})
	var err error
	switch rnd.IntN(4) {
	case 0:
		_, err = s.Create(ctx, d)
	case 1:
		_, err = s.Delete(ctx, d.Key, 0)
	default:
		_, err = s.Update(ctx, d, 0)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}
