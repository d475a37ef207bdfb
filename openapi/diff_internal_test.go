package openapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The documents need few of these cases; an overlay may need any of them.
func TestAlternatives(t *testing.T) {
	for pattern, want := range map[string][]string{
		`^a$`:              {`a`},
		`^(a|b)$`:          {`a`, `b`},
		`^(a|(b|c)|d)$`:    {`a`, `(b|c)`, `d`},
		`^(a|b)(c|d)$`:     {`(a|b)(c|d)`},
		`^(a)|(b)$`:        nil,
		`^a|b$`:            nil,
		`^(\(|[|)]|\|)$`:   {`\(`, `[|)]`, `\|`},
		`^([]|]|[^]|]|x)$`: {`[]|]`, `[^]|]`, `x`},
		`^(?:a|b)$`:        {`(?:a|b)`},
		`^()$`:             {``},
		`^([\]|]|a)$`:      {`[\]|]`, `a`},
		`a`:                nil,
		`^a`:               nil,
		`^a\$`:             nil,
		`^(a$`:             nil,
	} {
		got, ok := alternatives(pattern)
		assert.Equal(t, want != nil, ok, pattern)
		assert.Equal(t, want, got, pattern)
	}
}

func TestKeywordEffects(t *testing.T) {
	list := func(values ...any) []any { return values }
	for _, row := range []struct {
		keyword  string
		from, to any
		want     Effect
	}{
		{"enum", list("a"), list("b", "a"), EffectWidens},
		{"enum", list("a", "b"), list("b"), EffectNarrows},
		{"enum", list("a", "b"), list("b", "c"), EffectChanges},
		{"type", "string", list("string", "null"), EffectWidens},
		{"type", list("string", "null"), "string", EffectNarrows},
		{"type", "string", "integer", EffectChanges},
		{"required", list("a"), list("a", "b"), EffectNarrows},
		{"required", list("a", "b"), list("a"), EffectWidens},
		{"required", list("a"), list("b"), EffectChanges},
		{"minimum", 1, 0, EffectWidens},
		{"minimum", 0, 1, EffectNarrows},
		{"minimum", 1, 0.5, EffectWidens},
		{"maximum", 1.5, 2, EffectWidens},
		{"maxLength", 2, 1, EffectNarrows},
		{"minimum", 1, "x", EffectChanges},
		{"pattern", "^a$", "^(a|b)$", EffectWidens},
		{"pattern", "^(a|b|c)$", "^(c|a)$", EffectNarrows},
		{"pattern", "^a$", "^(b|c)$", EffectChanges},
		{"pattern", "^a$", "a", EffectChanges},
		{"format", "uuid", "date-time", EffectChanges},
		{"uniqueItems", true, false, EffectChanges},
	} {
		assert.Equal(t, row.want, keywordEffect(row.keyword, row.from, row.to), "%s: %v -> %v", row.keyword, row.from, row.to)
	}
}
