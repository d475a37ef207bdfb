package contract_test

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// A program that imports the package finds nothing of the target's bodies in its
// log, though the target sends what nobody asked for. It is not parallel: the
// logger is that of the process.
func TestBodyToHead(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(before) })

	right := mutant.New(mutant.Fleet())
	heads := 0
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			right.ServeHTTP(w, r)
			return
		}
		heads++
		get := r.Clone(r.Context())
		get.Method = http.MethodGet
		rec := httptest.NewRecorder()
		right.ServeHTTP(rec, get)
		conn, _, err := http.NewResponseController(w).Hijack()
		require.NoError(t, err)
		fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			rec.Code, http.StatusText(rec.Code), rec.Body.Len(), rec.Body)
		t.Cleanup(func() { conn.Close() })
	}))
	t.Cleanup(hs.Close)
	_, err := contract.Run(t.Context(), contract.Target{URL: hs.URL, Token: mutant.GoodToken}, contract.WithRequireExercised(0))
	require.NoError(t, err)
	assert.NotZero(t, heads)
	assert.Empty(t, logged.String())
}
