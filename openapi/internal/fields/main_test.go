package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListIsUpToDate(t *testing.T) {
	out := filepath.Join(t.TempDir(), "fields.txt")
	require.NoError(t, run(out, "../../testdata/kubevirt-crd.json"))
	want, err := os.ReadFile(out)
	require.NoError(t, err)
	got, err := os.ReadFile("../../kubevirt-fields.gen.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run make generate")
}

func crd(root string) []byte {
	return []byte(`{"spec":{"versions":[{"name":"v1alpha3"},{"name":"v1","schema":{"openAPIV3Schema":` + root + `}}]}}`)
}

func TestFieldsOfEveryKind(t *testing.T) {
	paths, err := fields(crd(`{"type":"object","properties":{
		"metadata":{"type":"object"},
		"plain":{"type":"string"},
		"free":{"type":"object"},
		"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}},
		"map":{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"b":{},"a":{}}}}},
		"list":{"type":"array","items":{"type":"string"}},
		"either":{"x-kubernetes-int-or-string":true}
	}}`))
	require.NoError(t, err)
	assert.Equal(t, append([]string{"either", "free", "list[*]", "map[name][*].a", "map[name][*].b"}, append(objectMeta, "open[?]", "plain")...), paths)
}

func TestFieldsFail(t *testing.T) {
	for text, want := range map[string]string{
		`{`:               "unexpected end of JSON input",
		`{}`:              "no version v1",
		string(crd(`{}`)): "version v1 has no fields",
		string(crd(`{"properties":{"a":{"properties":{"b.c":{}}}}}`)): "name that a path cannot have: b.c",
	} {
		_, err := fields([]byte(text))
		assert.EqualError(t, err, want)
	}
	assert.Error(t, run(filepath.Join(t.TempDir(), "out"), "no such file"))
}
