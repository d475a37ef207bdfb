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
