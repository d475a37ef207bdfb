package openapi

import (
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// largeText is the size from which a text is looked through for how much is
// wrong with it before all of that is asked for. kin-openapi needs some 400
// bytes for each issue, and three megabytes of text have room for a million.
const largeText = 64 << 10

// trim takes from a value that is wrong what goes beyond the budget of issues,
// and returns the rest. What it leaves keeps its place, so that every issue found
// in it is one of the whole value. The budget is spent on no more issues than
// there are.
func trim(schema *openapi3.Schema, value any, budget *int) any {
	before := *budget
	switch v := value.(type) {
	case []any:
		value = trimItems(schema, v, budget)
	case map[string]any:
		trimMembers(schema, v, budget)
	}
	if *budget == before {
		*budget-- // what is wrong is the value, nothing in it
	}
	return value
}

func trimItems(schema *openapi3.Schema, list []any, budget *int) []any {
	if schema.Items == nil {
		return list
	}
	for i, item := range list {
		if *budget <= 0 && uint64(i) >= schema.MinItems {
			return list[:i]
		}
		if !fits(schema.Items.Value, item) {
			list[i] = trim(schema.Items.Value, item, budget)
		}
	}
	return list
}

func trimMembers(schema *openapi3.Schema, object map[string]any, budget *int) {
	keys := slices.AppendSeq(make([]string, 0, len(object)), maps.Keys(object))
	slices.Sort(keys)
	for _, key := range keys {
		if *budget <= 0 && !slices.Contains(schema.Required, key) {
			delete(object, key)
			continue
		}
		sub := schema.AdditionalProperties.Schema
		if p := schema.Properties[key]; p != nil {
			sub = p
		}
		if sub != nil && !fits(sub.Value, object[key]) {
			object[key] = trim(sub.Value, object[key], budget)
		}
	}
}
