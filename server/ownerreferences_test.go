package server_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func owner(apiVersion, kind, name, uid, more string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q%s}`, apiVersion, kind, name, uid, more)
}

// The rules are those of k8s.io/apimachinery for any object.
func TestOwnerReferences(t *testing.T) {
	f := start(t)
	pod := owner("v1", "Pod", "p", "u", "")
	controller := func(name string) string { return owner("v1", "Pod", name, "u-"+name, `,"controller":true`) }
	for refs, want := range map[string][]string{
		owner("", "Pod", "p", "u", ""):                                     {"metadata.ownerReferences[0].apiVersion: Required value: must not be empty"},
		owner("a/b/c", "Pod", "p", "u", ""):                                {`metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>`},
		owner("v1/", "Pod", "p", "u", ""):                                  {`metadata.ownerReferences[0].apiVersion: Invalid value: "v1/": must be <group>/<version> or <version>`},
		pod + "," + owner("v1", "", "", "", ""):                            {"metadata.ownerReferences[1].kind: Required value: must not be empty", "metadata.ownerReferences[1].name: Required value: must not be empty", "metadata.ownerReferences[1].uid: Required value: must not be empty"},
		owner("v1", "Event", "e", "u", ""):                                 {"metadata.ownerReferences[0]: Invalid value: {…}: /v1, Kind=Event is disallowed from being an owner"},
		controller("a") + "," + pod + "," + controller("b"):                {`metadata.ownerReferences: Invalid value: […]: Only one reference can have Controller set to true. Found "true" in references for Pod/a and Pod/b`},
		pod + "," + owner("/v1", "Event", "p", "v", `,"controller":false`): nil,
	} {
		meta := `"ownerReferences":[` + refs + `]`
		f.send("POST", inVMs, vm("to-patch")).written(t, 201)
		answers := []reply{
			f.send("POST", inVMs+"?dryRun=All", vm("new", meta)),
			f.send("PATCH", inVMs+"/to-patch", `{"metadata":{`+meta+`}}`),
			f.send("PATCH", inVMs+"/applied?fieldManager=m&dryRun=All", vm("applied", meta), "Content-Type: application/apply-patch+yaml"),
		}
		f.send("DELETE", inVMs+"/to-patch", "")
		for _, r := range answers {
			if want == nil {
				assert.Less(t, r.StatusCode, 300, string(r.body))
				continue
			}
			s := r.status(t)
			assert.EqualValues(t, 422, s.Code)
			var got []string
			for _, c := range s.Details.Causes {
				got = append(got, c.Field+": "+c.Message)
			}
			assert.Equal(t, want, got)
		}
	}
}

func TestRepeatedOwnerReferences(t *testing.T) {
	f := start(t)
	one, other := owner("v1", "Pod", "p", "u", ""), owner("v1", "Pod", "p", "u", `,"controller":true`)
	meta := `"ownerReferences":[` + one + "," + other + "," + one + "," + one + `]`
	made := f.send("POST", inVMs, vm("a", meta))
	put := f.send("PUT", inVMs+"/a", vm("a", meta, `"resourceVersion":"`+made.written(t, 201).Metadata.ResourceVersion+`"`))
	patched := f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"a":"1"},`+meta+`}}`)
	for _, r := range []reply{made, put, patched} {
		var got struct {
			Metadata struct{ OwnerReferences []json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(r.body, &got))
		require.Len(t, got.Metadata.OwnerReferences, 2, string(r.body))
		assert.JSONEq(t, one, string(got.Metadata.OwnerReferences[0]))
		when := ""
		if r.Request.Method == "PATCH" {
			when = " after mutating admission happens"
		}
		assert.Equal(t, []string{`299 - ".metadata.ownerReferences contains duplicate entries` + when + `; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u, u"`},
			r.Header.Values("Warning"))
	}
	assert.Empty(t, f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"a":"2"}}}`).Header.Values("Warning"))
}
