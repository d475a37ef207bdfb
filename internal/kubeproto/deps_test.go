package kubeproto_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports: google.golang.org/protobuf has no modules behind it but that of its
// tests. Of it only the wire format is used, neither messages nor reflection.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	assert.Equal(t, []string{"github.com/vmikit/vmikit", "google.golang.org/protobuf"},
		slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))))

	packages, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	assert.Contains(t, string(packages), "google.golang.org/protobuf/encoding/protowire\n")
	assert.NotContains(t, string(packages), "google.golang.org/protobuf/reflect")
	assert.NotContains(t, string(packages), "google.golang.org/protobuf/proto\n")
}
