package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
)

const (
	namespaces = "/api/v1/namespaces"
	events     = "/api/v1/namespaces/vms/events"
	leases     = "/apis/coordination.k8s.io/v1/namespaces/vms/leases"
)

func namespace(name string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
}

// named are the names of the items of a list.
func (r reply) named(t *testing.T) string {
	t.Helper()
	require.Equal(t, 200, r.StatusCode, string(r.body))
	var l struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal(r.body, &l))
	var names []string
	for _, i := range l.Items {
		names = append(names, i.Metadata.Name)
	}
	return strings.Join(names, " ")
}

// What follows from machines is there as soon as they are, also for those who watch.
//
// Differs: nodes
func TestNamespacesAndNodesFollowMachines(t *testing.T) {
	f := start(t).create("vms/a")
	assert.Equal(t, "default kube-system kubevirt vms", f.get(namespaces).named(t))
	assert.Equal(t, "node-1", f.get("/api/v1/nodes").named(t))
	all, nodes := f.watch(namespaces+"?watch=1"), f.watch("/api/v1/nodes?watch=1")
	_, names := all.next(4)
	assert.Equal(t, []string{"ADDED /default", "ADDED /kube-system", "ADDED /kubevirt", "ADDED /vms"}, names)
	_, names = nodes.next(1)
	assert.Equal(t, []string{"ADDED /node-1"}, names)

	f.create("other/b", "vms/c")
	_, names = all.next(1)
	assert.Equal(t, []string{"ADDED /other"}, names)
	f.remove("other", "b")
	assert.Equal(t, 200, f.get(namespaces+"/other").StatusCode, "it stays")
	f.send("PATCH", inVMs+"/a", `{"status":{"nodeName":"node-2"}}`).written(t, 200)
	_, names = nodes.next(1)
	assert.Equal(t, []string{"ADDED /node-2"}, names)
	assert.Equal(t, "node-2", f.get("/api/v1/nodes/node-2", asTable).table(t).Rows[0].Cells[0])
}

// Kubernetes' model of a node leaves none of these out, and clients that check what they
// are given (Python's) insist on each.
func TestNodeHasAllOfNodeInfo(t *testing.T) {
	var node struct {
		Status struct{ NodeInfo map[string]string }
	}
	require.NoError(t, json.Unmarshal(start(t).create("vms/a").get("/api/v1/nodes/node-1").body, &node))
	for _, name := range []string{
		"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
		"kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID",
	} {
		assert.Contains(t, node.Status.NodeInfo, name)
	}
}

// Differs: deleting a namespace
func TestNamespaceIsMadeAndEnded(t *testing.T) {
	f := start(t)
	made := f.send("POST", namespaces, namespace("team"))
	assert.Equal(t, "team", made.written(t, 201).Metadata.Labels["kubernetes.io/metadata.name"])
	assert.Contains(t, string(made.body), `"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}`)
	assert.Equal(t, "AlreadyExists", f.send("POST", namespaces, namespace("team")).status(t).Reason)
	assert.Equal(t, "Invalid", f.send("POST", namespaces, namespace("a.b")).status(t).Reason)
	assert.Equal(t, map[string]string{"kubernetes.io/metadata.name": "team", "a": "1"},
		f.send("PATCH", namespaces+"/team", `{"metadata":{"labels":{"a":"1"}},"status":{"phase":"Terminating"}}`,
			"Content-Type: application/strategic-merge-patch+json").written(t, 200).Metadata.Labels)
	assert.Equal(t, []any{"team", "Active"}, f.get(namespaces+"/team", asTable).table(t).Rows[0].Cells[:2], "its phase is the server's")

	machines := strings.ReplaceAll(inVMs, "/vms/", "/team/")
	f.create("team/a", "team/b", "vms/c")
	f.send("PATCH", machines+"/b", `{"metadata":{"finalizers":["example.com/wait"]}}`).written(t, 200)
	f.send("POST", strings.ReplaceAll(leases, "/vms/", "/team/"), `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}}`).written(t, 201)
	w := f.watch(namespaces + "?watch=1&fieldSelector=metadata.name%3Dteam")
	w.next(1)

	assert.Contains(t, string(f.do("DELETE", namespaces+"/team?dryRun=All").body), `"phase":"Terminating"`)
	assert.Equal(t, "team/a team/b", names(f.get(machines).list(t)), "that was a dry run")
	ended := f.do("DELETE", namespaces+"/team")
	assert.NotEmpty(t, ended.written(t, 200).Metadata.DeletionTimestamp)
	assert.Equal(t, "team/b", names(f.get(machines).list(t)), "b has a finalizer")
	assert.Empty(t, f.get(strings.ReplaceAll(leases, "/vms/", "/team/")).named(t))
	refused := f.send("POST", machines, vm("late"))
	assert.Equal(t, 403, refused.StatusCode)
	assert.Contains(t, refused.status(t).Message, "unable to create new content in namespace team because it is being terminated")
	assert.Equal(t, "vms/c vms/d", fmt.Sprint(names(f.create("vms/d").get(inVMs).list(t))))

	f.send("PATCH", machines+"/b", `{"metadata":{"finalizers":null}}`).written(t, 200)
	assert.Equal(t, 404, f.get(namespaces+"/team").StatusCode)
	_, seen := w.next(2)
	assert.Equal(t, []string{"MODIFIED /team", "DELETED /team"}, seen)
	f.send("POST", machines, vm("again")).written(t, 201)
	assert.Equal(t, 200, f.get(namespaces+"/team").StatusCode, "it came back with a machine")

	lasting := f.do("DELETE", namespaces+"/default")
	assert.Equal(t, 403, lasting.StatusCode)
	assert.Equal(t, `namespaces "default" is forbidden: this namespace may not be deleted`, lasting.status(t).Message)
	assert.Equal(t, 404, f.do("DELETE", namespaces+"/nosuch").StatusCode)
}

