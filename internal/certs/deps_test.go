package certs_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Certificates are the standard library's; YAML is for the kubeconfig. Of our
// own packages there is none but this one.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	packages := slices.Sorted(strings.FieldsSeq(string(out)))
	assert.Equal(t, []string{"github.com/vmikit/vmikit/internal/certs", "go.yaml.in/yaml/v3"}, packages)
}
