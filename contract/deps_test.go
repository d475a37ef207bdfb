package contract_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A test of somebody's server imports this package, so it says here, by name,
// every module it may bring along.
func TestImports(t *testing.T) {
	allowed := []string{
		"github.com/vmikit/vmikit",
		// By way of package openapi, which enforces the document.
		"github.com/getkin/kin-openapi",
		"github.com/go-json-experiment/json",
		// By way of kin-openapi.
		"github.com/go-openapi/jsonpointer",
		"github.com/go-openapi/swag/jsonname",
		"github.com/santhosh-tekuri/jsonschema/v6",
		"go.yaml.in/yaml/v4",
		"golang.org/x/text",
		// By way of package manifest, which reads fixtures.
		"go.yaml.in/yaml/v2",
		"go.yaml.in/yaml/v3",
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, m := range slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))) {
		assert.Contains(t, allowed, m)
	}
	out, err = exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", ".").Output()
	require.NoError(t, err)
	for p := range strings.FieldsSeq(string(out)) {
		if own, ok := strings.CutPrefix(p, "github.com/vmikit/vmikit/"); ok {
			assert.Contains(t, []string{"contract", "openapi", "manifest"}, own, "the tester must not lean on what it tests")
		}
	}
}
