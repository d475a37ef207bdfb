package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

const (
	all   = "/apis/kubevirt.io/v1/virtualmachineinstances"
	inVMs = "/apis/kubevirt.io/v1/namespaces/vms/virtualmachineinstances"
)

// fixture is a running server over a store that the test can write.
type fixture struct {
	t      *testing.T
	url    string
	writer *server.Writer
}

// start serves a new store, every byte of the answers validated.
func start(t *testing.T, opts ...server.Option) *fixture {
	t.Helper()
	return startStore(t, store.NewMemory(), opts...)
}

func startStore(t *testing.T, st store.Store, opts ...server.Option) *fixture {
	t.Helper()
	life, end := context.WithCancel(context.Background())
	opts = append([]server.Option{server.WithResponseValidation(server.ValidateFull), server.WithLifetime(life)}, opts...)
	w, err := server.NewWriter(st, opts...)
	require.NoError(t, err)
	h, err := server.New(st, opts...)
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		end()
		srv.Close()
	})
	return &fixture{t, srv.URL, w}
}

// create stores machines, each "namespace/name label=value…".
func (f *fixture) create(machines ...string) *fixture {
	f.t.Helper()
	for _, m := range machines {
		_, err := f.writer.Create(context.Background(), machine(m))
		require.NoError(f.t, err)
	}
	return f
}

func machine(s string) []byte {
	words := strings.Fields(s)
	namespace, name, _ := strings.Cut(words[0], "/")
	labels := make(map[string]string)
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		labels[k] = v
	}
	l, _ := json.Marshal(labels)
	return fmt.Appendf(nil, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`+
		`"metadata":{"namespace":%q,"name":%q,"labels":%s},`+
		`"spec":{"domain":{"devices":{},"resources":{"requests":{"memory":"64Mi"}}}},`+
		`"status":{"phase":"Running","nodeName":"node-1","interfaces":[{"ipAddress":"192.0.2.10"}],`+
		`"conditions":[{"type":"Ready","status":"True"},{"type":"LiveMigratable","status":"False"}]}}`, namespace, name, l)
}

// put makes a machine if there is none of the name.
func (f *fixture) put(m string) {
	f.t.Helper()
	if _, err := f.writer.Create(context.Background(), machine(m)); !errors.Is(err, store.ErrExists) {
		require.NoError(f.t, err)
	}
}

// reply is an answer, its body read.
type reply struct {
	*http.Response
	body []byte
}

// do sends a request; each header is "Name: value".
func (f *fixture) do(method, path string, headers ...string) reply {
	f.t.Helper()
	req, err := http.NewRequest(method, f.url+path, nil)
	require.NoError(f.t, err)
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(name, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(f.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	return reply{res, body}
}

func (f *fixture) get(path string, headers ...string) reply {
	f.t.Helper()
	return f.do(http.MethodGet, path, headers...)
}

// status is the body of an error.
func (r reply) status(t *testing.T) vmi.Status {
	t.Helper()
	var s vmi.Status
	require.NoError(t, json.Unmarshal(r.body, &s), "body: %s", r.body)
	require.Equal(t, "Status", s.Kind)
	require.EqualValues(t, r.StatusCode, s.Code)
	return s
}

// list is the body of a list.
func (r reply) list(t *testing.T) vmi.VirtualMachineInstanceList {
	t.Helper()
	require.Equal(t, http.StatusOK, r.StatusCode, "body: %s", r.body)
	var l vmi.VirtualMachineInstanceList
	require.NoError(t, json.Unmarshal(r.body, &l))
	return l
}

func names(l vmi.VirtualMachineInstanceList) string {
	var n []string
	for _, i := range l.Items {
		n = append(n, i.Metadata.Namespace+"/"+i.Metadata.Name)
	}
	return strings.Join(n, " ")
}
