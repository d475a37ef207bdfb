package manifest_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// repeat reads as head and then body so often that it has size bytes.
func repeat(head, body string, size int64) io.Reader {
	body = strings.Repeat(body, 1+64<<10/len(body)) // a byte at a time is slow
	return io.MultiReader(strings.NewReader(head), io.LimitReader(&repeated{body: body}, size))
}

type repeated struct {
	body string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.body[r.at:])
		n += c
		r.at = (r.at + c) % len(r.body)
	}
	return n, nil
}

// TestGarbage reads up to 100 MB that are no manifest.
func TestGarbage(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	const whole = "f:1: too large: a YAML document that is no List of block style items may have 16777216 bytes"
	for _, c := range []struct {
		name, head, body string
		megabytes        int64
		want             []string
	}{
		{"noise", "", "\x00\xff\x8b\x1f ", 100, []string{whole}},
		{"one object", `{"kind":"X","a":"`, "a", 20, []string{"f:1: invalid json: unexpected EOF"}},
		{"lines", "", "garbage\n", 20, []string{whole}},
		{"array", "[", "[", 20, []string{"f:1: a JSON array is not a Kubernetes object; put the objects one after another or into the items of a List"}},
		{"braces", "{", "{", 20, []string{"f:1: invalid json: invalid character '{' at start of string (expecting '\"')"}},
		{"blank lines", "", " \n", 20, nil},
	} {
		var got []string
		for _, err := range manifest.Read("f", repeat(c.head, c.body, c.megabytes*1_000_000)) {
			got = append(got, err.Error())
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

func TestMaxBytes(t *testing.T) {
	fits := "kind: X\na: " + strings.Repeat("a", 88) + "\n"
	json := `{"kind":"X","a":"` + strings.Repeat("a", 81) + `"}`
	require.Len(t, fits, 100)
	require.Len(t, json, 100)
	for _, c := range []struct {
		name, text string
		kinds      int
		errors     []string
	}{
		{"documents", strings.Repeat(fits+"---\n", 10), 10, nil},
		{"json", strings.Repeat(json+"\n", 10), 10, nil},
		{"a large document", fits + "---\n# c\n" + fits + "---\n" + fits, 2, []string{"f:4: too large: a document may have 100 bytes"}},
		{"a large value", json + strings.Replace(json, ",", ", ", 1) + json, 2, []string{"f:1: too large: a JSON value may have 100 bytes"}},
		{"a value larger than a buffer", json + "\n{" + strings.Repeat(" ", 1e5) + "}\n---\n" + json, 2, []string{"f:2: too large: a JSON value may have 100 bytes"}},
		{"white space is no value", strings.Repeat(" \n", 1e5) + json + strings.Repeat(" \r\n", 1e5) + json, 2, nil},
	} {
		got := read(t, c.text, manifest.WithMaxBytes(100))
		assert.Len(t, got.objects, c.kinds, c.name)
		assert.Equal(t, c.errors, got.errors, c.name)
	}
	assert.Len(t, read(t, fits, manifest.WithMaxBytes(0)).objects, 1, "the default")
}

// TestLargeObjects: objects are limited to 16 MiB, Lists of them are not.
func TestLargeObjects(t *testing.T) {
	if testing.Short() {
		t.Skip("tens of MB")
	}
	data := strings.Repeat("a", 6<<20)
	item := "- kind: X\n  a: " + data + "\n"
	got := read(t, "kind: List\nitems:\n"+item+item+item+"metadata: {}\n")
	assert.Empty(t, got.errors)
	assert.Len(t, got.objects, 3)

	element := `{"kind":"X","a":"` + data + `"}`
	got = read(t, `{"kind":"List","items":[`+element+","+element+","+element+"]}")
	assert.Empty(t, got.errors)
	assert.Len(t, got.objects, 3)

	const limit = "too large: an object may have 16777216 bytes"
	assert.Equal(t, []string{"f:1: " + limit}, read(t, `{"kind":"X","a":"`+data+data+data+`"}`).errors)
	assert.Equal(t, []string{"f:3: an alias names an anchor that the document does not define"},
		read(t, "kind: List\nitems:\n- *x\n"+item+item+item).errors)
	assert.Equal(t, []string{"f:7: too large: a List whose items cannot be told apart may have 16777216 bytes"},
		read(t, "kind: List\nitems:\n"+item+item+"- kind: X\r- kind: X\n"+item).errors)
}

// TestStreaming sees objects before their stream is read to the end.
func TestStreaming(t *testing.T) {
	const objects = 5000
	for name, body := range map[string]string{
		"yaml": "kind: X\n---\n", "json": "{\"kind\":\"X\"}\n", "mixed": "{\"kind\":\"X\"}\n---\nkind: X\n---\n",
	} {
		in := &counter{r: repeat("", body, 1<<30)}
		n := 0
		for _, err := range manifest.Read("f", in) {
			require.NoError(t, err)
			if n++; n == objects {
				break
			}
		}
		assert.Less(t, in.n, objects*len(body)+1<<20, name)
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestDepth(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"json", `{"kind":"X","a":` + strings.Repeat("[", 100_000), "f:1: invalid json: exceeded max depth"},
		{"json objects", strings.Repeat(`{"a":`, 100_000), "f:1: invalid json: exceeded max depth"},
		{"yaml brackets", "kind: X\na: " + strings.Repeat("[", 100_000), "f:2: exceeded max depth of 10000"},
		{"yaml braces", "kind: X\na: " + strings.Repeat("{a: ", 100_000), "f:2: exceeded max depth of 10000"},
		{"yaml dashes", "kind: X\na:\n" + strings.Repeat("- ", 100_000), "f:3: exceeded max depth of 10000"},
		{"yaml questions", "kind: X\na:\n  " + strings.Repeat("? ", 100_000), "f:3: exceeded max depth of 10000"},
	} {
		got := read(t, c.text)
		assert.Empty(t, got.objects, c.name)
		assert.Equal(t, []string{c.want}, got.errors, c.name)
	}

	// Depth itself is no error.
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for _, text := range []string{`{"kind":"X","a":` + deep + "}", "kind: X\na: " + deep + "\n"} {
		got := read(t, text)
		require.Empty(t, got.errors)
		assert.Equal(t, strings.Count(text[:12], "\n")+1, got.objects[0].LineOf("/a"+strings.Repeat("/0", 1000)))
	}
}

// TestAliasBombs are texts of a few KB that would fill the memory, some for the
// YAML engine, some only as JSON.
func TestAliasBombs(t *testing.T) {
	laughs := "a0: &a0 [x]\n"
	for i := 1; i < 30; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	merges := "a0: &a0 {x: 1}\n"
	for i := 1; i < 30; i++ {
		merges += fmt.Sprintf("a%d: &a%d {<<: [%s*a%d]}\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	half := strings.Repeat("[", 9000) + "%s" + strings.Repeat("]", 9000)
	chain := "a0: &a0 [x]\n"
	for i := 1; i < 3; i++ {
		chain += fmt.Sprintf("a%d: &a%d "+half+"\n", i, i, fmt.Sprintf("*a%d", i-1))
	}
	for _, c := range []struct{ name, text, want string }{
		{"billion laughs", laughs, "f:1: document contains excessive aliasing"},
		{"billion merges", merges, "f:1: document contains excessive aliasing"},
		{"a long string", "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a, ", 200) + "]\n", "f:2: aliases expand the document too far"},
		{"a long key", "a: &a {? " + strings.Repeat("x", 100_000) + " : 1}\nb: [" + strings.Repeat("*a, ", 200) + "]\n", "f:2: aliases expand the document too far"},
		{"a deep chain", chain, "f:3: nested more than 10000 levels deep"},
	} {
		for _, text := range []string{"kind: X\n" + c.text, "kind: X\n" + c.text + "merge: {<<: {}}\n"} {
			got := read(t, text)
			assert.Empty(t, got.objects, c.name)
			assert.Equal(t, []string{c.want}, got.errors, c.name)
		}
	}
}

// TestDenseYAML has texts whose values would take a hundred times their size.
func TestDenseYAML(t *testing.T) {
	for _, text := range []string{
		"kind: X\na: [" + strings.Repeat("a,", 1_000_000) + "]\n",
		"kind: X\na:\n" + strings.Repeat("-\n", 1_000_000),
		"kind: X\na: {" + strings.Repeat("a,", 1_000_000) + "}\n",
	} {
		assert.Equal(t, []string{"f:1: too large: a YAML document may have 1000000 values"}, read(t, text).errors)
	}
}

// TestBytes reads every byte at every kind of place without a panic.
func TestBytes(t *testing.T) {
	for _, text := range []string{"kind: X\na: ?\n", "kind: ?X\n", "?\n", "kind: X\n?---\n", `{"kind":"X?"}`, `{"kind":"X"}?`, "kind: List\nitems:\n-? kind: X\n"} {
		for b := range 256 {
			text := bytes.ReplaceAll([]byte(text), []byte("?"), []byte{byte(b)})
			for object, err := range manifest.Read("f", bytes.NewReader(text)) {
				assert.True(t, (object == nil) != (err == nil))
			}
		}
	}
}
