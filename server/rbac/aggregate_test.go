package rbac_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/server/rbac"
)

func labelled(name, labels, rules string) string {
	return fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":%q,"labels":{%s}},"rules":[%s]}`, name, labels, rules)
}

func aggregated(name, labels, selectors string) string {
	return fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":%q,"labels":{%s}},"rules":null,"aggregationRule":{"clusterRoleSelectors":[%s]}}`, name, labels, selectors)
}

func TestAggregationSelectors(t *testing.T) {
	for selector, allowed := range map[string]bool{
		`{"matchLabels":{"to":"view"}}`:                                                            true,
		`{"matchLabels":{"to":"edit"}}`:                                                            false,
		`{"matchLabels":{"to":"view","x":"y"}}`:                                                    false,
		`{"matchLabels":{"to":"edit"}},{"matchLabels":{"to":"view"}}`:                              true,
		`{"matchExpressions":[{"key":"to","operator":"In","values":["edit","view"]}]}`:             true,
		`{"matchExpressions":[{"key":"to","operator":"In","values":["edit"]}]}`:                    false,
		`{"matchExpressions":[{"key":"to","operator":"NotIn","values":["edit"]}]}`:                 true,
		`{"matchExpressions":[{"key":"to","operator":"NotIn","values":["view"]}]}`:                 false,
		`{"matchExpressions":[{"key":"none","operator":"NotIn","values":["view"]}]}`:               true,
		`{"matchExpressions":[{"key":"to","operator":"Exists"}]}`:                                  true,
		`{"matchExpressions":[{"key":"none","operator":"Exists"}]}`:                                false,
		`{"matchExpressions":[{"key":"none","operator":"DoesNotExist","values":null}]}`:            true,
		`{"matchExpressions":[{"key":"to","operator":"DoesNotExist"}]}`:                            false,
		`{"matchLabels":{"to":"view"},"matchExpressions":[{"key":"x","operator":"DoesNotExist"}]}`: true,
		`{"matchLabels":{"to":"view"},"matchExpressions":[{"key":"x","operator":"Exists"}]}`:       false,
		`{}`: true,
	} {
		// cluster-admin is built in and without a label "to"; it must not be what allows.
		p := policy(t,
			labelled("cluster-admin", `"to":"nobody","none":"view"`, ""),
			labelled("vmi", `"to":"view"`, readVMI),
			aggregated("all", "", selector),
			clusterRoleBinding("b", "all", user("jane")))
		got, _ := p.Authorize(get(nil))
		assert.Equal(t, allowed, got, selector)
	}
}

func TestAggregationIsTransitive(t *testing.T) {
	selects := func(label string) string { return `{"matchLabels":{"` + label + `":"true"}}` }
	p := policy(t,
		aggregated("admin", "", selects("to-admin")),
		aggregated("edit", `"to-admin":"true"`, selects("to-edit")),
		aggregated("view", `"to-edit":"true"`, selects("to-view")),
		labelled("vmi", `"to-view":"true"`, readVMI),
		clusterRoleBinding("b", "admin", user("jane")))
	allowed, reason := p.Authorize(get(nil))
	assert.True(t, allowed)
	assert.Equal(t, `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "admin" to User "jane"`, reason)
	assert.Empty(t, p.Warnings())
}

func TestAggregationInACircle(t *testing.T) {
	p := policy(t,
		aggregated("a", `"l":"1"`, `{"matchLabels":{"l":"2"}}`),
		aggregated("b", `"l":"2"`, `{"matchLabels":{"l":"1"}}`),
		labelled("vmi", `"l":"1"`, readVMI),
		clusterRoleBinding("b", "a", user("jane")))
	allowed, _ := p.Authorize(get(nil))
	assert.True(t, allowed)
	allowed, _ = p.Authorize(get(func(a *rbac.Attributes) { a.Verb = "delete" }))
	assert.False(t, allowed)
}

// A cluster overwrites the rules of an aggregated role. An aggregated role that
// was exported without the roles it selects would surprise, so it is named.
func TestAggregationReplacesRules(t *testing.T) {
	exported := `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"view"},
		"rules":[` + readVMI + `],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"view"}}]}}`
	bound := clusterRoleBinding("b", "view", user("jane"))

	alone := policy(t, exported, bound)
	allowed, _ := alone.Authorize(get(nil))
	assert.False(t, allowed)
	assert.Equal(t, []string{
		"ClusterRole view: aggregationRule: selects no ClusterRole, so it allows nothing",
		"ClusterRole view: rules[0]: has no effect, because aggregationRule replaces rules by those of the ClusterRoles it selects",
	}, alone.Warnings())

	together := policy(t, exported, bound, labelled("vmi", `"to":"view"`, readVMI))
	allowed, _ = together.Authorize(get(nil))
	assert.True(t, allowed)
	assert.Empty(t, together.Warnings())
}
