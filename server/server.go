package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmiserver"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

type server struct {
	*config
	doc *openapi.Document
	// resources are all, in the order of discovery; the others are some of them.
	resources []*resource
	machines, namespaces, events, leases, nodes, pods, secrets, claims, definitions, kubevirts,
	accessReviews, rulesReviews *resource
	routes *echo.Echo
	// ending counts the namespaces that are being deleted.
	ending atomic.Int64
	// entering is held for reading by who makes something in a namespace, and for
	// writing by who begins to delete one.
	entering sync.RWMutex
	// started is the birth of what the server makes up, namespaces for one.
	started time.Time
}

// New returns a handler that serves the VirtualMachineInstances of the store.
//
// The objects of the store are taken to be valid by the profile; those that a
// [Writer] with the same profile put there are. A store does not know by which profile it
// was written, so nobody is told of another one: with [ValidateFull] what breaks the
// handler's is answered with 500, else it is served as it is. The handler keeps no connections,
// and no goroutines but those of requests, so it needs no closing.
func New(st store.Store, opts ...Option) (http.Handler, error) {
	c, doc, err := prepare(st, opts)
	if err != nil {
		return nil, err
	}
	s := &server{config: c, doc: doc, started: c.now()}
	if err := s.addResources(st); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if s.routes, err = s.route(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return s, nil
}

// prepare is what [New] and [NewWriter] have in common.
func prepare(st store.Store, opts []Option) (*config, *openapi.Document, error) {
	if st == nil {
		return nil, nil, errors.New("server: the store is nil")
	}
	c, err := newConfig(opts)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	doc, err := openapi.LoadServer(c.profile)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	return c, doc, nil
}

// route registers every operation of the document with the check of its parameters.
func (s *server) route() (*echo.Echo, error) {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		if errors.Is(err, echo.ErrNotFound) {
			err = errNoSuchPath
		}
		exchangeOf(c).err = err
	}
	checks := make(map[string][]echo.MiddlewareFunc)
	for _, op := range s.doc.Operations() {
		checks[op.ID()] = []echo.MiddlewareFunc{checkParameters(op)}
	}
	vmiserver.RegisterHandlersWithOptions(e, s, vmiserver.RegisterHandlersOptions{OperationMiddlewares: checks})
	clusterserver.RegisterHandlersWithOptions(e, s, clusterserver.RegisterHandlersOptions{OperationMiddlewares: checks})
	if routes, ops := len(e.Routes()), len(checks); routes != ops {
		return nil, fmt.Errorf("%d routes for %d operations: gen/ and the document are not of one make", routes, ops)
	}
	return e, nil
}

// ServeHTTP is the order of things, from the request to the wire. Who may not is
// told so before anything else is looked at, as in a cluster.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := s.now()
	x := &exchange{id: s.newID(), w: w, r: r, base: r.Context()}
	w.Header().Set("Audit-Id", x.id)
	w.Header().Set("Cache-Control", "no-cache, private")
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	x.r = r.WithContext(ctx)

	defer func() {
		x.leave()
		s.tellEnd(x, s.now().Sub(begin))
	}()
	s.handle(x)
	if !x.info.reads() {
		x.leave()
	}
	s.respond(x)
	s.logAccess(x, begin)
}

