package openapi_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/openapi"
)

// verdict is what is expected of one object: the broken rules, by profile.
type verdict map[openapi.Profile][]struct {
	Pointer string `yaml:"pointer"`
	Rule    string `yaml:"rule"`
}

func verdicts(t *testing.T) map[string]verdict {
	t.Helper()
	text, err := os.ReadFile("testdata/verdicts.yaml")
	require.NoError(t, err)
	var all map[string]verdict
	require.NoError(t, yaml.Unmarshal(text, &all))
	return all
}

func TestCorpusGetsItsVerdicts(t *testing.T) {
	objects, expected := corpusJSON(t), verdicts(t)
	for _, file := range slices.Sorted(maps.Keys(objects)) {
		for _, p := range openapi.Profiles() {
			t.Run(file+"/"+string(p), func(t *testing.T) {
				want, ok := expected[file][p]
				require.True(t, ok, "verdicts.yaml has no verdict")
				list := []string{}
				for _, w := range want {
					list = append(list, w.Pointer+" "+w.Rule)
				}
				assert.Equal(t, list, lines(load(t, p).ValidateObject(objects[file])))
			})
		}
	}
}

func TestEveryFileOfTheCorpusIsRead(t *testing.T) {
	expected := verdicts(t)
	index, err := os.ReadFile("testdata/corpus/INDEX.md")
	require.NoError(t, err)
	entries, err := os.ReadDir("testdata/corpus")
	require.NoError(t, err)
	var files []string
	for _, e := range entries {
		if e.Name() == "INDEX.md" {
			continue
		}
		assert.Equal(t, ".yaml", filepath.Ext(e.Name()), "%s is read by no test", e.Name())
		_, row, found := strings.Cut(string(index), "| "+e.Name()+" |")
		assert.True(t, found, "INDEX.md does not tell where %s comes from", e.Name())
		row, _, _ = strings.Cut(row, "\n")
		assert.Contains(t, row, columns(expected[e.Name()]), "INDEX.md differs from verdicts.yaml on %s", e.Name())
		files = append(files, e.Name())
	}
	assert.Equal(t, slices.Sorted(maps.Keys(expected)), files)
}

// columns returns the columns by profile as they stand in INDEX.md.
func columns(v verdict) string {
	row := "|"
	for _, p := range openapi.Profiles() {
		var cells []string
		for _, broken := range v[p] {
			cells = append(cells, broken.Pointer+" ["+broken.Rule+"]")
		}
		row += " " + cmp.Or(strings.Join(cells, "; "), "valid") + " |"
	}
	return row
}

// A cluster keeps every field of a real object, so real objects have no unknown
// ones; the one mock that was made of invented fields has.
func TestStrictKnowsTheFieldsOfRealObjects(t *testing.T) {
	d := load(t, openapi.ProfileKubeVirt)
	unknown := make(map[string][]string)
	for file, data := range corpusJSON(t) {
		for _, i := range d.ValidateObject(data, openapi.Strict()) {
			if i.Rule == openapi.RuleUnknownField {
				unknown[file] = append(unknown[file], i.Pointer)
			}
		}
	}
	assert.Equal(t, map[string][]string{"47-mock-v2v-unknown-fields.yaml": {
		"/spec/domain/os", "/spec/domain/resources/features", "/spec/networks/0/networkName", "/spec/preference",
	}}, unknown)
}
