package server

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

// newNodes are the nodes on which machines have said to run, status.nodeName.
func (s *server) newNodes() *resource {
	r := &resource{
		version: "v1",
		discovered: vmi.APIResource{
			Name: "nodes", SingularName: "node", Kind: "Node", Verbs: readVerbs, ShortNames: []string{"no"},
		},
		native:     true,
		selectable: fields("spec.unschedulable"),
		columns: []column{nameColumn,
			{"Status", "string", "", "The status of the node", 0, func(*server, *row) any { return "Ready" }},
			{"Roles", "string", "", "The roles of the node", 0, func(*server, *row) any { return "<none>" }},
			nativeAgeColumn,
			{"Version", "string", "", "Kubelet Version reported by the node.", 0, field("status", "nodeInfo", "kubeletVersion")}},
	}
	d := &derived{Memory: s.newStore(), source: s.machines.store, settle: func(context.Context) error { return nil }}
	r.store = d
	known := make(map[string]bool)
	d.add = func(ctx context.Context, change store.Change) error {
		name := nodeOf(change.Object)
		if known[name] || len(checkKey(store.Key{Namespace: clusterScope, Name: name})) > 0 {
			return nil
		}
		if err := s.put(ctx, r, d.Memory, node(name)); err != nil {
			return err
		}
		known[name] = true
		return nil
	}
	return r
}

// nodeOf is the node that a machine says to run on.
func nodeOf(o *store.Object) string {
	name, _ := cell(newRow(o).status.NodeName).(string)
	return name
}

// node is a node as far as machines tell of it: that it is there, and ready for them. What
// they do not tell is empty, not left out: clients with typed models (Python's) refuse a
// nodeInfo that lacks one of the ten.
func node(name string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{
			"name": name,
			"labels": map[string]any{
				"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubevirt.io/schedulable": "true",
			},
		},
		"spec": map[string]any{},
		"status": map[string]any{
			"conditions": []any{condition("Ready", "True", "KubeletReady")},
			"addresses":  []any{map[string]any{"type": "Hostname", "address": name}},
			"nodeInfo": map[string]any{
				"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": kubernetesVersion, "kubeProxyVersion": "",
				"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "", "osImage": "", "containerRuntimeVersion": "",
			},
		},
	}
}

// ListNode answers the nodes.
func (s *server) ListNode(c echo.Context, p clusterserver.ListNodeParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ReadNode answers one of them.
func (s *server) ReadNode(c echo.Context, name string, p clusterserver.ReadNodeParams) error {
	return s.read(exchangeOf(c), clusterScope, name, p.ResourceVersion, p.IncludeObject)
}
