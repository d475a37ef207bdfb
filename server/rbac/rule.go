package rbac

import (
	"fmt"
	"slices"
	"strings"
)

const all = "*"

// rule is a PolicyRule.
type rule struct {
	verbs           []string
	apiGroups       []string
	resources       []string
	resourceNames   []string
	nonResourceURLs []string
}

func (r *rule) allows(a *Attributes) bool {
	if !matches(r.verbs, a.Verb) {
		return false
	}
	if a.Resource == "" {
		return slices.ContainsFunc(r.nonResourceURLs, func(url string) bool { return urlMatches(url, a.Path) })
	}
	return matches(r.apiGroups, a.APIGroup) &&
		slices.ContainsFunc(r.resources, func(resource string) bool {
			return resourceMatches(resource, a.Resource, a.Subresource)
		}) &&
		// Names know no wildcard. A request without a name, such as create or a
		// plain list, is therefore not allowed by a rule with names.
		(len(r.resourceNames) == 0 || slices.Contains(r.resourceNames, a.Name))
}

func matches(patterns []string, value string) bool {
	for _, p := range patterns {
		if p == all || p == value {
			return true
		}
	}
	return false
}

// resourceMatches knows "*", "resource", "resource/subresource" and
// "*/subresource". "*" covers subresources, "resource" does not, and
// "resource/*" is no wildcard in Kubernetes.
func resourceMatches(pattern, resource, subresource string) bool {
	if pattern == all {
		return true
	}
	if subresource == "" {
		return pattern == resource
	}
	left, right, ok := strings.Cut(pattern, "/")
	return ok && right == subresource && (left == all || left == resource)
}

// urlMatches knows an exact path and a "*" at the end, which matches any rest,
// slashes included.
func urlMatches(pattern, path string) bool {
	if !strings.HasSuffix(pattern, all) {
		return pattern == path
	}
	return strings.HasPrefix(path, strings.TrimRight(pattern, all))
}

func (r *rule) equal(o rule) bool {
	return slices.Equal(r.verbs, o.verbs) && slices.Equal(r.apiGroups, o.apiGroups) &&
		slices.Equal(r.resources, o.resources) && slices.Equal(r.resourceNames, o.resourceNames) &&
		slices.Equal(r.nonResourceURLs, o.nonResourceURLs)
}

// lint reports the patterns of a rule that Kubernetes accepts and that can
// never match.
func (r *rule) lint(path string, warn func(format string, args ...any)) {
	for i, resource := range r.resources {
		rest := strings.TrimPrefix(resource, "*/")
		if resource != all && (rest == "" || strings.Contains(rest, all)) {
			warn(`%s.resources[%d]: %s matches nothing; the wildcards are "*" and "*/subresource"`, path, i, quote(resource))
		}
	}
	for i, name := range r.resourceNames {
		if strings.Contains(name, all) {
			warn("%s.resourceNames[%d]: %s is taken as a name, not as a wildcard", path, i, quote(name))
		}
	}
	for i, url := range r.nonResourceURLs {
		fixed := strings.TrimRight(url, all)
		switch {
		case !strings.HasPrefix(fixed, "/") && (fixed != "" || url == ""):
			warn(`%s.nonResourceURLs[%d]: %s matches nothing; paths begin with "/"`, path, i, quote(url))
		case strings.Contains(fixed, all):
			warn(`%s.nonResourceURLs[%d]: %s has a "*" that is not at its end and is taken literally`, path, i, quote(url))
		}
	}
}

// quote shows a value from a manifest on one line of bounded length.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 80 {
		s = string(runes[:77]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
