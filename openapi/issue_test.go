package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// A key of a file must not forge a line of the report, nor drive the terminal.
func TestIssuesAreOnePrintableLine(t *testing.T) {
	text := strings.Replace(vmi(), `"metadata":{`, `"metadata":{"labels":{"k\nother.yaml:1: /spec: forged\u001b[2J\u009b\u202e`+"\xff"+`é\\":5},`, 1)
	issues := load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(text))
	require.Len(t, issues, 2)
	assert.Equal(t, "/metadata/labels/k\nother.yaml:1: ~1spec: forged\x1b[2J\u009b\u202e\ufffdé\\", issues[1].Pointer, "the exact key")
	assert.Equal(t, `/metadata/labels/k\nother.yaml:1: ~1spec: forged\x1b[2J\u009b\u202e`+"\ufffdé"+`\: must be a string, not a number, got 5 (type)`, issues[1].String())

	for _, row := range []struct {
		issue openapi.Issue
		want  string
	}{
		{openapi.Issue{Rule: "r", Message: "a\r\nb\tc"}, `a\r\nb\tc (r)`},
		{openapi.Issue{Rule: "r\n", Message: "m"}, `m (r\n)`},
		{openapi.Issue{Rule: "enum", Message: `must match ^\d$`, Value: "\"\x7f\u0085\u2028\""}, `must match ^\d$, got "\x7f\u0085\u2028" (enum)`},
		{openapi.Issue{Rule: "r", Message: "not UTF-8: \xff"}, `not UTF-8: \xff (r)`},
	} {
		assert.Equal(t, row.want, row.issue.String())
		assert.Equal(t, row.want, openapi.Issues{row.issue}.Error())
	}
}

func TestIssuesAsJSONAreExact(t *testing.T) {
	told, err := json.Marshal(openapi.Issue{Pointer: "/a\nb", Rule: "r", Message: "m"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"pointer":"/a\nb","rule":"r","message":"m"}`, string(told))
}
