package contract_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// A run leaves no connection behind, in a program that runs many.
func TestConnectionsAreClosed(t *testing.T) {
	var mu sync.Mutex
	open, most := make(map[net.Conn]bool), 0
	hs := httptest.NewUnstartedServer(mutant.New(mutant.Fleet()))
	hs.Config.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch state {
		case http.StateNew:
			open[c] = true
			most = max(most, len(open))
		case http.StateClosed:
			delete(open, c)
		}
	}
	hs.Start()
	t.Cleanup(hs.Close)
	for range 2 {
		_, err := contract.Run(t.Context(), contract.Target{URL: hs.URL, Token: mutant.GoodToken})
		require.NoError(t, err)
	}
	assert.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(open) == 0
	}, 10*time.Second, 10*time.Millisecond)
	assert.LessOrEqual(t, most, 2, "one at a time, and the one before it may not be gone yet")
}
