package rbac_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/rbac"
)

// The helpers below write manifests with everything a cluster needs, so that a
// test shows only what it is about.

func object(kind, namespace, name, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":%q,"metadata":{"name":%q,"namespace":%q},%s}`,
		kind, name, namespace, rest)
}

func role(namespace, name, rules string) string {
	return object("Role", namespace, name, `"rules":[`+rules+`]`)
}

func clusterRole(name, rules string) string {
	return object("ClusterRole", "", name, `"rules":[`+rules+`]`)
}

func roleBinding(namespace, name, refKind, ref, subjects string) string {
	return object("RoleBinding", namespace, name, fmt.Sprintf(`"roleRef":{"kind":%q,"name":%q},"subjects":[%s]`, refKind, ref, subjects))
}

func clusterRoleBinding(name, ref, subjects string) string {
	return object("ClusterRoleBinding", "", name, fmt.Sprintf(`"roleRef":{"kind":"ClusterRole","name":%q},"subjects":[%s]`, ref, subjects))
}

func user(name string) string  { return fmt.Sprintf(`{"kind":"User","name":%q}`, name) }
func group(name string) string { return fmt.Sprintf(`{"kind":"Group","name":%q}`, name) }
func serviceAccount(namespace, name string) string {
	return fmt.Sprintf(`{"kind":"ServiceAccount","name":%q,"namespace":%q}`, name, namespace)
}

func policy(t testing.TB, objects ...string) *rbac.Policy {
	t.Helper()
	p, err := rbac.New(bytesOf(objects)...)
	require.NoError(t, err)
	return p
}

func bytesOf(objects []string) [][]byte {
	var out [][]byte
	for _, o := range objects {
		out = append(out, []byte(o))
	}
	return out
}

const (
	vmi     = "virtualmachineinstances"
	readVMI = `{"verbs":["get","list","watch"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"]}`
)

// get is a request of jane to get one VMI, which a test changes.
func get(change func(*rbac.Attributes)) rbac.Attributes {
	a := rbac.Attributes{User: "jane", Groups: []string{"system:authenticated"},
		Verb: "get", APIGroup: "kubevirt.io", Resource: vmi, Namespace: "vms", Name: "vm1"}
	if change != nil {
		change(&a)
	}
	return a
}

func path(user, verb, p string, groups ...string) rbac.Attributes {
	return rbac.Attributes{User: user, Groups: groups, Verb: verb, Path: p}
}

