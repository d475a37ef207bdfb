package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ObjectError says which object New refuses and why.
type ObjectError struct {
	Index int // of the object among the arguments of New, from 0

	// The object, as far as it could be read.
	Kind, Namespace, Name string

	Field   string // such as rules[0].verbs; empty when it is the whole object
	Message string
}

func (e *ObjectError) Error() string {
	who := id{e.Kind, e.Namespace, e.Name}.String()
	if e.Kind == "" || e.Name == "" {
		who = strings.TrimRight(fmt.Sprintf("object %d %s", e.Index+1, who), " ")
	}
	if e.Field == "" {
		return fmt.Sprintf("rbac: %s: %s", who, e.Message)
	}
	return fmt.Sprintf("rbac: %s: %s: %s", who, e.Field, e.Message)
}

// New makes a policy of the JSON of Roles, ClusterRoles, RoleBindings and
// ClusterRoleBindings of rbac.authorization.k8s.io/v1 and the built-in ones.
// An object with the name of a built-in one replaces it, as applying it to a
// running cluster does.
//
// Objects of other API groups, which often share a file with a policy, are
// left out with a warning. A namespaced object without metadata.namespace is
// in "default", where kubectl puts it, with a warning too.
//
// The first object that a cluster would refuse, that kubectl
// --validate=strict would refuse, or that is given twice is returned as an
// *ObjectError.
func New(objects ...[]byte) (*Policy, error) {
	given := map[id]int{}
	var list []manifest
	var notes []string
	for i, data := range objects {
		m, err := readManifest(data)
		if err != nil {
			return nil, objectError(i, m.id, err)
		}
		if m.role == nil && m.binding == nil {
			notes = append(notes, fmt.Sprintf("%s: not a role or binding, left out", m.id))
			continue
		}
		if first, ok := given[m.id]; ok {
			return nil, objectError(i, m.id, &fieldError{message: fmt.Sprintf("given twice, as object %d and %d", first+1, i+1)})
		}
		given[m.id] = i
		if m.namespaceAssumed {
			notes = append(notes, fmt.Sprintf("%s: metadata.namespace: missing, %q assumed", m.id, m.namespace))
		}
		list = append(list, m)
	}
	for _, m := range builtin() {
		if _, ok := given[m.id]; !ok {
			list = append(list, m)
		}
	}
	b := newBuilder(list)
	b.policy.warnings = notes
	b.build(list)
	return b.policy, nil
}

func objectError(index int, who id, err error) error {
	e := &ObjectError{Index: index, Kind: who.kind, Namespace: who.namespace, Name: who.name, Message: err.Error()}
	if f, ok := errors.AsType[*fieldError](err); ok {
		e.Field, e.Message = f.field, f.message
	}
	return e
}

// builder turns manifests into a Policy.
type builder struct {
	policy       *Policy
	roles        map[id]*role
	clusterRoles []string          // names, sorted as the aggregation controller sorts them
	resolved     map[id][]rule     // rules after aggregation
	indexed      map[string]grants // by namespace, "" for the cluster
}

func newBuilder(list []manifest) *builder {
	b := &builder{policy: &Policy{}, roles: map[id]*role{}, resolved: map[id][]rule{}, indexed: map[string]grants{}}
	for _, m := range list {
		if m.role == nil {
			continue
		}
		b.roles[m.id] = m.role
		if m.kind == kindClusterRole {
			b.clusterRoles = append(b.clusterRoles, m.name)
		}
	}
	slices.Sort(b.clusterRoles)
	return b
}

func (b *builder) build(list []manifest) {
	for _, m := range list {
		if m.role != nil {
			b.resolve(m.id, m.role)
		}
	}
	for _, m := range list {
		if m.binding != nil {
			b.bind(m.id, m.binding)
		}
	}
	b.policy.cluster = b.indexed[""]
	delete(b.indexed, "")
	b.policy.namespaces = b.indexed
}

func (b *builder) warn(who id, format string, args ...any) {
	b.policy.warnings = append(b.policy.warnings, who.String()+": "+fmt.Sprintf(format, args...))
}

func (b *builder) resolve(who id, r *role) {
	warn := func(format string, args ...any) { b.warn(who, format, args...) }
	for i := range r.rules {
		r.rules[i].lint(fmt.Sprintf("rules[%d]", i), warn)
	}
	if len(r.aggregates) == 0 {
		b.resolved[who] = r.rules
		return
	}
	seen := map[string]bool{who.name: true}
	rules := b.aggregate(r, seen, nil)
	b.resolved[who] = rules
	if len(seen) == 1 {
		warn("aggregationRule: selects no ClusterRole, so it allows nothing")
	}
	for i := range r.rules {
		if !slices.ContainsFunc(rules, r.rules[i].equal) {
			warn("rules[%d]: has no effect, because aggregationRule replaces rules by those of the ClusterRoles it selects", i)
			break
		}
	}
}

// aggregate adds the rules of the ClusterRoles that r selects, and of those
// that they select in turn, as the aggregation controller of a cluster ends up
// with. In a cycle of roles it can end with rules that none of the selected
// roles has of its own; here those never count.
func (b *builder) aggregate(r *role, seen map[string]bool, rules []rule) []rule {
	for _, s := range r.aggregates {
		for _, name := range b.clusterRoles {
			other := b.roles[id{kind: kindClusterRole, name: name}]
			if seen[name] || !s.matches(other.labels) {
				continue
			}
			seen[name] = true
			if len(other.aggregates) > 0 {
				rules = b.aggregate(other, seen, rules)
				continue
			}
			for _, add := range other.rules {
				if !slices.ContainsFunc(rules, add.equal) {
					rules = append(rules, add)
				}
			}
		}
	}
	return rules
}

func (b *builder) bind(who id, bound *binding) {
	ref := id{kind: bound.roleKind, name: bound.roleName}
	if ref.kind == kindRole {
		ref.namespace = who.namespace
	}
	rules, ok := b.resolved[ref]
	missing := ""
	if !ok {
		resource := "clusterrole"
		if ref.kind == kindRole {
			resource = "role"
		}
		missing = fmt.Sprintf("%s.%s %q not found", resource, apiGroup, ref.name)
		b.warn(who, "roleRef: there is no %s, so it allows nothing", ref)
	}
	index, ok := b.indexed[who.namespace]
	if !ok {
		index = grants{users: map[string][]grant{}, groups: map[string][]grant{}}
		b.indexed[who.namespace] = index
	}
	for i, s := range bound.subjects {
		if s.kind != kindServiceAccount && s.namespace != "" {
			b.warn(who, "subjects[%d].namespace: has no effect for a %s", i, s.kind)
		}
		g := grant{rules: rules, missing: missing, reason: allowedBy(who, ref, s)}
		switch s.kind {
		case kindGroup:
			index.groups[s.name] = append(index.groups[s.name], g)
		default:
			user := s.userName(who.namespace)
			index.users[user] = append(index.users[user], g)
		}
	}
}

// userName is the name a User or ServiceAccount authenticates with. A service
// account without a namespace is one of the binding's namespace.
func (s subject) userName(bindingNamespace string) string {
	if s.kind == kindUser {
		return s.name
	}
	return "system:serviceaccount:" + cmp.Or(s.namespace, bindingNamespace) + ":" + s.name
}

// allowedBy words the reason as kube-apiserver does, which writes the name of a
// namespaced object before its namespace.
func allowedBy(who, ref id, s subject) string {
	name, subjectName := who.name, s.name
	if who.namespace != "" {
		name += "/" + who.namespace
	}
	if s.kind == kindServiceAccount {
		subjectName += "/" + cmp.Or(s.namespace, who.namespace)
	}
	return fmt.Sprintf("RBAC: allowed by %s %q of %s %q to %s %q", who.kind, name, ref.kind, ref.name, s.kind, subjectName)
}
