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

// trim takes from a value what is wrong beyond the budget of issues, and returns
// the rest. What it leaves keeps its place, so that every issue found in it is
// one of the whole value.
func trim(schema *openapi3.Schema, value any, budget *int) any {
	switch v := value.(type) {
	case []any:
		if schema.Items == nil {
			break
		}
		for i, item := range v {
			if *budget <= 0 && uint64(i) >= schema.MinItems {
				return v[:i]
			}
			if !fits(schema.Items.Value, item) {
				v[i] = trim(schema.Items.Value, item, budget)
			}
		}
		return v
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			sub := schema.AdditionalProperties.Schema
			if p := schema.Properties[key]; p != nil {
				sub = p
			}
			if sub == nil || fits(sub.Value, v[key]) {
				continue
			}
			if *budget <= 0 && !slices.Contains(schema.Required, key) {
				delete(v, key)
				continue
			}
			v[key] = trim(sub.Value, v[key], budget)
		}
	}
	*budget--
	return value
}
