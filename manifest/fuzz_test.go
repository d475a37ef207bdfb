package manifest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// FuzzRead wants of any text: no panic, objects that are JSON with the kind and
// name they claim, and lines within the file.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"kind: X\nmetadata:\n  name: a\n---\n# c\n--- # d\nkind: Z\n...\nkind: X\n",
		"kind: X\na: &a {b: on}\nc: {<<: *a, 1_0: 0o7, b: !!binary aGk=}\nd: *a\n",
		"kind: List\nitems:\n- kind: A\n  a: |\n   - kind: B\n- kind: C\n  b: \"\n- kind: D\"\nmetadata: {}\n",
		"items:\r\n  - &a {metadata: {name: a}}\r\n  - *a\r\napiVersion: v1\r\nkind: FooList\r\n",
		"{\"kind\":\"X\"}{\"kind\":\"List\",\"items\":[\n{\"kind\":\"A\"},\n{\"a\":[1e9,\"\\ud800\xff\"],\"a\":2,\"kind\":\"B\"}]}\n---\n[1]\n",
		"{\"kind\": X,\n}\n \t\n{\"kind\":\"FooList\",\"items\":[{}, { \n}]}, trailing",
		"\ufeffkind: X\na: .inf\n", "\xff\xfek\x00:\x00 \x00X\x00", "kind: X\r---\rkind: Z\r\x85\u2028", "kind: X\n<<: [{a: 1}, {a: 2}]\na: 1\na: 2\n",
		"--- !x {kind: X}\n", "%YAML 1.1\n---\n", "- - - ? ? [{[: }", "\x00", "-----BEGIN X-----\n",
	} {
		f.Add([]byte(text))
	}
	corpus, err := filepath.Glob("../openapi/testdata/corpus/*.yaml")
	require.NoError(f, err)
	for _, file := range corpus {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte("\n")) + 1
		for object, err := range manifest.Read("f", bytes.NewReader(text)) {
			if err != nil {
				require.Nil(t, object)
				failure, ok := err.(*manifest.Error)
				require.True(t, ok)
				require.NotContains(t, failure.Error(), "\n")
				require.GreaterOrEqual(t, failure.Line, 1)
				require.LessOrEqual(t, failure.Line, lines, failure)
				continue
			}
			value := jsontext.Value(object.JSON)
			require.True(t, value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), "%q", value)
			var members map[string]any
			d := json.NewDecoder(bytes.NewReader(object.JSON))
			d.UseNumber() // 1e400 is a number too
			require.NoError(t, d.Decode(&members), "%q", value)
			require.Equal(t, members["kind"], object.Kind)
			metadata, _ := members["metadata"].(map[string]any)
			name, _ := metadata["name"].(string)
			require.Equal(t, name, object.Name)
			require.NotEmpty(t, object.Kind)
			require.GreaterOrEqual(t, object.Line, 1)
			require.LessOrEqual(t, object.Line, lines)
			for _, pointer := range []string{"", "/kind", "/metadata/name", "/a/0", "/a/b", "/nosuch"} {
				line := object.LineOf(pointer)
				require.GreaterOrEqual(t, line, 1, pointer)
				require.LessOrEqual(t, line, lines, pointer)
			}
		}
	})
}
