package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The deprecated version has the same objects under another apiVersion, and says that
// it is deprecated.
func TestOldVersion(t *testing.T) {
	f := start(t).create("vms/a app=web")
	old := strings.ReplaceAll(inVMs, "/v1/", "/v1alpha3/")
	const is, isOld = `"apiVersion":"kubevirt.io/v1"`, `"apiVersion":"kubevirt.io/v1alpha3"`
	check := func(r reply, status int) {
		t.Helper()
		require.Equal(t, status, r.StatusCode, string(r.body))
		assert.Equal(t, `299 - "kubevirt.io/v1alpha3 is now deprecated and will be removed in a future release."`, r.Header.Get("Warning"))
		assert.Contains(t, string(r.body), isOld)
		assert.NotContains(t, string(r.body), is)
	}
	check(f.get(old), 200)
	check(f.get(strings.ReplaceAll(all, "/v1/", "/v1alpha3/")), 200)
	check(f.get(old+"/a"), 200)
	check(f.get(old+"?includeObject=Object", asTable), 200)
	check(f.send("POST", old, strings.Replace(vm("b"), is, isOld, 1)), 201)
	check(f.send("PATCH", old+"/b", `{"metadata":{"labels":{"a":"1"}}}`), 200)
	check(f.send("PATCH", old+"/b", `[{"op":"test","path":"/apiVersion","value":"kubevirt.io/v1alpha3"},{"op":"add","path":"/metadata/labels/b","value":"2"}]`), 200)
	check(f.send("PATCH", old+"/c?fieldManager=x", strings.Replace(vm("c"), is, isOld, 1), "Content-Type: application/apply-patch+yaml"), 201)
	check(f.send("PATCH", old+"/c?fieldManager=x", strings.Replace(vm("c", `"labels":{"a":"1"}`), is, isOld, 1), "Content-Type: application/apply-patch+yaml"), 200)

	assert.Contains(t, string(f.get(inVMs+"/b").body), is, "as it is stored")
	assert.NotContains(t, string(f.get(inVMs).body), isOld+`,"kind"`)
	assert.Empty(t, f.get(inVMs).Header.Get("Warning"))
	for path, body := range map[string]string{old: vm("d"), inVMs: strings.Replace(vm("d"), is, isOld, 1)} {
		assert.Contains(t, f.send("POST", path, body).status(t).Message, "does not match the expected API version")
	}
	assert.Equal(t, 404, f.get(old+"/nosuch").StatusCode)

	w := f.watch(old + "?watch=1&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan")
	for _, want := range []string{"ADDED", "ADDED", "ADDED", "BOOKMARK"} {
		require.True(t, w.lines.Scan())
		assert.Contains(t, w.lines.Text(), `{"type":"`+want+`","object":{`+isOld)
	}
	assert.Equal(t, 200, f.do("DELETE", old+"/b").StatusCode)
	assert.Equal(t, 200, f.get("/openapi/v3/apis/kubevirt.io/v1alpha3").StatusCode)
	assert.Contains(t, string(f.get("/apis/kubevirt.io").body), `"preferredVersion":{"groupVersion":"kubevirt.io/v1",`)
}

func TestUIDIsImmutable(t *testing.T) {
	f := start(t).create("vms/a")
	refused := f.send("PATCH", inVMs+"/a", `{"metadata":{"uid":"other"}}`)
	assert.Equal(t, 422, refused.StatusCode)
	assert.Contains(t, refused.status(t).Message, `metadata.uid: Invalid value: "other": field is immutable`)
	f.send("PATCH", inVMs+"/a", `{"metadata":{"uid":null,"labels":{"a":"1"}}}`).written(t, 200)
}
