package openapi_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

func changes(t *testing.T, a, b openapi.Profile) []openapi.Change {
	t.Helper()
	all, err := openapi.Diff(a, b)
	require.NoError(t, err)
	return all
}

func TestKubeVirtOnlyWidens(t *testing.T) {
	all := changes(t, openapi.ProfileKubernetes, openapi.ProfileKubeVirt)
	assert.NotEmpty(t, all)
	for _, c := range all {
		assert.Equal(t, openapi.EffectWidens, c.Effect, "%s", c)
	}
	assert.Contains(t, all, openapi.Change{
		Pointer: "/components/schemas/VirtualMachineInstanceSpec/properties/evictionStrategy", Keyword: "enum", Effect: openapi.EffectWidens,
		From: `["LiveMigrate","None"]`, To: `["LiveMigrate","None","LiveMigrateIfPossible","External"]`,
	})
	assert.Contains(t, all, openapi.Change{
		Pointer: "/components/schemas/DomainSpec/properties/firmware/properties/uuid", Keyword: "format", Effect: openapi.EffectWidens, From: `"uuid"`,
	})
}

// The Kubernetes layer adds and narrows. It widens nothing, so that every rule
// of the given document holds in it, limit included.
func TestKubernetesKeepsEveryRule(t *testing.T) {
	for _, c := range changes(t, openapi.ProfileDocument, openapi.ProfileKubernetes) {
		assert.Contains(t, []openapi.Effect{openapi.EffectAdds, openapi.EffectNarrows}, c.Effect, "%s", c)
	}
}

func TestDiffIsSymmetric(t *testing.T) {
	assert.Empty(t, changes(t, openapi.ProfileKubeVirt, openapi.ProfileKubeVirt))
	there := changes(t, openapi.ProfileKubernetes, openapi.ProfileKubeVirt)
	back := changes(t, openapi.ProfileKubeVirt, openapi.ProfileKubernetes)
	require.Len(t, back, len(there))
	for i, c := range back {
		assert.Equal(t, openapi.EffectNarrows, c.Effect, "%s", c)
		assert.Equal(t, there[i].From, c.To)
		assert.Equal(t, there[i].To, c.From)
	}
	_, err := openapi.Diff("none", openapi.ProfileKubeVirt)
	assert.EqualError(t, err, `no profile "none": want one of document, kubernetes, kubevirt`)
}

func TestChangesOnOneLine(t *testing.T) {
	for _, row := range []struct {
		c    openapi.Change
		want string
	}{
		{openapi.Change{Pointer: "/a", Effect: openapi.EffectAdds}, "/a: adds"},
		{openapi.Change{Pointer: "/a", Keyword: "minimum", From: "1", To: "0", Effect: openapi.EffectWidens}, "/a minimum: widens, 1 -> 0"},
		{openapi.Change{Pointer: "/a", Keyword: "format", From: `"uuid"`, Effect: openapi.EffectWidens}, `/a format: widens, without "uuid"`},
		{openapi.Change{Pointer: "/a", Keyword: "required", To: `["b"]`, Effect: openapi.EffectNarrows}, `/a required: narrows, ["b"]`},
	} {
		assert.Equal(t, row.want, row.c.String())
	}
}

// Diff says by the look of the patterns that one widens the other. Texts made
// from the narrow one have to match the wide one.
func TestWidenedPatternsMatchWhatTheOldOnesMatched(t *testing.T) {
	patterns := make(map[openapi.Profile]map[string]string)
	for _, p := range openapi.Profiles() {
		doc, err := openapi3.NewLoader().LoadFromData(openapi.Source(p))
		require.NoError(t, err)
		patterns[p] = make(map[string]string)
		require.NoError(t, doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
			if ref.Value.Pattern != "" {
				patterns[p][pointer] = ref.Value.Pattern
			}
			return nil
		}))
	}
	widened := 0
	for _, c := range changes(t, openapi.ProfileKubernetes, openapi.ProfileKubeVirt) {
		if c.Keyword != "pattern" {
			continue
		}
		widened++
		narrow, wide := patterns[openapi.ProfileKubernetes][c.Pointer], patterns[openapi.ProfileKubeVirt][c.Pointer]
		tree, err := syntax.Parse(narrow, syntax.Perl)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			var b strings.Builder
			generate(t, random, tree, &b)
			require.Regexp(t, regexp.MustCompile(narrow), b.String())
			require.Regexp(t, regexp.MustCompile(wide), b.String())
		}
	}
	assert.Equal(t, 1, widened)
}

// generate writes a text that matches the pattern.
func generate(t *testing.T, random *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	t.Helper()
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEmptyMatch:
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		i := 2 * random.IntN(len(re.Rune)/2)
		b.WriteRune(re.Rune[i] + random.Int32N(re.Rune[i+1]-re.Rune[i]+1))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			generate(t, random, sub, b)
		}
	case syntax.OpAlternate:
		generate(t, random, re.Sub[random.IntN(len(re.Sub))], b)
	case syntax.OpRepeat:
		for range re.Min + random.IntN(re.Max-re.Min+1) {
			generate(t, random, re.Sub[0], b)
		}
	default:
		require.Fail(t, fmt.Sprintf("pattern with %v", re.Op))
	}
}
