package manifest_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImports names every module that reading manifests may bring along: the
// YAML engine of kubectl, its successor for line numbers, and a JSON tokenizer
// that lets duplicate names pass.
func TestImports(t *testing.T) {
	allowed := []string{
		"github.com/vmikit/vmikit",
		"go.yaml.in/yaml/v2",
		"go.yaml.in/yaml/v3",
		"github.com/go-json-experiment/json",
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, module := range slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))) {
		if !slices.Contains(allowed, module) {
			t.Errorf("package manifest imports module %s, which is not in its budget", module)
		}
	}

	out, err = exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	require.NotContains(t, string(out), "github.com/vmikit/", "package manifest stands alone")
}
