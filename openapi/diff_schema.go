package openapi

import (
	"reflect"
	"slices"
	"strings"
)

// notes are keywords that no value is judged by.
var notes = []string{"title", "description", "default", "example", "examples", "externalDocs", "deprecated", "$ref"}

// schema compares two schemas keyword by keyword.
func (d *differ) schema(pointer string, a, b object) {
	refA, _ := a["$ref"].(string)
	refB, _ := b["$ref"].(string)
	if refA != "" && refA == refB {
		return // told where it is defined
	}
	if pair := refA + " " + refB; refA != "" || refB != "" {
		if slices.Contains(d.following, pair) {
			return
		}
		d.following = append(d.following, pair)
		defer func() { d.following = d.following[:len(d.following)-1] }()
	}
	a, b = d.resolve(d.from, a), d.resolve(d.to, b)
	keywords := make(map[string]bool)
	for k := range a {
		keywords[k] = true
	}
	for k := range b {
		keywords[k] = true
	}
	for keyword := range keywords {
		if slices.Contains(notes, keyword) || strings.HasPrefix(keyword, "x-") {
			continue
		}
		d.schemaKeyword(pointer, keyword, a, b)
	}
}

func (d *differ) schemaKeyword(pointer, keyword string, a, b object) {
	from, inA := a[keyword]
	to, inB := b[keyword]
	if reflect.DeepEqual(from, to) {
		return
	}
	switch keyword {
	case "properties":
		d.schemas(pointer+"/properties", at(a, keyword), at(b, keyword))
		return
	case "items", "additionalProperties":
		_, objectA := from.(object)
		_, objectB := to.(object)
		if objectA && objectB {
			d.schema(pointer+"/"+keyword, at(a, keyword), at(b, keyword))
			return
		}
	}
	effect := EffectChanges
	switch {
	case !inA:
		effect = EffectNarrows
	case !inB:
		effect = EffectWidens
	default:
		effect = keywordEffect(keyword, from, to)
	}
	d.add(pointer, keyword, from, to, effect)
}

// keywordEffect says what another value of a keyword does.
func keywordEffect(keyword string, from, to any) Effect {
	switch keyword {
	case "enum", "type":
		return setEffect(asList(from), asList(to))
	case "required":
		// Each name more is one demand more.
		return setEffect(asList(to), asList(from))
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		return orderEffect(to, from)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		return orderEffect(from, to)
	case "pattern":
		return patternEffect(from, to)
	}
	return EffectChanges
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// setEffect compares lists of what is allowed.
func setEffect(from, to []any) Effect {
	switch keeps, adds := containsAll(to, from), !containsAll(from, to); {
	case keeps && adds:
		return EffectWidens
	case !keeps && !adds:
		return EffectNarrows
	}
	return EffectChanges
}

func containsAll(list, values []any) bool {
	return !slices.ContainsFunc(values, func(v any) bool {
		return !slices.ContainsFunc(list, func(w any) bool { return reflect.DeepEqual(v, w) })
	})
}

// orderEffect compares bounds: a larger upper one widens.
func orderEffect(from, to any) Effect {
	x, okX := number(from)
	y, okY := number(to)
	switch {
	case !okX || !okY:
		return EffectChanges
	case x < y:
		return EffectWidens
	}
	return EffectNarrows
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// patternEffect says that a pattern widens when the old one is among its
// alternatives. More than that cannot be said by looking at two patterns.
func patternEffect(from, to any) Effect {
	x, okX := from.(string)
	y, okY := to.(string)
	if !okX || !okY {
		return EffectChanges
	}
	before, okX := alternatives(x)
	now, okY := alternatives(y)
	if !okX || !okY {
		return EffectChanges
	}
	switch {
	case subset(before, now):
		return EffectWidens
	case subset(now, before):
		return EffectNarrows
	}
	return EffectChanges
}

func subset(list, of []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(of, s) })
}
