package server

import (
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

// newNodes are the nodes on which machines say that they run.
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
	n := &nodes{server: s, resource: r, Memory: s.newStore()}
	r.store = &derived{Memory: n.Memory, source: s.machines.store, follower: n}
	return r
}

// nodes follow from what machines say in status.nodeName. One is there as long as a
// machine says so.
type nodes struct {
	*store.Memory
	server   *server
	resource *resource

	of      map[store.Key]string // by machine
	count   map[string]int       // machines by node
	touched map[string]bool      // nodes that may have come or gone
}

func (n *nodes) begin() {
	touched := make(map[string]bool)
	for name := range n.count {
		touched[name] = true
	}
	n.of, n.count, n.touched = make(map[store.Key]string), make(map[string]int), touched
}

func (n *nodes) add(change store.Change) {
	key, name := change.Object.Key, ""
	if change.Type != store.Deleted {
		name = nodeOf(change.Object)
	}
	was := n.of[key]
	if was == name {
		return
	}
	if was != "" {
		n.move(was, -1)
		delete(n.of, key)
	}
	if name != "" {
		n.move(name, 1)
		n.of[key] = name
	}
}

func (n *nodes) move(name string, by int) {
	if n.count[name] += by; n.count[name] == 0 {
		delete(n.count, name)
	}
	n.touched[name] = true
}

func (n *nodes) settle(ctx context.Context) error {
	for name := range n.touched {
		err := error(nil)
		if n.count[name] > 0 {
			err = n.server.put(ctx, n.resource, n.Memory, node(name))
		} else {
			_, err = n.Memory.Delete(ctx, store.Key{Namespace: clusterScope, Name: name}, 0)
		}
		if err != nil && !errors.Is(err, store.ErrExists) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		delete(n.touched, name)
	}
	return nil
}

// nodeOf is the node that a machine says to run on.
func nodeOf(o *store.Object) string {
	name, _ := cell(newRow(o).status.NodeName).(string)
	if len(checkKey(store.Key{Namespace: clusterScope, Name: name})) > 0 {
		return "" // no node can have that name
	}
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
	return s.list(exchangeOf(c), clusterScope, listParams(p))
}

// ReadNode answers one of them.
func (s *server) ReadNode(c echo.Context, name string, p clusterserver.ReadNodeParams) error {
	return s.read(exchangeOf(c), clusterScope, name, p.ResourceVersion, p.IncludeObject)
}
