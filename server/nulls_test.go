package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/gen/vmi"
)

// machineWith is a machine with more in its spec, and what follows the spec.
func machineWith(name, meta, spec, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":%q%s},"spec":{"domain":{"devices":{}}%s}%s}`, name, meta, spec, rest)
}

// What is null where the document has no null is not there (the answers are those of a
// Kubernetes API server with KubeVirt's definition).
func TestNulls(t *testing.T) {
	f := start(t)
	for i, c := range []struct{ meta, spec, rest, want string }{
		{"", `,"nodeSelector":null,"volumes":null,"evictionStrategy":null,"terminationGracePeriodSeconds":null`, "", `{"domain":{"devices":{}}}`},
		{"", "", `,"status":null`, `{"domain":{"devices":{}}}`},
		{"", `,"nodeSelector":{"a":null}`, "", `{"domain":{"devices":{}},"nodeSelector":{}}`},
		{"", `,"volumes":[{"name":"v","cloudInitNoCloud":{"userData":null}}]`, "", `{"domain":{"devices":{}},"volumes":[{"cloudInitNoCloud":{},"name":"v"}]}`},
		{`,"creationTimestamp":null,"finalizers":null`, `,"nodeSelector":null`, "", `{"domain":{"devices":{}}}`},
		{`,"labels":{"a":null},"annotations":{"b":null}`, "", "", `{"domain":{"devices":{}}}`},
	} {
		name := fmt.Sprintf("m%d", i)
		for _, r := range []reply{
			f.send("POST", inVMs+"?fieldValidation=Strict", machineWith(name, c.meta, c.spec, c.rest)),
			f.send("PATCH", inVMs+"/"+name, `[{"op":"add","path":"/spec/hostname","value":null}]`),
		} {
			require.Less(t, r.StatusCode, 300, string(r.body))
			var got struct {
				Metadata struct{ Labels, Annotations map[string]string }
				Spec     json.RawMessage
			}
			require.NoError(t, json.Unmarshal(r.body, &got))
			assert.JSONEq(t, c.want, string(got.Spec))
			assert.NotContains(t, string(r.body), "null")
			if strings.Contains(c.meta, "labels") {
				assert.Equal(t, map[string]string{"a": ""}, got.Metadata.Labels)
				assert.Equal(t, map[string]string{"b": ""}, got.Metadata.Annotations)
				assert.Equal(t, name, f.get(inVMs + "?labelSelector=a%3D").list(t).Items[0].Metadata.Name)
			}
		}
	}
	stays := f.send("POST", inVMs, machineWith("stays", "", "", `,"status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":null}]}`))
	assert.Contains(t, string(stays.body), `"lastProbeTime":null`, "the document has that one")
	// Differs: null in a field that the document does not have
	stays = f.send("POST", inVMs, machineWith("stays-too", "", `,"dnsConfig":null`, ""))
	assert.Contains(t, string(stays.body), `"dnsConfig":null`)
}

func TestNullsThatAreRefused(t *testing.T) {
	f := start(t)
	f.send("POST", inVMs, vm("a")).written(t, 201)
	for what, r := range map[string]reply{
		"in an array":             f.send("POST", inVMs, machineWith("b", "", `,"networks":[null]`, "")),
		"in an array, by a patch": f.send("PATCH", inVMs+"/a", `[{"op":"add","path":"/spec/networks","value":[null]}]`),
		"applied":                 f.send("PATCH", inVMs+"/c?fieldManager=m", machineWith("c", "", `,"nodeSelector":null`, ""), "Content-Type: application/apply-patch+yaml"),
	} {
		assert.Contains(t, r.status(t).Message, "null", what)
		assert.Equal(t, "FieldValueTypeInvalid", r.status(t).Details.Causes[0].Reason, what)
	}
	missing := f.send("POST", inVMs, machineWith("b", "", `,"volumes":[{"name":null}]`, "")).status(t)
	assert.Equal(t, []vmi.StatusCause{{Reason: "FieldValueRequired", Message: "Required value", Field: "spec.volumes[0].name"}}, missing.Details.Causes)
	twice := f.send("POST", inVMs+"?fieldValidation=Strict", machineWith("b", `,"creationTimestamp":null`, `,"nodeSelector":null,"hostname":"x","hostname":"y"`, "")).status(t)
	assert.Contains(t, twice.Message, `duplicate field "spec.hostname"`)
	many := strings.Repeat(`,{"name":null}`, 5000)
	assert.Equal(t, 422, f.send("POST", inVMs, machineWith("b", "", `,"volumes":[`+many[1:]+`]`, "")).StatusCode)
}

