package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What has nothing in it is not part of the metadata, whoever sends it.
func TestEmptyMetadata(t *testing.T) {
	f := start(t)
	empty := `"labels":{},"annotations":{},"ownerReferences":[],"finalizers":[],"generateName":""`
	res := f.send(http.MethodPost, inVMs, strings.Replace(string(machine("vms/a")), `"labels":{}`, empty, 1))
	assert.Equal(t, http.StatusCreated, res.StatusCode, "%s", res.body)
	check := func() {
		t.Helper()
		for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers", "generateName"} {
			assert.NotContains(t, string(res.body), `"`+name+`"`)
			assert.NotContains(t, string(res.body), `"f:`+name+`"`)
		}
	}
	check()
	before := string(res.body)
	res = f.send(http.MethodPatch, inVMs+"/a", `{"metadata":{`+empty+`}}`, "Content-Type: application/merge-patch+json")
	check()
	assert.Equal(t, before, string(res.body), "nothing has changed")
}

// A client deletes by DELETE, not by saying that an object is deleted.
func TestMetadataThatIsImmutable(t *testing.T) {
	const deleted = "2020-01-01T00:00:00Z"
	f := start(t)
	rv := `"resourceVersion":"` + f.send("POST", inVMs, vm("a")).written(t, 201).Metadata.ResourceVersion + `"`
	f.send("POST", leases, `{"metadata":{"name":"l"}}`).written(t, 201)
	for field, member := range map[string]string{
		"metadata.deletionTimestamp":          `"deletionTimestamp":"` + deleted + `"`,
		"metadata.deletionGracePeriodSeconds": `"deletionGracePeriodSeconds":0`,
	} {
		for _, r := range []reply{
			f.send("PUT", inVMs+"/a", vm("a", rv, member)),
			f.send("PATCH", inVMs+"/a", `{"metadata":{`+member+`}}`),
			f.send("PATCH", leases+"/l", `{"metadata":{`+member+`}}`),
			f.send("PATCH", inVMs+"/a?fieldManager=m&force=true", vm("a", member), "Content-Type: application/apply-patch+yaml"),
		} {
			s := r.status(t)
			assert.EqualValues(t, 422, s.Code)
			assert.Equal(t, field, s.Details.Causes[0].Field)
			assert.Contains(t, s.Message, "field is immutable")
		}
	}
	uid := f.send("PATCH", inVMs+"/a?fieldManager=m&force=true", vm("a", `"uid":"x"`), "Content-Type: application/apply-patch+yaml").status(t)
	assert.Equal(t, "metadata.uid", uid.Details.Causes[0].Field)

	f.send("PATCH", inVMs+"/a", `{"metadata":{"finalizers":["example.com/wait"]}}`).written(t, 200)
	going := f.send("DELETE", inVMs+"/a", "").written(t, 200).Metadata.DeletionTimestamp
	for _, member := range []string{`"deletionTimestamp":"` + deleted + `"`, `"deletionTimestamp":null`, `"deletionGracePeriodSeconds":null`, `"deletionGracePeriodSeconds":0`} {
		m := f.send("PATCH", inVMs+"/a", `{"metadata":{`+member+`}}`).written(t, 200).Metadata
		assert.Equal(t, going, m.DeletionTimestamp, member)
		assert.Equal(t, 0, *m.DeletionGracePeriodSeconds)
	}
	assert.EqualValues(t, 422, f.send("PATCH", inVMs+"/a", `{"metadata":{"deletionGracePeriodSeconds":7}}`).status(t).Code)
}

// What is applied says what it is, and, where nothing of the name is there, its name.
func TestAppliedObjectSaysWhatItIs(t *testing.T) {
	const apply = "Content-Type: application/apply-patch+yaml"
	f := start(t)
	const nameless = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","spec":{"domain":{"devices":{}}}}`
	for body, want := range map[string]string{
		`{"apiVersion":"kubevirt.io/v2","kind":"VirtualMachineInstance","metadata":{"name":"a"}}`: "invalid object type: kubevirt.io/v2, Kind=VirtualMachineInstance",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`:                                "invalid object type: /v1, Kind=Pod",
		nameless: "the name of the object (a based on URL) was undeterminable: name must be provided",
	} {
		s := f.send("PATCH", inVMs+"/a?fieldManager=m", body, apply).status(t)
		assert.EqualValues(t, 400, s.Code)
		assert.Equal(t, want, s.Message)
	}
	f.send("POST", inVMs, vm("a")).written(t, 201)
	f.send("PATCH", inVMs+"/a?fieldManager=m", nameless, apply).written(t, 200)
}

// A name that is no text is told of as what it is: in YAML it is soon written.
func TestMetadataThatCannotBeRead(t *testing.T) {
	const yaml, head = "Content-Type: application/yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\n"
	f := start(t)
	for meta, want := range map[string]string{
		"{name: y}": "metadata.name must be a string", "{name: 123}": "metadata.name must be a string",
		"x": "metadata must be an object", "[]": "metadata must be an object",
	} {
		for _, r := range []reply{
			f.send("POST", inVMs, head+"metadata: "+meta+"\nspec: {domain: {devices: {}}}\n", yaml),
			f.send("PUT", inVMs+"/a", head+"metadata: "+meta+"\nspec: {domain: {devices: {}}}\n", yaml),
		} {
			s := r.status(t)
			assert.EqualValues(t, 400, s.Code)
			assert.Equal(t, `VirtualMachineInstance in version "v1" cannot be handled as a VirtualMachineInstance: `+want, s.Message)
		}
	}
	assert.Equal(t, 201, f.send("POST", inVMs, vm("a", `"resourceVersion":"0"`)).StatusCode, "0 is none")
}
