// Package servertest runs the reference server inside a test, on a loopback
// address, with a client that talks to it:
//
//	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"},"status":{"phase":"Running"}}`))
//	vm, err := s.Client.Get(ctx, "default", "web")
//
// It starts in a few milliseconds and ends with the test.
//
// The test is the cluster: [Server.Create], [Server.Update] and [Server.Delete]
// change machines, which watches see; [Server.Inject] makes requests fail, wait or
// lose their connection; [Server.DropWatches] and [Server.Expire] are what a watch
// must survive; [Server.Requests] is what clients have asked; and [Server.Reset]
// brings all of it back to the beginning.
package servertest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// Server is a running server. Its methods may be called from several goroutines at
// once; those that fail the test only from the test's own, as [testing.T.FailNow]
// has it.
type Server struct {
	// URL is its address, e.g. http://127.0.0.1:41234, for any client.
	URL string
	// Client talks to it.
	Client *client.Client

	t     testing.TB
	cfg   config
	front *front
}

// Option changes what [New] starts.
type Option func(*config)

type config struct {
	objects []any
	options []server.Option
	client  []client.Option
	history store.History
}

// WithObjects puts machines into the server before it starts, see [Server.Create].
func WithObjects(objects ...any) Option {
	return func(c *config) { c.objects = append(c.objects, objects...) }
}

// WithServerOptions hands options to [server.New] and [server.NewWriter].
func WithServerOptions(opts ...server.Option) Option {
	return func(c *config) { c.options = append(c.options, opts...) }
}

// WithHistory bounds what the server remembers of the past, by default as in a
// cluster. With a few changes it is soon too late for a watch that was interrupted.
func WithHistory(h store.History) Option {
	return func(c *config) { c.history = h }
}

// WithClientOptions hands options to [client.New], a token for one.
func WithClientOptions(opts ...client.Option) Option {
	return func(c *config) { c.client = append(c.client, opts...) }
}

// New starts a server that checks every byte it answers, and closes it when the
// test ends. It fails the test when it cannot.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s := &Server{t: t, front: newFront()}
	for _, o := range opts {
		if o == nil {
			t.Fatal(errors.New("an option is nil"))
		}
		o(&s.cfg)
	}
	s.Reset()
	h := httptest.NewUnstartedServer(s.front)
	h.Config.ConnContext = withConn
	h.Start()
	t.Cleanup(func() {
		s.front.close() // Close waits for requests, and watches last.
		h.Close()
	})
	s.URL = h.URL
	var err error
	if s.Client, err = client.New(h.URL, s.cfg.client...); err != nil {
		t.Fatal(err)
	}
	return s
}

// Reset brings the server back to where [New] left it, in a few milliseconds: the
// machines of [WithObjects], no faults, no requests. Watches that run come to an
// end; where they try to go on they are told that their state has expired, as every
// state of before is. The URL stays.
func (s *Server) Reset() {
	s.t.Helper()
	b, err := newBackend(&s.cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range s.cfg.objects {
		if _, err := b.writer.Create(context.Background(), s.encode(o)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.front.reset(b)
}

// Create puts machines into the server, and fails the test where one is not valid
// or there already. Each is what [client.Client.Create] takes: JSON as a string or as
// bytes, or a value that encoding/json turns into that, such as
// [vmi.VirtualMachineInstance].
// apiVersion and kind may be left out, and a namespace is "default".
func (s *Server) Create(objects ...any) {
	s.t.Helper()
	for _, o := range objects {
		if _, err := s.writer().Create(context.Background(), s.encode(o)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Update replaces machines that are there, as [Server.Create] takes them.
func (s *Server) Update(objects ...any) {
	s.t.Helper()
	for _, o := range objects {
		if _, err := s.writer().Update(context.Background(), s.encode(o)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Delete removes a machine at once, and fails the test when it is not there.
func (s *Server) Delete(namespace, name string) {
	s.t.Helper()
	if err := s.writer().Delete(context.Background(), namespace, name); err != nil {
		s.t.Fatal(err)
	}
}

// Expire makes the server forget what was before now, as a cluster does about every
// five minutes. The pages after one that was answered, lists of an exact revision and
// watches from a revision of before are answered with 410 Gone, a watch by an ERROR
// event. Watches that run go on; with [Server.DropWatches] before it they come back
// and find their state expired.
func (s *Server) Expire() {
	s.front.now().store.Compact()
}

func (s *Server) writer() *server.Writer { return s.front.now().writer }

// backend is all that a reset replaces.
type backend struct {
	store   *store.Memory
	writer  *server.Writer
	handler http.Handler
	end     context.CancelFunc // of its watches
}

func newBackend(c *config) (*backend, error) {
	life, end := context.WithCancel(context.Background())
	b := &backend{store: store.NewMemory(store.WithHistory(c.history)), end: end}
	opts := append([]server.Option{server.WithResponseValidation(server.ValidateFull), server.WithLifetime(life)}, c.options...)
	var err error
	if b.writer, err = server.NewWriter(b.store, opts...); err != nil {
		return nil, err
	}
	if b.handler, err = server.New(b.store, opts...); err != nil {
		return nil, err
	}
	return b, nil
}

// encode is the JSON of an object, with apiVersion and kind.
func (s *Server) encode(object any) []byte {
	s.t.Helper()
	data, err := client.Encode(object)
	if err != nil {
		s.t.Fatalf("object of type %T: %v", object, err)
	}
	return data
}
