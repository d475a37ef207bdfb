package rbac_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/rbac"
)

func TestRulesOfSomebody(t *testing.T) {
	policy, err := rbac.New(
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"viewer","namespace":"vms"},
			"rules":[{"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"],"verbs":["get","list"],"resourceNames":["web"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"jane","namespace":"vms"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"viewer"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"jane"},{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"friends"}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"metrics"},
			"rules":[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"jane"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"metrics"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"jane"}]}`),
		// Paths that a binding in a namespace gives are not given.
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"joe","namespace":"vms"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"metrics"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"joe"}]}`))
	require.NoError(t, err)

	machine := rbac.Rule{
		Verbs: []string{"get", "list"}, APIGroups: []string{"kubevirt.io"},
		Resources: []string{"virtualmachineinstances"}, ResourceNames: []string{"web"},
	}
	metrics := rbac.Rule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}}
	assert.Equal(t, []rbac.Rule{metrics, machine}, policy.Rules("jane", []string{"friends"}, "vms"), "each once")
	assert.Equal(t, []rbac.Rule{metrics}, policy.Rules("jane", nil, "other"))
	assert.Empty(t, policy.Rules("joe", nil, "vms"))
	everything := policy.Rules("root", []string{"system:masters"}, "vms")
	assert.Contains(t, everything, rbac.Rule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}})
	assert.Contains(t, everything, rbac.Rule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}})
}
