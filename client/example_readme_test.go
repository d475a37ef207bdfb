package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/client/kubeconfig"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/server/servertest"
)

// The examples of this file are what README.md shows beside the same with
// kubevirt.io/client-go, which interop/peers/before has under the same names.

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

// exampleFleet starts a server with three machines in two namespaces.
func exampleFleet(opts ...client.Option) (s *servertest.Server, stop func()) {
	t := &exampleRun{}
	s = servertest.New(t, servertest.WithClientOptions(opts...), servertest.WithObjects(fleetDB, fleetWeb, fleetBlog))
	return s, t.end
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

func Example_kubeconfig() {
	s, stop := exampleFleet()
	defer stop()
	defer exampleKubeconfig(s)()
	ctx := context.Background()

	access, err := kubeconfig.Load()
	if err != nil {
		log.Fatal(err)
	}
	hc, err := access.HTTPClient()
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(access.URL, client.WithHTTPClient(hc))
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Get(ctx, "shop", "db")
	fmt.Println(err)
	// Output: <nil>
}

func Example_inCluster() {
	defer os.Setenv("KUBERNETES_SERVICE_HOST", os.Getenv("KUBERNETES_SERVICE_HOST"))
	os.Setenv("KUBERNETES_SERVICE_HOST", "") // an example has no pod

	access, err := kubeconfig.Load(kubeconfig.WithInCluster())
	if errors.Is(err, kubeconfig.ErrNotConfigured) {
		fmt.Println("this is no pod")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(access)
	// Output: this is no pod
}

func Example_get() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Get(ctx, "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	view, err := vm.View()
	if err != nil {
		log.Print(err) // a value that Go cannot hold; view has the rest
	}
	fmt.Println(vm.Name(), vm.Phase(), view.Spec.Hostname)
	// Output: db Running db-1
}

func Example_dynamic() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Get(ctx, "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	var more struct {
		Spec struct{ Architecture string }
	}
	if err := json.Unmarshal(vm.Raw, &more); err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Name(), more.Spec.Architecture)
	// Output: db arm64
}

func Example_list() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	list, err := c.List(ctx, "", client.ListOptions{LabelSelector: "tier=front"})
	if err != nil {
		log.Fatal(err)
	}
	for _, vm := range list.Items {
		fmt.Println(vm.Namespace(), vm.Name(), vm.Phase())
	}
	// Output:
	// shop web Scheduling
	// site blog Running
}

func Example_pages() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	for vm, err := range c.All(ctx, "", client.ListOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(vm.Namespace(), vm.Name())
	}
	// Output:
	// shop db
	// shop web
	// site blog
}

func Example_watch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := s.Client
	callback := func(what, name string) {
		fmt.Println(what, name)
		switch what + " " + name {
		case "added web":
			s.Update(fleetWebRuns)
		case "changed web":
			s.Delete("shop", "db")
		case "deleted db":
			cancel()
		}
	}

	for e, err := range c.Watch(ctx, "shop", client.WatchOptions{}) {
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Fatal(err) // waiting does not help: forbidden, for one
		case e.Type == client.EventAdded:
			callback("added", e.Name)
		case e.Type == client.EventModified:
			callback("changed", e.Name)
		case e.Type == client.EventDeleted:
			callback("deleted", e.Name)
		}
	}
	// Output:
	// added db
	// added web
	// changed web
	// deleted db
}

func Example_wait() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client
	time.AfterFunc(time.Millisecond, func() { s.Update(fleetWebRuns) })

	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	_, err := c.WaitFor(ctx, "shop", "web", client.PhaseIs(vmi.PhaseRunning))
	fmt.Println(err)
	// Output: <nil>
}

func Example_create() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c, file := context.Background(), s.Client, strings.NewReader(fleetFile)

	for object, err := range manifest.Read("mail.yaml", file) {
		if err != nil {
			log.Fatal(err)
		}
		vm, err := c.Create(ctx, "shop", object.JSON, client.WriteOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(vm.Namespace(), vm.Name())
	}
	// Output: shop mail
}

