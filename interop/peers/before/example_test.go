package before_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"go.uber.org/mock/gomock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
	v1 "kubevirt.io/api/core/v1"
	"kubevirt.io/client-go/kubecli"
	"kubevirt.io/client-go/kubevirt/fake"
)

func Example_kubeconfig() {
	s, stop := exampleFleet()
	defer stop()
	defer exampleKubeconfig(s)()
	ctx := context.Background()

	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	c, err := kubecli.GetKubevirtClientFromClientConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.VirtualMachineInstance("shop").Get(ctx, "db", metav1.GetOptions{})
	fmt.Println(err)
	// Output: <nil>
}

func Example_inCluster() {
	defer os.Setenv("KUBERNETES_SERVICE_HOST", os.Getenv("KUBERNETES_SERVICE_HOST"))
	os.Setenv("KUBERNETES_SERVICE_HOST", "") // an example has no pod

	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		fmt.Println("this is no pod")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(config)
	// Output: this is no pod
}

func Example_get() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	vm, err := c.VirtualMachineInstance("shop").Get(ctx, "db", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Name, vm.Status.Phase, vm.Spec.Hostname)
	// Output: db Running db-1
}

func Example_dynamic() {
	s, stop := exampleFleet()
	defer stop()
	ctx := context.Background()
	c, err := dynamic.NewForConfig(&rest.Config{Host: s.URL})
	if err != nil {
		log.Fatal(err)
	}

	gvr := schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}
	vm, err := c.Resource(gvr).Namespace("shop").Get(ctx, "db", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	architecture, _, err := unstructured.NestedString(vm.Object, "spec", "architecture")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.GetName(), architecture)
	// Output: db arm64
}

func Example_list() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	list, err := c.VirtualMachineInstance(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: "tier=front"})
	if err != nil {
		log.Fatal(err)
	}
	for _, vm := range list.Items {
		fmt.Println(vm.Namespace, vm.Name, vm.Status.Phase)
	}
	// Output:
	// shop web Scheduling
	// site blog Running
}

func Example_pages() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	pages := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		return c.VirtualMachineInstance(metav1.NamespaceAll).List(ctx, opts)
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		vm := object.(*v1.VirtualMachineInstance)
		fmt.Println(vm.Namespace, vm.Name)
		return nil
	})
	if err != nil {
		log.Fatal(err)
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
	c := connect(s)
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

	machines := cache.NewListWatchFromClient(c.RestClient(), "virtualmachineinstances", "shop", fields.Everything())
	informer := cache.NewSharedIndexInformer(machines, &v1.VirtualMachineInstance{}, 0, cache.Indexers{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			callback("added", object.(*v1.VirtualMachineInstance).Name)
		},
		UpdateFunc: func(_, object any) {
			callback("changed", object.(*v1.VirtualMachineInstance).Name)
		},
		DeleteFunc: func(object any) {
			if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unseen.Obj
			}
			callback("deleted", object.(*v1.VirtualMachineInstance).Name)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	informer.Run(ctx.Done())
	// Output:
	// added db
	// added web
	// changed web
	// deleted db
}

func Example_wait() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)
	time.AfterFunc(time.Millisecond, func() { s.Update(fleetWebRuns) })

	err := wait.PollUntilContextTimeout(ctx, time.Second, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		vm, err := c.VirtualMachineInstance("shop").Get(ctx, "web", metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, err
		case vm.IsFinal():
			return false, fmt.Errorf("web has come to its end: %s", vm.Status.Phase)
		}
		return vm.IsRunning(), nil
	})
	fmt.Println(err)
	// Output: <nil>
}

func Example_create() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c, file := context.Background(), connect(s), strings.NewReader(fleetFile)

	var object v1.VirtualMachineInstance
	if err := yaml.NewYAMLOrJSONDecoder(file, 4096).Decode(&object); err != nil {
		log.Fatal(err)
	}
	vm, err := c.VirtualMachineInstance("shop").Create(ctx, &object, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Namespace, vm.Name)
	// Output: shop mail
}

func Example_update() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	var vm *v1.VirtualMachineInstance
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		vm, err = c.VirtualMachineInstance("shop").Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		vm.Labels["tier"] = "edge"
		vm, err = c.VirtualMachineInstance("shop").Update(ctx, vm, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Labels)
	// Output: map[tier:edge]
}

func Example_mergePatch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	vm, err := c.VirtualMachineInstance("shop").Patch(ctx, "web", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"tier":null,"zone":"b"}}}`),
		metav1.PatchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Labels)
	// Output: map[zone:b]
}

func Example_jsonPatch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	vm, err := c.VirtualMachineInstance("shop").Patch(ctx, "web", types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/metadata/labels/tier","value":"edge"}]`),
		metav1.PatchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Labels)
	// Output: map[tier:edge]
}

