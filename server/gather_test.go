package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// counted is a listener whose connections count what is done with them.
type counted struct {
	net.Listener
	writes, ends, closed atomic.Int64
}

type countedConn struct {
	*net.TCPConn
	on *counted
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c.(*net.TCPConn), l}, nil
}

func (c countedConn) Write(p []byte) (int, error) {
	c.on.writes.Add(1)
	return c.TCPConn.Write(p)
}

func (c countedConn) CloseWrite() error {
	c.on.ends.Add(1)
	return c.TCPConn.CloseWrite()
}

func (c countedConn) Close() error {
	c.on.closed.Add(1)
	return c.TCPConn.Close()
}

// gathered serves a handler as vmikit serve does, over one version of HTTP.
func gathered(t *testing.T, h http.Handler, second, secure bool) (*counted, *http.Client, string) {
	t.Helper()
	trusted := httptest.NewUnstartedServer(nil) // for its certificate and a client that trusts it
	trusted.EnableHTTP2 = second
	trusted.StartTLS()
	t.Cleanup(trusted.Close)
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(!second)
	s.Protocols.SetHTTP2(second)
	open, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &counted{Listener: open}
	serve, scheme := s.Serve, "http://"
	if secure {
		s.TLSConfig = &tls.Config{Certificates: trusted.TLS.Certificates}
		serve, scheme = func(l net.Listener) error { return s.ServeTLS(l, "", "") }, "https://"
	}
	done := make(chan error, 1)
	g := server.Gather(s, l)
	go func() { done <- serve(g) }()
	t.Cleanup(func() {
		s.Close()
		assert.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return l, trusted.Client(), scheme + open.Addr().String()
}

// An event of a watch leaves in one write, however large it is within reason, and all of
// it arrives, with every protocol.
func TestGather(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		for _, size := range []int{100, 3_000, 4_096, 10_000, 40_000, 200_000} {
			t.Run(fmt.Sprint(protocol, " ", size), func(t *testing.T) {
				life, end := context.WithCancel(t.Context())
				objects := store.NewMemory()
				w, err := server.NewWriter(objects)
				require.NoError(t, err)
				h, err := server.New(objects, server.WithLifetime(life))
				require.NoError(t, err)
				l, client, url := gathered(t, h, protocol == "HTTP/2.0", true)
				t.Cleanup(end)

				res, err := client.Get(url + all + "?watch=1")
				require.NoError(t, err)
				defer res.Body.Close()
				require.Equal(t, http.StatusOK, res.StatusCode)
				require.Equal(t, protocol, res.Proto)
				events := bufio.NewReader(res.Body)
				for i := range 3 {
					before, note := l.writes.Load(), strings.Repeat("x", size)
					_, err := w.Create(t.Context(), fmt.Appendf(nil, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`+
						`"metadata":{"namespace":"vms","name":"vm%d","annotations":{"note":%q}},"spec":{"domain":{"devices":{}}}}`, i, note))
					require.NoError(t, err)
					line, err := events.ReadString('\n')
					require.NoError(t, err)
					require.Contains(t, line, note)
					if protocol == "HTTP/1.1" && size <= 40_000 {
						assert.EqualValues(t, 1, l.writes.Load()-before)
					}
				}
			})
		}
	}
}

// net/http ends its half of a connection whose request it has not read to the end. Who
// sends it would lose the answer otherwise.
func TestGatherEndsItsHalf(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	l, client, url := gathered(t, h, false, false)
	body, more := io.Pipe()
	t.Cleanup(func() { more.Close() })
	req, err := http.NewRequest(http.MethodPost, url, body)
	require.NoError(t, err)
	req.ContentLength = 1 << 20
	res, err := client.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, http.StatusTeapot, res.StatusCode)
	require.Eventually(t, func() bool { return l.closed.Load() == 1 }, 5*time.Second, time.Millisecond)
	assert.EqualValues(t, 1, l.ends.Load())
}
