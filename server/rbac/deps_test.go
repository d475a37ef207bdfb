package rbac_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Deciding who may do what needs the standard library only, so that it can be
// read as a whole.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	assert.Equal(t, []string{"github.com/vmikit/vmikit/server/rbac"}, strings.Fields(string(out)))
}
