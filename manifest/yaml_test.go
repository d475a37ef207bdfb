package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// results are the objects and the error messages of a stream, in order.
type results struct {
	objects []*manifest.Object
	errors  []string
}

func read(t testing.TB, text string, opts ...manifest.Option) results {
	t.Helper()
	var all results
	for object, err := range manifest.Read("f", strings.NewReader(text), opts...) {
		if err != nil {
			_, ok := err.(*manifest.Error)
			require.True(t, ok, "%T", err)
			all.errors = append(all.errors, err.Error())
			continue
		}
		require.True(t, json.Valid(object.JSON), "%q", object.JSON)
		all.objects = append(all.objects, object)
	}
	return all
}

// TestYAMLValues has the oddities of YAML as kubectl reads them. Each value
// was printed by sigs.k8s.io/yaml v1.6.0, duplicate keys and order aside.
func TestYAMLValues(t *testing.T) {
	for _, c := range []struct{ yaml, json string }{
		{"a: on\nb: Off\nc: yes\nd: NO\ne: y\nf: n\ng: True\nh: oN", `{"a":true,"b":false,"c":true,"d":false,"e":true,"f":false,"g":true,"h":"oN"}`},
		{"a: 'on'\nb: \"yes\"\nc: !!str no", `{"a":"on","b":"yes","c":"no"}`},
		{"a: ~\nb:\nc: null\nd: NULL\ne: nULL\nf: ''", `{"a":null,"b":null,"c":null,"d":null,"e":"nULL","f":""}`},
		{"a: 0o7\nb: 0777\nc: 0b11\nd: 0x1F\ne: 1_000\nf: -0b1\ng: 08\nh: 0_7", `{"a":7,"b":511,"c":3,"d":31,"e":1000,"f":-1,"g":8,"h":7}`},
		{"a: 9223372036854775807\nb: 18446744073709551615\nc: 18446744073709551616\nd: -9223372036854775809", `{"a":9223372036854775807,"b":18446744073709551615,"c":18446744073709552000,"d":-9223372036854776000}`},
		{"a: 1.0\nb: 1e3\nc: 1e21\nd: 1e-7\ne: -0.0\nf: .5\ng: 1.\nh: 1e400\ni: +1", `{"a":1,"b":1000,"c":1e+21,"d":1e-7,"e":-0,"f":0.5,"g":1,"h":"1e400","i":1}`},
		{"a: 2001-12-14\nb: 2001-12-14T21:59:43.10-05:00\nc: 1:30\nd: !!timestamp 2001-01-01", `{"a":"2001-12-14","b":"2001-12-14T21:59:43.10-05:00","c":"1:30","d":"2001-01-01"}`},
		{"a: !!binary aGVsbG8=\nb: !!binary /w==\nc: !!int '3'\nd: !!float 1\ne: !custom x", `{"a":"hello","b":"` + "\ufffd" + `","c":3,"d":1,"e":"x"}`},
		{"on: a\n1: b\n0x10: c\n1.5: d\n-.inf: e\n.nan: f\n1e40: g", `{"true":"a","1":"b","16":"c","1.5":"d","-.inf":"e",".nan":"f",".inf":"g"}`},
		{"a: |\n  x\n   y\n\nb: >-\n  x\n  y\nc: |+\n  z\n", `{"a":"x\n y\n","b":"x y","c":"z\n\n"}`},
		{"a: \"<&>\\u2028\\t\\x41\\\n  b\"\nb: 'it''s'\nc: plain\n  text", `{"a":"<&>` + "\u2028" + `\tAb","b":"it's","c":"plain text"}`},
		{"a: |\n  x\n  \ttab\nb: \"\t\"", `{"a":"x\n\ttab\n","b":"\t"}`},
		{"z: 1\na: 2\nz: 3\na: {b: 1, b: 2}", `{"z":1,"a":2,"z":3,"a":{"b":1,"b":2}}`},
		{"a: .inf\na: {~: 1}\na: 1", `{"a":null,"a":null,"a":1}`},
		{"1: a\n\"1\": b", `{"1":"a","1":"b"}`},
		{"a: &x {p: 1}\nb: *x\nc: [*x, *x]", `{"a":{"p":1},"b":{"p":1},"c":[{"p":1},{"p":1}]}`},
		{"a: {}\nb: []\nc: [[], {}, ~]\nd: - x", ""},
		{"a: {}\nb: []\nc: [[], {}, ~]", `{"a":{},"b":[],"c":[[],{},null]}`},
		{"? a\n: b\n? c", `{"a":"b","c":null}`},
		{"a: b #c\nd: b#c # e", `{"a":"b","d":"b#c"}`},
		{"a: héllo\nb: \"\\U0001F600\"", `{"a":"héllo","b":"😀"}`},
	} {
		got := read(t, "kind: X\n"+c.yaml+"\n")
		if c.json == "" {
			assert.Len(t, got.errors, 1, "%s", c.yaml)
			continue
		}
		require.Empty(t, got.errors, "%s", c.yaml)
		require.Len(t, got.objects, 1, "%s", c.yaml)
		assert.Equal(t, `{"kind":"X",`+c.json[1:], string(got.objects[0].JSON), "%s", c.yaml)
	}
}

