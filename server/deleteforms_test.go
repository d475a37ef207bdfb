package server_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// DELETE answers with what is left in the form that is asked for; nothing left is a
// Status in every form.
//
// Differs: GET of one object with it, or DELETE
func TestDeleteInForms(t *testing.T) {
	const partial, partials = "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	f := start(t).create("vms/a", "vms/b", "vms/c")
	for name, accept := range map[string]string{"a": asTable, "b": partial} {
		gone := f.do("DELETE", inVMs+"/"+name, accept)
		assert.Equal(t, 200, gone.StatusCode)
		assert.Regexp(t, `^{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"`+name+`",.*}}\n$`, string(gone.body))
	}
	yaml := f.do("DELETE", inVMs+"/c", "Accept: application/yaml;as=Table;v=v1;g=meta.k8s.io")
	assert.Equal(t, "application/yaml", yaml.Header.Get("Content-Type"))
	assert.Contains(t, string(yaml.body), "\nstatus: Success\n")

	f.create("vms/held", "vms/d", "vms/e")
	f.send("PATCH", inVMs+"/held", `{"metadata":{"finalizers":["example.com/wait"]}}`).written(t, 200)
	assert.Equal(t, 406, f.do("DELETE", inVMs+"/d", partials).StatusCode)
	assert.Equal(t, 406, f.do("DELETE", inVMs, partial).StatusCode)
	assert.Equal(t, 406, f.do("DELETE", inVMs+"/d", "Accept: text/plain").StatusCode)
	assert.Equal(t, 200, f.get(inVMs+"/d").StatusCode, "what is refused deletes nothing")

	assert.Equal(t, "held", f.do("DELETE", inVMs+"/held", asTable).table(t).Rows[0].Cells[0])
	left := f.do("DELETE", inVMs+"/held", partial)
	assert.Contains(t, string(left.body), `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{`)
	assert.Contains(t, string(left.body), `"deletionTimestamp"`)

	f.send("POST", namespaces, namespace("team")).written(t, 201)
	assert.Equal(t, []any{"team", "Terminating"}, f.do("DELETE", namespaces+"/team", asTable).table(t).Rows[0].Cells[:2])

	some := f.do("DELETE", inVMs+"?labelSelector=nosuch", asTable).table(t)
	assert.Empty(t, some.Rows)
	assert.Contains(t, string(f.do("DELETE", inVMs+"?dryRun=All", partials).body), `"kind":"PartialObjectMetadataList"`)
	assert.Len(t, f.do("DELETE", inVMs, asTable).table(t).Rows, 3)
	assert.Equal(t, "vms/held", names(f.get(inVMs).list(t)))
}
