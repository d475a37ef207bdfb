package openapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/openapi"
)

const (
	listID = "listNamespacedVirtualMachineInstance"
	readID = "readNamespacedVirtualMachineInstance"
)

func load(tb testing.TB, p openapi.Profile) *openapi.Document {
	tb.Helper()
	d, err := openapi.Load(p)
	require.NoError(tb, err)
	return d
}

// corpusJSON returns the objects of the corpus as JSON, by file name.
func corpusJSON(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	require.NoError(tb, err)
	objects := make(map[string][]byte)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(tb, err)
		objects[filepath.Base(file)] = yamlToJSON(tb, text)
	}
	require.NotEmpty(tb, objects)
	return objects
}

// yamlToJSON converts what the YAML files of the tests use. Times stay the text
// that they are.
func yamlToJSON(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var doc yaml.Node
	require.NoError(tb, yaml.Unmarshal(text, &doc))
	data, err := json.Marshal(plain(tb, doc.Content[0]))
	require.NoError(tb, err)
	return data
}

func plain(tb testing.TB, n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		object := make(map[string]any)
		for i := 0; i < len(n.Content); i += 2 {
			object[n.Content[i].Value] = plain(tb, n.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, plain(tb, c))
		}
		return list
	}
	switch n.Tag {
	case "!!int":
		return json.Number(n.Value)
	case "!!bool":
		return n.Value == "true"
	case "!!null":
		return nil
	}
	return n.Value
}

// lines writes issues as "POINTER RULE", the part of them that is promised.
func lines(issues openapi.Issues) []string {
	list := []string{}
	for _, i := range issues {
		list = append(list, i.Pointer+" "+i.Rule)
	}
	return list
}

// vmi returns a small valid machine whose spec.domain, or other fields, are
// what the test is about. more is JSON members, put behind the given ones.
func vmi(more ...string) string {
	members := append([]string{
		`"apiVersion":"kubevirt.io/v1"`, `"kind":"VirtualMachineInstance"`, `"metadata":{"name":"web","namespace":"lab"}`,
	}, more...)
	return "{" + strings.Join(members, ",") + "}"
}