func TestStrictNamespaces(t *testing.T) {
	f := start(t, server.WithStrictNamespaces()).create("loaded/a")
	refused := f.send("POST", inVMs, vm("a"))
	assert.Equal(t, 404, refused.StatusCode)
	assert.Equal(t, `namespaces "vms" not found`, refused.status(t).Message)
	apply := "Content-Type: application/apply-patch+yaml"
	assert.Equal(t, 404, f.send("PATCH", inVMs+"/a?fieldManager=x", vm("a"), apply).StatusCode)
	f.send("POST", strings.ReplaceAll(inVMs, "/vms/", "/loaded/"), vm("b")).written(t, 201)
	f.send("POST", namespaces, namespace("vms")).written(t, 201)
	f.send("POST", inVMs, vm("a")).written(t, 201)
}

func event1(name, of, reason string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Event","metadata":{"name":%q},"involvedObject":{"kind":"VirtualMachineInstance","name":%q,"namespace":"vms"},`+
		`"reason":%q,"message":"m","type":"Normal","count":1,"source":{"component":"virt-handler"}}`, name, of, reason)
}

func TestEvents(t *testing.T) {
	now := atomic.Int64{}
	now.Store(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).Unix())
	f := start(t, server.WithClock(func() time.Time { return time.Unix(now.Load(), 0) }))
	f.send("POST", events, event1("e1", "a", "Started")).written(t, 201)
	f.send("POST", events, event1("e2", "b", "Started")).written(t, 201)
	f.send("POST", events, event1("e3", "a", "Stopped")).written(t, 201)
	select1 := func(selector string) string {
		return f.get(events + "?fieldSelector=" + url.QueryEscape(selector)).named(t)
	}
	assert.Equal(t, "e1 e3", select1("involvedObject.name=a,involvedObject.kind=VirtualMachineInstance,involvedObject.namespace=vms"))
	assert.Equal(t, "e3", select1("involvedObject.name=a,reason!=Started"))
	assert.Equal(t, "e1 e2 e3", select1("source=virt-handler"))
	assert.Equal(t, "field label not supported: message", f.get(events+"?fieldSelector=message%3Dm").status(t).Message)

	// What an event broadcaster sends when something happens again.
	f.send("PATCH", events+"/e1", `{"count":2,"lastTimestamp":"2026-08-01T12:00:00Z"}`, "Content-Type: application/strategic-merge-patch+json").written(t, 200)
	row := f.get(events, asTable).table(t).Rows[0]
	assert.Equal(t, []any{"0s", "Normal", "Started", "virtualmachineinstance/a", "m", "virt-handler", 2.0, "e1"}, row.Cells)
	f.send("PUT", events+"/e1", event1("e1", "a", "Restarted")).written(t, 200)
	assert.Equal(t, 0, f.get(events+"/e1").written(t, 200).Metadata.Generation, "it has none")

	// It need not say of which version it is, in any way of not saying so.
	f.send("PATCH", events+"/e1", `{"metadata":{"resourceVersion":null},"count":3}`).written(t, 200)
	f.send("PUT", events+"/e1", strings.Replace(event1("e1", "a", "Again"), `"name":"e1"`, `"name":"e1","resourceVersion":"0"`, 1)).written(t, 200)
	refused := f.send("POST", events, strings.Replace(event1("e4", "a", "Started"), `"namespace":"vms"`, `"namespace":"other"`, 1))
	assert.Equal(t, `Event "e4" is invalid: involvedObject.namespace: Invalid value: "other": does not match event.namespace`, refused.status(t).Message)

	now.Add(int64(59 * time.Minute / time.Second))
	f.send("PATCH", events+"/e2", `{"lastTimestamp":"2026-08-01T12:59:00Z"}`).written(t, 200)
	now.Add(120)
	f.send("POST", events, event1("e5", "a", "Started")).written(t, 201)
	assert.Equal(t, "e2 e5", f.get(events).named(t), "an hour later the others are gone")
}