func Example_update() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Update(ctx, "shop", "web", func(v *vmi.VirtualMachineInstance) error {
		v.Metadata.Labels["tier"] = "edge"
		return nil
	}, client.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(labels(vm))
	// Output: map[tier:edge]
}

func Example_mergePatch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Patch(ctx, "shop", "web",
		client.MergePatch(`{"metadata":{"labels":{"tier":null,"zone":"b"}}}`),
		client.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(labels(vm))
	// Output: map[zone:b]
}

func Example_jsonPatch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Patch(ctx, "shop", "web",
		client.JSONPatch(`[{"op":"replace","path":"/metadata/labels/tier","value":"edge"}]`),
		client.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(labels(vm))
	// Output: map[tier:edge]
}

func Example_applyPatch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Patch(ctx, "shop", "web",
		client.ApplyPatch(`{"metadata":{"labels":{"zone":"b"}}}`, true),
		client.WriteOptions{FieldManager: "deployer"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(labels(vm))
	// Output: map[tier:front zone:b]
}

func Example_delete() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Get(ctx, "shop", "web")
	if err != nil {
		log.Fatal(err)
	}
	s.Delete("shop", "web")
	s.Create(fleetWeb) // a later machine of that name

	err = c.Delete(ctx, "shop", "web", client.DeleteOptions{UID: vm.UID()})
	fmt.Println(errors.Is(err, client.ErrConflict))
	// Output: true
}

func Example_errors() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client
	look := func(err error) {
		switch {
		case errors.Is(err, client.ErrNotFound):
			fmt.Println("no such machine")
		case errors.Is(err, client.ErrAlreadyExists):
			fmt.Println("there already")
		case err != nil:
			var refused *client.Error
			if errors.As(err, &refused) {
				fmt.Println(refused.Status, refused.Reason)
			}
		}
	}

	_, err := c.Get(ctx, "shop", "nosuch")
	look(err)
	_, err = c.Create(ctx, "shop", fleetWeb, client.WriteOptions{})
	look(err)
	_, err = c.Patch(ctx, "shop", "web", client.MergePatch(`{"status":{"phase":"Runing"}}`), client.WriteOptions{})
	look(err)
	// Output:
	// no such machine
	// there already
	// 422 Invalid
}

func Example_dryRun() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client
	vm := &vmi.VirtualMachineInstance{Metadata: vmi.ObjectMeta{Name: "mail"}}

	_, err := c.Create(ctx, "shop", vm, client.WriteOptions{DryRun: true})
	fmt.Println(err)
	_, err = c.Get(ctx, "shop", "mail")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// <nil>
	// true
}

func Example_impersonation() {
	s, stop := exampleFleet(client.WithTransport(showing("Impersonate-User")))
	defer stop()
	ctx, c := context.Background(), s.Client

	ctx = client.ContextWithImpersonation(ctx, client.Impersonation{User: "jane"})
	_, err := c.Get(ctx, "shop", "web")
	fmt.Println(err)
	// Output:
	// Impersonate-User: [jane]
	// <nil>
}

func Example_test() {
	t := &exampleRun{} // in a test, its *testing.T
	defer t.end()
	ctx := context.Background()
	isRunning := func(ctx context.Context, c *client.Client, name string) bool {
		vm, err := c.Get(ctx, "shop", name)
		return err == nil && vm.Phase() == vmi.PhaseRunning
	}

	s := servertest.New(t, servertest.WithObjects(
		`{"metadata":{"name":"web","namespace":"shop"},"status":{"phase":"Running"}}`))
	fmt.Println(isRunning(ctx, s.Client, "web"))
	// Output: true
}

func Example_rateLimit() {
	s, stop := exampleFleet()
	defer stop()
	ctx, server := context.Background(), s.URL

	c, err := client.New(server)
	if err != nil {
		log.Fatal(err)
	}
	for range 12 {
		if _, err := c.Get(ctx, "shop", "db"); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(len(s.Requests()))
	// Output: 12
}