// It is the same for each kind that the document gives a spec.
func TestNullSpec(t *testing.T) {
	f := start(t)
	for _, c := range []struct{ path, apiVersion, kind string }{
		{inVMs, "kubevirt.io/v1", "VirtualMachineInstance"},
		{leases, "coordination.k8s.io/v1", "Lease"},
		{namespaces, "v1", "Namespace"},
	} {
		made := f.send("POST", c.path, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"n"},"spec":null}`, c.apiVersion, c.kind))
		assert.Equal(t, 201, made.StatusCode, string(made.body))
		patched := f.send("PATCH", c.path+"/n", `[{"op":"add","path":"/spec","value":null}]`)
		assert.Equal(t, 200, patched.StatusCode, string(patched.body))
		assert.NotContains(t, string(made.body)+string(patched.body), "null")
	}
	for _, kind := range []string{"SelfSubjectAccessReview", "SelfSubjectRulesReview"} {
		asked := f.send("POST", "/apis/authorization.k8s.io/v1/"+strings.ToLower(kind)+"s", fmt.Sprintf(`{"apiVersion":"authorization.k8s.io/v1","kind":%q,"spec":null,"status":null}`, kind))
		assert.Equal(t, []vmi.StatusCause{{Reason: "FieldValueRequired", Message: "Required value", Field: "spec"}}, asked.status(t).Details.Causes, kind)
	}
}

// A name that is one of the document's but for its case is unknown to Kubernetes, and one
// of the document's to clients in Go: it does not enter the store.
func TestNamesInAnotherCase(t *testing.T) {
	const apply = "Content-Type: application/apply-patch+yaml"
	f := start(t) // which judges every byte of its answers
	body := machineWith("a", `,"Labels":{"x":"y"}`, `,"Hostname":"x","volumes":[{"name":"v","EmptyDisk":{}}],"reach":1`, `,"STATUS":{"phase":5}`)
	applied := strings.Replace(body, `"name":"a"`, `"name":"b"`, 1)
	made := f.send("POST", inVMs, body)
	rv := made.written(t, 201).Metadata.ResourceVersion
	for what, r := range map[string]reply{
		"POST":  made,
		"PUT":   f.send("PUT", inVMs+"/a", strings.Replace(body, `"name":"a"`, `"name":"a","resourceVersion":"`+rv+`"`, 1)),
		"merge": f.send("PATCH", inVMs+"/a", `{"metadata":{"Labels":{"x":"y"}},"spec":{"Hostname":null,"HOSTNAME":"x"},"Status":{}}`),
		"JSON":  f.send("PATCH", inVMs+"/a", `[{"op":"add","path":"/spec/HostName","value":"x"}]`),
		"apply": f.send("PATCH", inVMs+"/b?fieldManager=m", applied, apply),
		"again": f.send("PATCH", inVMs+"/b?fieldManager=m", applied, apply),
	} {
		require.Less(t, r.StatusCode, 300, "%s: %s", what, r.body)
		assert.Contains(t, strings.Join(r.Header.Values("Warning"), " "), "unknown field", what)
		assert.NotRegexp(t, `Labels|Hostname|HostName|HOSTNAME|EmptyDisk|STATUS|"Status"`, string(r.body), what)
		assert.Contains(t, string(r.body), `"reach":1`, what)
	}
	strict := f.send("PATCH", inVMs+"/a?fieldValidation=Strict", `{"spec":{"Hostname":"x"}}`).status(t)
	assert.Contains(t, strict.Message, `unknown field "spec.Hostname"`)
	var many strings.Builder // more than issues are told of
	for i := range 1500 {
		name := []byte("terminationgraceperiodseconds")
		for bit := range 11 {
			if i>>bit&1 == 1 {
				name[bit] -= 'a' - 'A'
			}
		}
		fmt.Fprintf(&many, ",%q:1", name)
	}
	few := f.send("POST", inVMs, machineWith("many", "", many.String(), ""))
	few.written(t, 201)
	assert.NotContains(t, string(few.body), "raceperiod")
	f.send("POST", leases, `{"metadata":{"name":"l"},"Spec":{"holderIdentity":"me"}}`).written(t, 201)
	assert.NotContains(t, string(f.get(leases+"/l").body), "Spec")
}
