package rbac

import (
	"strings"
)

const (
	apiGroup   = "rbac.authorization.k8s.io"
	apiVersion = apiGroup + "/v1"

	kindRole               = "Role"
	kindClusterRole        = "ClusterRole"
	kindRoleBinding        = "RoleBinding"
	kindClusterRoleBinding = "ClusterRoleBinding"

	kindUser           = "User"
	kindGroup          = "Group"
	kindServiceAccount = "ServiceAccount"
)

// id says which object it is. Namespace is empty for the cluster-wide kinds.
type id struct{ kind, namespace, name string }

// String has the form "Role vms/viewer".
func (i id) String() string {
	name := short(i.name)
	if i.namespace != "" {
		name = short(i.namespace) + "/" + name
	}
	return strings.Trim(short(i.kind)+" "+name, " ")
}

// manifest is one object of a policy, read and checked.
type manifest struct {
	id
	role    *role    // of a Role or ClusterRole
	binding *binding // of a RoleBinding or ClusterRoleBinding

	namespaceAssumed bool
}

type role struct {
	labels     map[string]string
	rules      []rule
	aggregates []selector // not empty when the rules come from other ClusterRoles
}

type binding struct {
	roleKind, roleName string
	subjects           []subject
}

type subject struct{ kind, name, namespace string }

// objectMetaFields are the fields of ObjectMeta in Kubernetes 1.37, and
// clusterName, which dumps from before 1.24 carry.
var objectMetaFields = []string{
	"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
	"managedFields", "clusterName",
}

// readManifest reads one object. The id is filled in as far as it could be
// read, also with an error. A manifest without role and binding is an object
// of another group, which a file of manifests may well hold beside the policy.
func readManifest(data []byte) (manifest, error) {
	o, err := parse(data)
	if err != nil {
		return manifest{}, err
	}
	var r reader
	version, kind := r.text(o, "apiVersion"), r.text(o, "kind")
	meta, _ := r.object(o, "metadata")
	m := manifest{id: id{kind: kind, namespace: r.text(meta, "namespace"), name: r.text(meta, "name")}}
	ours := checkKind(&r, version, kind)
	if r.err != nil || !ours {
		return m, r.err
	}

	namespaced := kind == kindRole || kind == kindRoleBinding
	checkMeta(&r, meta, &m, namespaced)
	switch kind {
	case kindRole, kindClusterRole:
		m.role = readRole(&r, o, meta, namespaced)
	default:
		m.binding = readBinding(&r, o, namespaced)
	}
	return m, r.err
}

// checkKind tells the four kinds from those of other groups, and refuses what
// is neither but looks like a policy: it would silently not apply.
func checkKind(r *reader, version, kind string) (ours bool) {
	if kind == "" {
		r.fail("kind", "missing")
	}
	if version == "" {
		r.fail("apiVersion", "missing")
	}
	if kind == "List" {
		r.fail("kind", "a List is not an object of a policy; give its items")
	}
	known := kind == kindRole || kind == kindClusterRole || kind == kindRoleBinding || kind == kindClusterRoleBinding
	group, _, _ := strings.Cut(version, "/")
	switch {
	case known && version != apiVersion:
		r.fail("apiVersion", "%s is not supported, only %s", quote(version), apiVersion)
	case !known && group == apiGroup:
		r.fail("kind", "%s is not a kind of %s", quote(kind), apiVersion)
	}
	return known
}

func checkMeta(r *reader, meta object, m *manifest, namespaced bool) {
	r.only(meta, objectMetaFields...)
	if m.name == "" {
		r.fail(meta.at("name"), "missing")
	}
	checkName(r, meta.at("name"), m.name)
	switch {
	case !namespaced && m.namespace != "":
		r.fail(meta.at("namespace"), "not allowed, %ss belong to no namespace", m.kind)
	case namespaced && m.namespace == "":
		m.namespace, m.namespaceAssumed = "default", true // where kubectl puts it
	case namespaced && !isDNSLabel(m.namespace):
		r.fail(meta.at("namespace"), "%s is not the name of a namespace", quote(m.namespace))
	}
}

// checkName applies the rule for names of roles and bindings, which may hold
// colons and capitals: whatever can be one segment of a path.
func checkName(r *reader, field, name string) {
	if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		r.fail(field, `%s must not be "." or "..", and must not contain "/" or "%%"`, quote(name))
	}
}

