package command

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// oneClient is a listener for one connection, without a network, so that time is the
// test's.
type oneClient chan net.Conn

func (l oneClient) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l oneClient) Close() error { close(l); return nil }
func (oneClient) Addr() net.Addr { return &net.TCPAddr{} }

// deaf is the connection of a client that at some time reads no more, not even what HTTP/2
// says about itself.
type deaf struct {
	net.Conn
	is     atomic.Bool
	closed chan struct{}
	once   sync.Once
}

func (c *deaf) Read(p []byte) (int, error) {
	if c.is.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return c.Conn.Read(p)
}

func (c *deaf) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A watch is cut off when nothing of its connection is read, and nothing of it is left
// behind.
func TestStuckWatch(t *testing.T) {
	// HTTP/2 first tries to say that it ends the stream.
	for protocol, want := range map[string]time.Duration{"HTTP/1.1": stuckTimeout, "HTTP/2.0": 2 * stuckTimeout} {
		synctest.Test(t, func(t *testing.T) {
			objects := store.NewMemory()
			w, err := server.NewWriter(objects)
			require.NoError(t, err)
			handler, err := server.New(objects)
			require.NoError(t, err)
			var ended atomic.Int64 // when the handler returned
			began := time.Now()
			s := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handler.ServeHTTP(w, r)
				ended.Store(int64(time.Since(began)))
			}), nil, time.Minute, slog.New(slog.DiscardHandler))
			s.Protocols = new(http.Protocols)
			s.Protocols.SetHTTP1(protocol == "HTTP/1.1")
			s.Protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
			l := make(oneClient, 1)
			ours, theirs := net.Pipe()
			l <- theirs
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- serveUntil(ctx, s, l) }()

			c := &deaf{Conn: ours, closed: make(chan struct{})}
			client := &http.Client{Transport: &http.Transport{Protocols: s.Protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}}
			resp, err := client.Get("http://localhost/apis/kubevirt.io/v1/virtualmachineinstances?watch=1")
			require.NoError(t, err)
			assert.Equal(t, protocol, resp.Proto)
			c.is.Store(true)
			for i := range 100 {
				_, err := w.Create(t.Context(), fmt.Appendf(nil, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"namespace":"vms","name":"vm%d",`+
					`"annotations":{"note":%q}},"spec":{"domain":{"devices":{}}}}`, i, strings.Repeat("x", 200_000)))
				require.NoError(t, err)
			}
			time.Sleep(5 * time.Minute)
			assert.Equal(t, want, time.Duration(ended.Load()), protocol)
			resp.Body.Close()
			client.CloseIdleConnections()
			stop()
			assert.NoError(t, <-done)
		})
	}
}
