package client_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// before has the other side's examples, in a module of its own.
const before = "../interop/peers/before"

var (
	goBlock     = regexp.MustCompile("(?s)([^\n]*)\n\n```go\n(.*?)```")
	startOfLine = regexp.MustCompile(`(?m)^(.)`)
	ourPaths    = regexp.MustCompile(`github\.com/vmikit/vmikit/([a-z/]+)`)
)

// What README.md shows is part of examples that are compiled and run: ours in this
// package, the other side's there.
func TestReadmeShowsWhatExamplesRun(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	readme := string(text)
	ours, theirs := examplesOf(t, "."), beforeExamples(t)
	shown := map[string]int{}
	for _, block := range goBlock.FindAllStringSubmatch(readme, -1) {
		label, lines := block[1], block[2]
		shown[label]++
		switch label {
		case "After:":
			assert.True(t, isPartOf(lines, ours), "no example has these lines:\n%s", lines)
		case "Before:", "Both:":
			assert.True(t, isPartOf(lines, theirs), "no example of %s has these lines:\n%s", before, lines)
		default:
			assert.Fail(t, "a block is neither before nor after", lines)
		}
	}
	assert.Greater(t, shown["After:"], 15)
	assert.Equal(t, shown["After:"], shown["Before:"])
	assert.Equal(t, strings.Count(readme, "```go\n"), shown["After:"]+shown["Before:"]+shown["Both:"], "a block has an empty line before it")
	for _, path := range ourPaths.FindAllStringSubmatch(readme, -1) {
		assert.DirExists(t, filepath.Join("..", path[1]))
	}
}

func TestBeforeAndAfterPrintTheSame(t *testing.T) {
	outputs := func(examples map[string]exampleText) map[string]string {
		outputs := map[string]string{}
		for name, e := range examples {
			if strings.HasPrefix(name, "_") { // those of the package as a whole
				outputs[name] = e.output
			}
		}
		return outputs
	}
	theirs := outputs(beforeExamples(t))
	delete(theirs, "_both") // is before and after in one
	assert.Equal(t, outputs(examplesOf(t, ".")), theirs)
}

// beforeExamples skips the test where this module is without the others of its
// repository, as in the cache of modules.
func beforeExamples(t *testing.T) map[string]exampleText {
	t.Helper()
	if _, err := os.Stat(before); os.IsNotExist(err) {
		t.Skip(before + " is not here")
	}
	return examplesOf(t, before)
}

// isPartOf reports whether the lines of a block follow each other in one of the
// examples, all of them indented by as much.
func isPartOf(block string, examples map[string]exampleText) bool {
	for indent := range 5 {
		shifted := "\n" + startOfLine.ReplaceAllString(block, strings.Repeat("\t", indent)+"$1")
		if slices.ContainsFunc(slices.Collect(maps.Values(examples)), func(e exampleText) bool { return strings.Contains(e.body, shifted) }) {
			return true
		}
	}
	return false
}
