package client_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The client is imported into other people's programs, so every module that it may
// bring along is named here.
func TestModuleBudget(t *testing.T) {
	allowed := []string{
		"github.com/vmikit/vmikit",
		"github.com/oapi-codegen/runtime",    // path and query parameters of the generated client
		"github.com/apapsch/go-jsonmerge/v2", // by way of runtime
		"github.com/google/uuid",             // by way of runtime
	}
	for _, module := range deps(t, "{{with .Module}}{{.Path}}{{end}}") {
		assert.Contains(t, allowed, module, "package client imports a module that is not in its budget")
	}
}

// Of this module it may import the generated models and the generated client.
func TestPackageBudget(t *testing.T) {
	assert.Equal(t, []string{
		"github.com/vmikit/vmikit/client",
		"github.com/vmikit/vmikit/gen/vmi",
		"github.com/vmikit/vmikit/gen/vmiclient",
	}, deps(t, `{{with .Module}}{{if eq .Path "github.com/vmikit/vmikit"}}{{$.ImportPath}}{{end}}{{end}}`))
}

// deps lists what a template says about the packages that client is built from.
func deps(t *testing.T, format string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").Output()
	require.NoError(t, err)
	return slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
}
