package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// futureWait is how long a revision that does not exist yet is waited for, as in
// a Kubernetes API server.
const futureWait = 3 * time.Second

// ListNamespacedVirtualMachineInstance answers a list of one namespace. One that
// has no machines, or no valid name, is an empty list, as in a cluster.
func (s *server) ListNamespacedVirtualMachineInstance(c echo.Context, namespace string, p vmi.ListNamespacedVirtualMachineInstanceParams) error {
	return s.list(exchangeOf(c), namespace, p)
}

// ListVirtualMachineInstanceForAllNamespaces answers a list over all namespaces.
func (s *server) ListVirtualMachineInstanceForAllNamespaces(c echo.Context, p vmi.ListVirtualMachineInstanceForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

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
	o, err := readListOptions(namespace, p)
	if err != nil {
		return err
	}
	ctx := x.r.Context()
	if seconds := value(p.TimeoutSeconds); seconds > 0 && time.Duration(seconds) < s.timeout/time.Second {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	page, err := s.page(ctx, o)
	if err != nil {
		return err
	}
	meta := s.listMeta(o, page)
	switch want.form {
	case openapi.FormTable:
		x.answer, err = s.table(page.Objects, meta, want, include)
	case openapi.FormPartialObjectList:
		x.answer, err = partialList(page.Objects, meta, want)
	default:
		x.answer = list(page.Objects, meta)
	}
	return err
}

// page reads what the options ask for, waiting a little for a revision that is
// about to come.
func (s *server) page(ctx context.Context, o *listOptions) (*store.Page, error) {
	if err := s.await(ctx, o.atLeast); err != nil {
		return nil, err
	}
	page, err := s.store.List(ctx, o.ListOptions)
	var future *store.FutureRevisionError
	if errors.As(err, &future) {
		if err := s.await(ctx, future.Requested); err != nil {
			return nil, err
		}
		page, err = s.store.List(ctx, o.ListOptions)
	}
	if errors.Is(err, store.ErrExpired) && o.continued != nil {
		t := *o.continued
		t.Revision = anyRevision
		return nil, expired(t.encode())
	}
	return page, err
}

// await waits for a revision of the store; 0 is any.
func (s *server) await(ctx context.Context, revision int64) error {
	if revision == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, futureWait)
	defer cancel()
	return s.store.Wait(ctx, revision)
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

// ReadNamespacedVirtualMachineInstance answers one machine.
func (s *server) ReadNamespacedVirtualMachineInstance(c echo.Context, namespace, name string, p vmi.ReadNamespacedVirtualMachineInstanceParams) error {
	x := exchangeOf(c)
	want, err := negotiate(x.r.Header.Get("Accept"), false)
	if err != nil {
		return err
	}
	include, err := readIncludeObject(want, p.IncludeObject)
	if err != nil {
		return err
	}
	revision, err := parseRevision(value(p.ResourceVersion))
	if err != nil {
		return badRequest(err.Error())
	}
	ctx := x.r.Context()
	if err := s.await(ctx, revision); err != nil {
		return err
	}
	object, err := s.store.Get(ctx, store.Key{Namespace: namespace, Name: name})
	if errors.Is(err, store.ErrNotFound) {
		return notFound(group, plural, name)
	}
	if err != nil {
		return err
	}
	return s.answerObject(x, http.StatusOK, object, want, include)
}

// answerObject answers with one machine.
func (s *server) answerObject(x *exchange, status int, o *store.Object, want wanted, include includeObject) (err error) {
	switch want.form {
	case openapi.FormTable:
		meta := listMeta{ResourceVersion: strconv.FormatInt(o.Revision, 10)}
		x.answer, err = s.table([]*store.Object{o}, meta, want, include)
	case openapi.FormPartialObject:
		x.answer = partialObject(o, want)
	default:
		x.answer = answer{form: openapi.FormItem, contentType: mediaJSON, head: o.JSON, tail: lineFeed, stored: true}
	}
	x.answer.status = status
	return err
}

var lineFeed = []byte{'\n'}
