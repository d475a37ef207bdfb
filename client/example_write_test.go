package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/servertest"
)

// exampleRun stands for the *testing.T that a test has.
type exampleRun struct {
	testing.TB
	ends []func()
}

func (e *exampleRun) Helper()            {}
func (e *exampleRun) Cleanup(end func()) { e.ends = append(e.ends, end) }
func (e *exampleRun) Fatal(args ...any)  { log.Fatal(args...) }

func (e *exampleRun) end() {
	for _, end := range slices.Backward(e.ends) {
		end()
	}
}

// exampleShop starts a server with a machine named web in the namespace shop.
func exampleShop(opts ...client.Option) (c *client.Client, stop func()) {
	t := &exampleRun{}
	s := servertest.New(t, servertest.WithClientOptions(opts...), servertest.WithObjects(
		`{"metadata":{"name":"web","namespace":"shop"},"spec":{"domain":{"cpu":{"cores":2,"numa":{"guestMappingPassthrough":{}}}}},"status":{"phase":"Running"}}`))
	return s.Client, t.end
}

func ExampleClient_Create() {
	c, stop := exampleShop()
	defer stop()

	vm, err := c.Create(context.Background(), "shop", vmi.VirtualMachineInstance{
		Metadata: vmi.ObjectMeta{Name: "db"},
		Spec:     vmi.VirtualMachineInstanceSpec{Domain: vmi.DomainSpec{CPU: &vmi.CPU{Cores: 4}}},
	}, client.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Namespace(), vm.Name())

	// JSON will do as well. This one is there already.
	_, err = c.Create(context.Background(), "shop", `{"metadata":{"name":"web"}}`, client.WriteOptions{})
	fmt.Println(err)
	fmt.Println(errors.Is(err, client.ErrAlreadyExists))
	// Output:
	// shop db
	// create vmi shop/web: virtualmachineinstances.kubevirt.io "web" already exists (409)
	// true
}

// Only what change has made different is sent; the numa of the machine, which no type
// names, stays.
func ExampleClient_Update() {
	c, stop := exampleShop()
	defer stop()

	vm, err := c.Update(context.Background(), "shop", "web", func(v *vmi.VirtualMachineInstance) error {
		v.Spec.Domain.CPU.Cores++
		return nil
	}, client.WriteOptions{FieldManager: "scaler"})
	if err != nil {
		log.Fatal(err)
	}
	var spec struct {
		Spec struct{ Domain struct{ CPU map[string]any } }
	}
	if err := json.Unmarshal(vm.Raw, &spec); err != nil {
		log.Fatal(err)
	}
	fmt.Println(spec.Spec.Domain.CPU)
	// Output:
	// map[cores:3 numa:map[guestMappingPassthrough:map[]]]
}

func ExampleClient_Patch() {
	c, stop := exampleShop()
	defer stop()

	patch := client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": "front"}}})
	vm, err := c.Patch(context.Background(), "shop", "web", patch, client.WriteOptions{DryRun: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("would be:", labels(vm))
	vm, err = c.Get(context.Background(), "shop", "web")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("is:", labels(vm))
	// Output:
	// would be: map[tier:front]
	// is: map[]
}

// With a resourceVersion the patch holds for the machine as it was read.
func ExampleMergePatch() {
	c, stop := exampleShop()
	defer stop()

	vm, err := c.Get(context.Background(), "shop", "web")
	if err != nil {
		log.Fatal(err)
	}
	patch := client.MergePatch(fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"labels":{"tier":"front"}}}`, vm.ResourceVersion()))
	for range 2 {
		_, err = c.Patch(context.Background(), "shop", "web", patch, client.WriteOptions{})
		fmt.Println(err == nil, errors.Is(err, client.ErrConflict))
	}
	// Output:
	// true false
	// false true
}

func ExampleJSONPatch() {
	c, stop := exampleShop()
	defer stop()

	patch := client.JSONPatch(`[
		{"op": "test", "path": "/status/phase", "value": "Running"},
		{"op": "replace", "path": "/spec/domain/cpu/cores", "value": 8}
	]`)
	vm, err := c.Patch(context.Background(), "shop", "web", patch, client.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	view, err := vm.View()
	fmt.Println(view.Spec.Domain.CPU.Cores, err)
	// Output:
	// 8 <nil>
}

func ExampleApplyPatch() {
	c, stop := exampleShop()
	defer stop()

	apply := func(manager, tier string, force bool) error {
		patch := client.ApplyPatch(fmt.Sprintf(`{"metadata":{"labels":{"tier":%q}}}`, tier), force)
		_, err := c.Patch(context.Background(), "shop", "web", patch, client.WriteOptions{FieldManager: manager})
		return err
	}
	fmt.Println(apply("deployer", "front", false))
	err := apply("auditor", "back", false)
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(errors.Is(err, client.ErrConflict), refused.Details.Causes[0].Field)
	}
	fmt.Println(apply("auditor", "back", true))
	// Output:
	// <nil>
	// true .metadata.labels.tier
	// <nil>
}

func ExampleClient_Delete() {
	c, stop := exampleShop()
	defer stop()

	vm, err := c.Get(context.Background(), "shop", "web")
	if err != nil {
		log.Fatal(err)
	}
	// This machine, not a later one of the same name.
	err = c.Delete(context.Background(), "shop", "web", client.DeleteOptions{UID: vm.UID(), GracePeriodSeconds: new(int64(0))})
	fmt.Println(err)
	err = c.Delete(context.Background(), "shop", "web", client.DeleteOptions{})
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// <nil>
	// true
}

func ExampleError() {
	c, stop := exampleShop()
	defer stop()

	_, err := c.Patch(context.Background(), "shop", "web", client.MergePatch(`{"status":{"phase":"Runing"}}`), client.WriteOptions{})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Reason, refused.Details.Causes[0].Field)
	}
	// Output:
	// 422 Invalid status.phase
}

// The policy is a function that can be asked.
func ExampleDefaultRetry() {
	busy := &client.Error{Status: http.StatusServiceUnavailable, RetryAfter: 2 * time.Second}
	for _, method := range []string{"GET", "POST"} {
		wait, again := client.DefaultRetry(client.Attempt{Number: 3, Method: method, Err: busy})
		fmt.Println(method, again, wait.Least, "to", wait.Least+wait.Spread)
	}
	// Output:
	// GET true 2s to 2.4s
	// POST false 2s to 2.4s
}

// A policy of one's own, on top of the one that there is: deletions may be repeated.
func ExampleWithRetry() {
	policy := func(a client.Attempt) (client.Wait, bool) {
		if a.Method == http.MethodDelete {
			a.Method = http.MethodGet
		}
		return client.DefaultRetry(a)
	}
	t := &exampleRun{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"}}`), servertest.WithClientOptions(client.WithRetry(policy)))
	s.Inject(servertest.Fault{Status: http.StatusServiceUnavailable, Times: 1})

	fmt.Println(s.Client.Delete(context.Background(), "default", "web", client.DeleteOptions{}))
	for _, r := range s.Requests() {
		fmt.Println(r.Verb, r.Status)
	}
	// Output:
	// <nil>
	// delete 503
	// delete 200
}