func TestLeases(t *testing.T) {
	f := start(t)
	lease := func(holder, version string) string {
		return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"leader"%s},`+
			`"spec":{"holderIdentity":%q,"leaseDurationSeconds":15,"renewTime":"2026-08-01T12:00:00.000001Z"}}`, version, holder)
	}
	first := f.send("POST", leases, lease("one", "")).written(t, 201).Metadata.ResourceVersion
	f.send("PUT", leases+"/leader", lease("two", fmt.Sprintf(`,"resourceVersion":%q`, first))).written(t, 200)
	late := f.send("PUT", leases+"/leader", lease("three", fmt.Sprintf(`,"resourceVersion":%q`, first))).status(t)
	assert.Equal(t, "Conflict", late.Reason, "only one of them leads")
	assert.Equal(t, []any{"leader", "two"}, f.get(leases, asTable).table(t).Rows[0].Cells[:2])
	assert.Equal(t, 422, f.send("PUT", leases+"/leader", lease("four", "")).StatusCode, "whoever says no version is refused")
	assert.Equal(t, "Invalid", f.send("POST", leases, strings.Replace(lease("x", ""), "15", "0", 1)).status(t).Reason)
}

func TestReviews(t *testing.T) {
	f := start(t, tokens(t), policy(t))
	ask := func(token, spec string) string {
		r := f.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":`+spec+`}`, "Authorization: Bearer "+token)
		require.Equal(t, 201, r.StatusCode, string(r.body))
		var answer struct{ Status struct{ Allowed bool } }
		require.NoError(t, json.Unmarshal(r.body, &answer))
		return fmt.Sprint(answer.Status.Allowed)
	}
	machines := func(verb, more string) string {
		return fmt.Sprintf(`{"resourceAttributes":{"verb":%q,"group":"kubevirt.io","resource":"virtualmachineinstances"%s}}`, verb, more)
	}
	assert.Equal(t, "true", ask("viewertoken", machines("list", `,"namespace":"vms"`)))
	assert.Equal(t, "false", ask("viewertoken", machines("delete", `,"namespace":"vms"`)))
	assert.Equal(t, "false", ask("viewertoken", machines("list", "")), "not everywhere")
	assert.Equal(t, "true", ask("nobodytoken", machines("list", `,"name":"a"`)))
	assert.Equal(t, "true", ask("viewertoken", `{"nonResourceAttributes":{"verb":"get","path":"/version"}}`))
	assert.Equal(t, "false", ask("viewertoken", `{"nonResourceAttributes":{"verb":"get","path":"/metrics"}}`))

	path := "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
	question := func(namespace string) string {
		return `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":"` + namespace + `"},"status":{"resourceRules":null,"nonResourceRules":null,"incomplete":false}}`
	}
	r := f.send("POST", path, question("vms"), "Authorization: Bearer viewertoken")
	require.Equal(t, 201, r.StatusCode)
	assert.Contains(t, string(r.body), `{"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"],"verbs":["get","list"]}`)
	assert.Contains(t, string(r.body), `"nonResourceRules":[{"nonResourceURLs":["/api"`)
	assert.NotContains(t, string(f.send("POST", path, question("other"), "Authorization: Bearer viewertoken").body), "virtualmachineinstances")
	assert.Equal(t, "no namespace on request", f.send("POST", path, question(""), "Authorization: Bearer viewertoken").status(t).Message)
	for _, bad := range []string{`{}`, `{"spec":{}}`, `[]`, ``, `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{}}`} {
		r := f.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", bad, "Authorization: Bearer viewertoken")
		assert.Contains(t, []int{400, 422}, r.StatusCode, "%s: %s", bad, r.body)
	}
	assert.Equal(t, 405, f.get(path, "Authorization: Bearer admintoken").StatusCode)

	// Without a policy everybody may do everything, and is told so.
	open := start(t)
	assert.Contains(t, string(open.send("POST", path, question("vms")).body), `"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]`)
}

