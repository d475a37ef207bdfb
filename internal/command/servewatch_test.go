package command_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordCount is a connection that counts the TLS records that it reads.
type recordCount struct {
	net.Conn
	records *atomic.Int64
	head    []byte // of the record that is being read
	left    int    // of its body
}

func (c *recordCount) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for data := p[:n]; len(data) > 0; {
		if c.left > 0 {
			skip := min(c.left, len(data))
			c.left, data = c.left-skip, data[skip:]
			continue
		}
		take := min(5-len(c.head), len(data))
		c.head, data = append(c.head, data[:take]...), data[take:]
		if len(c.head) == 5 {
			c.left = int(c.head[3])<<8 | int(c.head[4])
			c.head = c.head[:0]
			c.records.Add(1)
		}
	}
	return n, err
}

// The first events of a watch are not taken to pieces, as TLS in Go does with what a
// browser might show piece by piece, with a system call for each.
func TestServeSendsEventsInLargeRecords(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--quiet", "--tls", "--tls-dir", dir)
	var records atomic.Int64
	trusted := trusting(t, filepath.Join(dir, "ca.crt")).Transport.(*http.Transport)
	t.Cleanup(trusted.CloseIdleConnections)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: trusted.TLSClientConfig,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return &recordCount{Conn: c, records: &records}, err
		},
	}}
	res, err := client.Get(s.url + machines + "?watch=1&fieldSelector=metadata.name%3Dcirros")
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, "HTTP/1.1", res.Proto)
	events := bufio.NewReader(res.Body)
	added, err := events.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, added, `"ADDED"`)

	before, note := records.Load(), strings.Repeat("x", 10_000)
	req, err := http.NewRequest(http.MethodPatch, s.url+"/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/cirros",
		strings.NewReader(`{"metadata":{"annotations":{"note":"`+note+`"}}}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/merge-patch+json")
	patched, err := (&http.Client{Transport: trusted}).Do(req)
	require.NoError(t, err)
	patched.Body.Close()
	require.Equal(t, http.StatusOK, patched.StatusCode)
	modified, err := events.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, modified, note)
	assert.LessOrEqual(t, records.Load()-before, int64(3))
}
