package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

const (
	// minWatch and maxWatch are between which a watch ends that sets no time of its
	// own, so that not all of them come back at once (min-request-timeout of
	// kube-apiserver).
	minWatch = 30 * time.Minute
	maxWatch = 2 * minWatch
	// bookmarkEvery is how often a watch is told how far it is, and bookmarkBefore how
	// long before its end the last time is (kube-apiserver's watch cache).
	bookmarkEvery  = time.Minute
	bookmarkBefore = 2 * time.Second
)

// watch answers with the changes of a list, as they come.
func (s *server) watch(x *exchange, namespace string, p listParams) error {
	o, err := readWatchOptions(x.resource, namespace, p)
	if err != nil {
		return err
	}
	want, err := negotiateWatch(x.r.Header.Get("Accept"))
	if err != nil {
		return err
	}
	include, err := readIncludeObject(want, p.IncludeObject)
	if err != nil {
		return err
	}
	st := &watchStream{
		events:    &eventWriter{server: s, x: x, want: want, include: include},
		bookmarks: o.bookmarks, initialEnd: o.initialEnd, lasts: o.timeout,
	}
	if st.lasts == 0 {
		st.lasts = minWatch + rand.N(maxWatch-minWatch)
	}
	if err := s.begin(x, st, o); err != nil {
		return err
	}
	x.answer = answer{status: http.StatusOK, form: openapi.FormDeclared, contentType: mediaJSON, stream: st}
	return nil
}

// begin finds where the watch starts. A state that is no longer held is told by an
// event, not by the status of the answer.
func (s *server) begin(x *exchange, st *watchStream, o *watchOptions) error {
	ctx, from := x.r.Context(), o.revision
	if o.initial {
		if err := await(ctx, x.resource, o.revision); err != nil {
			return err
		}
		page, err := x.resource.store.List(ctx, store.ListOptions{Namespace: o.namespace, Labels: o.labels, Fields: o.fields})
		if err != nil {
			return err
		}
		st.initial, from = page.Objects, page.Revision
	}
	newest, err := x.resource.store.Revision(ctx)
	if err != nil {
		return err
	}
	if from == 0 {
		from = newest
	}
	// The watch lives as long as the request, not as long as an answer may take.
	st.changes, err = x.resource.store.Watch(x.base, store.WatchOptions{Namespace: o.namespace, Labels: o.labels, Fields: o.fields, Revision: from})
	if errors.Is(err, store.ErrExpired) {
		st.broken = tooOld(from, err)
		return nil
	}
	return err
}

// tooOld tells a watch that what came behind its revision is no longer known.
func tooOld(revision int64, err error) *statusError {
	oldest := revision
	if e, ok := errors.AsType[*store.ExpiredError](err); ok {
		oldest = e.Oldest
	}
	return failure(http.StatusGone, "Expired", fmt.Sprintf("too old resource version: %d (%d)", revision, oldest))
}

// watchStream is a watch that is being answered.
type watchStream struct {
	events *eventWriter
	// initial is what there is, before what changes; initialEnd asks for a bookmark
	// between the two.
	initial    []*store.Object
	initialEnd bool
	changes    store.Watch
	// broken is why there are no changes.
	broken    *statusError
	bookmarks bool
	lasts     time.Duration
}

// run writes events until the time is over, the client is gone or ctx ends.
func (st *watchStream) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, st.lasts)
	defer cancel()
	defer st.events.close()
	if err := st.events.open(); err != nil {
		return err
	}
	if st.broken != nil {
		return st.events.failure(st.broken)
	}
	for _, o := range st.initial {
		if err := st.events.object(string(store.Added), o); err != nil {
			return err
		}
	}
	st.initial = nil // A watch lives long.
	if st.initialEnd {
		if err := st.events.bookmark(st.changes.Revision(), true); err != nil {
			return err
		}
	}
	return st.follow(ctx)
}

// follow writes changes, and bookmarks where they are wanted. What is there at once
// is sent at once.
func (st *watchStream) follow(ctx context.Context) error {
	due := st.firstBookmark(ctx)
	for {
		change, ok, err := st.changes.TryNext()
		if err == nil && !ok {
			if err := st.events.flush(); err != nil {
				return err
			}
			change, ok, err = st.wait(ctx, due)
		}
		switch {
		case errors.Is(err, store.ErrExpired):
			return st.events.failure(tooOld(st.changes.Revision(), err))
		case err != nil:
			return st.events.flush() // It ends.
		case ok:
			err = st.events.object(string(change.Type), change.Object)
		default:
			err = st.events.bookmark(st.changes.Revision(), false)
			due = st.nextBookmark(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// wait returns the next change, or neither a change nor an error when a bookmark is
// due.
func (st *watchStream) wait(ctx context.Context, due time.Time) (store.Change, bool, error) {
	until := ctx
	if !due.IsZero() {
		var cancel context.CancelFunc
		until, cancel = context.WithDeadline(ctx, due)
		defer cancel()
	}
	change, err := st.changes.Next(until)
	if err != nil && until.Err() != nil && ctx.Err() == nil {
		return store.Change{}, false, nil
	}
	return change, err == nil, err
}

// firstBookmark is when the first bookmark is due, the zero time for never.
func (st *watchStream) firstBookmark(ctx context.Context) time.Time {
	if !st.bookmarks {
		return time.Time{}
	}
	return st.nextBookmark(ctx)
}

// nextBookmark is a while from now, and once more shortly before the end.
func (st *watchStream) nextBookmark(ctx context.Context) time.Time {
	now := time.Now()
	next := now.Add(bookmarkEvery)
	if end, ok := ctx.Deadline(); ok {
		if last := end.Add(-bookmarkBefore); now.Before(last) && next.After(last) {
			return last
		}
	}
	return next
}
