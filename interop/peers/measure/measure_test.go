package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is this program as one of its sides, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		main()
		return
	}
	os.Exit(m.Run())
}

// Each figure is there. None is looked at: how long something takes is no matter for a
// test.
func TestMeasureListsAndMemory(t *testing.T) {
	var out bytes.Buffer
	b := &bench{out: &out, log: os.Stderr, lists: []int{0, 30}, stream: 1001, turns: 1}
	b.heading()
	require.NoError(t, b.measureLists(t.Context()))
	require.NoError(t, b.measureMemory(t.Context()))
	t.Log("\n" + out.String())
	assert.Len(t, regexp.MustCompile(`(?m)^List of (0|30), .*: (CPU ms|MB) +[\d.]+ +[\d.]+ `).FindAllString(out.String(), -1), 8)
	assert.Len(t, regexp.MustCompile(`(?m)^All 1001 .*: MB of heap at most +[\d.]+ +<= 30 (met|missed)$`).FindAllString(out.String(), -1), 2)
}

func TestVerdicts(t *testing.T) {
	for want, row := range map[string]struct {
		ours, theirs float64
		goal         goal
	}{
		`x +10 +90 +1/9 +1/8 met`:                  {10, 90, goal{part: 1. / 8}},
		`x +10 +79 +1/7\.90 +1/8 missed`:           {10, 79, goal{part: 1. / 8}},
		`x +9\.50 +50\.5 +1/5\.32 +1/4, <= 9 miss`: {9.5, 50.5, goal{part: 1. / 4, most: 9}},
		`x +8 +30 +1/3\.75 +1/4, <= 9 missed`:      {8, 30, goal{part: 1. / 4, most: 9}},
		`x +8 +32 +1/4 +1/4, <= 9 met`:             {8, 32, goal{part: 1. / 4, most: 9}},
		`x +0\.0125 +<= 30 met`:                    {0.0125, 0, goal{most: 30}},
		`x +0 +3 +- +\n`:                           {0, 3, goal{}},
	} {
		var out bytes.Buffer
		(&bench{out: &out}).row("x", row.ours, row.theirs, row.goal)
		assert.Regexp(t, want, out.String())
	}
}

// What a program with client and kubeconfig depends on; the budgets of the packages name
// the reasons.
func TestModulesOfOurProgram(t *testing.T) {
	modules, err := (&bench{}).modules(t.Context(), ourProgram)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"github.com/apapsch/go-jsonmerge/v2",
		"github.com/google/uuid",
		"github.com/oapi-codegen/runtime",
		"github.com/vmikit/vmikit",
		"go.yaml.in/yaml/v3",
	}, modules)
	size, cpu, err := (&bench{}).build(t.Context(), ourProgram)
	require.NoError(t, err)
	assert.Positive(t, size)
	assert.Positive(t, cpu)
}

// The other side is counted without being built.
func TestModulesOfTheirProgram(t *testing.T) {
	modules, err := (&bench{}).modules(t.Context(), theirProgram)
	require.NoError(t, err)
	assert.Contains(t, modules, "kubevirt.io/client-go")
	assert.Greater(t, len(modules), 40)
	t.Log(len(modules))
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"nosuch"}, {"-nosuch"}, {childArgument}, {childArgument, "nosuch", "", "1", "1"}, {childArgument, "nosuch", "", "1"}} {
		assert.Error(t, run(t.Context(), args, io.Discard, io.Discard), "%q", args)
	}
}
