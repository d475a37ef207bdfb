package command_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
)

func TestSampleIsValidByEveryProfile(t *testing.T) {
	for _, p := range openapi.Profiles() {
		got := vmikit(t, "validate", "--strict", "--profile", string(p), "sample.yaml")
		assert.Equal(t, outcome{0, "21 objects are valid by profile " + string(p) + "\n", ""}, got)
	}
}

// The sample has every value of every closed list that the given document has,
// and every property of its objects.
func TestSampleHasWhatTheDocumentNames(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]map[string]any
		}
	}
	require.NoError(t, yaml.Unmarshal(openapi.Source(openapi.ProfileDocument), &doc))
	missing := map[string]bool{}
	var note func(schema map[string]any, path string)
	// want lists what the document names, as paths: a property, or a value of a list.
	want := func(schema map[string]any, path string, visit func(string)) {
		var walk func(schema map[string]any, path string)
		walk = func(schema map[string]any, path string) {
			if ref, ok := schema["$ref"].(string); ok {
				schema = doc.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]]
			}
			enum, _ := schema["enum"].([]any)
			for _, v := range enum {
				visit(path + "=" + v.(string))
			}
			properties, _ := schema["properties"].(map[string]any)
			for name, p := range properties {
				visit(path + "." + name)
				walk(p.(map[string]any), path+"."+name)
			}
			if items, ok := schema["items"].(map[string]any); ok {
				walk(items, path)
			}
		}
		walk(schema, path)
	}
	note = func(schema map[string]any, path string) { want(schema, path, func(p string) { missing[p] = true }) }
	note(doc.Components.Schemas["VirtualMachineInstance"], "")

	var found func(v any, path string)
	found = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				delete(missing, path+"."+name)
				found(member, path+"."+name)
			}
		case []any:
			for _, item := range v {
				found(item, path)
			}
		case string:
			delete(missing, path+"="+v)
		}
	}
	for _, o := range sampleObjects(t) {
		found(o, "")
	}
	var left []string
	for path := range missing {
		left = append(left, path)
	}
	slices.Sort(left)
	assert.Equal(t, []string{".metadata.resourceVersion"}, left, "the server gives that one")
}

func TestSampleIsOfThreeNamespaces(t *testing.T) {
	count := map[string]int{}
	for _, o := range sampleObjects(t) {
		count[o["metadata"].(map[string]any)["namespace"].(string)]++
	}
	assert.Equal(t, map[string]int{"default": 7, "production": 7, "staging": 7}, count)
}

func sampleObjects(t *testing.T) []map[string]any {
	t.Helper()
	f, err := os.Open("sample.yaml")
	require.NoError(t, err)
	defer f.Close()
	var all []map[string]any
	for o, err := range manifest.Read("sample.yaml", f) {
		require.NoError(t, err)
		var decoded map[string]any
		require.NoError(t, json.Unmarshal(o.JSON, &decoded))
		all = append(all, decoded)
	}
	return all
}