// TestMergeKeys keeps the order of the file, the duplicates a person wrote, and
// the engine's rule that what is merged later wins.
func TestMergeKeys(t *testing.T) {
	for _, c := range []struct{ yaml, json string }{
		{"d: &d {w: 1, v: 2}\na:\n  z: 0\n  <<: *d", `{"d":{"w":1,"v":2},"a":{"z":0,"v":2,"w":1}}`},
		{"d: &d {x: 1}\na:\n  <<: *d\n  x: 3", `{"d":{"x":1},"a":{"x":3}}`},
		{"d: &d {x: 1}\na:\n  x: 3\n  <<: *d", `{"d":{"x":1},"a":{"x":1}}`},
		{"d: &d {x: 1}\na:\n  <<: [{x: 2, w: 2}, *d]", `{"d":{"x":1},"a":{"w":2,"x":2}}`},
		{"d: &d {x: 1}\na:\n  b: 1\n  <<: *d\n  b: {c: 2, c: 3}", `{"d":{"x":1},"a":{"b":1,"b":{"c":2,"c":3},"x":1}}`},
		{"d: &d {x: {q: 1, p: 2}}\na: {<<: *d}", `{"d":{"x":{"q":1,"p":2}},"a":{"x":{"p":2,"q":1}}}`},
		{"a: {\"<<\": 1}\nb: '<< is text'", `{"a":{"<<":1},"b":"<< is text"}`},
		{"a: {!!merge \"\\x3c<\": {b: 1}}", `{"a":{"b":1}}`},
		{"<<: {b: 1}\na: [.inf]\na: 1", `{"a":null,"a":1,"b":1}`},
		{".nan: 1\na: {<<: {.nan: 2}}", `{"a":{".nan":2},".nan":1}`},
		{"<<: {metadata: {name: merged}}", `{"metadata":{"name":"merged"}}`},
	} {
		got := read(t, "kind: X\n"+c.yaml+"\n")
		require.Empty(t, got.errors, "%s", c.yaml)
		require.Len(t, got.objects, 1, "%s", c.yaml)
		assert.Equal(t, `{"kind":"X",`+c.json[1:], string(got.objects[0].JSON), "%s", c.yaml)
	}
	assert.Equal(t, "merged", read(t, "kind: X\n<<: {metadata: {name: merged}}\n").objects[0].Name)
}

