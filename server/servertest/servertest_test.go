package servertest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/servertest"
)

func TestObjectsOfEveryForm(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(
		`{"metadata":{"name":"text"},"status":{"phase":"Running"}}`,
		[]byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"bytes","namespace":"vms"},"unknown":{"kept":1.50}}`),
		vmi.VirtualMachineInstance{Metadata: vmi.ObjectMeta{Name: "typed"}, Status: vmi.VirtualMachineInstanceStatus{Phase: vmi.PhaseFailed}},
		&vmi.VirtualMachineInstance{Metadata: vmi.ObjectMeta{Name: "pointer"}},
		map[string]any{"metadata": map[string]any{"name": "map"}},
	))
	var names []string
	for vm, err := range s.Client.All(t.Context(), "", client.ListOptions{}) {
		require.NoError(t, err)
		names = append(names, vm.Namespace()+"/"+vm.Name())
	}
	assert.Equal(t, []string{"default/map", "default/pointer", "default/text", "default/typed", "vms/bytes"}, names)

	vm, err := s.Client.Get(t.Context(), "vms", "bytes")
	require.NoError(t, err)
	assert.Contains(t, string(vm.Raw), `"unknown":{"kept":1.50}`)
}

func TestWritesWithinTheProcess(t *testing.T) {
	s := servertest.New(t)
	s.Create(`{"metadata":{"name":"a"},"status":{"phase":"Pending"}}`)
	before, err := s.Client.Get(t.Context(), "default", "a")
	require.NoError(t, err)

	s.Update(`{"metadata":{"name":"a"},"status":{"phase":"Running"}}`)
	after, err := s.Client.Get(t.Context(), "default", "a")
	require.NoError(t, err)
	assert.Equal(t, vmi.PhaseRunning, after.Phase())
	assert.Equal(t, before.UID(), after.UID())
	assert.NotEqual(t, before.ResourceVersion(), after.ResourceVersion())

	s.Delete("default", "a")
	_, err = s.Client.Get(t.Context(), "default", "a")
	assert.ErrorIs(t, err, client.ErrNotFound)
}

func TestServersAreSeparate(t *testing.T) {
	a, b := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`)), servertest.New(t)
	require.NotEqual(t, a.URL, b.URL)
	list, err := b.Client.List(t.Context(), "", client.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, list.Items)
}

func TestOptionsReachServerAndClient(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader("secret,admin,1\n"))
	require.NoError(t, err)
	s := servertest.New(t, servertest.WithServerOptions(server.WithTokens(tokens)), servertest.WithClientOptions(client.WithBearerToken("secret")))
	_, err = s.Client.List(t.Context(), "", client.ListOptions{})
	assert.NoError(t, err)
	res, err := http.Get(s.URL + "/version")
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, http.StatusUnauthorized, res.StatusCode)
}

// failing is a test that notes that it failed, for what must fail one.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper()                   {}
func (f *failing) Fatal(args ...any)         { f.message = args[0].(error).Error(); panic(f) }
func (f *failing) Fatalf(s string, _ ...any) { f.message = s; panic(f) }

func TestWhatCannotBeIsAFailedTest(t *testing.T) {
	for name, do := range map[string]func(*servertest.Server){
		"invalid":       func(s *servertest.Server) { s.Create(`{"metadata":{"name":"a"},"status":{"phase":"Runing"}}`) },
		"twice":         func(s *servertest.Server) { s.Create(`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`) },
		"no JSON":       func(s *servertest.Server) { s.Create(`a: b`) },
		"a key twice":   func(s *servertest.Server) { s.Create(`{"metadata":{"name":"a"},"metadata":{"name":"b"}}`) },
		"a nil machine": func(s *servertest.Server) { s.Create((*vmi.VirtualMachineInstance)(nil)) },
		"another kind":  func(s *servertest.Server) { s.Create(`{"kind":"Pod","metadata":{"name":"a"}}`) },
		"no members":    func(s *servertest.Server) { s.Create(` {} `) },
		"null":          func(s *servertest.Server) { s.Create("null") },
		"nil":           func(s *servertest.Server) { s.Create(nil) },
		"no value":      func(s *servertest.Server) { s.Create(make(chan int)) },
		"missing":       func(s *servertest.Server) { s.Update(`{"metadata":{"name":"a"}}`) },
		"gone":          func(s *servertest.Server) { s.Delete("default", "a") },
	} {
		t.Run(name, func(t *testing.T) {
			f := &failing{TB: t}
			assert.Panics(t, func() { do(servertest.New(f)) })
			assert.NotEmpty(t, f.message)
		})
	}
}

func TestAnswersAreValidatedWhole(t *testing.T) {
	doc, err := openapi.Load(openapi.ProfileKubeVirt)
	require.NoError(t, err)
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`))
	res, err := http.Get(s.URL + "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/a")
	require.NoError(t, err)
	defer res.Body.Close()
	var body json.RawMessage
	require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
	assert.Empty(t, doc.ValidateObject(body))
}

// Goal: under 5 ms, the first answer included.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		one := &example{TB: b}
		s := servertest.New(one, servertest.WithObjects(`{"metadata":{"name":"a"}}`))
		_, err := s.Client.Get(context.Background(), "default", "a")
		require.NoError(b, err)
		one.end()
	}
}
