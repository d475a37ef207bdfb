package mutant_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract/internal/mutant"
)

const (
	merge     = "application/merge-patch+json"
	jsonPatch = "application/json-patch+json"
)

// writer writes to a server that is right, as KubeVirt's users do.
type writer struct {
	t      *testing.T
	client *http.Client
}

func write(t *testing.T) writer {
	return writer{t, &http.Client{Transport: mutant.Transport{Handler: mutant.NewWriting(mutant.Fleet())}}}
}

func (w writer) send(ctx context.Context, method, path, contentType, body string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://server"+path, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Authorization", good)
	r.Header.Set("Content-Type", contentType)
	res, err := w.client.Do(r)
	require.NoError(w.t, err)
	return res
}

// answered is what of a machine or a Status the tests look at.
type answered struct {
	Reason   string
	Metadata struct {
		Name, Namespace, UID, ResourceVersion, CreationTimestamp string
		Generation                                               int
		Labels, Annotations                                      map[string]string
	}
	Spec map[string]any
}

func (w writer) do(method, path, contentType, body string) (int, answered) {
	w.t.Helper()
	res := w.send(w.t.Context(), method, path, contentType, body)
	defer res.Body.Close()
	var a answered
	require.NoError(w.t, json.NewDecoder(res.Body).Decode(&a))
	return res.StatusCode, a
}

func (w writer) refused(code int, reason, method, path, contentType, body string) {
	w.t.Helper()
	got, a := w.do(method, path, contentType, body)
	assert.Equal(w.t, code, got, "%s %s", method, path)
	assert.Equal(w.t, reason, a.Reason, "%s %s", method, path)
}

// watch returns the type, name and resourceVersion of the next event at each call, and
// "" at the end.
func (w writer) watch(query string) func() string {
	res := w.send(w.t.Context(), http.MethodGet, prod+"?watch=true&"+query, "", "")
	w.t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(w.t, http.StatusOK, res.StatusCode)
	lines := bufio.NewScanner(res.Body)
	return func() string {
		if !lines.Scan() {
			return ""
		}
		var e struct {
			Type   string
			Object struct {
				answered
				Code int
			}
		}
		require.NoError(w.t, json.Unmarshal(lines.Bytes(), &e))
		if e.Type == "ERROR" {
			return "ERROR " + e.Object.Reason
		}
		meta := e.Object.Metadata
		return strings.Join([]string{e.Type, meta.Name, meta.ResourceVersion, meta.Labels["step"]}, " ")
	}
}

func machine(metadata string) string {
	return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":` + metadata + `,"spec":{"domain":{"devices":{}},"number":9007199254740993}}`
}

func TestRightWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := write(t)
		const path = prod + "/a"
		code, a := w.do("POST", prod+"?dryRun=All", "", machine(`{"name":"a"}`))
		assert.Equal(t, 201, code)
		assert.Empty(t, a.Metadata.ResourceVersion)
		w.refused(404, "NotFound", "GET", path, "", "")

		code, created := w.do("POST", prod, "", machine(`{"name":"a","labels":{"step":"1"}}`))
		assert.Equal(t, 201, code)
		assert.Equal(t, "a prod 1001 1", strings.Join([]string{created.Metadata.Name, created.Metadata.Namespace, created.Metadata.ResourceVersion, created.Metadata.Labels["step"]}, " "))
		assert.Equal(t, time.Now().UTC().Format(time.RFC3339), created.Metadata.CreationTimestamp)
		assert.Equal(t, 1, created.Metadata.Generation)
		_, got := w.do("GET", path, "", "")
		assert.Equal(t, created, got)
		w.refused(409, "AlreadyExists", "POST", prod, "", machine(`{"name":"a"}`))
		names := map[string]bool{}
		for range 3 {
			_, a := w.do("POST", prod, "", machine(`{"generateName":"a-"}`))
			assert.Greater(t, len(a.Metadata.Name), len("a-"))
			names[a.Metadata.Name] = true
		}
		assert.Len(t, names, 3)

		// updates
		code, a = w.do("PUT", path, "", machine(`{"name":"a","labels":{"step":"2"},"resourceVersion":"1001","uid":"x","generation":7}`))
		assert.Equal(t, 200, code)
		assert.Equal(t, "1005 "+created.Metadata.UID, a.Metadata.ResourceVersion+" "+a.Metadata.UID)
		assert.Equal(t, 1, a.Metadata.Generation)
		w.refused(409, "Conflict", "PUT", path, "", machine(`{"name":"a","resourceVersion":"1001"}`))
		w.refused(409, "Conflict", "PATCH", path, merge, `{"metadata":{"resourceVersion":"1001","labels":{"step":"x"}}}`)
		_, again := w.do("PUT", path, "", machine(`{"name":"a","labels":{"step":"2"},"resourceVersion":"1005"}`))
		assert.Equal(t, a, again)

		// patches
		_, a = w.do("PATCH", path+"?dryRun=All", merge, `{"metadata":{"labels":{"step":"dry"}}}`)
		assert.Equal(t, "dry 1005", a.Metadata.Labels["step"]+" "+a.Metadata.ResourceVersion)
		_, a = w.do("PATCH", path, merge, `{"metadata":{"labels":{"step":null,"other":"x"},"annotations":{"a/b":"c"}},"spec":{"more":1}}`)
		assert.Equal(t, map[string]string{"other": "x"}, a.Metadata.Labels)
		assert.Equal(t, 2, a.Metadata.Generation, "it is not metadata alone that changes")
		w.refused(422, "Invalid", "PATCH", path, jsonPatch, `[{"op":"remove","path":"/metadata/labels/other"},{"op":"test","path":"/metadata/annotations/a~1b","value":"x"}]`)
		_, a = w.do("PATCH", path, jsonPatch, `[{"op":"test","path":"/metadata/annotations/a~1b","value":"c"},{"op":"replace","path":"/metadata/labels/other","value":"y"},{"op":"add","path":"/metadata/labels/step","value":"3"},{"op":"remove","path":"/spec/more"}]`)
		assert.Equal(t, map[string]string{"other": "y", "step": "3"}, a.Metadata.Labels)
		assert.NotContains(t, a.Spec, "more")
		w.refused(415, "UnsupportedMediaType", "PATCH", path, "application/strategic-merge-patch+json", `{}`)

		// deletions
		w.refused(409, "Conflict", "DELETE", path, "", `{"preconditions":{"uid":"x"}}`)
		w.refused(409, "Conflict", "DELETE", path, "", `{"preconditions":{"resourceVersion":"1001"}}`)
		code, _ = w.do("DELETE", path+"?dryRun=All", "", "")
		assert.Equal(t, 200, code)
		code, _ = w.do("DELETE", path, "", `{"preconditions":{"uid":"`+created.Metadata.UID+`"}}`)
		assert.Equal(t, 200, code)
		for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
			w.refused(404, "NotFound", method, path, "", "{}")
		}
		for _, body := range []string{"", "null", "[]", `"x"`, "{"} {
			w.refused(400, "BadRequest", "POST", prod, "", body)
			w.refused(400, "BadRequest", "PUT", prod+"/vm00", "", body)
		}
	})
}

// Numbers that a double does not hold come back as they were sent.
func TestRightWritesKeepNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := write(t)
		w.do("POST", prod, "", machine(`{"name":"a"}`))
		w.do("PATCH", prod+"/a", merge, `{"spec":{"patched":9007199254740995}}`)
		res := w.send(t.Context(), "GET", prod+"/a", "", "")
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), `"number":9007199254740993,"patched":9007199254740995`)
	})
}

func TestRightWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := write(t)
		live, chosen := w.watch("resourceVersion=1000"), w.watch("resourceVersion=1000&labelSelector=step%3D2")
		w.do("POST", prod, "", machine(`{"name":"a","labels":{"step":"1"}}`))
		assert.Equal(t, "ADDED a 1001 1", live())
		for _, step := range []string{"2", "3"} {
			w.do("PATCH", prod+"/a", merge, `{"metadata":{"labels":{"step":"`+step+`"}}}`)
		}
		w.do("PATCH", in("stage")+"/vm10", merge, `{"metadata":{"labels":{"step":"2"}}}`)
		w.do("PATCH", prod+"/a", merge, `{"metadata":{"labels":{"step":"3"}}}`) // as it is
		w.do("DELETE", prod+"/a", "", "")
		story := []string{"ADDED a 1001 1", "MODIFIED a 1002 2", "MODIFIED a 1003 3", "DELETED a 1005 3"}
		for _, event := range story[1:] {
			assert.Equal(t, event, live())
		}
		assert.Equal(t, "ADDED a 1002 2", chosen())
		assert.Equal(t, "DELETED a 1003 2", chosen(), "as it last was")

		started := time.Now()
		for from, rest := range map[string][]string{"1000": story, "1002": story[2:], "1005": nil, "9999": nil} {
			replay := w.watch("timeoutSeconds=7&fieldSelector=metadata.name%3Da&resourceVersion=" + from)
			for _, event := range rest {
				assert.Equal(t, event, replay(), from)
			}
			assert.Empty(t, replay())
		}
		assert.Equal(t, 4*7*time.Second, time.Since(started))
		old := w.watch("resourceVersion=1")
		assert.Equal(t, "ERROR Expired", old())
		assert.Empty(t, old())
		w.refused(400, "BadRequest", "GET", prod+"?watch=1&resourceVersion=abc", "", "")
	})
}
