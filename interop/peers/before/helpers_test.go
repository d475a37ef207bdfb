package before_test

import (
	"log"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
	"kubevirt.io/client-go/kubecli"

	"github.com/vmikit/vmikit/server/servertest"
)

const (
	fleetDB      = `{"metadata":{"name":"db","namespace":"shop","labels":{"tier":"back"}},"spec":{"architecture":"arm64","hostname":"db-1"},"status":{"phase":"Running"}}`
	fleetWeb     = `{"metadata":{"name":"web","namespace":"shop","labels":{"tier":"front"}},"status":{"phase":"Scheduling"}}`
	fleetWebRuns = `{"metadata":{"name":"web","namespace":"shop","labels":{"tier":"front"}},"status":{"phase":"Running"}}`
	fleetBlog    = `{"metadata":{"name":"blog","namespace":"site","labels":{"tier":"front"}},"status":{"phase":"Running"}}`

	fleetFile = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: mail
spec:
  domain:
    cpu: {cores: 2}
`
)

// exampleRun stands for the *testing.T that a test has.
type exampleRun struct {
	testing.TB
	ends []func()
}

func (e *exampleRun) Helper()                   {}
func (e *exampleRun) Cleanup(end func())        { e.ends = append(e.ends, end) }
func (e *exampleRun) Fatal(args ...any)         { log.Fatal(args...) }
func (e *exampleRun) Errorf(f string, a ...any) { log.Fatalf(f, a...) }
func (e *exampleRun) Fatalf(f string, a ...any) { log.Fatalf(f, a...) }

func (e *exampleRun) end() {
	for _, end := range slices.Backward(e.ends) {
		end()
	}
}

// exampleFleet starts a server with three machines in two namespaces.
func exampleFleet() (s *servertest.Server, stop func()) {
	t := &exampleRun{}
	return servertest.New(t, servertest.WithObjects(fleetDB, fleetWeb, fleetBlog)), t.end
}

func connect(s *servertest.Server) kubecli.KubevirtClient {
	c, err := kubecli.GetKubevirtClientFromRESTConfig(&rest.Config{Host: s.URL})
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// exampleKubeconfig has KUBECONFIG name a file for a server.
func exampleKubeconfig(s *servertest.Server) (restore func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	before := os.Getenv("KUBECONFIG")
	os.Setenv("KUBECONFIG", filepath.Join(dir, "config"))
	text := `{apiVersion: v1, kind: Config, current-context: test, contexts: [{name: test, context: {cluster: test}}],
		clusters: [{name: test, cluster: {server: '` + s.URL + `'}}]}`
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return func() {
		os.Setenv("KUBECONFIG", before)
		_ = os.RemoveAll(dir)
	}
}