func Example_applyPatch() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	vm, err := c.VirtualMachineInstance("shop").Patch(ctx, "web", types.ApplyPatchType,
		[]byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web","labels":{"zone":"b"}}}`),
		metav1.PatchOptions{FieldManager: "deployer", Force: new(true)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Labels)
	// Output: map[tier:front zone:b]
}

func Example_delete() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)

	vm, err := c.VirtualMachineInstance("shop").Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s.Delete("shop", "web")
	s.Create(fleetWeb) // a later machine of that name

	err = c.VirtualMachineInstance("shop").Delete(ctx, "web", metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(vm.UID)),
	})
	fmt.Println(apierrors.IsConflict(err))
	// Output: true
}

func Example_errors() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)
	look := func(err error) {
		switch {
		case apierrors.IsNotFound(err):
			fmt.Println("no such machine")
		case apierrors.IsAlreadyExists(err):
			fmt.Println("there already")
		case err != nil:
			var refused *apierrors.StatusError
			if errors.As(err, &refused) {
				fmt.Println(refused.ErrStatus.Code, refused.ErrStatus.Reason)
			}
		}
	}

	_, err := c.VirtualMachineInstance("shop").Get(ctx, "nosuch", metav1.GetOptions{})
	look(err)
	web := &v1.VirtualMachineInstance{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	_, err = c.VirtualMachineInstance("shop").Create(ctx, web, metav1.CreateOptions{})
	look(err)
	_, err = c.VirtualMachineInstance("shop").Patch(ctx, "web", types.MergePatchType, []byte(`{"status":{"phase":"Runing"}}`), metav1.PatchOptions{})
	look(err)
	// Output:
	// no such machine
	// there already
	// 422 Invalid
}

func Example_dryRun() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), connect(s)
	vm := &v1.VirtualMachineInstance{ObjectMeta: metav1.ObjectMeta{Name: "mail"}}

	_, err := c.VirtualMachineInstance("shop").Create(ctx, vm, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	fmt.Println(err)
	_, err = c.VirtualMachineInstance("shop").Get(ctx, "mail", metav1.GetOptions{})
	fmt.Println(apierrors.IsNotFound(err))
	// Output:
	// <nil>
	// true
}

func Example_impersonation() {
	s, stop := exampleFleet()
	defer stop()
	ctx := context.Background()
	config := &rest.Config{Host: s.URL, WrapTransport: showing("Impersonate-User")}

	asJane := rest.CopyConfig(config)
	asJane.Impersonate = rest.ImpersonationConfig{UserName: "jane"}
	c, err := kubecli.GetKubevirtClientFromRESTConfig(asJane)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.VirtualMachineInstance("shop").Get(ctx, "web", metav1.GetOptions{})
	fmt.Println(err)
	// Output:
	// Impersonate-User: [jane]
	// <nil>
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// showing is a transport that prints a header.
func showing(name string) func(http.RoundTripper) http.RoundTripper {
	return func(rt http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			fmt.Printf("%s: %v\n", name, r.Header.Values(name))
			return rt.RoundTrip(r)
		})
	}
}

func Example_test() {
	t := &exampleRun{} // in a test, its *testing.T
	defer t.end()
	ctx := context.Background()
	isRunning := func(ctx context.Context, c kubecli.KubevirtClient, name string) bool {
		vm, err := c.VirtualMachineInstance("shop").Get(ctx, name, metav1.GetOptions{})
		return err == nil && vm.IsRunning()
	}

	machines := fake.NewSimpleClientset(&v1.VirtualMachineInstance{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Status:     v1.VirtualMachineInstanceStatus{Phase: v1.Running},
	})
	c := kubecli.NewMockKubevirtClient(gomock.NewController(t))
	c.EXPECT().VirtualMachineInstance("shop").Return(machines.KubevirtV1().VirtualMachineInstances("shop")).AnyTimes()
	fmt.Println(isRunning(ctx, c, "web"))
	// Output: true
}

func Example_rateLimit() {
	s, stop := exampleFleet()
	defer stop()
	ctx, config := context.Background(), &rest.Config{Host: s.URL}

	config.QPS = -1 // no limit; 0 is 5 a second behind the first 10
	c, err := kubecli.GetKubevirtClientFromRESTConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	for range 12 {
		if _, err := c.VirtualMachineInstance("shop").Get(ctx, "db", metav1.GetOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(len(s.Requests()))
	// Output: 12
}

func Example_both() {
	s, stop := exampleFleet()
	defer stop()
	ctx, c := context.Background(), s.Client

	vm, err := c.Get(ctx, "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	var typed v1.VirtualMachineInstance
	if err := json.Unmarshal(vm.Raw, &typed); err != nil {
		log.Fatal(err)
	}
	fmt.Println(typed.Name, typed.Spec.Architecture)
	// Output: db arm64
}
