package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// network is a listener without a network, so that the clock can be the test's.
type network struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newNetwork() *network {
	return &network{dialed: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.dialed:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (n *network) dial() net.Conn {
	client, server := net.Pipe()
	n.dialed <- server
	return client
}

// untilCut is how long a client is held before the server has enough of it.
func untilCut(c net.Conn) time.Duration {
	begin := time.Now()
	_, _ = io.Copy(io.Discard, c)
	c.Close()
	return time.Since(begin)
}

// drip sends a byte each second until nobody takes them.
func drip(c net.Conn) {
	for {
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func TestSlowClients(t *testing.T) {
	objects := store.NewMemory()
	w, err := server.NewWriter(objects)
	require.NoError(t, err)
	_, err = w.Create(t.Context(), fmt.Appendf(nil, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"namespace":"vms","name":"a",`+
		`"annotations":{"note":%q}},"spec":{"domain":{"devices":{}}}}`, strings.Repeat("x", 200_000)))
	require.NoError(t, err)
	handler, err := server.New(objects)
	require.NoError(t, err)

	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		const requestTimeout = time.Minute
		go func() {
			done <- serveUntil(ctx, newHTTPServer(handler, nil, requestTimeout, slog.New(slog.DiscardHandler)), n)
		}()
		const (
			head = "Host: localhost\r\n\r\n"
			path = "/apis/kubevirt.io/v1/namespaces/vms/virtualmachineinstances"
		)
		var clients sync.WaitGroup
		slow := func(what string, limit time.Duration, client func(c net.Conn) time.Duration) {
			clients.Go(func() {
				assert.Equal(t, limit, client(n.dial()).Truncate(time.Second), what)
			})
		}
		for range 1000 {
			slow("says nothing", readHeaderTimeout, untilCut)
		}
		slow("sends its head slowly", readHeaderTimeout, func(c net.Conn) time.Duration {
			_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nX-Slow: ")
			go drip(c)
			return untilCut(c)
		})
		slow("sends its body slowly", readTimeout, func(c net.Conn) time.Duration {
			_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"+head)
			go drip(c)
			return untilCut(c)
		})
		const tooLate = requestTimeout + writeGrace + time.Second
		slow("does not read its answer", tooLate, func(c net.Conn) time.Duration {
			begin := time.Now()
			_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\n"+head)
			time.Sleep(tooLate)
			left, _ := io.Copy(io.Discard, c)
			c.Close()
			assert.Less(t, left, int64(200_000), "the rest is cut off")
			return time.Since(begin)
		})
		slow("asks for nothing more", idleTimeout, func(c net.Conn) time.Duration {
			_, _ = io.WriteString(c, "GET /readyz HTTP/1.1\r\n"+head)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if assert.NoError(t, err) {
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			return untilCut(c)
		})

		// Somebody else is answered meanwhile.
		synctest.Wait()
		c := n.dial()
		go func() { _, _ = io.WriteString(c, "GET /version HTTP/1.1\r\nConnection: close\r\n"+head) }()
		begin := time.Now()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if assert.NoError(t, err) {
			_, err = io.Copy(io.Discard, resp.Body)
			assert.NoError(t, err)
			assert.Equal(t, http.StatusOK, resp.StatusCode)
		}
		c.Close()
		assert.Zero(t, time.Since(begin))

		clients.Wait()
		stop()
		assert.NoError(t, <-done)
		// The bubble ends when every goroutine in it has: none is left behind.
	})
}
