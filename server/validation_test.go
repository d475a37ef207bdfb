package server_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// spoiled is a store that answers what a correct one never holds.
type spoiled struct {
	store.Store
	err   error
	panic bool
}

func (s spoiled) object() *store.Object {
	json := `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","namespace":"vms","resourceVersion":""},"status":{"phase":"Runing"}}`
	o, err := store.NewObject(store.Draft{Key: store.Key{Namespace: "vms", Name: "a"}, JSON: []byte(json), RevisionAt: strings.Index(json, `"},"status"`)}, 1)
	if err != nil {
		panic(err)
	}
	return o
}

func (s spoiled) Get(context.Context, store.Key) (*store.Object, error) {
	if s.panic {
		panic("the store fell over: secret=hunter2")
	}
	return s.object(), s.err
}

func (s spoiled) List(context.Context, store.ListOptions) (*store.Page, error) {
	return &store.Page{Objects: []*store.Object{s.object()}, Revision: 1}, s.err
}

func TestAnswerThatBreaksTheDocument(t *testing.T) {
	var log bytes.Buffer
	f := startStore(t, spoiled{Store: store.NewMemory()}, server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	for path, operation := range map[string]string{
		inVMs + "/a": "readNamespacedVirtualMachineInstance",
		inVMs:        "listNamespacedVirtualMachineInstance",
		all:          "listVirtualMachineInstanceForAllNamespaces",
	} {
		log.Reset()
		r := f.get(path)
		assert.Equal(t, "InternalError", r.status(t).Reason)
		assert.NotContains(t, string(r.body), "Runing")
		assert.Contains(t, log.String(), "operation="+operation)
		assert.Contains(t, log.String(), "/status/phase")
		assert.Contains(t, log.String(), "rule=enum")
	}
}

func TestResponseValidationModes(t *testing.T) {
	for mode, want := range map[server.ResponseValidation]int{
		server.ValidateFull:     500,
		server.ValidateEnvelope: 200, // The objects are the store's affair.
		server.ValidateOff:      200,
	} {
		f := startStore(t, spoiled{Store: store.NewMemory()}, server.WithResponseValidation(mode))
		assert.Equal(t, want, f.get(inVMs+"/a").StatusCode)
		assert.Equal(t, want, f.get(inVMs).StatusCode)
		assert.Equal(t, 200, f.get("/version").StatusCode)
		assert.Equal(t, 404, f.get("/nosuch").StatusCode)
	}
}

func TestFaultsOfTheServerAreNotTold(t *testing.T) {
	for name, st := range map[string]spoiled{
		"error": {Store: store.NewMemory(), err: errors.New("disk on fire: secret=hunter2")},
		"panic": {Store: store.NewMemory(), panic: true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			f := startStore(t, st, server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			r := f.get(inVMs + "/a")
			assert.Equal(t, http.StatusInternalServerError, r.StatusCode)
			assert.Equal(t, "Internal error occurred", r.status(t).Message)
			assert.Contains(t, log.String(), "level=ERROR")
			assert.Contains(t, log.String(), "id="+r.Header.Get("Audit-Id"))
		})
	}
}

func TestNoBodyForHead(t *testing.T) {
	st := store.NewMemory()
	h, err := server.New(st)
	require.NoError(t, err)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "http://localhost"+all, nil))
	assert.Equal(t, 200, w.Code)
	assert.Zero(t, w.Body.Len())
}

func TestEachFaultIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	f := startStore(t, spoiled{Store: store.NewMemory()}, server.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))))
	f.get(inVMs + "/a")
	assert.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), log.String())
}

func TestBodyLimit(t *testing.T) {
	f := start(t, server.WithMaxBodyBytes(10))
	req, err := http.NewRequest(http.MethodPost, f.url+inVMs, strings.NewReader(strings.Repeat("x", 11)))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []server.Option{
		server.WithProfile("nosuch"), server.WithHosts("a/b"), server.WithHosts("example.com:8443"), server.WithHosts("*.example.com"), server.WithHosts(""),
		server.WithLogger(nil), server.WithRequestTimeout(0), server.WithMaxBodyBytes(-1),
		// Nobody means to open a server by handing over nothing.
		server.WithAdmission(2), server.WithTokens(nil), server.WithPolicy(nil), server.WithClock(nil), server.WithIDs(nil), server.WithWarnings(nil), nil,
	} {
		_, err := server.New(store.NewMemory(), o)
		assert.Error(t, err)
	}
	_, err := server.New(nil)
	assert.Error(t, err)
	_, err = server.NewWriter(nil)
	assert.Error(t, err)
}

// others are objects named a of the other kinds that clients write, and none the
// paths of those of which there are none.
var (
	others = map[string]string{
		"/api/v1/namespaces":                                 `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}`,
		"/api/v1/namespaces/vms/events":                      `{"apiVersion":"v1","kind":"Event","metadata":{"name":"a"},"involvedObject":{"namespace":"vms"}}`,
		"/apis/coordination.k8s.io/v1/namespaces/vms/leases": `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"}}`,
	}
	none = regexp.MustCompile(`/(pods|secrets|persistentvolumeclaims)/a$`)
)

// Each operation of the document is answered, under every profile.
func TestEveryOperationIsServed(t *testing.T) {
	doc, err := openapi.Load(openapi.ProfileKubernetes)
	require.NoError(t, err)
	for _, p := range openapi.Profiles() {
		f := start(t, server.WithProfile(p))
		fill := func() {
			f.put("vms/a")
			for path, object := range others {
				f.send("POST", path, object)
			}
		}
		fill()
		for _, op := range doc.Operations() {
			path := op.Path()
			switch {
			case strings.HasSuffix(path, "/kubevirts/{name}"):
				path = strings.NewReplacer("{namespace}", "kubevirt", "{name}", "kubevirt").Replace(path)
			case strings.HasSuffix(path, "/customresourcedefinitions/{name}"):
				path = strings.ReplaceAll(path, "{name}", "virtualmachineinstances.kubevirt.io")
			}
			path = strings.ReplaceAll(path, "/nodes/{name}", "/nodes/node-1")
			path = strings.NewReplacer("{namespace}", "vms", "{name}", "a", "{group}", "coordination.k8s.io", "{version}", "v1", "{check}", "ping").Replace(path)
			want := cmp.Or(map[string]int{"POST": 400, "PUT": 400, "PATCH": 415}[op.Method()], 200) // for want of a body
			if none.MatchString(path) {
				want = 404
			}
			r := f.do(op.Method(), path)
			assert.Equal(t, want, r.StatusCode, "%s %s %s", op.ID(), p, r.body)
			fill()
		}
	}
}
