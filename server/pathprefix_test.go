package server_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

func TestPathPrefix(t *testing.T) {
	var log bytes.Buffer
	f := start(t, server.WithPathPrefix("/vm/k8s"), server.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).create("vms/a")
	const under = "/vm/k8s"
	assert.Equal(t, "vms/a", names(f.get(under+inVMs).list(t)))
	assert.Equal(t, "vms/a", names(f.get("/vm%2Fk8s"+inVMs).list(t)))
	assert.Equal(t, 200, f.get(under+inVMs+"/a/").StatusCode)
	assert.Equal(t, 200, f.get(under+inVMs+"/%61").StatusCode)
	assert.Equal(t, 201, f.send("POST", under+inVMs, vm("b")).StatusCode)
	assert.Equal(t, 200, f.get(under+"/readyz").StatusCode)
	assert.Contains(t, log.String(), "path=/readyz ", "the log has the paths of the API")
	_, events := f.watch(under + "/apis/kubevirt.io/v1/watch/namespaces/vms/virtualmachineinstances").next(2)
	assert.Len(t, events, 2)
	for _, path := range []string{inVMs, "/", "/readyz", "/vm/k8sx/readyz", "/vm", "/vm/k8", under, under + "/", under + "/" + inVMs, "/VM/K8S/readyz", under + under + "/readyz"} {
		r := f.get(path)
		assert.Equal(t, 404, r.StatusCode, path)
		assert.Equal(t, "404 page not found\n", string(r.body), path)
	}

	// What the index says can be asked for as it is, and so can where a kept one leads.
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	require.NoError(t, json.Unmarshal(f.get(under+"/openapi/v3").body, &index))
	require.NotEmpty(t, index.Paths)
	for _, entry := range index.Paths {
		assert.Regexp(t, `^/vm/k8s/openapi/v3/`, entry.ServerRelativeURL)
		assert.Equal(t, 200, f.get(entry.ServerRelativeURL).StatusCode)
	}
	r := f.get(under + "/openapi/v3/api/v1?hash=OLD")
	assert.Equal(t, 301, r.StatusCode)
	assert.Equal(t, index.Paths["api/v1"].ServerRelativeURL, r.Header.Get("Location"))
}

func TestPathPrefixesThatCannotBe(t *testing.T) {
	for _, prefix := range []string{"", "/", "k8s", "/k8s/", "//k8s", "/a/../b", "/k8s?a", "/k8s#a", "/k%38s", "/a b", `/a"b`, "https://a.example/k8s"} {
		_, err := server.New(store.NewMemory(), server.WithPathPrefix(prefix))
		require.Error(t, err, prefix)
		assert.Contains(t, err.Error(), "server: path prefix ")
	}
}
