package servertest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// front stands before the server: it notes requests and applies faults.
type front struct {
	life context.Context // of the front; requests that are made to wait end with it
	end  context.CancelFunc

	mu       sync.Mutex
	backend  *backend
	faults   []*injected
	requests []*Request
	watches  map[net.Conn]bool
}

func newFront() *front {
	f := &front{watches: make(map[net.Conn]bool)}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// now is the backend of this moment.
func (f *front) now() *backend {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.backend
}

func (f *front) reset(b *backend) {
	f.mu.Lock()
	old := f.backend
	f.backend, f.faults, f.requests = b, nil, nil
	f.mu.Unlock()
	if old != nil {
		old.end()
	}
}

func (f *front) close() {
	f.end()
	f.now().end()
}

// connKey finds the connection of a request, to be closed under it.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := targetOf(r)
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	b, note, fault := f.begin(r, t, conn)
	defer f.forget(conn)
	a := &answer{ResponseWriter: w, front: f, note: note}
	if fault == nil {
		b.handler.ServeHTTP(a, r)
		return
	}
	if !f.wait(r.Context(), fault.Delay) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case fault.Status != 0:
		fault.write(a)
	case fault.Drop == DropBeforeAnswer:
		dropUnanswered(conn)
	case fault.Drop == DropInBody:
		a.conn, a.left = conn, fault.After
		b.handler.ServeHTTP(a, r)
	default:
		b.handler.ServeHTTP(a, r)
	}
}

// begin notes a request and finds what is to become of it.
func (f *front) begin(r *http.Request, t target, conn net.Conn) (*backend, *Request, *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.verb == "watch" {
		f.watches[conn] = true
	}
	return f.backend, f.note(r, t), f.strike(t)
}

func (f *front) forget(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watches, conn)
}

// wait is false when nobody waits any more.
func (f *front) wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-f.life.Done():
	}
	return false
}

// DropWatches cuts the connections of all watches that are running, without the end
// that an answer has, and returns how many those were.
func (s *Server) DropWatches() int {
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	for conn := range s.front.watches {
		_ = conn.Close()
	}
	dropped := len(s.front.watches)
	clear(s.front.watches)
	return dropped
}

// dropUnanswered closes a connection after a part of an answer's head. net/http's
// transport repeats a request by itself when a connection that was used before ends
// without a single byte, and the fault would not be seen.
func dropUnanswered(conn net.Conn) {
	_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type:"))
	_ = conn.Close()
	panic(http.ErrAbortHandler)
}

// answer passes an answer on. It notes the status, and with a connection it cuts
// that off after so many bytes of the body.
type answer struct {
	http.ResponseWriter
	front *front
	note  *Request
	conn  net.Conn
	left  int
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) WriteHeader(status int) {
	a.front.mu.Lock()
	a.note.Status = status
	a.front.mu.Unlock()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.conn == nil || len(p) <= a.left {
		a.left -= len(p)
		return a.ResponseWriter.Write(p)
	}
	n, _ := a.ResponseWriter.Write(p[:a.left])
	_ = http.NewResponseController(a.ResponseWriter).Flush()
	a.left = 0
	_ = a.conn.Close()
	return n, net.ErrClosed
}