func TestYAMLErrors(t *testing.T) {
	for _, c := range []struct{ name, yaml, message string }{
		{"scanner", "kind: X\na: b: c\n", "f:2: mapping values are not allowed in this context"},
		{"parser", "kind: X\na:\n  - b\n c: d\n", "f:4: did not find expected key"},
		{"flow", "kind: X\na: [1, 2\nb: 3\n", "f:3: did not find expected ',' or ']'"},
		{"no colon", "kind: X\na\n", "f:2: could not find expected ':'"},
		{"no colon at the end", "kind: X\na", "f:2: could not find expected ':'"},
		{"no colon and more", "\nkind: X\na\n\n# c\nb: 1\n", "f:3: could not find expected ':'"},
		{"an open quote", "kind: X\na: 'b\n\n", "f:3: found unexpected end of stream"},
		{"indentation by tab", "kind: X\na:\n\tb: 1\n", "f:3: found character that cannot start any token"},
		{"line of tabs", "\t\n", "f:1: found character that cannot start any token"},
		{"latin-1", "kind: X\na: 1\nb: \"caf\xe9 x\"\n", "f:3: invalid trailing UTF-8 octet"},
		{"nul", "kind: X\na: \x00\n", "f:2: control characters are not allowed"},
		{"infinity", "kind: X\na:\n- 1\n- .inf\n", "f:4: infinity and not-a-number have no JSON form"},
		{"not a number", "kind: X\na: &a {b: 1,\n  c: .NaN}\nd: {<<: *a}\n", "f:3: infinity and not-a-number have no JSON form"},
		{"null key", "kind: X\na:\n  ~: 1\n", "f:2: null is used as a key"},
		{"sequence key", "kind: X\n? [a]\n: 1\n", "f:1: a mapping or a sequence is used as a key"},
		{"mapping key beside a merge", "kind: X\n<<: {a: 1}\n? {a: 1}\n: 1\n", "f:1: a mapping or a sequence is used as a key"},
		{"null key beside a merge", "kind: X\na: {<<: {b: 1}, ~: 1}\n", "f:2: null is used as a key"},
		{"null key merged", "kind: X\na: {<<: {~: 1}}\n", "f:2: null is used as a key"},
		{"infinity beside a merge", "kind: X\na: {<<: {b: 1},\n  c: -.inf}\n", "f:3: infinity and not-a-number have no JSON form"},
		{"infinity that overrides", "kind: X\na: 1\na: .inf\n", "f:3: infinity and not-a-number have no JSON form"},
		{"secret in a sequence", "- !!int hunter2\n", "f:1: cannot decode !!str as a !!int"},
		{"utf-16", "\xff\xfe\x01\x00", "f:1: control characters are not allowed"},
		{"large key", "kind: X\n18446744073709551615: 1\n", "f:1: an integer over 63 bits is used as a key without quotes"},
		{"merge of a scalar", "kind: X\n<<: 1\n", "f:1: map merge requires map or sequence of maps as the value"},
		{"secret like an alias", "kind: X\npassword: *hunter2\n", "f:1: an alias names an anchor that the document does not define"},
		{"secret with a tag", "kind: X\npassword: !!int hunter2\n", "f:1: cannot decode !!str as a !!int"},
		{"self reference", "kind: X\na: &secret [*secret]\n", "f:1: the value of an anchor contains itself"},
		{"base64", "kind: X\na: !!binary =\n", "f:1: !!binary value contains invalid base64 data"},
		{"directive", "# c\n%YAML 1.1\nkind: X\n", "f:3: did not find expected <document start>"},
		{"separator", "--- {kind: X}\nkind: Y\n", "f:1: only a comment may follow --- on its line"},
		{"private key", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "f:1: only a comment may follow --- on its line"},
		{"scalar", "\n# c\nhello\n", "f:3: a string is not a Kubernetes object"},
		{"number", "1\n", "f:1: a number is not a Kubernetes object"},
		{"sequence", "- kind: X\n", "f:1: an array is not a Kubernetes object"},
		{"no kind", "a: 1\n", "f:1: not a Kubernetes object: it has no kind"},
		{"empty object", "{}\n", "f:1: not a Kubernetes object: it has no kind"},
		{"empty kind", "kind: ''\n", "f:1: not a Kubernetes object: its kind is empty"},
		{"kind of another type", "kind: on\n", "f:1: not a Kubernetes object: its kind is a boolean, not a string"},
	} {
		got := read(t, c.yaml)
		assert.Empty(t, got.objects, c.name)
		assert.Equal(t, []string{c.message}, got.errors, c.name)
	}
}

