package store_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A store is linked into every server, and its contract into the tests of
// other stores, in modules of their own; so each names every module that it
// may bring along, and imports no package of ours beyond these two.
func TestImports(t *testing.T) {
	for pkg, allowed := range map[string][]string{
		".": {"github.com/vmikit/vmikit", "github.com/tidwall/btree"},
		"./storetest": {
			"github.com/vmikit/vmikit", "github.com/tidwall/btree",
			"github.com/stretchr/testify", "go.yaml.in/yaml/v3", // the latter by way of testify
		},
	} {
		for _, module := range list(t, pkg, "{{with .Module}}{{.Path}}{{end}}") {
			assert.Contains(t, allowed, module, "%s imports a module that is not in its budget", pkg)
		}
		for _, path := range list(t, pkg, "{{.ImportPath}}") {
			if strings.HasPrefix(path, "github.com/vmikit/vmikit/") {
				assert.True(t, strings.HasPrefix(path, "github.com/vmikit/vmikit/server/store"), "%s imports %s", pkg, path)
			}
		}
	}
}

func list(t *testing.T, pkg, format string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", format, pkg).Output()
	require.NoError(t, err)
	return slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
}