// handle leads to an answer or an error, never to a panic.
func (s *server) handle(x *exchange) {
	defer func() {
		if p := recover(); p != nil {
			x.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	for _, step := range []func(*exchange) error{
		s.checkHost,
		s.checkOrigin,
		s.stripPrefix,
		s.inform,
		s.tellBegin,
		s.checkBody,
		s.authenticate,
		s.impersonate,
		s.authorize,
		s.checkMethod,
		s.receive,
		s.limitInFlight,
	} {
		if x.err = step(x); x.err != nil || x.answer.status != 0 {
			return
		}
	}
	// Route, parameters and handler. The response writer is not theirs to use.
	s.routes.ServeHTTP(noWriter{}, x.routed())
	if x.err == nil && x.answer.status == 0 {
		// Nobody answered: echo does OPTIONS of a route by itself.
		x.err = echo.ErrMethodNotAllowed
	}
}

// noWriter stands where echo wants a response writer: handlers leave their answer
// in the exchange.
type noWriter struct{}

func (noWriter) Header() http.Header         { return http.Header{} }
func (noWriter) Write(p []byte) (int, error) { return len(p), nil }
func (noWriter) WriteHeader(int)             {}

// checkHost refuses names that are not the server's own, see [WithHosts].
func (s *server) checkHost(x *exchange) error {
	host := x.r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = canonicalHost(host)
	if ip := net.ParseIP(host); s.hosts[host] || ip != nil && ip.IsLoopback() {
		return nil
	}
	return failure(http.StatusForbidden, "Forbidden",
		fmt.Sprintf("the server does not answer to the host %q; names beyond loopback must be listed (--allowed-hosts)", x.r.Host))
}

func (s *server) checkBody(x *exchange) error {
	if x.r.ContentLength > s.maxBody {
		return entityTooLarge(s.maxBody)
	}
	return nil
}

// inform reads what the request asks for.
func (s *server) inform(x *exchange) error {
	q := x.r.URL.Query()
	watch := q.Has("watch")
	if watch {
		w := q.Get("watch")
		watch = isTrue(&w)
	}
	x.info = newRequestInfo(x.r.Method, x.r.URL.Path, watch)
	x.resource = s.resource(&x.info)
	x.info.narrow(x.resource, q.Get("fieldSelector"))
	return nil
}

// resource is the one that a request is about, nil when the server has none.
func (s *server) resource(i *requestInfo) *resource {
	for _, r := range s.resources {
		if r.name() == i.Resource && r.group == i.Group && r.version == i.Version {
			return r
		}
	}
	return nil
}

// checkMethod answers what no route is for: paths and methods of resources that a
// Kubernetes API server has words for.
func (s *server) checkMethod(x *exchange) error {
	i, r, reads := &x.info, x.resource, x.r.Method == http.MethodGet || x.r.Method == http.MethodHead
	switch {
	case i.Group == "subresources."+group:
		return failure(http.StatusNotFound, "NotFound",
			fmt.Sprintf("this server has VirtualMachineInstances, but nothing that runs: there is nothing to %s in %s", last(i.Path), i.Resource))
	case !i.isResource():
		return nil
	case r == nil, !r.discovered.Namespaced && i.Namespace != "" && r != s.namespaces:
		return errNoSuchPath
	case r.discovered.Namespaced && i.Namespace == "" && (i.Name != "" || !reads):
		return errNoSuchPath
	case i.Subresource != "":
		return r.notFound(i.Name)
	case reads && r.does("get"):
		r.warn(x)
		return nil
	case i.Name == "" && (i.Verb == "update" || i.Verb == "patch") && r.does(i.Verb):
		return badRequest("name must be provided")
	case i.Verb == "create" && i.Name != "", i.legacyWatch, !r.does(i.Verb):
		return methodNotAllowed(i)
	}
	r.warn(x)
	return nil
}

func last(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// checkParameters judges the parameters of a request by the document. Of a
// parameter that is repeated the first value counts, as in a cluster.
func checkParameters(op *openapi.Operation) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			exchangeOf(c).op = op
			query := c.QueryParams()
			for name, values := range query {
				query[name] = values[:1]
			}
			path := make(map[string]string, 2)
			for _, name := range c.ParamNames() {
				path[name] = c.Param(name)
			}
			if issues := op.ValidateRequest(openapi.Request{Path: path, Query: query}); len(issues) > 0 {
				return badParameters(issues, query)
			}
			return next(c)
		}
	}
}

// logAccess writes one line a request. The query is left out: it is the client's.
func (s *server) logAccess(x *exchange, begin time.Time) {
	ctx := x.r.Context()
	if !s.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", x.id),
		slog.String("method", x.r.Method),
		slog.String("path", x.r.URL.Path),
		slog.String("verb", x.info.Verb),
		slog.String("user", x.user.Name),
		slog.Int("status", x.status),
		slog.Int64("bytes", x.written),
		slog.Duration("took", s.now().Sub(begin)),
		slog.String("remote", x.r.RemoteAddr),
		slog.String("agent", x.r.UserAgent()),
	}
	if x.impersonator != "" {
		attrs = append(attrs, slog.String("impersonator", x.impersonator))
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}
