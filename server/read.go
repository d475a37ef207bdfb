package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// futureWait is how long a revision that does not exist yet is waited for, as in
// a Kubernetes API server.
const futureWait = 3 * time.Second

// list answers a list of one namespace, "" being all of them, or a watch of it.
func (s *server) list(x *exchange, namespace string, p listParams) error {
	if isTrue(p.Watch) {
		return s.watch(x, namespace, p)
	}
	want, err := negotiate(x.r.Header.Get("Accept"), true)
	if err != nil {
		return err
	}
	include, err := readIncludeObject(want, p.IncludeObject)
	if err != nil {
		return err
	}
	o, err := readListOptions(x.resource, namespace, p)
	if err != nil {
		return err
	}
	ctx := x.r.Context()
	if seconds := value(p.TimeoutSeconds); seconds > 0 && time.Duration(seconds) < s.timeout/time.Second {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	page, err := s.page(ctx, x.resource, o)
	if err != nil {
		return err
	}
	return s.answerList(x, page.Objects, s.listMeta(o, page), want, include)
}

// answerList answers with a list.
func (s *server) answerList(x *exchange, objects []*store.Object, meta listMeta, want wanted, include includeObject) (err error) {
	switch want.form {
	case openapi.FormTable:
		x.answer, err = s.table(x.resource, objects, meta, want, include)
	case openapi.FormPartialObjectList:
		x.answer, err = partialList(objects, meta, want)
	default:
		x.answer = wholeList(x.resource, objects, meta)
	}
	return err
}

// page reads what the options ask for, waiting a little for a revision that is
// about to come.
func (s *server) page(ctx context.Context, r *resource, o *listOptions) (*store.Page, error) {
	if err := await(ctx, r, o.atLeast); err != nil {
		return nil, err
	}
	page, err := r.store.List(ctx, o.ListOptions)
	var future *store.FutureRevisionError
	if errors.As(err, &future) {
		if err := await(ctx, r, future.Requested); err != nil {
			return nil, err
		}
		page, err = r.store.List(ctx, o.ListOptions)
	}
	if errors.Is(err, store.ErrExpired) && o.continued != nil {
		t := *o.continued
		t.Revision = anyRevision
		return nil, expired(t.encode())
	}
	return page, err
}

// await waits for a revision of the resource; 0 is any.
func await(ctx context.Context, r *resource, revision int64) error {
	if revision == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, futureWait)
	defer cancel()
	return r.store.Wait(ctx, revision)
}

// listMeta is metadata of a list: token and count only where there is a next page,
// and no count when a selector is in force.
func (s *server) listMeta(o *listOptions, page *store.Page) listMeta {
	m := listMeta{ResourceVersion: strconv.FormatInt(page.Revision, 10)}
	if page.More {
		last := page.Objects[len(page.Objects)-1]
		m.Continue = nextPage(page.Revision, o.Namespace, last.Key.After())
		if page.Remaining >= 0 && o.Labels.Empty() && o.Fields.Empty() {
			m.RemainingItemCount = &page.Remaining
		}
	}
	return m
}

// read answers one object.
func (s *server) read(x *exchange, namespace, name string, resourceVersion, includeObject *string) error {
	want, err := negotiate(x.r.Header.Get("Accept"), false)
	if err != nil {
		return err
	}
	include, err := readIncludeObject(want, includeObject)
	if err != nil {
		return err
	}
	revision, err := parseRevision(value(resourceVersion))
	if err != nil {
		return badRequest(err.Error())
	}
	ctx := x.r.Context()
	if err := await(ctx, x.resource, revision); err != nil {
		return err
	}
	object, err := x.resource.store.Get(ctx, store.Key{Namespace: namespace, Name: name})
	if errors.Is(err, store.ErrNotFound) {
		return x.resource.notFound(name)
	}
	if err != nil {
		return err
	}
	return s.answerObject(x, http.StatusOK, object, want, include)
}

// answerObject answers with one object.
func (s *server) answerObject(x *exchange, status int, o *store.Object, want wanted, include includeObject) (err error) {
	switch want.form {
	case openapi.FormTable:
		meta := listMeta{ResourceVersion: strconv.FormatInt(o.Revision, 10)}
		x.answer, err = s.table(x.resource, []*store.Object{o}, meta, want, include)
	case openapi.FormPartialObject:
		x.answer = partialObject(o, want)
	default:
		x.answer = answer{form: openapi.FormItem, contentType: mediaJSON, head: x.resource.show(o), tail: lineFeed, stored: true}
	}
	x.answer.status = status
	return err
}

var lineFeed = []byte{'\n'}
