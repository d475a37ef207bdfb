package manifest_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLineOf(t *testing.T) {
	yaml := `# comment
kind: X
metadata:
  name: a

  labels: {x: "1",
    v: "2"}
common: &common
  cores: 1
  "a/b~c": 2
spec:
  list:
  - name: p
    value: 1

  -
    name: q
  - &last z
  text: |
    on
  on: true
  1_0: ten
  <<: *common
  twice: 1
  twice:
    deep: 2
alias: *common
item: *last
`
	json := `{
  "kind": "X",
  "metadata": {"name": "a",
    "labels":
      {"x": 1}},
  "spec": {
    "list": [
      {"name": "p"},

      {"name":
        "q"}
    ],
    "twice": 1,
    "twice": {
      "deep": 2}
  }, "a/b~c": 1
}`
	for _, c := range []struct {
		format, text string
		lines        map[string]int
	}{
		{"yaml", yaml, map[string]int{
			"": 2, "/kind": 2, "/metadata": 3, "/metadata/name": 4, "/metadata/labels": 6,
			"/metadata/labels/x": 6, "/metadata/labels/v": 7,
			"/spec/list": 12, "/spec/list/0": 13, "/spec/list/0/value": 14, "/spec/list/1": 17, "/spec/list/1/name": 17, "/spec/list/2": 18,
			"/spec/text": 19, "/spec/true": 21, "/spec/10": 22,
			"/spec/cores": 9, "/spec/a~1b~0c": 10, "/spec/twice": 25, "/spec/twice/deep": 26,
			"/alias": 8, "/alias/cores": 9, "/alias/a~1b~0c": 10, "/item": 18,
			"/nosuch": 2, "/spec/nosuch/deeper": 11, "/spec/list/7": 12, "/spec/list/-": 12, "/spec/list/0/name/0": 13, "no pointer": 2,
		}},
		{"json", json, map[string]int{
			"": 1, "/kind": 2, "/metadata": 3, "/metadata/name": 3, "/metadata/labels": 4, "/metadata/labels/x": 5,
			"/spec": 6, "/spec/list": 7, "/spec/list/0": 8, "/spec/list/0/name": 8, "/spec/list/1": 10, "/spec/list/1/name": 10,
			"/spec/twice": 14, "/spec/twice/deep": 15, "/a~1b~0c": 16,
			"/nosuch": 1, "/spec/nosuch/deeper": 6, "/spec/list/2": 7, "/spec/list/x": 7,
		}},
	} {
		object := read(t, c.text).objects[0]
		for pointer, line := range c.lines {
			assert.Equal(t, line, object.LineOf(pointer), "%s %q", c.format, pointer)
		}

		shift := 4
		for _, before := range []string{"kind: Z\n---\n\n\n", "{\"kind\":\"Z\"}\n\n\n---\n"} {
			got := read(t, before+c.text)
			require.Empty(t, got.errors)
			object = got.objects[1]
			for pointer, line := range c.lines {
				assert.Equal(t, shift+line, object.LineOf(pointer), "%s %q behind a document", c.format, pointer)
			}
		}
	}
}

func TestLineOfItems(t *testing.T) {
	for _, text := range []string{
		"kind: List\nitems:\n- kind: A\n- kind: B\n  spec:\n    p: 1\n    q: 2\n",
		"kind: List\nitems:\n- &a {kind: A}\n- kind: B\n  spec: {\n    p: 1,\n    q: 2}\n- *a\n",
		"kind: List\nitems: [\n {kind: A},\n {kind: B,\n  spec: {\n    p: 1,\n    q: 2}}]\n",
		"{\"kind\": \"List\", \"items\": [\n\n {\"kind\": \"A\"},{\n \"kind\": \"B\", \"spec\":\n {\n\"p\": 1,\n  \"q\": 2}}]}\n",
		"{\"kind\": \"FooList\", \"items\": [{\"a\":1}, {\n\n \"b\": 1,\n \"spec\": {\n\n\"p\": 1,\n  \"q\": 2}}]}\n",
	} {
		got := read(t, text)
		require.Len(t, got.objects, 2+strings.Count(text, "*a"), text)
		assert.Equal(t, 6, got.objects[1].LineOf("/spec/p"), text)
		assert.Equal(t, 7, got.objects[1].LineOf("/spec/q"), text)
		assert.Equal(t, got.objects[1].Line, got.objects[1].LineOf("/nosuch"), text)
	}
}

// TestLineOfBreaks: YAML has more line breaks than editors do.
func TestLineOfBreaks(t *testing.T) {
	object := read(t, "kind: X\na: \"b\u2028c\u0085d\"\r\nb: 'x\u2029'\nc: 1\n").objects[0]
	assert.Equal(t, 2, object.LineOf("/a"))
	assert.Equal(t, 3, object.LineOf("/b"))
	assert.Equal(t, 4, object.LineOf("/c"))
	assert.Equal(t, []string{"f:4: mapping values are not allowed in this context"},
		read(t, "kind: X\na: \"b\u2028c\u0085d\"\r\nb: 'x\u2029'\nc: 1: 2\n").errors)
}

// TestLineOfManyMerges would not end if every merge were followed.
func TestLineOfManyMerges(t *testing.T) {
	var text strings.Builder
	text.WriteString("kind: X\na0: &a0 {x: 1}\n")
	for i := range 12 {
		n := string(rune('a' + i))
		text.WriteString(n + "1: &" + n + "1 {<<: [*a0, *a0]}\n")
	}
	text.WriteString("spec: {<<: [{<<: {<<: {deep: 1}}}, *a0]}\n")
	got := read(t, text.String())
	require.Empty(t, got.errors)
	assert.Equal(t, 15, got.objects[0].LineOf("/spec/deep"))
	assert.Equal(t, 15, got.objects[0].LineOf("/spec/nosuch"))
}

func TestLineOfConcurrently(t *testing.T) {
	object := read(t, "kind: X\na: 1\nb: 2\n").objects[0]
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.Equal(t, 3, object.LineOf("/b")) })
	}
	group.Wait()
}
