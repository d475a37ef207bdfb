package server_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// changes are patches that reach into different members of an object.
var changes = []string{
	`{"metadata":{"labels":{"reach":"1"}}}`,
	`{"metadata":{"annotations":{"reach":"\u00e9<&>"},"finalizers":["example.com/a"]}}`,
	`{"status":{"phase":"Running","reach":[1.0,-0,1e3]}}`,
	`{"spec":{"terminationGracePeriodSeconds":7},"metadata":{"labels":{"both":"1"}}}`,
	`{"reach":{"new":true}}`,
	`{"reach":null,"status":null}`,
	`{"sp\u0065c":{"reach":1}}`,
	`[{"op":"add","path":"/metadata/labels/reach","value":"2"}]`,
	`[{"op":"add","path":"/spec/reach","value":{}},{"op":"copy","from":"/spec/domain/devices","path":"/status"}]`,
	`[{"op":"move","from":"/metadata/labels/reach","path":"/a~1b~0c"}]`,
	`[{"op":"test","path":"/kind","value":"VirtualMachineInstance"},{"op":"remove","path":"/a~1b~0c"}]`,
	`{"metadata":{"managedFields":[{}]}}`,
	`{"metadata":{"labels":{"reach":"3"}}}`,
	`{}`,
}

// What a patch does not reach is not taken apart. A PUT of the whole object, which is,
// has to come to the same, for each machine of the corpus.
func TestPatchIsPutOfTheWhole(t *testing.T) {
	patched, put := start(t), start(t)
	machines := 0
	for object, err := range manifest.Walk([]string{filepath.Join("..", "openapi", "testdata", "corpus")}, nil) {
		require.NoError(t, err)
		var members map[string]any
		require.NoError(t, json.Unmarshal(object.JSON, &members))
		meta, _ := members["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		if name == "" || members["apiVersion"] != "kubevirt.io/v1" {
			continue
		}
		delete(meta, "resourceVersion")
		meta["namespace"] = "vms"
		meta["labels"] = map[string]any{"reach": "0"}
		body, err := json.Marshal(members)
		require.NoError(t, err)
		if patched.send("POST", inVMs+"?fieldValidation=Ignore", string(body)).StatusCode != http.StatusCreated {
			continue
		}
		machines++
		put.send("POST", inVMs+"?fieldValidation=Ignore", string(body)).written(t, 201)
		for _, change := range changes {
			path := inVMs + "/" + name + "?fieldValidation=Ignore"
			whole, err := applied(put.do("GET", path).body, change)
			if err != nil {
				require.Equal(t, http.StatusUnprocessableEntity, patched.send("PATCH", path, change).StatusCode, change)
				continue
			}
			want := put.send("PUT", path, string(whole))
			got := patched.send("PATCH", path, change)
			require.Equal(t, want.StatusCode, got.StatusCode, "%s: %s\n%s\n%s", name, change, want.body, got.body)
			require.Equal(t, leveled(want.body), leveled(got.body), "%s: %s", name, change)
		}
		for _, f := range []*fixture{patched, put} {
			f.send("PATCH", inVMs+"/"+name, `{"metadata":{"finalizers":null}}`).written(t, 200)
			f.send("DELETE", inVMs+"/"+name, "")
		}
	}
	assert.Greater(t, machines, 20)
}

// applied is an object after a patch, by the library alone.
func applied(object []byte, patch string) ([]byte, error) {
	if !strings.HasPrefix(patch, "[") {
		return jsonpatch.MergePatch(object, []byte(patch))
	}
	ops, err := jsonpatch.DecodePatch([]byte(patch))
	if err != nil {
		return nil, err
	}
	return ops.Apply(object)
}

var ofOneServer = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|time)":"[^"]*"`)

// leveled is an object without what differs from server to server.
func leveled(body []byte) string { return ofOneServer.ReplaceAllString(string(body), `"$1":""`) }