// Objects of Kubernetes' own kinds need not say what they are, those of others must.
func TestKindFollowsFromThePath(t *testing.T) {
	f := start(t)
	made := f.send("POST", namespaces, `{"metadata":{"name":"team"}}`)
	made.written(t, 201)
	assert.Contains(t, string(made.body), `"apiVersion":"v1","kind":"Namespace"`)
	lease := f.send("POST", "/apis/coordination.k8s.io/v1/namespaces/team/leases", `{"kind":"","metadata":{"name":"l"},"spec":{"holderIdentity":"a"}}`)
	lease.written(t, 201)
	assert.Contains(t, string(lease.body), `"apiVersion":"coordination.k8s.io/v1","kind":"Lease"`)
	assert.Equal(t, 201, f.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		`{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`).StatusCode)
	assert.Contains(t, f.send("POST", namespaces, `{"kind":"Pod","metadata":{"name":"x"}}`).status(t).Message, "must be Namespace")
	assert.Contains(t, f.send("POST", inVMs, `{"metadata":{"name":"x"}}`).status(t).Message, "Object 'Kind' is missing")
}

// Differs: strategic merge patches of these
func TestStrategicMerge(t *testing.T) {
	f := start(t)
	f.send("POST", namespaces, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team","finalizers":["example.com/a"]}}`).written(t, 201)
	strategic := "Content-Type: application/strategic-merge-patch+json"
	got := f.send("PATCH", namespaces+"/team", `{"metadata":{"$setElementOrder/finalizers":["example.com/a","example.com/b"],"finalizers":["example.com/b"]}}`, strategic)
	assert.Equal(t, []string{"example.com/a", "example.com/b"}, got.written(t, 200).Metadata.Finalizers, "the list is merged")
	refused := f.send("PATCH", namespaces+"/team", `{"metadata":{"labels":{"$patch":"replace"}}}`, strategic).status(t)
	assert.Contains(t, refused.Message, "$patch")
	assert.Equal(t, 415, f.send("PATCH", inVMs+"/a", `{}`, strategic).StatusCode, "custom resources have no such patches")
}

// Nobody writes these, and clients find them empty rather than missing.
func TestReadOnlyResources(t *testing.T) {
	f := start(t)
	for _, path := range []string{"/api/v1/pods", "/api/v1/namespaces/vms/secrets", "/api/v1/persistentvolumeclaims"} {
		assert.Empty(t, f.get(path).named(t))
		assert.NotEmpty(t, f.get(path, asTable).table(t).ColumnDefinitions)
		assert.Equal(t, 404, f.get(strings.Replace(path, "/api/v1/p", "/api/v1/namespaces/vms/p", 1)+"/a").StatusCode)
	}
	assert.Empty(t, f.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1%2Cstatus.phase!%3DFailed").named(t))
	assert.Equal(t, "virtualmachineinstances.kubevirt.io", f.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").named(t))
	assert.Contains(t, string(f.get("/apis/kubevirt.io/v1/kubevirts").body), `"phase":"Deployed"`)
	assert.Equal(t, 405, f.send("POST", "/api/v1/nodes", `{}`).StatusCode)
	assert.Equal(t, 405, f.do(http.MethodDelete, "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt").StatusCode)
	for _, path := range []string{"/apis/coordination.k8s.io", "/apis/coordination.k8s.io/v1", "/openapi/v3/apis/coordination.k8s.io/v1"} {
		assert.Equal(t, 200, f.get(path).StatusCode, path)
	}
}