func TestRules(t *testing.T) {
	type attributes = rbac.Attributes
	for _, test := range []struct {
		rule    string
		change  func(*attributes)
		allowed bool
	}{
		{readVMI, nil, true},
		{readVMI, func(a *attributes) { a.Verb = "list"; a.Name = "" }, true},
		{readVMI, func(a *attributes) { a.Verb = "delete" }, false},
		{readVMI, func(a *attributes) { a.Verb = "GET" }, false},
		{readVMI, func(a *attributes) { a.APIGroup = "" }, false},
		{readVMI, func(a *attributes) { a.Resource = "virtualmachines" }, false},
		{readVMI, func(a *attributes) { a.Subresource = "status" }, false},
		{readVMI, func(a *attributes) { a.Resource = ""; a.Path = "/x" }, false},

		{`{"verbs":["*"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"]}`, func(a *attributes) { a.Verb = "deletecollection" }, true},
		{`{"verbs":["get*"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"]}`, nil, false},
		{`{"verbs":["get"],"apiGroups":["*"],"resources":["virtualmachineinstances"]}`, nil, true},
		{`{"verbs":["get"],"apiGroups":["*"],"resources":["virtualmachineinstances"]}`, func(a *attributes) { a.APIGroup = "" }, true},
		{`{"verbs":["get"],"apiGroups":[""],"resources":["virtualmachineinstances"]}`, func(a *attributes) { a.APIGroup = "" }, true},
		{`{"verbs":["get"],"apiGroups":["","apps"],"resources":["virtualmachineinstances"]}`, nil, false},
		{`{"verbs":["get"],"apiGroups":["*.io"],"resources":["virtualmachineinstances"]}`, nil, false},

		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["*"]}`, nil, true},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["*"]}`, func(a *attributes) { a.Subresource = "status" }, true},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances/status"]}`, func(a *attributes) { a.Subresource = "status" }, true},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances/status"]}`, nil, false},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["*/status"]}`, func(a *attributes) { a.Subresource = "status" }, true},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["*/status"]}`, func(a *attributes) { a.Subresource = "scale" }, false},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["*/status"]}`, nil, false},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances/*"]}`, func(a *attributes) { a.Subresource = "status" }, false},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances/*"]}`, nil, false},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["*/*"]}`, func(a *attributes) { a.Subresource = "status" }, false},
		{`{"verbs":["get"],"apiGroups":["kubevirt.io"],"resources":["x","virtualmachineinstances"]}`, nil, true},

		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["vm1"]}`, nil, true},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["vm0","vm1"]}`, nil, true},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["vm0"]}`, nil, false},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["*"]}`, nil, false},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["vm1"]}`, func(a *attributes) { a.Verb = "list"; a.Name = "" }, false},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["vm1"]}`, func(a *attributes) { a.Verb = "list" }, true},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":["vm1"]}`, func(a *attributes) { a.Verb = "create"; a.Name = "" }, false},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":[]}`, nil, true},
		{`{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"resourceNames":null}`, nil, true},
	} {
		p := policy(t, role("vms", "r", test.rule), roleBinding("vms", "b", "Role", "r", user("jane")))
		allowed, reason := p.Authorize(get(test.change))
		assert.Equal(t, test.allowed, allowed, "%s %+v", test.rule, get(test.change))
		if allowed {
			assert.Equal(t, `RBAC: allowed by RoleBinding "b/vms" of Role "r" to User "jane"`, reason)
		} else {
			assert.Empty(t, reason)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, test := range []struct {
		urls, path string
		allowed    bool
	}{
		{`"/metrics"`, "/metrics", true},
		{`"/metrics"`, "/metrics/", false},
		{`"/metrics"`, "/metrics/slis", false},
		{`"/metrics/*"`, "/metrics/slis", true},
		{`"/metrics/*"`, "/metrics/a/b", true},
		{`"/metrics/*"`, "/metrics/", true},
		{`"/metrics/*"`, "/metrics", false},
		{`"/metrics*"`, "/metrics", true},
		{`"/metrics**"`, "/metrics/x", true},
		{`"/a","/b"`, "/b", true},
		{`"*"`, "/anything", true},
		{`"*"`, "", true},
		{`"/*/slis"`, "/metrics/slis", false},
		{`"/*/slis"`, "/*/slis", true},
		{`"/metrics"`, "", false},
	} {
		p := policy(t, clusterRole("c", `{"verbs":["get"],"nonResourceURLs":[`+test.urls+`]}`), clusterRoleBinding("b", "c", user("jane")))
		allowed, _ := p.Authorize(path("jane", "get", test.path))
		assert.Equal(t, test.allowed, allowed, "%s %s", test.urls, test.path)
		allowed, _ = p.Authorize(path("jane", "post", test.path))
		assert.False(t, allowed, "post %s %s", test.urls, test.path)
	}
}

// A RoleBinding opens no path, not even to a request that claims a namespace.
func TestPathsNeedAClusterRoleBinding(t *testing.T) {
	p := policy(t, clusterRole("c", `{"verbs":["get"],"nonResourceURLs":["*"]}`), roleBinding("vms", "b", "ClusterRole", "c", user("jane")))
	a := path("jane", "get", "/metrics")
	allowed, _ := p.Authorize(a)
	assert.False(t, allowed)
	a.Namespace = "vms"
	allowed, _ = p.Authorize(a)
	assert.False(t, allowed)
}

func TestSubjects(t *testing.T) {
	const jenkins = "system:serviceaccount:ci:jenkins"
	for _, test := range []struct {
		subject string
		user    string
		groups  []string
		allowed bool
	}{
		{user("jane"), "jane", nil, true},
		{user("jane"), "Jane", nil, false},
		{user("jane"), "joe", []string{"jane"}, false},
		{user("*"), "jane", nil, false},
		{group("viewers"), "jane", []string{"a", "viewers"}, true},
		{group("viewers"), "viewers", nil, false},
		{group("viewers"), "jane", nil, false},
		{serviceAccount("ci", "jenkins"), jenkins, nil, true},
		{serviceAccount("ci", "jenkins"), "system:serviceaccount:vms:jenkins", nil, false},
		{serviceAccount("ci", "jenkins"), "jenkins", nil, false},
		{user(jenkins), jenkins, nil, true},
		{group("system:serviceaccounts:ci"), jenkins, []string{"system:serviceaccounts", "system:serviceaccounts:ci"}, true},
		{`{"kind":"User","name":"jane","apiGroup":"rbac.authorization.k8s.io"}`, "jane", nil, true},
		{`{"kind":"ServiceAccount","name":"jenkins","namespace":"ci","apiGroup":""}`, jenkins, nil, true},
		{user("joe") + "," + group("viewers"), "jane", []string{"viewers"}, true},
		{"", "jane", []string{"system:authenticated"}, false},
	} {
		request := get(func(a *rbac.Attributes) { a.User, a.Groups = test.user, test.groups })
		for _, p := range []*rbac.Policy{
			policy(t, clusterRole("c", readVMI), clusterRoleBinding("b", "c", test.subject)),
			policy(t, clusterRole("c", readVMI), roleBinding("vms", "b", "ClusterRole", "c", test.subject)),
			policy(t, role("vms", "r", readVMI), roleBinding("vms", "b", "Role", "r", test.subject)),
		} {
			allowed, _ := p.Authorize(request)
			assert.Equal(t, test.allowed, allowed, "%s as %s %s", test.subject, test.user, test.groups)
		}
	}
}

// Kubernetes takes the namespace of the RoleBinding for a service account
// without one.
func TestServiceAccountOfTheBindingsNamespace(t *testing.T) {
	p := policy(t, role("vms", "r", readVMI), roleBinding("vms", "b", "Role", "r", `{"kind":"ServiceAccount","name":"jenkins"}`))
	allowed, reason := p.Authorize(get(func(a *rbac.Attributes) { a.User = "system:serviceaccount:vms:jenkins" }))
	assert.True(t, allowed)
	assert.Equal(t, `RBAC: allowed by RoleBinding "b/vms" of Role "r" to ServiceAccount "jenkins/vms"`, reason)
	allowed, _ = p.Authorize(get(func(a *rbac.Attributes) { a.User = "system:serviceaccount:default:jenkins" }))
	assert.False(t, allowed)
}

func TestScopes(t *testing.T) {
	inNamespace := policy(t, clusterRole("c", readVMI), roleBinding("vms", "b", "ClusterRole", "c", user("jane")))
	everywhere := policy(t, clusterRole("c", readVMI), clusterRoleBinding("b", "c", user("jane")))
	otherRole := policy(t, role("other", "r", readVMI), roleBinding("vms", "b", "Role", "r", user("jane")))
	for _, test := range []struct {
		policy    *rbac.Policy
		namespace string
		allowed   bool
	}{
		{inNamespace, "vms", true}, {inNamespace, "other", false}, {inNamespace, "", false},
		{everywhere, "vms", true}, {everywhere, "other", true}, {everywhere, "", true},
		{otherRole, "vms", false}, {otherRole, "other", false},
	} {
		allowed, _ := test.policy.Authorize(get(func(a *rbac.Attributes) { a.Namespace = test.namespace }))
		assert.Equal(t, test.allowed, allowed, "%q", test.namespace)
	}
	_, reason := everywhere.Authorize(get(nil))
	assert.Equal(t, `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "c" to User "jane"`, reason)
}

// A role that does not exist is not silent in a cluster: the 403 says so to
// the user it was meant for.
func TestMissingRoles(t *testing.T) {
	p := policy(t,
		clusterRoleBinding("one", "nosuch", user("jane")),
		clusterRoleBinding("again", "nosuch", group("system:authenticated")),
		roleBinding("vms", "two", "Role", "gone", user("jane")))
	_, reason := p.Authorize(get(nil))
	assert.Equal(t, `RBAC: [clusterrole.rbac.authorization.k8s.io "nosuch" not found, role.rbac.authorization.k8s.io "gone" not found]`, reason)
	_, reason = p.Authorize(get(func(a *rbac.Attributes) { a.Namespace = "" }))
	assert.Equal(t, `RBAC: clusterrole.rbac.authorization.k8s.io "nosuch" not found`, reason)
	_, reason = p.Authorize(get(func(a *rbac.Attributes) { a.User, a.Groups = "joe", nil }))
	assert.Empty(t, reason)
	allowed, _ := p.Authorize(path("jane", "get", "/version", "system:authenticated"))
	assert.True(t, allowed, "other bindings still count")

	assert.Equal(t, []string{
		`ClusterRoleBinding one: roleRef: there is no ClusterRole nosuch, so it allows nothing`,
		`ClusterRoleBinding again: roleRef: there is no ClusterRole nosuch, so it allows nothing`,
		`RoleBinding vms/two: roleRef: there is no Role vms/gone, so it allows nothing`,
	}, p.Warnings())
}

func TestZeroPolicy(t *testing.T) {
	var p rbac.Policy
	allowed, reason := p.Authorize(get(nil))
	assert.False(t, allowed)
	assert.Empty(t, reason)
	assert.Empty(t, p.Warnings())
	allowed, reason = p.Authorize(get(func(a *rbac.Attributes) { a.Groups = []string{"system:masters"} }))
	assert.True(t, allowed)
	assert.Equal(t, `allowed by membership of group "system:masters"`, reason)
}
