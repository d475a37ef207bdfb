package apiserver_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/interop/apiserver"
)

func TestAccess(t *testing.T) {
	closed := start(t, apiserver.Options{})
	open := start(t, apiserver.Options{Anonymous: true})
	one := closed.NamespaceViewerToken("tenant-1")
	const minimal = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"x"},"spec":{"domain":{"devices":{}}}}`
	for _, test := range []struct {
		name               string
		server             *apiserver.Server
		method, path, with string
		body               string
		want               int
		message            string
	}{
		{"a viewer lists everywhere", closed, "GET", everywhere, closed.ViewerToken, "", 200, `"VirtualMachineInstanceList"`},
		{"a viewer lists within a namespace", closed, "GET", within("tenant-2"), closed.ViewerToken, "", 200, ""},
		{"a viewer gets", closed, "GET", within("tenant-2") + "/x", closed.ViewerToken, "", 404, `virtualmachineinstances.kubevirt.io \"x\" not found`},
		{"a viewer watches", closed, "GET", everywhere + "?watch=true&timeoutSeconds=1", closed.ViewerToken, "", 200, ""},
		{"a viewer reads discovery", closed, "GET", "/apis/kubevirt.io/v1", closed.ViewerToken, "", 200, `"virtualmachineinstances"`},
		{"a viewer does not create", closed, "POST", within("tenant-2"), closed.ViewerToken, minimal, 403, `User \"viewer\" cannot create`},
		{"a viewer does not read subresources", closed, "GET", within("tenant-2") + "/x/status", closed.ViewerToken, "", 403, ""},
		{"a viewer does not read CRDs", closed, "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", closed.ViewerToken, "", 403, ""},
		{"a viewer of one namespace lists there", closed, "GET", within("tenant-1"), one, "", 200, ""},
		{"but not elsewhere", closed, "GET", within("tenant-2"), one, "", 403, `in the namespace \"tenant-2\"`},
		{"nor everywhere", closed, "GET", everywhere, one, "", 403, "at the cluster scope"},
		{"nobody lists nothing", closed, "GET", everywhere, closed.NobodyToken, "", 403, `User \"nobody\" cannot list`},
		{"nobody gets nothing", closed, "GET", within("tenant-1") + "/x", closed.NobodyToken, "", 403, `User \"nobody\" cannot get`},
		{"nobody reads discovery", closed, "GET", "/apis/kubevirt.io/v1", closed.NobodyToken, "", 200, ""},
		{"the admin creates", closed, "POST", within("tenant-1") + "?dryRun=All", closed.AdminToken, minimal, 201, ""},
		{"a token of another server", closed, "GET", everywhere, open.ViewerToken, "", 401, `"Unauthorized"`},
		{"no token", closed, "GET", everywhere, "", "", 401, `"Unauthorized"`},
		{"no token where anonymous is allowed", open, "GET", everywhere, "", "", 403, `User \"system:anonymous\" cannot list`},
		{"a wrong token where anonymous is allowed", open, "GET", everywhere, "wrong", "", 401, `"Unauthorized"`},
		{"health for anonymous", open, "GET", "/readyz", "", "", 200, "ok"},
		{"no discovery for anonymous", open, "GET", "/apis/kubevirt.io/v1", "", "", 403, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, body := ask(t, test.server, test.method, test.path, test.with, test.body)
			assert.Equal(t, test.want, code, "%s", body)
			assert.Contains(t, string(body), test.message)
		})
	}
}

// A server that is closed leaves nothing: no port, no file, no goroutine.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	server, err := apiserver.Start(t.Context(), apiserver.Options{})
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.NotEmpty(t, files, "where the data is while it runs")

	// A client that watches does not keep the server.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+everywhere+"?watch=true", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+server.ViewerToken)
	response, err := server.HTTPClient().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()

	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
	listener, err := net.Listen("tcp", strings.TrimPrefix(server.URL, "https://"))
	if assert.NoError(t, err, "the port is free") {
		assert.NoError(t, listener.Close())
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, response.Body.Close())
	// Kubernetes keeps one for the process, which the first server starts.
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 10*time.Second, 10*time.Millisecond,
		"%d goroutines before", before)
}

func TestStartGivesUp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := apiserver.Start(ctx, apiserver.Options{})
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
