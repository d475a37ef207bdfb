package parsers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/vmikit/vmikit/server/store"
)

// customResourceFields is the check that an API server adds to the parser for a
// namespaced custom resource without selectable fields: the text is parsed as a
// whole, then each field is looked at.
func customResourceFields(field, value string) (string, string, error) {
	if field == "metadata.name" || field == "metadata.namespace" {
		return field, value, nil
	}
	return "", "", fmt.Errorf("field label not supported: %s", field)
}

func parseFieldSelector(text string) (fields.Selector, error) {
	parsed, err := fields.ParseSelector(text)
	if err != nil {
		return nil, err
	}
	return parsed.Transform(customResourceFields)
}

// compareFieldSelector holds store.ParseFieldSelector to apimachinery for one
// text: same acceptance, same message, same matches, same exact names.
func compareFieldSelector(t require.TestingT, text string, keys []store.Key) outcome {
	want, wantErr := parseFieldSelector(text)
	got, err := store.ParseFieldSelector(text)
	if wantErr != nil {
		require.EqualError(t, err, wantErr.Error(), "message for %q", text)
		return outcome{refused: true}
	}
	require.NoError(t, err, "apimachinery accepts %q", text)
	require.Equal(t, want.String(), got.String(), "form of %q", text)
	require.Equal(t, want.Empty(), got.Empty(), "%q selects everything", text)

	wantName, wantOK := want.RequiresExactMatch("metadata.name")
	name, ok := got.Name()
	require.Equal(t, wantOK, ok, "%q demands a name", text)
	require.Equal(t, wantName, name, "name demanded by %q", text)
	wantNamespace, wantOK := want.RequiresExactMatch("metadata.namespace")
	namespace, ok := got.Namespace()
	require.Equal(t, wantOK, ok, "%q demands a namespace", text)
	require.Equal(t, wantNamespace, namespace, "namespace demanded by %q", text)

	var o outcome
	for _, key := range keys {
		matches := want.Matches(fields.Set{"metadata.name": key.Name, "metadata.namespace": key.Namespace})
		require.Equal(t, matches, got.Matches(&store.Object{Key: key}), "%q on %v", text, key)
		if matches {
			o.matched++
		} else {
			o.rejected++
		}
	}
	return o
}

// TestFieldSelectors compares 200,000 random selectors, as TestLabelSelectors
// does.
func TestFieldSelectors(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	var accepted, refused, matched, rejected int
	for range 200_000 {
		keys := []store.Key{randomKey(r), randomKey(r), randomKey(r)}
		o := compareFieldSelector(t, randomFieldSelector(r), keys)
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

func FuzzFieldSelector(f *testing.F) {
	for _, s := range []string{
		"", "=", "!=", "metadata.name=web", "metadata.name==web,metadata.namespace!=prod", `metadata.name=a\,b\=c\\`,
		"metadata.name", "metadata.name===", `metadata.name=a\`, `metadata.name=a\b`, "metadata.name=\xff\\,", "status.phase=Running", ",,",
	} {
		f.Add(s, "prod", "web")
	}
	f.Fuzz(func(t *testing.T, text, namespace, name string) {
		compareFieldSelector(t, text, []store.Key{{Namespace: namespace, Name: name}, {Namespace: "prod", Name: "web"}})
	})
}

var (
	fieldNames    = []string{"metadata.name", "metadata.namespace"}
	badFieldNames = []string{"status.phase", "", "metadata", " metadata.name", "metadata.name ", "Metadata.Name", "ü", "\xff", `metadata.na\me`, "!"}
	fieldValues   = []string{"web", "db", "prod", "", "Not/Valid", " web", "ü", `a\,b`, `a\=b`, `\\`, "\xff"}
	badFieldValue = []string{`\`, `\x`, "=", "a=b", `\ü`, "\\\xff", "!"}
	fieldTokens   = []string{"=", "==", "!=", ",", `\`, " ", "!", `\,`, `\=`, `\\`, "\x00", "in", "(", ")"}
	keyParts      = []string{"web", "db", "prod", "Not/Valid", " web", "ü", "a,b", "a=b", `\`, "\xff", "\ufffd", ""}
)

func randomKey(r *rand.Rand) store.Key {
	return store.Key{Namespace: pick(r, keyParts), Name: pick(r, keyParts)}
}

func randomFieldSelector(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return mutate(r, fieldSelector(r), fieldTokens)
	case 1:
		return tokenSoup(r, fieldTokens, fieldNames, badFieldNames, fieldValues, badFieldValue)
	}
	return fieldSelector(r)
}

func fieldSelector(r *rand.Rand) string {
	terms := make([]string, r.IntN(4))
	for i := range terms {
		terms[i] = usually(r, fieldNames, badFieldNames) + pick(r, []string{"=", "==", "!="}) + usually(r, fieldValues, badFieldValue)
	}
	return strings.Join(terms, ",")
}
