// Package servertest runs the reference server inside a test, on a loopback
// address, with a client that talks to it:
//
//	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"},"status":{"phase":"Running"}}`))
//	machine, err := s.Client.Get(ctx, "default", "web")
//
// It starts in a few milliseconds and ends with the test.
package servertest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// Server is a running server.
type Server struct {
	// URL is its address, e.g. http://127.0.0.1:41234, for any client.
	URL string
	// Client talks to it.
	Client *client.Client

	t      testing.TB
	writer *server.Writer
}

// Option changes what [New] starts.
type Option func(*config)

type config struct {
	objects []any
	options []server.Option
	client  []client.Option
}

// WithObjects puts machines into the server before it starts, see [Server.Create].
func WithObjects(objects ...any) Option {
	return func(c *config) { c.objects = append(c.objects, objects...) }
}

// WithServerOptions hands options to [server.New] and [server.NewWriter].
func WithServerOptions(opts ...server.Option) Option {
	return func(c *config) { c.options = append(c.options, opts...) }
}

// WithClientOptions hands options to [client.New], a token for one.
func WithClientOptions(opts ...client.Option) Option {
	return func(c *config) { c.client = append(c.client, opts...) }
}

// New starts a server that checks every byte it answers, and closes it when the
// test ends. It fails the test when it cannot.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	var c config
	for _, o := range opts {
		if o == nil {
			t.Fatal(errors.New("an option is nil"))
		}
		o(&c)
	}
	st := store.NewMemory()
	life, end := context.WithCancel(context.Background())
	options := append([]server.Option{server.WithResponseValidation(server.ValidateFull), server.WithLifetime(life)}, c.options...)
	writer, err := server.NewWriter(st, options...)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(st, options...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(handler)
	t.Cleanup(func() {
		end() // Close waits for requests, and watches last.
		h.Close()
	})
	s := &Server{URL: h.URL, t: t, writer: writer}
	if s.Client, err = client.New(h.URL, c.client...); err != nil {
		t.Fatal(err)
	}
	s.Create(c.objects...)
	return s
}

// Create puts machines into the server, and fails the test where one is not valid
// or there already. Each is JSON as a string or as bytes, or a value that
// encoding/json turns into that, such as [vmi.VirtualMachineInstance].
// apiVersion and kind may be left out, and a namespace is "default".
func (s *Server) Create(objects ...any) {
	s.t.Helper()
	for _, o := range objects {
		if _, err := s.writer.Create(context.Background(), s.encode(o)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Update replaces machines that are there, as [Server.Create] takes them.
func (s *Server) Update(objects ...any) {
	s.t.Helper()
	for _, o := range objects {
		if _, err := s.writer.Update(context.Background(), s.encode(o)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Delete removes a machine at once, and fails the test when it is not there.
func (s *Server) Delete(namespace, name string) {
	s.t.Helper()
	if err := s.writer.Delete(context.Background(), namespace, name); err != nil {
		s.t.Fatal(err)
	}
}

// encode is the JSON of an object, with apiVersion and kind.
func (s *Server) encode(object any) []byte {
	s.t.Helper()
	data, err := marshal(object)
	if err != nil {
		s.t.Fatalf("object of type %T: %v", object, err)
	}
	return data
}

func marshal(object any) ([]byte, error) {
	switch o := object.(type) {
	case string:
		return named([]byte(o))
	case []byte:
		return named(o)
	case vmi.VirtualMachineInstance:
		o.APIVersion, o.Kind = cmp.Or(o.APIVersion, apiVersion), cmp.Or(o.Kind, kind)
		return json.Marshal(o)
	case *vmi.VirtualMachineInstance:
		if o == nil {
			return nil, errors.New("it is nil")
		}
		return marshal(*o)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return named(data)
}

const (
	apiVersion = "kubevirt.io/v1"
	kind       = "VirtualMachineInstance"
)

// named puts apiVersion and kind in front of an object that does not have them,
// and leaves its text alone otherwise: what is wrong with it is for the server to say.
func named(data []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	if members == nil {
		return nil, errors.New("no JSON object: null")
	}
	var front []string
	for _, m := range []struct{ name, value string }{{"apiVersion", apiVersion}, {"kind", kind}} {
		if _, said := members[m.name]; !said {
			front = append(front, fmt.Sprintf("%q:%q", m.name, m.value))
		}
	}
	if len(front) > 0 && len(members) > 0 {
		front = append(front, "") // a comma before the members that are there
	}
	_, rest, _ := bytes.Cut(data, []byte("{"))
	return slices.Concat([]byte("{"), []byte(strings.Join(front, ",")), rest), nil
}
