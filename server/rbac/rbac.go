// Package rbac decides requests by ordinary Role, ClusterRole, RoleBinding and
// ClusterRoleBinding manifests, as the RBAC authorizer of kube-apiserver does.
//
//	policy, err := rbac.New(objects...) // the JSON of each object
//	allowed, reason := policy.Authorize(rbac.Attributes{
//		User: "jane", Groups: []string{"system:authenticated"},
//		Verb: "list", APIGroup: "kubevirt.io", Resource: "virtualmachineinstances", Namespace: "vms",
//	})
//
// Rules only ever allow; what no rule allows is denied. The roles and bindings
// that let a client of a cluster find its way are built in: cluster-admin,
// system:discovery, system:basic-user and system:public-info-viewer. Members of
// the group system:masters may do everything, whatever the manifests say.
//
// Manifests are read more strictly than kube-apiserver reads them, because a
// policy with a typing error in it is a hole: unknown and duplicate fields are
// errors, as with kubectl --validate=strict.
//
// The default roles admin, edit and view, and the kubevirt.io roles that
// aggregate into them, are not built in. Exported from a cluster they can be
// given like any other manifest; export the aggregated roles with them.
package rbac

import (
	"slices"
	"strings"
)

// Attributes is one request, in the words of kube-apiserver's authorizer.
//
// A request for a resource has Resource set, a request for any other path has
// Path set. The caller follows kube-apiserver's request info: the name of a
// list or watch is the X of a fieldSelector metadata.name=X, and the request
// for the namespace X itself has both Namespace and Name X, so that a
// RoleBinding inside the namespace can allow it.
type Attributes struct {
	// User and Groups are the authenticated user. The authenticator, not this
	// package, adds system:authenticated or system:unauthenticated to Groups.
	User   string
	Groups []string

	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection for a resource, the lower-case HTTP method for a path.
	Verb string

	APIGroup    string // "" is the core group
	Resource    string // plural, as in the URL
	Subresource string
	Namespace   string // "" is the whole cluster
	Name        string

	// Path is the URL path of a request that is not for a resource.
	Path string
}

// masters is the group that kube-apiserver allows everything before it asks
// any authorizer, so that nobody can lock the last administrator out.
const masters = "system:masters"

// Policy is a set of roles and bindings, ready to decide. It never changes and
// is safe for concurrent use. The zero Policy allows system:masters only.
type Policy struct {
	cluster    grants            // from ClusterRoleBindings
	namespaces map[string]grants // from the RoleBindings of each namespace
	warnings   []string
}

// grants holds what bindings give, by the subject they give it to, so that a
// decision looks at the bindings of one user and its groups only.
type grants struct {
	users  map[string][]grant // service accounts under their user name
	groups map[string][]grant
}

// grant is one role given to one subject by one binding.
type grant struct {
	rules   []rule
	reason  string // what Authorize answers when a rule allows
	missing string // set instead of rules when the role does not exist
}

// Authorize decides one request. The reason of an allowed request names the
// binding, the role and the subject. The reason of a denied one is empty, or
// names the roles that bindings of this user refer to and that do not exist;
// kube-apiserver appends it to the message of its 403 after ": ".
func (p *Policy) Authorize(a Attributes) (allowed bool, reason string) {
	if reason, ok := p.cluster.allow(&a); ok {
		return true, reason
	}
	// Paths belong to no namespace, so RoleBindings never open one.
	namespaced := a.Resource != "" && a.Namespace != ""
	if namespaced {
		if reason, ok := p.namespaces[a.Namespace].allow(&a); ok {
			return true, reason
		}
	}
	if slices.Contains(a.Groups, masters) {
		return true, `allowed by membership of group "` + masters + `"`
	}
	missing := p.cluster.missing(&a, nil)
	if namespaced {
		missing = p.namespaces[a.Namespace].missing(&a, missing)
	}
	return false, missingReason(missing)
}

// Warnings lists what the manifests say to no effect, such as a binding whose
// role does not exist or a wildcard that matches nothing, and what New left out
// or assumed. Each is one line for the person who wrote the manifests.
func (p *Policy) Warnings() []string { return slices.Clone(p.warnings) }

func (g grants) allow(a *Attributes) (reason string, ok bool) {
	if reason, ok := firstAllowing(g.users[a.User], a); ok {
		return reason, true
	}
	for _, group := range a.Groups {
		if reason, ok := firstAllowing(g.groups[group], a); ok {
			return reason, true
		}
	}
	return "", false
}

func firstAllowing(list []grant, a *Attributes) (reason string, ok bool) {
	for i := range list {
		for j := range list[i].rules {
			if list[i].rules[j].allows(a) {
				return list[i].reason, true
			}
		}
	}
	return "", false
}

// missing appends the errors of the bindings of the request's user whose role
// does not exist, each once.
func (g grants) missing(a *Attributes, found []string) []string {
	collect := func(list []grant) {
		for i := range list {
			if m := list[i].missing; m != "" && !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
	}
	collect(g.users[a.User])
	for _, group := range a.Groups {
		collect(g.groups[group])
	}
	return found
}

// missingReason has the form of a Kubernetes error aggregate.
func missingReason(missing []string) string {
	switch len(missing) {
	case 0:
		return ""
	case 1:
		return "RBAC: " + missing[0]
	default:
		return "RBAC: [" + strings.Join(missing, ", ") + "]"
	}
}
