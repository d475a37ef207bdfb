package manifest_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// walk shows what Walk yields as file:line kind, or the error.
func walk(paths []string, stdin io.Reader) []string {
	var got []string
	for object, err := range manifest.Walk(paths, stdin) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprintf("%s:%d %s", object.File, object.Line, object.Kind))
	}
	return got
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"all/b.yaml":        "kind: B\n",
		"all/a.yml":         "kind: A\n---\nkind: A\n",
		"all/c.json":        "{\"kind\":\"C\"}\n",
		"all/d.YAML":        "kind: D\n",
		"all/README.md":     "# no manifest\n",
		"all/empty.yaml":    "",
		"all/sub/e.yaml":    "kind: E\n",
		"all/dir.yaml/f":    "kind: F\n",
		"sub/only/e.yaml":   "kind: E\n",
		"manifest.txt":      "kind: T\n",
		"broken/a.yaml":     "a: b: c\n",
		"broken/b.yaml":     "kind: B\n",
		"nothing/README.md": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	require.NoError(t, os.Symlink("../manifest.txt", "all/link.yaml"))
	require.NoError(t, os.Symlink("nowhere", "broken/c.yaml"))

	const none = ": the directory has no .json, .yaml, .yml files (subdirectories are not read)"
	for _, c := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"directory", []string{"all"}, []string{"all/a.yml:1 A", "all/a.yml:3 A", "all/b.yaml:1 B", "all/c.json:1 C", "all/link.yaml:1 T"}},
		{"any extension when named, in the order given", []string{"manifest.txt", "all/d.YAML"}, []string{"manifest.txt:1 T", "all/d.YAML:1 D"}},
		{"standard input", []string{"-", "all/b.yaml"}, []string{"<stdin>:2 S", "all/b.yaml:1 B"}},
		{"errors go on", []string{"broken", "nosuch", "all/b.yaml"}, []string{
			"broken/a.yaml:1: mapping values are not allowed in this context", "broken/b.yaml:1 B",
			"broken/c.yaml: no such file or directory", "nosuch: no such file or directory", "all/b.yaml:1 B"}},
		{"directories without manifests", []string{"nothing", "sub"}, []string{"nothing" + none, "sub" + none}},
		{"empty file", []string{"all/empty.yaml"}, nil},
		{"nothing", nil, nil},
	} {
		assert.Equal(t, c.want, walk(c.paths, strings.NewReader("\nkind: S\n")), c.name)
	}
	assert.Equal(t, []string{"<stdin>: there is no standard input"}, walk([]string{"-"}, nil))

	for _, err := range manifest.Walk([]string{"nosuch"}, nil) {
		assert.ErrorIs(t, err, fs.ErrNotExist)
	}
	n := 0
	for range manifest.Walk([]string{"all", "all"}, nil) {
		n++
		break
	}
	assert.Equal(t, 1, n)
}

// The name of a file forges no line and drives no terminal; File has it exactly.
func TestErrorsAreOnePrintableLine(t *testing.T) {
	const name = "a\nb.yaml:1: forged\x1b[2J\u009b\u202e\xff \"é\\.yaml"
	for _, err := range manifest.Walk([]string{name}, nil) {
		assert.EqualError(t, err, `a\nb.yaml:1: forged\x1b[2J\u009b\u202e\xff "é\.yaml: no such file or directory`)
		var e *manifest.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, name, e.File)
	}
	for _, err := range manifest.Read("\t", strings.NewReader("\n[]")) {
		assert.EqualError(t, err, `\t:2: a JSON array is not a Kubernetes object; put the objects one after another or into the items of a List`)
	}
}

func TestWalkUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, nil, 0))
	assert.Equal(t, []string{path + ": permission denied"}, walk([]string{path}, nil))
}

// TestReadError yields what came whole and the error at its line, and does not
// take half a document for a whole one.
func TestReadError(t *testing.T) {
	broken := errors.New("connection lost")
	for text, want := range map[string]string{
		"":                                     "1: read: connection lost",
		"kind: X\n":                            "2: read: connection lost",
		"kind: X\n---\nkind: Y\na: 1\n":        "5: read: connection lost",
		"kind: X\n---\n{\"kind\":\"Y\",\n":     "3: read: connection lost",
		"{\"kind\":\"X\"}\n{\"kind\":\"Y\",\n": "2: read: connection lost",
		"{\"kind\":\"X\"}\n":                   "2: read: connection lost",
	} {
		for _, chunk := range []func(io.Reader) io.Reader{iotest.DataErrReader, iotest.OneByteReader, iotest.HalfReader} {
			var kinds, errs []string
			r := chunk(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
			for object, err := range manifest.Read("f", r) {
				if err != nil {
					assert.ErrorIs(t, err, broken)
					errs = append(errs, err.Error())
					continue
				}
				kinds = append(kinds, object.Kind)
			}
			assert.Equal(t, []string{"f:" + want}, errs, "%q", text)
			assert.Equal(t, strings.Count(text, "X")-map[bool]int{true: 1}[text == "kind: X\n"], len(kinds), "%q", text)
		}
	}
	for _, err := range manifest.Read("f", idleReader{}) {
		assert.ErrorIs(t, err, io.ErrNoProgress)
	}
}

// idleReader never reads anything.
type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }
