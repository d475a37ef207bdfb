package manifest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// TestCorpus reads the objects that package openapi judges: one from each file,
// with the name that stands in its text.
func TestCorpus(t *testing.T) {
	const dir = "../openapi/testdata/corpus"
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	nameIn := regexp.MustCompile(`(?m)^metadata:\n(?:  .*\n)*?  name: (.*)\n`)

	var read []string
	for object, err := range manifest.Walk([]string{dir}, nil) {
		require.NoError(t, err)
		read = append(read, object.File)
		name := filepath.Base(object.File)
		text, err := os.ReadFile(object.File)
		require.NoError(t, err)
		want := ""
		if match := nameIn.FindSubmatch(text); match != nil {
			want = string(match[1])
		}
		assert.Equal(t, want, object.Name, name)
		assert.Equal(t, "VirtualMachineInstance", object.Kind, name)
		assert.NotEmpty(t, object.APIVersion, name)
		for _, pointer := range []string{"/kind", "/metadata", "/spec", "/status", "/spec/domain/devices/disks/0"} {
			line := object.LineOf(pointer)
			assert.GreaterOrEqual(t, line, object.Line, "%s %s", name, pointer)
		}
	}
	assert.Equal(t, files, read)
}
