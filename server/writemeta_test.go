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
