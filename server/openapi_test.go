package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The index leads to the documents, each under its hash, and another hash leads there
// too.
func TestOpenAPIV3(t *testing.T) {
	f := start(t)
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	require.NoError(t, json.Unmarshal(f.get("/openapi/v3").body, &index))
	assert.Len(t, index.Paths, 6)
	for path, at := range index.Paths {
		url := at.ServerRelativeURL
		assert.Regexp(t, `^/openapi/v3/`+path+`\?hash=[0-9A-F]{128}$`, url)
		r := f.get(url)
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		var doc struct{ OpenAPI string }
		require.NoError(t, json.Unmarshal(r.body, &doc))
		assert.True(t, strings.HasPrefix(doc.OpenAPI, "3.0"), doc.OpenAPI)
		assert.Contains(t, url, strings.Trim(r.Header.Get("Etag"), `"`))
		assert.Equal(t, r.body, f.get("/openapi/v3/"+path).body, "without a hash")

		moved := f.get("/openapi/v3/" + path + "?hash=OLD")
		assert.Equal(t, http.StatusMovedPermanently, moved.StatusCode)
		assert.Equal(t, url, moved.Header.Get("Location"))
	}
	assert.Equal(t, "404 page not found\n", string(f.get("/openapi/v3/apis/nosuch/v1").body))
	assert.Equal(t, http.StatusNotAcceptable, f.get("/openapi/v3", "Accept: text/html").StatusCode)
}

// A client that has what there is gets no more than to know that.
//
// Differs: `If-None-Match` of aggregated discovery
func TestIfNoneMatch(t *testing.T) {
	f := start(t)
	for _, path := range []string{"/openapi/v3", "/openapi/v3/apis/kubevirt.io/v1", "/openapi/v3/api/v1", "/api", "/apis"} {
		accept := "Accept: application/json"
		if strings.HasPrefix(path, "/api") {
			accept = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		}
		tag := f.get(path, accept).Header.Get("Etag")
		require.Regexp(t, `^"[0-9A-F]{64,}"$`, tag, path)
		for _, held := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
			for _, method := range []string{"GET", "HEAD"} {
				r := f.do(method, path, accept, "If-None-Match: "+held)
				assert.Equal(t, http.StatusNotModified, r.StatusCode, "%s %s %s", method, path, held)
				assert.Empty(t, r.body)
				assert.Equal(t, tag, r.Header.Get("Etag"))
				assert.Empty(t, r.Header.Get("Content-Type"))
			}
		}
		assert.Equal(t, http.StatusOK, f.get(path, accept, `If-None-Match: "x"`).StatusCode)
	}
	tag := f.get("/openapi/v3/apis/kubevirt.io/v1").Header.Get("Etag")
	hashed := "/openapi/v3/apis/kubevirt.io/v1?hash=" + strings.Trim(tag, `"`)
	assert.Equal(t, "public, immutable", f.get(hashed, "If-None-Match: "+tag).Header.Get("Cache-Control"))
	assert.Equal(t, http.StatusMovedPermanently, f.get("/openapi/v3/apis/kubevirt.io/v1?hash=0", "If-None-Match: "+tag).StatusCode)
	assert.Equal(t, http.StatusNotAcceptable, f.get("/openapi/v3", "Accept: text/html", "If-None-Match: *").StatusCode)
	assert.Equal(t, http.StatusOK, f.create("vms/a").get(inVMs, "If-None-Match: *").StatusCode, "lists have no tag")
}
