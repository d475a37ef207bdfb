package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/gen/vmi"
)

// A spec is an object, or not there: null is neither, whatever kind it is of.
//
// Differs: `spec: null` of a lease, a namespace or a review
func TestNullSpec(t *testing.T) {
	f := start(t).create("vms/a")
	f.send("POST", leases, lease1).written(t, 201)
	f.send("POST", namespaces, namespace("team")).written(t, 201)
	const reviews = "/apis/authorization.k8s.io/v1/"
	for _, c := range []struct{ path, name, apiVersion, kind string }{
		{inVMs, "a", "kubevirt.io/v1", "VirtualMachineInstance"},
		{leases, "l", "coordination.k8s.io/v1", "Lease"},
		{namespaces, "team", "v1", "Namespace"},
		{reviews + "selfsubjectaccessreviews", "", "authorization.k8s.io/v1", "SelfSubjectAccessReview"},
		{reviews + "selfsubjectrulesreviews", "", "authorization.k8s.io/v1", "SelfSubjectRulesReview"},
	} {
		want := []vmi.StatusCause{{Reason: "FieldValueTypeInvalid", Message: "Invalid value: null: must be an object, not null", Field: "spec"}}
		made := f.send("POST", c.path, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"n"},"spec":null}`, c.apiVersion, c.kind))
		assert.Equal(t, want, made.status(t).Details.Causes, c.kind)
		if c.name != "" {
			patched := f.send("PATCH", c.path+"/"+c.name, `[{"op":"add","path":"/spec","value":null}]`)
			assert.Equal(t, want, patched.status(t).Details.Causes, c.kind)
		}
	}
}
