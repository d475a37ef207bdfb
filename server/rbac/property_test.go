package rbac_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/rbac"
)

// TestAgainstAPlainReading compares decisions on random policies with an
// evaluator that reads the Kubernetes documentation literally, object by
// object, without an index and without anything prepared.
func TestAgainstAPlainReading(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	allowedSeen, deniedSeen := 0, 0
	for range 100 {
		objects := randomPolicy(random)
		var encoded [][]byte
		for _, o := range objects {
			data, err := json.Marshal(o)
			require.NoError(t, err)
			encoded = append(encoded, data)
		}
		p, err := rbac.New(encoded...)
		require.NoError(t, err)
		for range 100 {
			a := randomRequest(random)
			want := plainReading(objects, a)
			got, reason := p.Authorize(a)
			if want != got {
				require.Equal(t, want, got, "%+v\n%s\n%s", a, reason, encoded)
			}
			if got {
				allowedSeen++
			} else {
				deniedSeen++
			}
		}
	}
	assert.Greater(t, allowedSeen, 300, "the random policies decide both ways")
	assert.Greater(t, deniedSeen, 300, "the random policies decide both ways")
}

type (
	plainObject struct {
		APIVersion      string            `json:"apiVersion"`
		Kind            string            `json:"kind"`
		Metadata        plainMeta         `json:"metadata"`
		Rules           []plainRule       `json:"rules,omitempty"`
		AggregationRule *plainAggregation `json:"aggregationRule,omitempty"`
		RoleRef         *plainRef         `json:"roleRef,omitempty"`
		Subjects        []plainSubject    `json:"subjects,omitempty"`
	}
	plainMeta struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace,omitempty"`
		Labels    map[string]string `json:"labels,omitempty"`
	}
	plainRule struct {
		Verbs           []string `json:"verbs"`
		APIGroups       []string `json:"apiGroups,omitempty"`
		Resources       []string `json:"resources,omitempty"`
		ResourceNames   []string `json:"resourceNames,omitempty"`
		NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
	}
	plainAggregation struct {
		ClusterRoleSelectors []plainSelector `json:"clusterRoleSelectors"`
	}
	plainSelector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
	plainRef struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	}
	plainSubject struct {
		Kind      string `json:"kind"`
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
)

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

func some(random *rand.Rand, from ...string) []string {
	var out []string
	for range 1 + random.IntN(2) {
		out = append(out, pick(random, from...))
	}
	return out
}

func randomPolicy(random *rand.Rand) []plainObject {
	var out []plainObject
	for _, name := range []string{"c1", "c2", "c3"} {
		o := plainObject{Kind: "ClusterRole", Metadata: plainMeta{Name: name, Labels: map[string]string{"l": pick(random, "1", "2", "3")}}}
		if random.IntN(4) == 0 {
			o.AggregationRule = &plainAggregation{}
			for range 1 + random.IntN(2) {
				o.AggregationRule.ClusterRoleSelectors = append(o.AggregationRule.ClusterRoleSelectors,
					plainSelector{map[string]string{"l": pick(random, "1", "2", "3")}})
			}
		} else {
			o.Rules = []plainRule{randomRule(random, true), randomRule(random, true)}
		}
		out = append(out, o)
	}
	for _, namespace := range []string{"n1", "n2"} {
		out = append(out, plainObject{Kind: "Role", Metadata: plainMeta{Name: "r1", Namespace: namespace}, Rules: []plainRule{randomRule(random, false)}})
	}
	for _, name := range []string{"b1", "b2", "b3"} {
		if random.IntN(3) == 0 {
			out = append(out, plainObject{Kind: "ClusterRoleBinding", Metadata: plainMeta{Name: name},
				RoleRef: &plainRef{"ClusterRole", pick(random, "c1", "c2", "c3", "nosuch")}, Subjects: randomSubjects(random)})
			continue
		}
		ref := &plainRef{"ClusterRole", pick(random, "c1", "c2", "c3")}
		if random.IntN(2) == 0 {
			ref = &plainRef{"Role", pick(random, "r1", "nosuch")}
		}
		out = append(out, plainObject{Kind: "RoleBinding", Metadata: plainMeta{Name: name, Namespace: pick(random, "n1", "n2")},
			RoleRef: ref, Subjects: randomSubjects(random)})
	}
	for i := range out {
		out[i].APIVersion = "rbac.authorization.k8s.io/v1"
	}
	return out
}