func ExampleNoRetry() {
	t := &exampleRun{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithClientOptions(client.WithRetry(client.NoRetry)))
	s.Inject(servertest.Fault{Status: http.StatusServiceUnavailable, Times: 1})

	_, err := s.Client.Get(context.Background(), "default", "web")
	fmt.Println(errors.Is(err, client.ErrUnavailable), len(s.Requests()))
	// Output: true 1
}

// What a histogram of Prometheus or a span of OpenTelemetry needs.
func ExampleWithHook() {
	c, stop := exampleShop(client.WithHook(func(ctx context.Context, req *client.Request) (context.Context, func(client.Result)) {
		req.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		return ctx, func(res client.Result) {
			fmt.Println(req.Verb, req.Route, res.Status, res.Duration > 0, res.Bytes > 0)
		}
	}))
	defer stop()

	if _, err := c.Get(context.Background(), "shop", "web"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// get /apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances/{name} 200 true true
}

// At most so many requests at a time. For so many a second, hand over the method Wait
// of a rate.Limiter (golang.org/x/time/rate).
func ExampleWithLimiter() {
	tokens := make(chan struct{}, 10)
	for range cap(tokens) {
		tokens <- struct{}{}
	}
	c, stop := exampleShop(client.WithLimiter(func(ctx context.Context) error {
		select {
		case <-tokens:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	defer stop()

	_, err := c.Get(context.Background(), "shop", "web")
	fmt.Println(err, len(tokens), "left")
	// Output:
	// <nil> 9 left
}

func ExampleWithLogger() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "time" || a.Key == "duration" || a.Key == "bytes" || a.Key == "route" {
				return slog.Attr{}
			}
			return a
		}}))
	c, stop := exampleShop(client.WithLogger(logger))
	defer stop()

	_, _ = c.Get(context.Background(), "shop", "nosuch")
	// Output:
	// level=DEBUG msg=request verb=get namespace=shop name=nosuch attempt=1 status=404
}

func ExampleContextWithHeader() {
	c, stop := exampleShop(client.WithTransport(showing("X-Request-Id")))
	defer stop()

	ctx := client.ContextWithHeader(context.Background(), "X-Request-Id", "7f3a")
	_, err := c.Get(ctx, "shop", "web")
	fmt.Println(err)
	// Output:
	// X-Request-Id: [7f3a]
	// <nil>
}

func ExampleContextWithImpersonation() {
	c, stop := exampleShop(client.WithTransport(showing("Impersonate-User")))
	defer stop()

	ctx := client.ContextWithImpersonation(context.Background(), client.Impersonation{User: "jane", Groups: []string{"dev"}})
	_, _ = c.Get(ctx, "shop", "web")
	// Output:
	// Impersonate-User: [jane]
}

// showing is a transport that prints a header.
func showing(name string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		fmt.Printf("%s: %v\n", name, r.Header.Values(name))
		return http.DefaultTransport.RoundTrip(r)
	})
}

// A function that takes a Reader can be tested with a fake that has one method.
func ExampleReader() {
	running := func(ctx context.Context, machines client.Reader, name string) bool {
		vm, err := machines.Get(ctx, "shop", name)
		return err == nil && vm.Phase() == vmi.PhaseRunning
	}
	fmt.Println(running(context.Background(), fake{}, "web"))
	// Output:
	// true
}

type fake struct{ client.Reader }

func (fake) Get(context.Context, string, string) (*client.VMI, error) {
	return client.NewVMI([]byte(`{"status":{"phase":"Running"}}`))
}

func labels(vm *client.VMI) map[string]string {
	view, err := vm.View()
	if err != nil {
		log.Fatal(err)
	}
	return view.Metadata.Labels
}

// A fake of one's own sees what a server would see.
func ExampleEncode() {
	var vm vmi.VirtualMachineInstance
	vm.Metadata.Name = "web"
	body, err := client.Encode(vm)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))

	_, err = client.Encode([]string{"web"})
	fmt.Println(err)
	// Output:
	// {"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"}}
	// the object is a JSON array
}
