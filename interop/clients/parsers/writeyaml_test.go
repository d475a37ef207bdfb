package parsers_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/vmikit/vmikit/manifest"
)

// compareWritten holds the YAML that package manifest writes to that of
// sigs.k8s.io/yaml, with which an API server answers and kubectl prints: it reads
// back as the JSON that it was. The text is the same where that of sigs.k8s.io/yaml is
// faithful, which reads the JSON as YAML first: some it takes for something else, or
// refuses.
func compareWritten(t require.TestingT, value any) (sameText bool) {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, manifest.WriteYAML(&got, text), "%s", text)

	read, err := yaml.YAMLToJSON(got.Bytes())
	require.NoError(t, err, "%s: %s", text, got.String())
	require.Equal(t, asRead(decode(text)), asRead(decode(read)), "%s", got.String())

	want, err := yaml.JSONToYAML(text)
	return err == nil && got.String() == string(want)
}

// asRead is a value with its numbers as sigs.k8s.io/yaml has them: exact only as
// integers of 64 bits.
func asRead(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = asRead(member)
		}
	case []any:
		for i, element := range v {
			v[i] = asRead(element)
		}
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		if i := int64(f); float64(i) == f && -1<<53 < i && i < 1<<53 {
			return i // 1.0 is 1 when it is written again
		}
		return f
	}
	return value
}

// randomValue is a value of JSON made of what is hard to write.
func randomValue(r *rand.Rand, depth int, numbers []string) any {
	kind := r.IntN(10)
	if depth == 0 {
		kind = r.IntN(7)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return oneIn(r, 2)
	case 2:
		return json.Number(pick(r, numbers))
	case 3, 4, 5, 6:
		return randomText(r)
	case 7:
		elements := make([]any, r.IntN(4))
		for i := range elements {
			elements[i] = randomValue(r, depth-1, numbers)
		}
		return elements
	}
	members := make(map[string]any)
	for range r.IntN(5) {
		members[randomText(r)] = randomValue(r, depth-1, numbers)
	}
	return members
}

func randomText(r *rand.Rand) string {
	if oneIn(r, 2) {
		return pick(r, slices.Concat(plainScalars, yamlKeys))
	}
	var text strings.Builder
	for range r.IntN(8) {
		text.WriteString(pick(r, yamlTokens))
		text.WriteString(strings.Repeat(pick(r, []string{"a", "word ", "1", "ü", "\U0001F600", "", " "}), r.IntN(12)))
	}
	return strings.ToValidUTF8(text.String(), "\ufffd")
}

var exactNumbers = []string{"0", "1", "-1", "4096", "9223372036854775807", "-9223372036854775808"}

func TestWrittenYAML(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	same := 0
	for range 10_000 {
		if compareWritten(t, randomValue(r, 3, exactNumbers)) {
			same++
		}
	}
	t.Logf("%d of 10000 are the same text", same)
	// Others have << as a key or text like 1e400, which is not faithful there.
	assert.Greater(t, same, 8_000)
}

func TestWrittenYAMLOfNumbers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	for range 2_000 {
		compareWritten(t, randomValue(r, 3, []string{
			"1.5", "1.50", "-0", "0.0", "1e3", "1E+3", "1e-7", "18446744073709551615", "123456789012345678901234567890", "0.1000000000000000055511151231257827",
		}))
	}
}

// TestWrittenYAMLOfTheCorpus wants the machines that people have met byte by byte
// as kubectl prints them.
func TestWrittenYAMLOfTheCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpus, "*.yaml"))
	require.NoError(t, err)
	require.Greater(t, len(files), 30)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		converted, err := yaml.YAMLToJSON(data)
		require.NoError(t, err)
		value := decode(converted)
		assert.True(t, compareWritten(t, value), file)
		assert.True(t, compareWritten(t, map[string]any{"items": []any{value, value}}), file)
	}
}

func FuzzWrittenYAML(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 100 {
		text, err := json.Marshal(randomValue(r, 3, exactNumbers))
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		value := decode([]byte(text))
		if _, isError := value.(error); isError || outOfRange(value) {
			return
		}
		compareWritten(t, value)
	})
}

// outOfRange reports whether a value has a number that no float64 holds, which
// sigs.k8s.io/yaml reads as text.
func outOfRange(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			if outOfRange(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, outOfRange)
	case json.Number:
		_, err := v.Float64()
		return err != nil
	}
	return false
}
