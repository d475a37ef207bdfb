package rbac_test

import (
	"fmt"

	"github.com/vmikit/vmikit/server/rbac"
)

func Example() {
	policy, err := rbac.New(
		[]byte(`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"namespace": "vms", "name": "viewer"},
			"rules": [{"verbs": ["get", "list"], "apiGroups": ["kubevirt.io"], "resources": ["virtualmachineinstances"]}]}`),
		[]byte(`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"namespace": "vms", "name": "viewers"},
			"roleRef": {"kind": "Role", "name": "viewer"}, "subjects": [{"kind": "User", "name": "jane"}]}`),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := rbac.Attributes{User: "jane", Verb: "list", APIGroup: "kubevirt.io", Resource: "virtualmachineinstances", Namespace: "vms"}
	fmt.Println(policy.Authorize(request))
	request.Verb = "delete"
	allowed, _ := policy.Authorize(request)
	fmt.Println(allowed)
	// Output:
	// true RBAC: allowed by RoleBinding "viewers/vms" of Role "viewer" to User "jane"
	// false
}
