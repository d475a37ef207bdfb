package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each row of DIFFERENCES.md is known by its first cell, and shown to be so: by an answer
// in testdata/recorded/differences.txt, by a function in shown, or by the test below a
// comment "Differs: first cell". What one of them names must be a row, so that neither
// outlives the other.
func TestDifferencesAreShown(t *testing.T) {
	rows := differenceRows(t)
	by := make(map[string][]string)
	for _, r := range readDifferences(t).reasons {
		by[r] = append(by[r], listFile)
	}
	for r := range shown {
		by[r] = append(by[r], "shown")
	}
	for r, test := range testsThatDiffer(t) {
		by[r] = append(by[r], test)
	}
	for _, r := range rows {
		assert.NotEmpty(t, by[r], "DIFFERENCES.md: nothing shows that this is so: %s", r)
	}
	for r, places := range by {
		assert.True(t, slices.Contains(rows, r) || strings.HasPrefix(r, noCluster), "%s: no row of DIFFERENCES.md begins with: %s", places, r)
	}
}

func TestShownDifferences(t *testing.T) {
	for row, show := range shown {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			show(t)
		})
	}
}

// differs is the comment of a test, or of some lines of one, that show a row.
var differs = regexp.MustCompile(`(?m)^\s*// Differs: (.+)$`)

// testsThatDiffer are the files whose comments name rows.
func testsThatDiffer(t *testing.T) map[string]string {
	t.Helper()
	named := make(map[string]string)
	for _, pattern := range []string{"*_test.go", "*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range differs.FindAllStringSubmatch(string(data), -1) {
				named[m[1]] = file
			}
		}
	}
	return named
}
