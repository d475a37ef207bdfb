package command_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/command"
)

func TestVersion(t *testing.T) {
	got := vmikit(t, "version")
	assert.Equal(t, 0, got.code)
	assert.Regexp(t, `^vmikit \S+( \([0-9a-f]+, \S+\))? go\S+ \w+/\w+\n$`, got.stdout)

	got = vmikit(t, "version", "-o", "json")
	assert.Equal(t, 0, got.code)
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &v))
	assert.Equal(t, runtime.Version(), v["go"])
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, v["platform"])
	assert.NotEmpty(t, v["version"])
}

func TestMainRunsACommandLine(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, command.Main([]string{"version"}, nil, &stdout, &stderr))
	assert.Equal(t, vmikit(t, "version"), outcome{0, stdout.String(), stderr.String()})
}
