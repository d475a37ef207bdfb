package rbac

// The groups that authentication adds.
const (
	authenticated   = "system:authenticated"
	unauthenticated = "system:unauthenticated"
)

// builtin returns the roles and bindings that every cluster begins with and
// that concern clients of this server (Kubernetes 1.37, the bootstrap policy
// of the RBAC authorizer). A cluster has more, for its own components.
func builtin() []manifest {
	return []manifest{
		builtinRole("cluster-admin",
			rule{verbs: []string{all}, apiGroups: []string{all}, resources: []string{all}},
			rule{verbs: []string{all}, nonResourceURLs: []string{all}}),
		builtinBinding("cluster-admin", masters),

		builtinRole("system:discovery", rule{verbs: []string{"get"}, nonResourceURLs: []string{
			"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/",
		}}),
		builtinBinding("system:discovery", authenticated),

		builtinRole("system:basic-user",
			rule{verbs: []string{"create"}, apiGroups: []string{"authorization.k8s.io"},
				resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
			rule{verbs: []string{"create"}, apiGroups: []string{"authentication.k8s.io"},
				resources: []string{"selfsubjectreviews"}}),
		builtinBinding("system:basic-user", authenticated),

		builtinRole("system:public-info-viewer", rule{verbs: []string{"get"}, nonResourceURLs: []string{
			"/healthz", "/livez", "/readyz", "/version", "/version/",
		}}),
		builtinBinding("system:public-info-viewer", authenticated, unauthenticated),
	}
}

func builtinRole(name string, rules ...rule) manifest {
	// The label is the one of a cluster, because an aggregationRule may select it.
	labels := map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"}
	return manifest{id: id{kind: kindClusterRole, name: name}, role: &role{labels: labels, rules: rules}}
}

func builtinBinding(name string, groups ...string) manifest {
	b := &binding{roleKind: kindClusterRole, roleName: name}
	for _, group := range groups {
		b.subjects = append(b.subjects, subject{kind: kindGroup, name: group})
	}
	return manifest{id: id{kind: kindClusterRoleBinding, name: name}, binding: b}
}
