package rbac

import "slices"

// Rule is a PolicyRule: verbs on resources, or on paths. Every list may have
// wildcards, but for the names.
type Rule struct {
	Verbs           []string
	APIGroups       []string
	Resources       []string
	ResourceNames   []string // empty for any
	NonResourceURLs []string // of a rule on paths, which has no resources then
}

// Rules returns what somebody may do in a namespace, as kubectl auth can-i --list
// shows it: the rules of all bindings, each once, those of the cluster first. The
// caller owns the slice, not what the rules have in them.
func (p *Policy) Rules(user string, groups []string, namespace string) []Rule {
	var found []Rule
	add := func(list []grant, paths bool) {
		for _, g := range list {
			for _, r := range g.rules {
				rule := r.public(paths)
				if len(rule.Resources)+len(rule.NonResourceURLs) > 0 && !slices.ContainsFunc(found, rule.equal) {
					found = append(found, rule)
				}
			}
		}
	}
	for i, g := range []grants{p.cluster, p.namespaces[namespace]} {
		// Paths belong to no namespace, so RoleBindings never open one.
		add(g.users[user], i == 0)
		for _, group := range groups {
			add(g.groups[group], i == 0)
		}
	}
	return found
}

func (r *rule) public(paths bool) Rule {
	out := Rule{Verbs: r.verbs, APIGroups: r.apiGroups, Resources: r.resources, ResourceNames: r.resourceNames}
	if paths {
		out.NonResourceURLs = r.nonResourceURLs
	}
	return out
}

func (r Rule) equal(o Rule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.APIGroups, o.APIGroups) && slices.Equal(r.Resources, o.Resources) &&
		slices.Equal(r.ResourceNames, o.ResourceNames) && slices.Equal(r.NonResourceURLs, o.NonResourceURLs)
}
