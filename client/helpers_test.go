package client_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
)

const machines = "/apis/kubevirt.io/v1/namespaces/vms/virtualmachineinstances"

// recorded returns an answer of a real API server; see testdata/README.md.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return body
}

// serve starts a server and a client of it.
func serve(t testing.TB, handler http.HandlerFunc, opts ...client.Option) *client.Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return connect(t, srv.URL, opts...)
}

func connect(t testing.TB, url string, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(url, opts...)
	require.NoError(t, err)
	return c
}

// once is for tests of what a single attempt ends in.
var once = client.WithRetry(client.NoRetry)

// answer is a handler that always answers the same.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// object is the JSON of a machine with members added at its top.
func object(name, members string) string {
	return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"` + name +
		`","namespace":"vms"}` + members + `}`
}

// page is the JSON of a list.
func page(cont string, items ...string) string {
	return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","items":[%s],"kind":"VirtualMachineInstanceList",`+
		`"metadata":{"continue":"%s","resourceVersion":"12"}}`+"\n", strings.Join(items, ","), cont)
}

func names(vms []*client.VMI) []string {
	names := []string{}
	for _, vm := range vms {
		names = append(names, vm.Name())
	}
	return names
}

// view is the typed view of a machine that has nothing wrong.
func view(t testing.TB, vm *client.VMI) *vmi.VirtualMachineInstance {
	t.Helper()
	v, err := vm.View()
	require.NoError(t, err)
	return v
}

// quiet is for servers whose clients hang up on purpose.
var quiet = log.New(io.Discard, "", 0)

// newConns counts the connections that a server accepts.
func newConns(mu *sync.Mutex, opened *int) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			mu.Lock()
			defer mu.Unlock()
			*opened++
		}
	}
}
