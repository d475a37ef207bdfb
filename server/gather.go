package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Gather prepares an HTTP server and the listener that it is going to serve, below
// TLS, so that an event of a watch leaves in one system call. net/http sends what is
// more than its buffer of 4 KB in pieces, and TLS each piece as a record of its own;
// with a thousand watchers the calls for them are most of what an event costs.
//
// It is about HTTP/1.1, where a watch has a connection to itself. Without Gather all
// works the same, a little slower.
func Gather(s *http.Server, l net.Listener) net.Listener {
	if s.TLSConfig != nil {
		// Small records help browsers, which show what they have of a page. Here
		// nobody can use half an event.
		s.TLSConfig.DynamicRecordSizingDisabled = true
	}
	next := s.ConnContext
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if next != nil {
			ctx = next(ctx, c)
		}
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn()
		}
		if g, ok := c.(*gatherConn); ok {
			ctx = context.WithValue(ctx, gatherKey{}, g)
		}
		return ctx
	}
	return gatherListener{l}
}

type gatherKey struct{}

// gatherConnOf is the connection of a request that is alone on it, or nil.
func gatherConnOf(r *http.Request) *gatherConn {
	if r.ProtoMajor != 1 {
		return nil
	}
	g, _ := r.Context().Value(gatherKey{}).(*gatherConn)
	return g
}

type gatherListener struct{ net.Listener }

func (l gatherListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gatherConn{Conn: c}, nil
}

// gatherConn is a connection that can hold back what is written to it, to send it as
// one. Its methods do nothing on a nil one, which is a connection that cannot.
type gatherConn struct {
	net.Conn

	mu      sync.Mutex
	holding bool
	held    *bytes.Buffer // nil when there is nothing
}

// maxHeld is how much is held back at most; an event is mostly less.
const maxHeld = 64 << 10

// heldBuffers are shared: a watch that waits needs none.
var heldBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write sends p behind what was held back, or holds it back, too.
func (g *gatherConn) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.holding && g.held == nil {
		return g.Conn.Write(p)
	}
	if g.held == nil {
		g.held = heldBuffers.Get().(*bytes.Buffer)
	}
	g.held.Write(p)
	if g.holding && g.held.Len() < maxHeld {
		return len(p), nil
	}
	return len(p), g.sendHeld()
}

func (g *gatherConn) sendHeld() error {
	if g.held == nil {
		return nil
	}
	_, err := g.Conn.Write(g.held.Bytes())
	g.held.Reset()
	heldBuffers.Put(g.held)
	g.held = nil
	return err
}

// CloseWrite says that nothing more comes, where the connection can: net/http does so
// before it closes one of which it has not read all, or the client would lose the answer.
func (g *gatherConn) CloseWrite() error {
	if c, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// hold begins to hold back what is written.
func (g *gatherConn) hold() {
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.holding = true
	}
}

// release makes the next write send everything. That the sending is a part of that
// write matters to whoever closes the connection: TLS does not wait for one that is
// under way.
func (g *gatherConn) release() {
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.holding = false
	}
}

// send sends what no write has.
func (g *gatherConn) send() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holding = false
	return g.sendHeld()
}
