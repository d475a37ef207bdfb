package rbac_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/server/rbac"
)

func TestBuiltin(t *testing.T) {
	authenticated, unauthenticated := "system:authenticated", "system:unauthenticated"
	review := func(group, resource string) rbac.Attributes {
		return rbac.Attributes{Verb: "create", APIGroup: group, Resource: resource}
	}
	p := policy(t)
	assert.Empty(t, p.Warnings())
	for _, test := range []struct {
		group   string
		request rbac.Attributes
		allowed bool
	}{
		{authenticated, path("", "get", "/api"), true},
		{authenticated, path("", "get", "/api/v1"), true},
		{authenticated, path("", "get", "/apis"), true},
		{authenticated, path("", "get", "/apis/kubevirt.io/v1"), true},
		{authenticated, path("", "get", "/openapi/v3"), true},
		{authenticated, path("", "get", "/version"), true},
		{authenticated, path("", "get", "/version/"), true},
		{authenticated, path("", "get", "/readyz"), true},
		{authenticated, path("", "get", "/readyz/ping"), false},
		{authenticated, path("", "get", "/metrics"), false},
		{authenticated, path("", "get", "/"), false},
		{authenticated, path("", "head", "/version"), false},
		{unauthenticated, path("", "get", "/healthz"), true},
		{unauthenticated, path("", "get", "/livez"), true},
		{unauthenticated, path("", "get", "/readyz"), true},
		{unauthenticated, path("", "get", "/version"), true},
		{unauthenticated, path("", "get", "/version/"), true},
		{unauthenticated, path("", "get", "/api"), false},
		{unauthenticated, path("", "get", "/apis/kubevirt.io/v1"), false},
		{unauthenticated, path("", "get", "/openapi/v3"), false},
		{"", path("", "get", "/version"), false},
		{authenticated, review("authorization.k8s.io", "selfsubjectaccessreviews"), true},
		{authenticated, review("authorization.k8s.io", "selfsubjectrulesreviews"), true},
		{authenticated, review("authentication.k8s.io", "selfsubjectreviews"), true},
		{authenticated, review("authorization.k8s.io", "subjectaccessreviews"), false},
		{unauthenticated, review("authorization.k8s.io", "selfsubjectaccessreviews"), false},
		{authenticated, get(nil), false},
		{"system:masters", get(nil), true},
		{"system:masters", path("", "post", "/anything"), true},
	} {
		test.request.User, test.request.Groups = "jane", []string{test.group}
		allowed, _ := p.Authorize(test.request)
		assert.Equal(t, test.allowed, allowed, "%+v", test.request)
	}
}

func TestClusterAdminCanBeBound(t *testing.T) {
	p := policy(t, roleBinding("vms", "b", "ClusterRole", "cluster-admin", user("jane")))
	assert.Empty(t, p.Warnings())
	allowed, _ := p.Authorize(get(func(a *rbac.Attributes) { a.Verb = "delete" }))
	assert.True(t, allowed)
	allowed, _ = p.Authorize(get(func(a *rbac.Attributes) { a.Namespace = "other" }))
	assert.False(t, allowed)
}

// Differs: a Role with the name of a built-in one
func TestBuiltinIsReplaced(t *testing.T) {
	version := path("jane", "get", "/version", "system:unauthenticated")
	closed := policy(t, clusterRoleBinding("system:public-info-viewer", "system:public-info-viewer", group("system:authenticated")))
	allowed, _ := closed.Authorize(version)
	assert.False(t, allowed)

	wider := policy(t, clusterRole("system:public-info-viewer", `{"verbs":["get"],"nonResourceURLs":["/metrics"]}`))
	allowed, _ = wider.Authorize(path("jane", "get", "/metrics", "system:unauthenticated"))
	assert.True(t, allowed)
	allowed, _ = wider.Authorize(version)
	assert.False(t, allowed)

	nobody := policy(t, clusterRoleBinding("cluster-admin", "cluster-admin", user("jane")))
	allowed, _ = nobody.Authorize(get(func(a *rbac.Attributes) { a.User, a.Groups = "root", []string{"system:masters"} }))
	assert.True(t, allowed, "system:masters cannot be locked out")
}
