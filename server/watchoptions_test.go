package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A watch that begins with what there is, and takes bookmarks, is told where that ends,
// with or without sendInitialEvents.
func TestBookmarkBehindInitialEvents(t *testing.T) {
	f := start(t).create("vms/a")
	for query, want := range map[string]bool{
		"&allowWatchBookmarks=true":                                                           true,
		"&allowWatchBookmarks=true&resourceVersion=0":                                         true,
		"&allowWatchBookmarks=true&resourceVersion=":                                          true,
		"&allowWatchBookmarks=true&labelSelector=nosuch":                                      true,
		"&allowWatchBookmarks=true&resourceVersion=" + f.revision():                           false,
		"&allowWatchBookmarks=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan": false,
		"&allowWatchBookmarks=false":                                                          false,
		"":                                                                                    false,
		"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan":                           false,
		"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true": true,
	} {
		w := f.watch(inVMs + "?watch=1&timeoutSeconds=1" + query)
		body, err := io.ReadAll(w.Body)
		require.NoError(t, err)
		assert.Equal(t, want, strings.Contains(string(body), `"annotations":{"k8s.io/initial-events-end":"true"}`), "%s: %s", query, body)
	}
}

// The options of a watch are looked at before the form of its answer.
func TestWatchOptionsComeFirst(t *testing.T) {
	f := start(t)
	for query, want := range map[string]int{
		"": http.StatusNotAcceptable, "&labelSelector=((": 400, "&resourceVersion=abc": 400, "&sendInitialEvents=true": 422, "&continue=x": 422,
	} {
		assert.Equal(t, want, f.get(inVMs+"?watch=1"+query, "Accept: application/yaml").StatusCode, query)
	}
}
