package proxy_test

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What an upstream sends behind its answer to HEAD is not in the log of the process.
func TestBodyToHead(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(before) })

	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			answering(machine("a", "1"))(w, r)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if assert.NoError(t, err) {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\":\"b\"}")
			t.Cleanup(func() { conn.Close() })
		}
	}))
	for range 3 {
		resp, err := b.client.Do(b.request(http.MethodHead, inProd+"/a"))
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		b.get(inProd + "/a")
	}
	assert.Empty(t, logged.String())
}
