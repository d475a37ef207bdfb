package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/manifest"
)

// TestLists shows what a stream holds as kind/name@line or the error.
func TestLists(t *testing.T) {
	nested := strings.Repeat(`{"kind":"List","items":[`, 9) + `{"kind":"A"}` + strings.Repeat(`]}`, 9)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"json", "{\"kind\":\"List\",\"items\":[\n{\"kind\":\"A\"},\n\n{\"kind\":\"B\"},{\"kind\":\"C\"}],\"metadata\":{}}\n{\"kind\":\"D\"}",
			[]string{"A/@2", "B/@4", "C/@4", "D/@5"}},
		{"json with the kind last", "{\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"A\"}],\"kind\":\"List\"}", []string{"A/@1"}},
		{"yaml", "apiVersion: v1\nitems:\n- kind: A\n  metadata: {name: a}\n\n# c\n- # d\n  kind: B\nkind: List\nmetadata: {}\n---\nkind: C\n",
			[]string{"A/a@3", "B/@7", "C/@12"}},
		{"indented", "kind: List\nitems:   # c\n\n  # d\n  - kind: A\n    a: |\n     - kind: X\n  -\n    kind: B\n# c\nmetadata: {}\n",
			[]string{"A/@5", "B/@8"}},
		{"flow", "kind: List\nitems: [{kind: A},\n {kind: B}]\n", []string{"A/@2", "B/@3"}},
		{"windows", "items:\r\n- kind: A\r\n-\r\n  kind: B\r\nkind: List\r\n", []string{"A/@2", "B/@3"}},
		{"byte order mark", "\ufeffkind: List\nitems:\n- kind: A\n", []string{"A/@3"}},
		{"an open quote at a cut", "kind: List\nitems:\n- kind: A\n- kind: B\n  a: \"\n- kind: X\"\n- kind: C\n", []string{"A/@3", "B/@4", "C/@7"}},
		{"an open bracket at a cut", "kind: List\nitems:\n- kind: A\n- kind: B\n  a: [\n- 1\n]\n- kind: C\n", []string{"f:6: did not find expected node content"}},
		{"a quote over the end", "items:\n- kind: A\n- kind: B\n  a: \"\nkind: X\"\nkind: List\n", []string{"A/@2", "B/@3"}},
		{"anchors across items", "kind: List\nitems:\n- &a {kind: A}\n- kind: B\n  a: &b x\n- *a\n- kind: *b\n", []string{"A/@3", "B/@4", "A/@3", "x/@7"}},
		{"an anchor of the envelope", "kind: List\nx: &a {kind: A}\nitems:\n- *a\n", []string{"A/@2"}},
		{"an anchor for the envelope", "items:\n- kind: &a A\nx: *a\nkind: List\n", []string{"A/@2"}},
		{"items twice", "kind: List\nitems:\n- kind: A\nitems:\n- kind: B\n", []string{"B/@5"}},
		{"items once more in quotes", "kind: List\nitems:\n- kind: A\n'items':\n- kind: B\n", []string{"B/@5"}},
		{"items that become null", "kind: List\nitems:\n- kind: A\n'items':\n", nil},
		{"an error in an item", "kind: List\nitems:\n- kind: A\n- kind: B\n  a: b: c\n- kind: C\n---\nkind: D\n",
			[]string{"A/@3", "f:5: mapping values are not allowed in this context", "D/@8"}},
		{"an error behind the items", "kind: List\nitems:\n- kind: A\na: b: c\n", []string{"f:4: mapping values are not allowed in this context"}},
		{"an error before the items", "kind: List\nitems:\n# \x01\n- kind: A\n", []string{"f:3: control characters are not allowed"}},
		{"bad indentation", "kind: List\nitems:\n  - kind: A\n - kind: B\n", []string{"f:4: did not find expected key"}},
		{"no list", "kind: X\nitems:\n- kind: A\n", []string{"X/@1"}},
		{"a list without items", "kind: FooList\n---\nkind: List\nitems: x\n", []string{"FooList/@1", "List/@3"}},
		{"empty", "kind: List\nitems:\n---\nkind: List\nitems: []\n---\n{\"kind\":\"List\",\"items\":null}", nil},
		{"items that are no objects", "kind: List\nitems:\n- a\n-\n- - b\n- {}\n- kind: A\n", []string{
			"f:3: a string is not a Kubernetes object", "f:4: null is not a Kubernetes object",
			"f:5: an array is not a Kubernetes object", "f:6: not a Kubernetes object: it has no kind", "A/@7"}},
		{"nested", "kind: List\nitems:\n- kind: List\n  items:\n  - kind: A\n  - kind: B\n- kind: C\n", []string{"A/@5", "B/@6", "C/@7"}},
		{"nested too deep", nested, []string{"f:1: more than 8 Lists are nested in one another"}},
	} {
		var got []string
		for object, err := range manifest.Read("f", strings.NewReader(c.text)) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, fmt.Sprintf("%s/%s@%d", object.Kind, object.Name, object.Line))
			assert.Equal(t, object.Line, object.LineOf(""), "%s: %s", c.name, object.JSON)
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

// TestManyItems finds the lines of items without searching for each.
func TestManyItems(t *testing.T) {
	const items = 20_000
	for _, text := range []string{
		"kind: List\nitems: [\n" + strings.Repeat("{kind: X},\n", items) + "]\n",
		"kind: List\nitems: [ # \u2028\n" + strings.Repeat("{kind: X},\n", items) + "]\n",
		"kind: List\nitems:\n" + strings.Repeat("- kind: X\n", items),
		"{\"kind\":\"List\",\n\"items\":[\n" + strings.Repeat("{\"kind\":\"X\"},\n", items-1) + "{\"kind\":\"X\"}]}\n",
	} {
		got := read(t, text)
		assert.Empty(t, got.errors)
		assert.Len(t, got.objects, items)
		for i, object := range got.objects {
			if object.Line != 3+i {
				t.Fatalf("item %d is on line %d of %.30q", i, object.Line, text)
			}
		}
	}
}

// TestTypedList: API servers leave the type of items to their list.
func TestTypedList(t *testing.T) {
	for _, text := range []string{
		"kind: FooList\napiVersion: v1\nitems:\n- metadata: {name: a}\n- {}\n- kind: Bar\n- apiVersion: v2\n",
		`{"items":[{"metadata":{"name":"a"}}, {},{"kind":"Bar"},{"apiVersion":"v2"}],"kind":"FooList","apiVersion":"v1"}`,
	} {
		got := read(t, text)
		assert.Len(t, got.errors, 1)
		var objects []string
		for _, object := range got.objects {
			objects = append(objects, object.APIVersion+" "+object.Kind+" "+string(object.JSON))
		}
		assert.Equal(t, []string{
			`v1 Foo {"apiVersion":"v1","kind":"Foo","metadata":{"name":"a"}}`,
			`v1 Foo {"apiVersion":"v1","kind":"Foo"}`,
			` Bar {"kind":"Bar"}`,
		}, objects)
	}
}
