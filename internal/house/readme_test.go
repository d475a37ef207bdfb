package house_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/command"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	return string(text)
}

// The program in the README is the example, which is compiled and run.
func TestReadmeProgramIsTheExample(t *testing.T) {
	program, err := os.ReadFile("../../examples/quickstart/main.go")
	require.NoError(t, err)
	_, body, found := strings.Cut(string(program), "\npackage main\n")
	require.True(t, found)
	assert.Contains(t, readme(t), "```go\npackage main\n"+body+"```\n")
}

// What the README shows of validate is what it prints.
func TestReadmeShowsWhatValidatePrints(t *testing.T) {
	text := readme(t)
	t.Chdir("testdata")
	var out bytes.Buffer
	assert.Equal(t, 1, command.Main([]string{"validate", "broken.yaml"}, strings.NewReader(""), &out, &out))
	var shown strings.Builder
	for line := range strings.Lines(out.String()) {
		shown.WriteString("    " + line)
	}
	assert.Contains(t, text, "    $ vmikit validate broken.yaml\n"+shown.String())
}

// Every subcommand that the README names is there, and takes the flags shown.
func TestReadmeCommandsExist(t *testing.T) {
	for _, m := range regexp.MustCompile(`(?m)^ +(?:\$ )?vmikit ([a-z]+)(.*)`).FindAllStringSubmatch(readme(t), -1) {
		var help bytes.Buffer
		require.Equal(t, 0, command.Main([]string{m[1], "--help"}, strings.NewReader(""), &help, &help), m[0])
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(m[2], -1) {
			assert.Contains(t, help.String(), flag, m[0])
		}
	}
}