func randomRule(random *rand.Rand, paths bool) plainRule {
	verbs := some(random, "get", "list", "create", "*")
	if paths && random.IntN(3) == 0 {
		return plainRule{Verbs: verbs, NonResourceURLs: some(random, "/x", "/x/*", "/x*", "/y", "*")}
	}
	r := plainRule{Verbs: verbs, APIGroups: some(random, "", "g", "*"), Resources: some(random, "vms", "vms/log", "*/log", "*", "vms/*", "pods")}
	if random.IntN(3) == 0 {
		r.ResourceNames = some(random, "a", "b", "*")
	}
	return r
}

func randomSubjects(random *rand.Rand) []plainSubject {
	var out []plainSubject
	for range 1 + random.IntN(2) {
		out = append(out, []plainSubject{
			{"User", "jane", ""}, {"User", "system:serviceaccount:n1:sa", ""}, {"Group", "dev", ""}, {"Group", "ops", ""},
			{"ServiceAccount", "sa", "n1"}, {"ServiceAccount", "sa", "n2"},
		}[random.IntN(6)])
	}
	return out
}

func randomRequest(random *rand.Rand) rbac.Attributes {
	a := rbac.Attributes{
		User:   pick(random, "jane", "joe", "system:serviceaccount:n1:sa", "system:serviceaccount:n2:sa"),
		Groups: some(random, "dev", "ops", "none"),
		Verb:   pick(random, "get", "list", "create", "delete"),
	}
	if random.IntN(3) == 0 {
		a.Path = pick(random, "/x", "/x/y", "/xy", "/y", "/z")
		return a
	}
	a.APIGroup, a.Resource, a.Subresource = pick(random, "", "g", "h"), pick(random, "vms", "pods"), pick(random, "", "log", "x")
	a.Namespace, a.Name = pick(random, "n1", "n2", ""), pick(random, "a", "b", "")
	return a
}

func plainReading(objects []plainObject, a rbac.Attributes) bool {
	for _, binding := range objects {
		if binding.RoleRef == nil {
			continue
		}
		namespace := binding.Metadata.Namespace
		if binding.Kind == "RoleBinding" && (a.Resource == "" || a.Namespace != namespace) {
			continue
		}
		if !slices.ContainsFunc(binding.Subjects, func(s plainSubject) bool { return plainSubjectIs(s, a) }) {
			continue
		}
		for _, role := range objects {
			if role.Kind == binding.RoleRef.Kind && role.Metadata.Name == binding.RoleRef.Name &&
				(role.Kind == "ClusterRole" || role.Metadata.Namespace == namespace) &&
				slices.ContainsFunc(plainRules(objects, role, 0), func(r plainRule) bool { return plainAllows(r, a) }) {
				return true
			}
		}
	}
	return false
}

func plainSubjectIs(s plainSubject, a rbac.Attributes) bool {
	switch s.Kind {
	case "User":
		return s.Name == a.User
	case "Group":
		return slices.Contains(a.Groups, s.Name)
	default:
		return strings.Join([]string{"system", "serviceaccount", s.Namespace, s.Name}, ":") == a.User
	}
}

// plainRules follows selectors as deep as there are roles, round circles too.
func plainRules(objects []plainObject, role plainObject, depth int) []plainRule {
	if role.AggregationRule == nil || depth > len(objects) {
		return role.Rules
	}
	var out []plainRule
	for _, s := range role.AggregationRule.ClusterRoleSelectors {
		for _, o := range objects {
			if o.Kind == "ClusterRole" && o.Metadata.Labels["l"] == s.MatchLabels["l"] {
				out = append(out, plainRules(objects, o, depth+1)...)
			}
		}
	}
	return out
}

func plainAllows(r plainRule, a rbac.Attributes) bool {
	if !plainMatch(r.Verbs, a.Verb) {
		return false
	}
	if a.Resource == "" {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			prefix, ok := strings.CutSuffix(url, "*")
			return url == a.Path || ok && strings.HasPrefix(a.Path, prefix)
		})
	}
	wanted := []string{"*", a.Resource}
	if a.Subresource != "" {
		wanted = []string{"*", a.Resource + "/" + a.Subresource, "*/" + a.Subresource}
	}
	return plainMatch(r.APIGroups, a.APIGroup) &&
		slices.ContainsFunc(r.Resources, func(p string) bool { return slices.Contains(wanted, p) }) &&
		(r.ResourceNames == nil || slices.Contains(r.ResourceNames, a.Name))
}

func plainMatch(patterns []string, value string) bool {
	return slices.Contains(patterns, value) || slices.Contains(patterns, "*")
}
