package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// TestJSONBytes hands on what only a validator can judge.
func TestJSONBytes(t *testing.T) {
	for _, text := range []string{
		`{"kind":"X"}`,
		"{ \"kind\" :\r\n\t\"X\" }",
		`{"kind":"X","a":1.0,"b":1e3,"c":12345678901234567890123,"d":1e400}`,
		`{"kind":"X","a":1,"a":2,"A":3}`,
		"{\"kind\":\"X\",\"a\":\"\xff\"}",
		`{"kind":"X","a":"\ud800 \/ \u003c"}`,
	} {
		var got []string
		for object, err := range manifest.Read("f", strings.NewReader(text)) {
			require.NoError(t, err, text)
			got = append(got, string(object.JSON))
		}
		assert.Equal(t, []string{text}, got)
	}
}

func TestJSONStream(t *testing.T) {
	for _, c := range []struct {
		name, text string
		lines      []int
		errors     []string
	}{
		{"one after another", "{\"kind\":\"X\"}{\"kind\":\"X\"}\n\n \t{\"kind\":\n\"X\"}\n\t\n{\"kind\":\"X\"}\n\t\n", []int{1, 1, 3, 6}, nil},
		{"tabs before", "\t\n\t{\"kind\":\"X\"}\n", []int{2}, nil},
		{"separators", "{\"kind\":\"X\"}\n---\n{\"kind\":\"X\"} --- \n", []int{1, 3}, []string{"f:3: a string is not a Kubernetes object"}},
		{"beside yaml", "kind: X\n---\n\t{\"kind\":\"X\"}\n---\nkind: X\n...\n{\"kind\":\"X\"}", []int{1, 3, 5, 7}, nil},
		{"yaml without a separator", "{\"kind\":\"X\"}\nkind: X\nmetadata:\n  name: a\n", []int{1, 2}, nil},
		{"comment", "{\"kind\":\"X\"}\n# c\n", []int{1}, nil},
		{"yaml that looks like json", "\n{kind: X,} # c\n---\n{\"kind\": X}\n---\n{\"kind\": \"X\",}", []int{2, 4, 6}, nil},
		{"line feed in a string", "{\"kind\":\"X\", \"a\": \"b\nc\"}", []int{1}, nil},
		{"neither", "{\"kind\":\"X\"}\n\n{\"kind\":\n\"X\" \"a\": 1}\n---\n{\"kind\":\"X\"}\n", []int{1, 6}, []string{`f:4: invalid json: invalid character '"' after object value (expecting ',' or '}')`}},
		{"cut short", "{\"kind\":\"X\"}\n{\"kind\":\n\"X\",\n", []int{1}, []string{"f:4: invalid json: unexpected EOF"}},
		{"comma", "{\"kind\":\"X\"},\n{\"kind\":\"Y\"}\n---\n{\"kind\":\"X\"}", []int{1, 4}, []string{"f:1: no object begins with ','"}},
		{"array", "[{\"kind\":\"X\"}]", nil, []string{"f:1: a JSON array is not a Kubernetes object; put the objects one after another or into the items of a List"}},
		{"no kind", "{}{\"kind\":1}{\"kind\":null}{\"kind\":\"X\"}", []int{1}, []string{
			"f:1: not a Kubernetes object: it has no kind",
			"f:1: not a Kubernetes object: its kind is a number, not a string",
			"f:1: not a Kubernetes object: its kind is null, not a string",
		}},
		{"nul", "{\"kind\":\"X\"}\x00", []int{1}, []string{"f:1: control characters are not allowed"}},
	} {
		got := read(t, c.text)
		var lines []int
		for _, object := range got.objects {
			assert.Equal(t, "X", object.Kind, c.name)
			lines = append(lines, object.Line)
		}
		assert.Equal(t, c.lines, lines, c.name)
		assert.Equal(t, c.errors, got.errors, c.name)
	}
}
