package clients_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is a way to a server that can be cut: an address of its own, from which bytes go
// both ways.
type wire struct {
	address string // HOST:PORT
	server  string

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	held     chan bool    // closed when held connections may go on, nil while none are held
	open     map[net.Conn]bool
	carried  sync.WaitGroup
}

// wireTo begins to carry connections, until the test is over.
func wireTo(t *testing.T, server string) *wire {
	t.Helper()
	w := &wire{server: server, address: "127.0.0.1:0", open: map[net.Conn]bool{}}
	w.mend(t)
	t.Cleanup(func() {
		w.unplug()
		w.release()
		w.carried.Wait()
	})
	return w
}

// mend lets connections through (again).
func (w *wire) mend(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", w.address)
	require.NoError(t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listener, w.address = listener, listener.Addr().String()
	w.carried.Go(func() { w.accept(listener) })
}

// unplug cuts what is open and has further connections refused.
func (w *wire) unplug() {
	w.mu.Lock()
	if w.listener != nil {
		_ = w.listener.Close()
		w.listener = nil
	}
	w.mu.Unlock()
	w.cut()
}

// hold cuts what is open and has further connections wait, until release.
func (w *wire) hold() {
	w.mu.Lock()
	w.held = make(chan bool)
	w.mu.Unlock()
	w.cut()
}

// release lets held connections go on.
func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		close(w.held)
		w.held = nil
	}
}

// cut breaks the connections that are open, in the middle of whatever they carry, and
// says how many there were.
func (w *wire) cut() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		_ = c.(*net.TCPConn).SetLinger(0) // a reset, not an orderly end
		_ = c.Close()
	}
	return len(w.open) / 2
}

func (w *wire) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		if held != nil {
			<-held
		}
		far, err := net.Dial("tcp", w.server)
		if err != nil { // no server is there at the moment
			_ = near.Close()
			continue
		}
		w.mu.Lock()
		if w.listener != listener { // unplugged meanwhile
			_ = near.Close()
			_ = far.Close()
			w.mu.Unlock()
			return
		}
		w.open[near], w.open[far] = true, true
		w.mu.Unlock()
		w.carried.Go(func() { w.carry(near, far) })
		w.carried.Go(func() { w.carry(far, near) })
	}
}

// carry copies until either end is gone, then ends both.
func (w *wire) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range []net.Conn{to, from} {
		_ = c.Close()
		delete(w.open, c)
	}
}
