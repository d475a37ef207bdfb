package kubeconfig_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The package is imported into other people's programs, so every module that it may
// bring along is named here.
func TestModuleBudget(t *testing.T) {
	assert.Equal(t, []string{
		"github.com/vmikit/vmikit",
		"go.yaml.in/yaml/v3", // kubeconfig files are YAML
	}, deps(t, "{{with .Module}}{{.Path}}{{end}}"))
}

// Of this module it may import nothing.
func TestPackageBudget(t *testing.T) {
	assert.Equal(t, []string{"github.com/vmikit/vmikit/client/kubeconfig"},
		deps(t, `{{with .Module}}{{if eq .Path "github.com/vmikit/vmikit"}}{{$.ImportPath}}{{end}}{{end}}`))
}

// deps lists what a template says about the packages that kubeconfig is built from.
func deps(t *testing.T, format string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").Output()
	require.NoError(t, err)
	return slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
}
