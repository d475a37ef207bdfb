package openapi_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The package is imported by servers and testers of other people, so it says
// here, by name, every module that it may bring along.
func TestImports(t *testing.T) {
	allowed := []string{
		"github.com/vmikit/vmikit",
		"github.com/getkin/kin-openapi",      // enforces the keywords
		"github.com/go-json-experiment/json", // reads JSON and says what is wrong with it
		"go.yaml.in/yaml/v4",                 // reads the documents to compare them; kin-openapi brings it
		// the rest by way of kin-openapi
		"github.com/go-openapi/jsonpointer",
		"github.com/go-openapi/swag/jsonname",
		"github.com/santhosh-tekuri/jsonschema/v6",
		"golang.org/x/text",
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, m := range slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))) {
		assert.Contains(t, allowed, m, "package openapi imports a module that is not in its budget")
	}
	own, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", ".").Output()
	require.NoError(t, err)
	for path := range strings.FieldsSeq(string(own)) {
		if strings.HasPrefix(path, "github.com/vmikit/vmikit/") {
			assert.Equal(t, "github.com/vmikit/vmikit/openapi", path, "package openapi imports no other package of ours")
		}
	}
}
