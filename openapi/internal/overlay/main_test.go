package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const document = `openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /a:
    get:
      parameters:
        - $ref: '#/components/parameters/p'
components:
  parameters:
    p: {name: p, in: query, schema: {type: string}}
`

func overlayFile(t *testing.T, actions string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "o.yaml")
	require.NoError(t, os.WriteFile(path, []byte("overlay: 1.0.0\ninfo: {title: o, version: \"1\"}\nactions:\n"+actions), 0o600))
	return path
}

func TestActionsThatDoNothingFail(t *testing.T) {
	for actions, why := range map[string]string{
		"  - {target: $.paths.nosuch, update: {x: 1}}": "did not match",
		"  - {target: $.paths.nosuch, remove: true}":   "did not match",
		"  - {target: $.info, update: {title: t}}":     "does nothing",
		"  - {target: '$.info[', update: {title: x}}":  "unmatched [",
		"  - {target: $.info}":                         "unknown action",
	} {
		_, err := apply([]byte(document), []string{overlayFile(t, actions)}, false)
		require.Error(t, err, actions)
		assert.ErrorContains(t, err, why)
		assert.ErrorContains(t, err, "o.yaml", "the error names the file")
	}
}

func TestActionsAddInOrder(t *testing.T) {
	out, err := apply([]byte(document), []string{
		overlayFile(t, "  - {target: $.info, update: {title: one}}"),
		overlayFile(t, "  - {target: $.info, update: &x {title: two}}\n  - {target: $.paths, update: {/b: *x}}"),
	}, false)
	require.NoError(t, err)
	assert.Contains(t, string(out), "title: two")
	assert.Contains(t, string(out), "/b:\n    title: two", "an alias is written out")
}

func TestInlineParameters(t *testing.T) {
	out, err := apply([]byte(document), nil, true)
	require.NoError(t, err)
	assert.NotContains(t, string(out), "$ref")
	assert.NotContains(t, string(out), "components/parameters")
	assert.Contains(t, string(out), "- {name: p, in: query, schema: {type: string}}")

	_, err = apply([]byte("paths: {/a: {$ref: '#/components/parameters/q'}}\ncomponents: {parameters: {}}\n"), nil, true)
	assert.ErrorContains(t, err, `no parameter "q"`)
}

func TestSameBytesEachTime(t *testing.T) {
	o := overlayFile(t, "  - {target: $.info, update: {b: 1, a: 2, c: {z: 1, y: 2}}}")
	first, err := apply([]byte(document), []string{o}, false)
	require.NoError(t, err)
	for range 5 {
		again, err := apply([]byte(document), []string{o}, false)
		require.NoError(t, err)
		assert.Equal(t, string(first), string(again))
	}
}
