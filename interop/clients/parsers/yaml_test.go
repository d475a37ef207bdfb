package parsers_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/vmikit/vmikit/manifest"
)

// corpus is the directory of the machines that people have met.
const corpus = "../../../openapi/testdata/corpus"

// boundary finds the markers between documents, which sigs.k8s.io/yaml knows
// nothing about: it reads one document and drops the rest.
var boundary = regexp.MustCompile("(?:^\ufeff?|[\n\r\u0085\u2028\u2029])(?:---|\\.\\.\\.)")

// blockList finds the key of a List whose items may be read one at a time.
var blockList = regexp.MustCompile("(?m)^items:")

// verdict says what a text was, so that a run can say that it has seen all kinds.
type verdict string

const (
	docSkipped verdict = "skipped" // of no meaning for the comparison
	docRefused verdict = "refused by both"
	docEmpty   verdict = "without content"
	docForeign verdict = "no Kubernetes object"
	docObject  verdict = "an object"
	docList    verdict = "a List"
)

// compareYAML holds package manifest to sigs.k8s.io/yaml for one document: what
// one refuses the other refuses, and what they read is equal as JSON. A List is
// its items.
//
// What is different, and why:
//   - sigs.k8s.io/yaml knows nothing of the markers between documents, and drops
//     text behind a complete document, which the package refuses.
//   - The package keeps keys that are there twice, so that a validator can report
//     them, and refuses what has no JSON form under any of them; of these only
//     the last one is looked at there.
//   - Of two keys that are one in JSON, such as 1 and "1", sigs.k8s.io/yaml takes
//     any, and a key that is not a number is equal to nothing, itself included.
//   - A List is read item by item, so the items before a broken one are read.
func compareYAML(t require.TestingT, text string) verdict {
	want, refErr, comparable := reference(text)
	if !comparable {
		return docSkipped
	}
	got, errs := readManifest(text)
	if refErr != nil {
		if !blockList.MatchString(text) {
			require.Empty(t, got, "sigs.k8s.io/yaml refuses %q: %v", text, refErr)
		}
		require.NotEmpty(t, errs, "sigs.k8s.io/yaml refuses %q: %v", text, refErr)
		return docRefused
	}
	if want == nil {
		require.Empty(t, got, "%q is null to sigs.k8s.io/yaml", text)
		requireOnlyTrailing(t, text, errs)
		return docEmpty
	}
	if keysRepeat([]byte(text)) && slices.ContainsFunc(errs, hasNoJSONForm) {
		return docSkipped
	}
	objects, failures := objectsOf(want, nil)
	require.Equal(t, objects, got, "objects of %q; errors: %v", text, errs)
	if failures == 0 {
		requireOnlyTrailing(t, text, errs)
	} else {
		require.GreaterOrEqual(t, len(errs), failures, "%q has what is no object", text)
	}
	switch m, _ := want.(map[string]any); {
	case isList(m):
		return docList
	case len(objects) == 0:
		return docForeign
	}
	return docObject
}

// reference decodes the text with sigs.k8s.io/yaml, or with encoding/json if it
// is JSON, which kubectl does not take for YAML. Texts that are not comparable
// are those that compareYAML leaves out.
func reference(text string) (value any, err error, comparable bool) {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&value) == nil {
			_, err := d.Token()
			return value, nil, err == io.EOF
		}
	}
	if boundary.MatchString(text) || keysAreUnclear([]byte(text)) {
		return nil, nil, false
	}
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err, true
	}
	return decode(converted), nil, true
}

// decode reads JSON with numbers as they are written. Of members named twice
// the last one counts.
func decode(data []byte) any {
	var value any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return err // equals no value
	}
	return value
}

// objectsOf are the objects that a decoded document stands for and the number
// of places where there should be one.
func objectsOf(value any, list map[string]any) (objects []any, failures int) {
	m, ok := value.(map[string]any)
	if !ok {
		return nil, 1
	}
	if isList(m) {
		items, _ := m["items"].([]any)
		for _, item := range items {
			inner, failed := objectsOf(item, m)
			objects, failures = append(objects, inner...), failures+failed
		}
		return objects, failures
	}
	kind, _ := m["kind"].(string)
	if inherited := itemKind(list); inherited != "" && !has(m, "kind") && !has(m, "apiVersion") {
		kind = inherited
		m["kind"], m["apiVersion"] = inherited, member(list, "apiVersion")
	}
	if kind == "" {
		return nil, 1
	}
	return []any{m}, 0
}

func isList(m map[string]any) bool {
	if !strings.HasSuffix(member(m, "kind"), "List") || !has(m, "items") {
		return false
	}
	_, array := m["items"].([]any)
	return array || m["items"] == nil
}

// itemKind is the kind of items that do not say their own.
func itemKind(list map[string]any) string {
	return strings.TrimSuffix(member(list, "kind"), "List")
}

func member(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

func has(m map[string]any, name string) bool {
	_, ok := m[name]
	return ok
}

func readManifest(text string) (objects []any, errs []error) {
	for object, err := range manifest.Read("test.yaml", strings.NewReader(text)) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		objects = append(objects, decode(object.JSON))
	}
	return objects, errs
}

