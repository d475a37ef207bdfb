package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	kubevirt "kubevirt.io/api/core/v1"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
)

// sides are what can be measured. Each connects to a server and returns what then goes
// over all its machines, and how many it saw that have a name and run.
var sides = map[string]func(server string) (func(context.Context) (int, error), error){
	"client-go": clientGo,
	"light":     ours(light),
	"typed":     ours(typed),
	"all":       ours(all),
	"whole":     ours(whole),
}

// clientGo lists as kubevirt.io/client-go does, without its limit of requests.
func clientGo(server string) (func(context.Context) (int, error), error) {
	scheme := runtime.NewScheme()
	if err := kubevirt.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := rest.RESTClientFor(&rest.Config{Host: server, APIPath: "/apis", QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: "application/json", GroupVersion: &kubevirt.GroupVersion,
		NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int, error) {
		var list kubevirt.VirtualMachineInstanceList
		if err := c.Get().Namespace(namespace).Resource("virtualmachineinstances").Do(ctx).Into(&list); err != nil {
			return 0, err
		}
		seen := 0
		for i := range list.Items {
			if list.Items[i].Name != "" && list.Items[i].Status.Phase == kubevirt.Running {
				seen++
			}
		}
		return seen, nil
	}, nil
}

func ours(do func(context.Context, *client.Client) (int, error)) func(string) (func(context.Context) (int, error), error) {
	return func(server string) (func(context.Context) (int, error), error) {
		c, err := client.New(server)
		return func(ctx context.Context) (int, error) { return do(ctx, c) }, err
	}
}

// light lists and reads names and phases.
func light(ctx context.Context, c *client.Client) (int, error) {
	list, err := c.List(ctx, namespace, client.ListOptions{})
	if err != nil {
		return 0, err
	}
	seen := 0
	for _, vm := range list.Items {
		if vm.Name() != "" && vm.Phase() == vmi.PhaseRunning {
			seen++
		}
	}
	return seen, nil
}

// typed lists and decodes everything that has a type, with all of it in memory at once.
func typed(ctx context.Context, c *client.Client) (int, error) {
	list, err := c.List(ctx, namespace, client.ListOptions{})
	if err != nil {
		return 0, err
	}
	seen := 0
	for _, vm := range list.Items {
		view, err := vm.View()
		if err != nil {
			return 0, err
		}
		if view.Metadata.Name != "" && view.Status.Phase == vmi.PhaseRunning {
			seen++
		}
	}
	return seen, nil
}

// all ranges in pages, with the typed view of each machine.
func all(ctx context.Context, c *client.Client) (int, error) {
	return rangeOver(ctx, c, client.ListOptions{})
}

// whole ranges over one answer, as from a server that knows no pages.
func whole(ctx context.Context, c *client.Client) (int, error) {
	return rangeOver(ctx, c, client.ListOptions{Limit: 1 << 30})
}

func rangeOver(ctx context.Context, c *client.Client, opts client.ListOptions) (int, error) {
	seen := 0
	for vm, err := range c.All(ctx, namespace, opts) {
		if err != nil {
			return 0, err
		}
		view, err := vm.View()
		if err != nil {
			return 0, err
		}
		if view.Metadata.Name != "" && view.Status.Phase == vmi.PhaseRunning {
			seen++
		}
	}
	return seen, nil
}