func readRole(r *reader, o, meta object, namespaced bool) *role {
	out := &role{labels: r.textMap(meta, "labels")}
	if namespaced {
		r.only(o, "apiVersion", "kind", "metadata", "rules")
	} else {
		r.only(o, "apiVersion", "kind", "metadata", "rules", "aggregationRule")
	}
	for _, item := range r.objects(o, "rules") {
		out.rules = append(out.rules, readRule(r, item, namespaced))
	}
	if aggregation, ok := r.object(o, "aggregationRule"); ok {
		r.only(aggregation, "clusterRoleSelectors")
		for _, item := range r.objects(aggregation, "clusterRoleSelectors") {
			out.aggregates = append(out.aggregates, readSelector(r, item))
		}
		if len(out.aggregates) == 0 {
			r.fail(aggregation.at("clusterRoleSelectors"), "must have at least one selector")
		}
	}
	return out
}

func readRule(r *reader, o object, namespaced bool) rule {
	r.only(o, "verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
	out := rule{
		verbs:           r.texts(o, "verbs"),
		apiGroups:       r.texts(o, "apiGroups"),
		resources:       r.texts(o, "resources"),
		resourceNames:   r.texts(o, "resourceNames"),
		nonResourceURLs: r.texts(o, "nonResourceURLs"),
	}
	if len(out.verbs) == 0 {
		r.fail(o.at("verbs"), "must have at least one verb")
	}
	if len(out.nonResourceURLs) > 0 {
		if namespaced {
			r.fail(o.at("nonResourceURLs"), "not allowed in a Role, only in a ClusterRole")
		}
		if len(out.apiGroups)+len(out.resources)+len(out.resourceNames) > 0 {
			r.fail(o.at("nonResourceURLs"), "not allowed together with resources")
		}
		return out
	}
	if len(out.apiGroups) == 0 {
		r.fail(o.at("apiGroups"), `must have at least one group ("" is the core group)`)
	}
	if len(out.resources) == 0 {
		r.fail(o.at("resources"), "must have at least one resource")
	}
	return out
}

func readBinding(r *reader, o object, namespaced bool) *binding {
	r.only(o, "apiVersion", "kind", "metadata", "subjects", "roleRef")
	ref, _ := r.object(o, "roleRef")
	r.only(ref, "apiGroup", "kind", "name")
	out := &binding{roleKind: r.text(ref, "kind"), roleName: r.text(ref, "name")}
	if group := r.text(ref, "apiGroup"); group != "" && group != apiGroup {
		r.fail(ref.at("apiGroup"), "%s is not supported, only %s", quote(group), apiGroup)
	}
	if out.roleKind != kindClusterRole && (!namespaced || out.roleKind != kindRole) {
		supported := kindClusterRole
		if namespaced {
			supported = kindRole + " and " + kindClusterRole
		}
		r.fail(ref.at("kind"), "%s is not supported, only %s", quote(out.roleKind), supported)
	}
	if out.roleName == "" {
		r.fail(ref.at("name"), "missing")
	}
	checkName(r, ref.at("name"), out.roleName)
	for _, item := range r.objects(o, "subjects") {
		out.subjects = append(out.subjects, readSubject(r, item, namespaced))
	}
	return out
}

func readSubject(r *reader, o object, namespaced bool) subject {
	r.only(o, "kind", "apiGroup", "name", "namespace")
	out := subject{kind: r.text(o, "kind"), name: r.text(o, "name"), namespace: r.text(o, "namespace")}
	group, want := r.text(o, "apiGroup"), apiGroup
	switch out.kind {
	case kindUser, kindGroup:
	case kindServiceAccount:
		want = ""
		if out.name != "" && !isDNSSubdomain(out.name) {
			r.fail(o.at("name"), "%s is not the name of a service account", quote(out.name))
		}
		if out.namespace == "" && !namespaced {
			r.fail(o.at("namespace"), "missing")
		}
	default:
		r.fail(o.at("kind"), "%s is not supported, only User, Group and ServiceAccount", quote(out.kind))
	}
	if group != "" && group != want {
		r.fail(o.at("apiGroup"), "%s is not supported for a %s, only %s", quote(group), out.kind, quote(want))
	}
	if out.name == "" {
		r.fail(o.at("name"), "missing")
	}
	return out
}
