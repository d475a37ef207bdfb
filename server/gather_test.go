package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// counted is a listener whose connections count what they are told to write.
type counted struct {
	net.Listener
	writes atomic.Int64
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, &l.writes}, err
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
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
				s := httptest.NewUnstartedServer(h)
				s.EnableHTTP2 = protocol == "HTTP/2.0"
				s.TLS = &tls.Config{DynamicRecordSizingDisabled: true} // httptest serves by this one
				l := &counted{Listener: s.Listener}
				s.Listener = server.Gather(s.Config, l)
				s.StartTLS()
				t.Cleanup(func() {
					end()
					s.Close()
				})

				res, err := s.Client().Get(s.URL + all + "?watch=1")
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
