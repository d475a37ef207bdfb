package openapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/openapi"
)

func TestOperationParameters(t *testing.T) {
	given, err := openapi.Load(openapi.ProfileDocument)
	require.NoError(t, err)
	assert.Equal(t, []openapi.Parameter{
		{Name: "namespace", In: "path", Required: true, Values: openapi.Values{Type: "string"}},
		{Name: "labelSelector", In: "query", Values: openapi.Values{Type: "string"}},
		{Name: "fieldSelector", In: "query", Values: openapi.Values{Type: "string"}},
		{Name: "limit", In: "query", Values: openapi.Values{Type: "integer", Minimum: new(1.0)}},
	}, given.Operation("listNamespacedVirtualMachineInstance").Parameters())

	for _, p := range openapi.Profiles() {
		doc, err := openapi.Load(p)
		require.NoError(t, err)
		for _, op := range doc.Operations() {
			for _, p := range op.Parameters() {
				assert.NotEmpty(t, p.Name, op.ID())
				assert.Contains(t, []string{"path", "query", "header"}, p.In, op.ID())
				assert.Contains(t, []string{"string", "integer", "boolean"}, p.Type, op.ID())
			}
		}
	}
}

func TestFields(t *testing.T) {
	doc, err := openapi.Load(openapi.ProfileDocument)
	require.NoError(t, err)
	fields := doc.Fields()
	find := func(path string) openapi.Field {
		i := slices.IndexFunc(fields, func(f openapi.Field) bool { return f.Path == path })
		require.GreaterOrEqual(t, i, 0, path)
		return fields[i]
	}
	assert.Equal(t, openapi.Values{Type: "string", Enum: []string{"LiveMigrate", "None"}}, find("spec.evictionStrategy").Values)
	assert.Equal(t, openapi.Values{Type: "integer", Minimum: new(0.0)}, find("spec.terminationGracePeriodSeconds").Values)
	assert.Equal(t, openapi.Values{Type: "integer", Minimum: new(1.0)}, find("spec.domain.cpu.cores").Values)
	assert.Equal(t, openapi.Values{Type: "string"}, find("metadata.name").Values)
	assert.Contains(t, find("status.phase").Enum, "Running")
	for _, f := range fields {
		assert.NotContains(t, []string{"", "object", "array"}, f.Type, f.Path)
	}

	// What the caller does with them is nothing to the document.
	*find("spec.domain.cpu.cores").Minimum = 7
	find("status.phase").Enum[0] = "other"
	assert.NotContains(t, doc.Fields()[slices.IndexFunc(fields, func(f openapi.Field) bool { return f.Path == "status.phase" })].Enum, "other")
	assert.Empty(t, doc.ValidateObject([]byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"spec":{"domain":{"cpu":{"cores":1}}}}`)))
}
