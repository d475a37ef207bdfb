package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a Kubernetes API server says of the fields of a patch, in its order.
func TestFieldsOfPatches(t *testing.T) {
	f := start(t)
	f.send("POST", inVMs, vm("a")).written(t, 201)
	for patch, want := range map[string][]string{
		`{"spec":{"hostname":"one","hostname":"two","reach":1}}`: {`duplicate field "spec.hostname"`, `unknown field "spec.reach"`},
		`{"metadata":{"labels":{"a/b":"1","a/b":"2"}},"spec":{},"spec":{}}`: {
			`duplicate field "metadata.labels[a/b]"`, `duplicate field "spec"`},
		`{"spec":{"nodeSelector":{"a":"1","a":"2"}}}`: {`duplicate field "spec.nodeSelector.a"`},
		`[{"op":"add","path":"/spec/hostname","value":"y","value":"z","why":1},{"op":"add","path":"/spec/reach","value":{"a":[{"b":1,"b":2}]}}]`: {
			`json patch duplicate field "[0].value"`, `json patch unknown field "[0].why"`, `json patch duplicate field "[1].value.a[0].b"`,
			`duplicate field "spec.reach.a[0].b"`, `unknown field "spec.reach"`},
	} {
		strict := f.send("PATCH", inVMs+"/a?fieldValidation=Strict", patch).status(t)
		assert.EqualValues(t, 422, strict.Code)
		assert.Equal(t, ` "" is invalid: patch: Invalid value: {…}: strict decoding error: `+strings.Join(want, ", "), strict.Message)
		assert.Equal(t, "patch", strict.Details.Causes[0].Field)
		warned := f.send("PATCH", inVMs+"/a?dryRun=All", patch)
		assert.Equal(t, 200, warned.StatusCode)
		var told []string
		for _, w := range warned.Header.Values("Warning") {
			told = append(told, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(w, `299 - "`), `"`), `\"`, `"`))
		}
		assert.Equal(t, want, told)
		ignored := f.send("PATCH", inVMs+"/a?dryRun=All&fieldValidation=Ignore", patch)
		assert.Equal(t, 200, ignored.StatusCode)
		assert.Empty(t, ignored.Header.Values("Warning"))
	}
	assert.Len(t, f.send("PATCH", inVMs+"/a?dryRun=All", `{"spec":{`+strings.Repeat(`"hostname":"x",`, 1000)+`"hostname":"y"}}`).Header.Values("Warning"), 1)
}

// Of what a patch is, and of what it leaves, an API server says whether it can be read.
func TestPatchesThatCannotBeRead(t *testing.T) {
	f := start(t)
	f.send("POST", inVMs, vm("a")).written(t, 201)
	for patch, code := range map[string]int32{
		`{}{}`: 400, `{} x`: 400, `{"a":1,}`: 400, `[] []`: 400, `[5]`: 400, `[{"op":5}]`: 400, `[{"op":"add","path":{}}]`: 400,
		`[{"op":"move","from":[],"path":"/spec"}]`: 400, `[null]`: 422, `[{}]`: 422,
		`{"metadata":"x"}`: 422, `{"metadata":{"name":5}}`: 422, `{"metadata":[]}`: 422, `{"kind":null}`: 422, `{"kind":5}`: 422, `{"apiVersion":"kubevirt.io/v2"}`: 422, `{"metadata":null}`: 400,
	} {
		assert.Equal(t, code, f.send("PATCH", inVMs+"/a", patch).status(t).Code, patch)
	}
	assert.Equal(t, "patch", f.send("PATCH", inVMs+"/a", `{"kind":null}`).status(t).Details.Causes[0].Field)
	assert.Equal(t, "apiVersion", f.send("PATCH", inVMs+"/a", `{"apiVersion":null}`).status(t).Details.Causes[0].Field)
}

// Kubernetes takes operations that RFC 6902 does not: one without its value, and one that
// replaces what is not there.
//
// Differs: a JSON patch that copies what is not there, tests for null what it has made null itself, or replaces a member that is not there and has a name of digits
func TestOperationsOfKubernetes(t *testing.T) {
	f := start(t)
	f.send("POST", inVMs, machineWith("a", `,"labels":{"l":"x"}`, `,"hostname":"h","networks":[{"name":"n","pod":{}}]`, `,"status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":null}]}`)).written(t, 201)
	for patch, want := range map[string]string{
		`[{"op":"test","path":"/status/conditions/0/lastProbeTime","value":null}]`:                                                `"lastProbeTime":null`,
		`[{"op":"replace","path":"/spec/subdomain","value":"s"}]`:                                                                 `"subdomain":"s"`,
		`[{"op":"replace","path":"/spec/nodeSelector","value":{}},{"op":"replace","path":"/spec/nodeSelector/a~1b","value":"1"}]`: `"nodeSelector":{"a/b":"1"}`,
		`[{"op":"replace","path":"/spec/networks/0","value":{"name":"o","pod":{}}}]`:                                              `"networks":[{"name":"o","pod":{}}]`,
		`[{"op":"replace","path":"/spec/networks/0/name","value":"o"}]`:                                                           `"networks":[{"name":"o","pod":{}}]`,
		`[{"op":"add","path":"/spec/hostname"}]`:                                                                                  `"spec":{"domain":{"devices":{}},"networks"`,
		`[{"op":"replace","path":"/spec/hostname"}]`:                                                                              `"spec":{"domain":{"devices":{}},"networks"`,
	} {
		r := f.send("PATCH", inVMs+"/a?dryRun=All", patch)
		assert.Equal(t, 200, r.StatusCode, patch)
		assert.Contains(t, string(r.body), want, patch)
	}
	for _, patch := range []string{
		`[{"op":"replace","path":"/spec/not/there","value":"s"}]`,
		`[{"op":"replace","path":"/spec/networks/1","value":{}}]`,
		`[{"op":"replace","path":"/metadata/labels/1","value":"x"}]`,
		`[{"op":"replace","path":"/spec/networks/x","value":{}}]`,
		`[{"op":"remove","path":"/spec/subdomain"}]`,
		`[{"op":"copy","from":"/spec/subdomain","path":"/spec/hostname"}]`,
		`[{"op":"add","path":"/spec/hostname","value":null},{"op":"test","path":"/spec/hostname","value":null}]`,
	} {
		assert.EqualValues(t, 422, f.send("PATCH", inVMs+"/a", patch).status(t).Code, patch)
	}
}
