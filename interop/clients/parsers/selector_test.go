package parsers_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/vmikit/vmikit/server/store"
)

// namedErrors is how many bad values of one requirement our message names. This
// is the one exception to equal messages: apimachinery names all of them, each
// with the rule, and would answer a selector of 100 KB with megabytes.
const namedErrors = 8

// outcome is what became of one selector, so that a run can say that it has
// seen everything there is to see.
type outcome struct {
	refused           bool
	matched, rejected int
}

// compareLabelSelector holds store.ParseSelector to labels.Parse for one text:
// same acceptance, same message, same requirements, same matches.
func compareLabelSelector(t require.TestingT, text string, sets []labels.Set) outcome {
	want, wantErr := labels.Parse(text)
	got, err := store.ParseSelector(text)
	if wantErr != nil {
		require.Error(t, err, "apimachinery refuses %q: %v", text, wantErr)
		if strings.Count(wantErr.Error(), ": Invalid value: ") <= namedErrors {
			require.Equal(t, wantErr.Error(), err.Error(), "message for %q", text)
		}
		return outcome{refused: true}
	}
	require.NoError(t, err, "apimachinery accepts %q", text)
	require.Equal(t, want.String(), got.String(), "form of %q", text)
	require.Equal(t, want.Empty(), got.Empty(), "%q selects everything", text)

	wantRequirements, _ := want.Requirements()
	requirements := got.Requirements()
	require.Len(t, requirements, len(wantRequirements), "requirements of %q", text)
	for i, w := range wantRequirements {
		require.Equal(t, w.Key(), requirements[i].Key, "key %d of %q", i, text)
		require.Equal(t, string(w.Operator()), string(requirements[i].Operator), "operator %d of %q", i, text)
		require.ElementsMatch(t, w.ValuesUnsorted(), requirements[i].Values, "values %d of %q", i, text)
	}

	var o outcome
	for _, set := range sets {
		matches := want.Matches(set)
		require.Equal(t, matches, got.Matches(set.Lookup), "%q on %v", text, set)
		if matches {
			o.matched++
		} else {
			o.rejected++
		}
	}
	return o
}

// TestLabelSelectors compares 200,000 random selectors, one half of them made
// by the grammar, the other half broken or thrown together from tokens.
func TestLabelSelectors(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var accepted, refused, matched, rejected int
	for range 200_000 {
		sets := []labels.Set{randomLabels(r), randomLabels(r), randomLabels(r)}
		o := compareLabelSelector(t, randomLabelSelector(r), sets)
		matched += o.matched
		rejected += o.rejected
		if o.refused {
			refused++
		} else {
			accepted++
		}
	}
	t.Logf("%d accepted, %d refused; %d matches, %d others", accepted, refused, matched, rejected)
	assert.Greater(t, accepted, 50_000)
	assert.Greater(t, refused, 50_000)
	assert.Greater(t, matched, 50_000)
	assert.Greater(t, rejected, 50_000)
}

// TestLabelSelectorsOfManyRequirements is about order: requirements with equal
// keys come out in the order that sorting leaves them in.
func TestLabelSelectorsOfManyRequirements(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for n := 1; n < 200; n++ {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = labelRequirement(r)
		}
		compareLabelSelector(t, strings.Join(terms, ","), []labels.Set{randomLabels(r)})
	}
}

func FuzzLabelSelector(f *testing.F) {
	for _, s := range []string{
		"", "app=web", "app==web,tier!=gold", "x in (foo,,baz),y,z notin ()", "!a,b>1,c<22", "example.com/a=b",
		"in in (in)", "notin notin (notin)", "a\x00b", "a=b c", "app in (web", "-bad=1", "app=-bad", "n>x", "\xff", "Ü",
	} {
		f.Add(s, "app", "web", "n", "7")
	}
	f.Fuzz(func(t *testing.T, text, key1, value1, key2, value2 string) {
		compareLabelSelector(t, text, []labels.Set{{}, {key1: value1}, {key2: value2}, {key1: value1, key2: value2}})
	})
}

var (
	labelKeys = []string{
		"app", "tier", "n", "in", "notin", "a", "A-_.z", "example.com/app", "x.y/n", strings.Repeat("k", 63),
		strings.Repeat("p.", 126) + "p/n",
	}
	badLabelKeys = []string{
		"-a", "a-", "_", ".a", "a/", "/a", "a/b/c", "A.com/x", "a..b/x", "-.b/x", "Ü", "\xff", "a\x00b",
		strings.Repeat("k", 64), strings.Repeat("p", 254) + "/n", strings.Repeat("p.", 127) + "/" + strings.Repeat("n", 64),
	}
	labelValues = []string{
		"", "web", "db", "gold", "1", "2", "-3", "0", "007", "9223372036854775807", "9223372036854775808", "in", "notin",
		"a.b", "A_b", strings.Repeat("v", 63),
	}
	badLabelValues = []string{"-x", "x-", "a/b", "ü", "\xfe", "+1", "1e3", "a:b", strings.Repeat("v", 64), "\x00"}
	labelTokens    = []string{"(", ")", ",", "!", "=", "==", "!=", "<", ">", " ", "\t", "\n", "\r", "in", "notin", "\x00", "\v", "&"}
)

func space(r *rand.Rand) string {
	if oneIn(r, 4) {
		return pick(r, []string{" ", "  ", "\t", "\n", "\r\n"})
	}
	return ""
}

func randomLabels(r *rand.Rand) labels.Set {
	set := labels.Set{}
	for range r.IntN(6) {
		set[usually(r, labelKeys, badLabelKeys)] = usually(r, labelValues, badLabelValues)
	}
	return set
}

func randomLabelSelector(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return mutate(r, labelSelector(r), labelTokens)
	case 1:
		return tokenSoup(r, labelTokens, labelKeys, badLabelKeys, labelValues, badLabelValues)
	}
	return labelSelector(r)
}

func labelSelector(r *rand.Rand) string {
	terms := make([]string, r.IntN(5))
	for i := range terms {
		terms[i] = space(r) + labelRequirement(r) + space(r)
	}
	return strings.Join(terms, ",")
}

func labelRequirement(r *rand.Rand) string {
	key := usually(r, labelKeys, badLabelKeys)
	switch r.IntN(8) {
	case 0:
		return key
	case 1:
		return "!" + space(r) + key
	case 2, 3:
		values := make([]string, r.IntN(5))
		for i := range values {
			values[i] = space(r) + usually(r, labelValues, badLabelValues) + space(r)
		}
		return key + " " + pick(r, []string{"in", "notin"}) + space(r) + "(" + strings.Join(values, ",") + ")"
	}
	operator := pick(r, []string{"=", "==", "!=", ">", "<"})
	return key + space(r) + operator + space(r) + usually(r, labelValues, badLabelValues)
}
