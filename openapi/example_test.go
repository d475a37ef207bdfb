package openapi_test

import (
	"fmt"

	"github.com/vmikit/vmikit/openapi"
)

func ExampleDocument_ValidateObject() {
	doc, err := openapi.Load(openapi.ProfileKubeVirt)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, issue := range doc.ValidateObject([]byte(`{
		"apiVersion": "kubevirt.io/v1",
		"kind": "VirtualMachineInstance",
		"metadata": {"name": "web"},
		"spec": {"domain": {"cpu": {"cores": 0}}},
		"status": {"phase": "Running", "phase": "Failed"}
	}`)) {
		fmt.Println(issue)
	}
	// Output:
	// /spec/domain/cpu/cores: must be at least 1, got 0 (minimum)
	// /status/phase: must not be there twice (json-duplicate-key)
}

func ExampleOperation_ValidateRequest() {
	doc, err := openapi.Load(openapi.ProfileKubeVirt)
	if err != nil {
		fmt.Println(err)
		return
	}
	op := doc.Operation("listNamespacedVirtualMachineInstance")
	fmt.Println(op.Method(), op.Path())
	fmt.Println(op.ValidateRequest(openapi.Request{
		Path:  map[string]string{"namespace": "lab"},
		Query: map[string][]string{"limit": {"0"}},
	}))
	// Output:
	// GET /apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances
	// /query/limit: must be at least 1, got 0 (minimum)
}
