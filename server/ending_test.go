package server_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// Whoever asks first and goes away takes nothing along.
func TestWhatFollowsOutlivesWhoAsks(t *testing.T) {
	st := store.NewMemory()
	h, err := server.New(st)
	require.NoError(t, err)
	w, err := server.NewWriter(st)
	require.NoError(t, err)
	ask := func(ctx context.Context, path string) string {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+path, nil))
		return answer.Body.String()
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for i := range 3 {
		_, err = w.Create(t.Context(), []byte(strings.Replace(string(machine(fmt.Sprintf("ns-%d/a", i))), "node-1", fmt.Sprintf("n-%d", i), 1)))
		require.NoError(t, err)
		ask(gone, "/api/v1/nodes")
		ask(gone, "/api/v1/namespaces")
		assert.Contains(t, ask(t.Context(), "/api/v1/nodes"), fmt.Sprintf(`"name":"n-%d"`, i))
		assert.Contains(t, ask(t.Context(), "/api/v1/namespaces"), fmt.Sprintf(`"name":"ns-%d"`, i))
	}
}

// A node is there as long as a machine says that it runs on it.
func TestNodesGo(t *testing.T) {
	f := start(t).create("vms/a", "vms/b")
	w := f.watch("/api/v1/nodes?watch=1")
	w.next(1)
	f.send("PATCH", inVMs+"/a", `{"status":{"nodeName":"node-2"}}`).written(t, 200)
	f.remove("vms", "b")
	_, names := w.next(2)
	assert.ElementsMatch(t, []string{"ADDED /node-2", "DELETED /node-1"}, names)
	assert.Equal(t, "node-2", f.get("/api/v1/nodes").named(t))
	assert.Equal(t, "field label not supported: metadata.namespace", f.get("/api/v1/nodes?fieldSelector=metadata.namespace%3Dcluster").status(t).Message)
}

// A namespace that is being deleted waits for its own finalizers and for those of all
// that is in it, whatever is done to it meanwhile, and tells who watches of its end.
func TestNamespaceWaitsForFinalizers(t *testing.T) {
	f := start(t)
	in := func(path string) string { return strings.ReplaceAll(path, "/vms/", "/team/") }
	f.send("POST", namespaces, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team","finalizers":["example.com/wait"]}}`).written(t, 201)
	f.send("POST", in(leases), `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l","finalizers":["example.com/wait"]}}`).written(t, 201)
	f.send("POST", in(inVMs), vm("a", `"finalizers":["example.com/wait"]`)).written(t, 201)
	w := f.watch(namespaces + "?watch=1&fieldSelector=metadata.name%3Dteam")
	w.next(1)
	assert.Equal(t, 406, f.do("DELETE", namespaces+"/team", "Accept: text/html").StatusCode)
	f.do("DELETE", namespaces+"/team").written(t, 200)
	f.send("PATCH", namespaces+"/team", `{"metadata":{"labels":{"a":"b"}}}`).written(t, 200)
	f.send("PATCH", in(inVMs)+"/a", `{"metadata":{"finalizers":null}}`).written(t, 200)
	f.send("PATCH", namespaces+"/team", `{"metadata":{"finalizers":null}}`).written(t, 200)
	assert.Equal(t, 200, f.get(namespaces+"/team").StatusCode, "there is a lease")
	f.send("PATCH", in(leases)+"/l", `{"metadata":{"finalizers":null}}`).written(t, 200)
	_, names := w.next(4)
	assert.Equal(t, "DELETED /team", names[3])
	assert.Equal(t, 404, f.get(namespaces+"/team").StatusCode)

	was := f.send("POST", namespaces, namespace("team")).written(t, 201).Metadata.UID
	f.do("DELETE", namespaces+"/team").written(t, 200)
	f.send("POST", in(inVMs), vm("a")).written(t, 201)
	assert.NotEqual(t, was, f.get(namespaces+"/team").written(t, 200).Metadata.UID, "it is another one")
}

// What is made while a namespace is deleted is either refused or deleted with it.
func TestNamespaceEndsWhileMachinesCome(t *testing.T) {
	f := start(t, server.WithStrictNamespaces())
	for round := range 20 {
		name := fmt.Sprintf("team-%d", round)
		f.send("POST", namespaces, namespace(name)).written(t, 201)
		path := strings.ReplaceAll(inVMs, "/vms/", "/"+name+"/")
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for j := range 5 {
					f.send("POST", path, vm(fmt.Sprintf("m-%d-%d", i, j)))
					f.get(namespaces)
				}
			})
		}
		f.do("DELETE", namespaces+"/"+name)
		all.Wait()
		assert.Equal(t, 404, f.get(namespaces+"/"+name).StatusCode)
		assert.Empty(t, names(f.get(path).list(t)))
	}
}

// A YAML body is one object: a List is none of these.
func TestYAMLBodyIsOneObject(t *testing.T) {
	f := start(t)
	yaml := "Content-Type: application/yaml"
	r := f.send("POST", inVMs, `{"apiVersion":"v1","kind":"List","items":[`+vm("a")+`]}`, yaml)
	assert.GreaterOrEqual(t, r.StatusCode, 400)
	assert.Empty(t, names(f.get(inVMs).list(t)))
	f.send("POST", inVMs, vm("first")+"\n---\n"+vm("second"), yaml).written(t, 201)
	assert.Equal(t, "vms/first", names(f.get(inVMs).list(t)), "what follows does not count")
}