func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		lines      []int
		errors     []string
	}{
		{"nothing", "", nil, nil},
		{"white space", " \n\r\n  \n", nil, nil},
		{"comments", "# a\n---\n# b\n--- # c\n...\n", nil, nil},
		{"nulls", "~\n---\nnull\n---\nNULL\n", nil, nil},
		{"separators", "---\nkind: X\n---\n---\n# c\n\nkind: X\n--- \t\nkind: X", []int{2, 7, 9}, nil},
		{"end markers", "kind: X\n...\nkind: X\n... # c\n---\nkind: X\n", []int{1, 3, 6}, nil},
		{"windows", "---\r\nkind: X\r\n---\r\nkind: X\r\n...\r\n", []int{2, 4}, nil},
		{"byte order mark", "\ufeffkind: X\n---\nkind: X\n", []int{1, 3}, nil},
		{"byte order mark and comment", "\ufeff# c\nkind: X\n", []int{2}, nil},
		{"utf-16", "\xff\xfek\x00i\x00n\x00d\x00:\x00 \x00X\x00\n\x00", []int{1}, nil},
		{"dashes in text", "kind: X\na: |\n  ---\n  ...\n", []int{1}, nil},
		{"an error goes on at the next document", "kind: X\n---\na: b: c\n---\nkind: X\n", []int{1, 5}, []string{"f:3: mapping values are not allowed in this context"}},
		{"a bad separator too", "kind: X\n---x\nkind: Y\n---\nkind: X\n", []int{1, 5}, []string{"f:2: only a comment may follow --- on its line"}},
		{"two bad separators", "---x\n---y\n---\nkind: X\n", []int{4}, []string{"f:1: only a comment may follow --- on its line", "f:2: only a comment may follow --- on its line"}},
		{"text after the end", "{kind: X} text\n---\nkind: X\n", []int{1, 3}, []string{"f:1: text after the end of the document; a line of --- must separate documents"}},
		{"text that kubectl drops", "{kind: X}\nkind: Y\n", []int{1}, []string{"f:2: text after the end of the document; a line of --- must separate documents"}},
		{"old macintosh", "kind: X\r---\rkind: Y\r", []int{1}, []string{"f:1: text after the end of the document; a line of --- must separate documents"}},
		{"an array", "[{kind: X}]\n---\nkind: X\n", []int{3}, []string{"f:1: a JSON array is not a Kubernetes object; put the objects one after another or into the items of a List"}},
	} {
		got := read(t, c.yaml)
		var lines []int
		for _, object := range got.objects {
			assert.Equal(t, "X", object.Kind, c.name)
			lines = append(lines, object.Line)
		}
		assert.Equal(t, c.lines, lines, c.name)
		assert.Equal(t, c.errors, got.errors, c.name)
	}
}

func TestIdentity(t *testing.T) {
	got := read(t, "apiVersion: kubevirt.io/v1\nkind: X\nmetadata:\n  name: a\n  name: b\n  namespace: ns\n").objects[0]
	assert.Equal(t, "kubevirt.io/v1", got.APIVersion)
	assert.Equal(t, "X", got.Kind)
	assert.Equal(t, "b", got.Name, "the last duplicate")
	assert.Equal(t, "ns", got.Namespace)
	assert.Equal(t, "f", got.File)

	got = read(t, "kind: X\napiVersion: 1\nmetadata: {name: 007, namespace: on}\n").objects[0]
	assert.Empty(t, got.APIVersion+got.Name+got.Namespace, "what is no string is left for the validator")
	assert.Empty(t, read(t, "kind: X\nmetadata: text\n").objects[0].Name)
}

func TestStop(t *testing.T) {
	for _, text := range []string{
		"kind: X\n---\nkind: X\n", `{"kind":"X"}{"kind":"X"}`, "x\n---\nx\n", "{kind: X} x",
		"kind: List\nitems:\n- kind: X\n- kind: X\n", `{"kind":"List","items":[{"kind":"X"},{"kind":"X"}]}`,
	} {
		n := 0
		for range manifest.Read("f", strings.NewReader(text)) {
			n++
			break
		}
		assert.Equal(t, 1, n, text)
	}
}
