package proxy_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Beyond package contract the proxy needs the standard library alone, so its budget
// is that of package contract.
func TestImports(t *testing.T) {
	modules := func(pattern string) []string {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pattern).Output()
		require.NoError(t, err)
		return slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	}
	assert.Equal(t, modules(".."), modules("."))
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	require.NoError(t, err)
	for path := range strings.FieldsSeq(string(out)) {
		if strings.Contains(path, ".") {
			assert.Equal(t, "github.com/vmikit/vmikit/contract", path)
		}
	}
}