// hasNoJSONForm recognizes the refusal of a value that YAML can express and
// JSON cannot.
func hasNoJSONForm(err error) bool {
	return strings.Contains(err.Error(), "JSON form") || strings.Contains(err.Error(), "as a key")
}

// requireOnlyTrailing allows the one error that a document may have which
// sigs.k8s.io/yaml reads: that there is more text behind it.
func requireOnlyTrailing(t require.TestingT, text string, errs []error) {
	for _, err := range errs {
		require.ErrorContains(t, err, "text after the end of the document", "sigs.k8s.io/yaml reads %q", text)
	}
}

// TestYAML compares random documents, one third of them broken.
func TestYAML(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	seen := map[verdict]int{}
	for range 25_000 {
		seen[compareYAML(t, randomYAML(r))]++
	}
	t.Logf("%v", seen)
	for _, v := range []verdict{docRefused, docObject, docList} {
		assert.Greater(t, seen[v], 2_000, v)
	}
	for _, v := range []verdict{docEmpty, docForeign} {
		assert.Greater(t, seen[v], 20, v)
	}
	assert.Less(t, seen[docSkipped], 1_000)
}

// TestYAMLOfOneScalar walks through everything that a plain scalar can be taken
// for, as a value, as a key and as an element.
func TestYAMLOfOneScalar(t *testing.T) {
	t.Parallel()
	seen := map[verdict]int{}
	forms := []string{
		"kind: K\nv: %s\n", "kind: K\n%s: v\n", "kind: K\nv: [%s]\n", "kind: K\nv: {%s: 1}\n", "kind: K\nv:\n- %s\n", "kind: K\n? %s\n: v\n",
		"kind: %s\n", "%s", "kind: K\nv: &a %s\nw: *a\n", "kind: K\nm: &m {%s: 1}\nv:\n  <<: *m\n",
	}
	for _, scalar := range slices.Concat(plainScalars, quotedScalars) {
		for _, form := range forms {
			seen[compareYAML(t, strings.Replace(form, "%s", scalar, 1))]++
		}
		for _, tag := range yamlTags {
			for _, form := range forms[:3] {
				seen[compareYAML(t, strings.Replace(form, "%s", tag+scalar, 1))]++
			}
		}
	}
	t.Logf("%v", seen)
	assert.Greater(t, seen[docObject], 1_000)
	assert.Greater(t, seen[docRefused], 100)
}

// TestYAMLOfTheCorpus reads the machines that people have met.
func TestYAMLOfTheCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpus, "*.yaml"))
	require.NoError(t, err)
	require.Greater(t, len(files), 30)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, docObject, compareYAML(t, string(data)), file)
		indented := "  " + strings.ReplaceAll(strings.TrimRight(string(data), "\n"), "\n", "\n  ")
		assert.Equal(t, docList, compareYAML(t, "apiVersion: v1\nkind: List\nitems:\n- \n"+indented+"\n"), file)
	}
}

// TestYAMLStreams reads several documents one after the other, cut apart as
// kubectl does it. A document that is refused costs the others nothing.
func TestYAMLStreams(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	streams, read, refused := 0, 0, 0
	for range 3_000 {
		stream := pick(r, []string{"", "---\n", "# first\n---\n", "\n"})
		for range 1 + r.IntN(4) {
			stream += (&yamlWriter{r: r}).object(0) + pick(r, []string{"---\n", "--- # next\n", "---\n---\n", "\n---\n# more\n", "---  \n\n"})
		}
		want, failures, comparable := referenceStream(t, stream)
		if !comparable {
			continue
		}
		got, errs := readManifest(stream)
		require.Equal(t, want, got, "%q: %v", stream, errs)
		require.Len(t, errs, failures, "%q: %v", stream, errs)
		streams, read, refused = streams+1, read+len(got), refused+failures
	}
	t.Logf("%d streams of %d objects and %d documents that are none", streams, read, refused)
	assert.Greater(t, streams, 1_000)
	assert.Greater(t, read, 1_000)
	assert.Greater(t, refused, 200)
}

// referenceStream reads a stream as kubectl does, but for going on after a
// document that cannot be read.
func referenceStream(t *testing.T, stream string) (objects []any, failures int, comparable bool) {
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(stream))); ; {
		document, err := documents.Read()
		if err == io.EOF {
			return objects, failures, true
		}
		require.NoError(t, err)
		if keysAreUnclear(document) || keysRepeat(document) {
			return nil, 0, false
		}
		switch converted, err := yaml.YAMLToJSON(document); {
		case err != nil:
			failures++
		case string(converted) != "null":
			inner, failed := objectsOf(decode(converted), nil)
			objects, failures = append(objects, inner...), failures+failed
		}
	}
}

func FuzzYAML(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		f.Add(randomYAML(r))
	}
	for _, s := range plainScalars {
		f.Add("kind: K\nv: " + s + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 4<<10 { // far from the limits of either
			compareYAML(t, text)
		}
	})
}
