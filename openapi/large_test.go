package openapi_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// Texts made to be expensive. Memory and time have to stay in proportion to the
// size; the test runs out of either otherwise. Most are of 1 MiB, to be quick;
// where the issues are dearest it is 3 MiB, the most that an API server takes.
func TestLargeTexts(t *testing.T) {
	const size, largest = 1 << 20, 3 << 20
	repeat := func(s string) string { return strings.TrimSuffix(strings.Repeat(s, size/len(s)), ",") }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	long := strings.Repeat("k", size/3)
	for name, text := range map[string]string{
		"nested arrays":               strings.Repeat("[", largest),
		"nested objects":              strings.Repeat(`{"a":`, largest/5),
		"items of a wrong type":       vmi(`"status":{"conditions":[` + strings.Repeat("1,", largest/2) + `1]}`),
		"items with several faults":   vmi(`"status":{"conditions":[` + repeat(`{"status":1},`) + `]}`),
		"unnamed items":               vmi(`"spec":{"volumes":[` + repeat(`{},`) + `]}`),
		"labels of a wrong type":      `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","labels":{` + numbered(`"%d":1,`) + `}}}`,
		"many small lists":            vmi(`"status":{"interfaces":[` + repeat(`{"ipAddresses":[1,2,3,4,5,6,7,8,9]},`) + `]}`),
		"the same key":                vmi(`"status":{` + repeat(`"phase":"Running",`) + `}`),
		"keys of another case":        vmi(`"status":{` + repeat(`"Phase":"Running",`) + `}`),
		"unknown keys":                vmi(`"status":{` + numbered(`"%d":1,`) + `}`),
		"integers out of range":       vmi(`"spec":{"affinity":{"a":[` + repeat(`9223372036854775808,`) + `]}}`),
		"invalid UTF-8":               vmi(`"spec":{"affinity":{"a":[` + repeat("\"\xff\",") + `]}}`),
		"one number":                  vmi(`"spec":{"domain":{"cpu":{"cores":` + strings.Repeat("9", size) + `}}}`),
		"one string":                  vmi(`"status":{"phase":"` + strings.Repeat("x", size) + `"}`),
		"a long key above many":       vmi(`"spec":{"affinity":{"` + long + `":[` + strings.Repeat("1e999,", size/12) + `1]}}`),
		"many values":                 repeat("1 "),
		"a long path above many":      vmi(`"spec":{"affinity":` + strings.Repeat(`{"`+long[:1000]+`":`, 900) + `[` + strings.Repeat("1e999,", size/12) + `1]` + strings.Repeat("}", 900) + `}`),
		"a deep path to many strings": vmi(`"spec":{"affinity":` + strings.Repeat(`[`, 900) + strings.Repeat(`"a\ud800",`, size/20) + `1` + strings.Repeat("]", 900) + `}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issues := load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(text), openapi.Strict())
			require.NotEmpty(t, issues)
			assert.LessOrEqual(t, len(issues), 1001)
			if len(issues) == 1001 {
				assert.Equal(t, openapi.RuleTooManyIssues, issues[1000].Rule)
			}
			for _, i := range issues {
				assert.LessOrEqual(t, len(i.Pointer), 4200)
				assert.LessOrEqual(t, len([]rune(i.Value)), 80)
			}
		})
	}
}

// A fault in each of a million values must not cost what a million issues do.
func TestMemoryOfManyIssues(t *testing.T) {
	const size = 3 << 20
	var labels strings.Builder
	for i := 0; labels.Len() < size; i++ {
		fmt.Fprintf(&labels, `"%d":1,`, i)
	}
	for name, row := range map[string]struct {
		text string
		most uint64 // bytes allocated for each byte of text
	}{
		"items":   {vmi(`"status":{"conditions":[` + strings.Repeat("1,", size/2) + `1]}`), 100},
		"members": {strings.Replace(vmi(), `"metadata":{`, `"metadata":{"labels":{`+labels.String()+`"a":1},`, 1), 30},
	} {
		d := load(t, openapi.ProfileKubeVirt)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		issues := d.ValidateObject([]byte(row.text))
		runtime.ReadMemStats(&after)
		assert.Len(t, issues, 1001, name)
		assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/size, row.most, name)
	}
}

// Of a large text, too, all issues are told while there are not too many.
func TestLargeTextsWithSomeIssues(t *testing.T) {
	const faults = 900
	item := `{"name":1,"x":"` + strings.Repeat("x", 100) + `"}`
	text := vmi(`"spec":{"volumes":[` + strings.Repeat(item+",", faults-1) + item + `]}`)
	require.Greater(t, len(text), 64<<10)
	issues := load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(text))
	assert.Len(t, issues, faults)
	assert.False(t, issues.Has(openapi.RuleTooManyIssues))
}
