package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/manifest"
)

func writeYAML(t testing.TB, value string) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, manifest.WriteYAML(&text, []byte(value)), "%s", value)
	return text.String()
}

// The expected texts are those of a Kubernetes API server.
func TestWriteYAML(t *testing.T) {
	for value, want := range map[string]string{
		`{"b":{},"a":[],"c":null,"d":true}`:                                               "a: []\nb: {}\nc: null\nd: true\n",
		`{"items":[{"kind":"A","x":[1,[2]]}]}`:                                            "items:\n- kind: A\n  x:\n  - 1\n  - - 2\n",
		`{"n":"4","y":"yes","date":"2001-01-01","float":"1e3","empty":"","html":"<a>&b"}`: "date: \"2001-01-01\"\nempty: \"\"\nfloat: \"1e3\"\nhtml: <a>&b\n\"n\": \"4\"\n\"y\": \"yes\"\n",
		`{"multi":"a\nb\n","tab":"a\tb","emoji":"😀 ü"}`:                                   "emoji: \"\\U0001F600 ü\"\nmulti: |\n  a\n  b\ntab: \"a\\tb\"\n",
		`{"l":"` + strings.Repeat("x ", 50) + `"}`:                                        "l: 'x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\n  x x x x x x x x x x x '\n",
		`{"disk10":1,"disk2":2}`:                                                          "disk2: 2\ndisk10: 1\n",
		`[{"a":1,"b":2},3]`:                                                               "- a: 1\n  b: 2\n- 3\n",
		` "x" `:                                                                           "x\n",
		`{"a":1,"a":2}`:                                                                   "a: 2\n",
	} {
		assert.Equal(t, want, writeYAML(t, value), value)
	}
}

func TestWriteYAMLKeepsNumbers(t *testing.T) {
	for _, n := range []string{
		"0", "-0", "7", "-9223372036854775808", "18446744073709551615", "123456789012345678901234567890", "1.50", "1.0", "-0.0", "1e3", "1E3", "1e+3",
		"0.1000000000000000055511151231257827", "1e400", "1e-400",
	} {
		assert.Equal(t, "- "+n+"\n- a: "+n+"\n  b: \""+n+"\"\n", writeYAML(t, `[`+n+`,{"a":`+n+`,"b":"`+n+`"}]`))
	}
}

func TestWriteYAMLOfWhatIsNoJSON(t *testing.T) {
	for _, value := range []string{"", "{", "{} {}", "a: 1", "[1,]", "{}x"} {
		var text bytes.Buffer
		assert.ErrorContains(t, manifest.WriteYAML(&text, []byte(value)), "write yaml: ", value)
		assert.Empty(t, text.String())
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteYAMLToWhatFails(t *testing.T) {
	for _, value := range []string{`{"a":1}`, `{"a":1.50}`, `{"a":[1.50,"` + strings.Repeat("x", 10_000) + `"]}`} {
		assert.ErrorContains(t, manifest.WriteYAML(full{}, []byte(value)), "no space left")
	}
}

// FuzzWriteYAML wants every value back that was written: by the engine that
// kubectl reads with, and by its successor, which shows the text of numbers.
func FuzzWriteYAML(f *testing.F) {
	for _, value := range []string{
		`{"a":[{"b":1.50},[[]],{},null,"",true],"":"","~":"null","<<":{"a":1},"=":"="}`,
		`["a: b","- a","# a"," a","a ","a #b","'","\"","|","> a","!a","&a","*a","%a","@a","{","[","? a","---","...","--- a","\u0000\u0007\u0085\u2028\ufeff"]`,
		`["a\nb","\n","\n\n a","  a\nb","a\n\n","a \nb","a\r\nb","\ta\nb","a\n# b","a\n---\nb","\na","  ","a\u2028b\n"]`,
		`["0x10","0o7","0b1","1_000","1:20",".inf",".NaN","-.1","+1","1.","12e03","on","N","no","2001-01-01","2001-01-01T00:00:00Z","1e400","0.","NULL","Yes"]`,
		`{"` + strings.Repeat("k", 200) + `":{"a\nb":1,"a b":[{"c d":"` + strings.Repeat("word ", 60) + `"}]}}`,
		`"` + strings.Repeat("a  b ", 60) + `"`, `{"x":"` + strings.Repeat("ab'c ", 60) + `\n"}`, `"` + strings.Repeat(`\\ \" é `, 40) + `"`, `[1e400,-0,1E5,1.0]`, `["22222222222222222222CC\u007f","-1_0e400"]`,
	} {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) {
			return
		}
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		var want any
		require.NoError(t, d.Decode(&want))
		text := writeYAML(t, string(value))
		var node yamlv3.Node
		require.NoError(t, yamlv3.Unmarshal([]byte(text), &node), "%s", text)
		require.Equal(t, want, valueOf(t, node.Content[0]), "%s", text)

		var read any
		require.NoError(t, yaml.Unmarshal([]byte(text), &read), "%s", text)
		requireSame(t, want, read, text)
	})
}

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// valueOf is a node as encoding/json would have decoded it.
func valueOf(t *testing.T, n *yamlv3.Node) any {
	switch n.Kind {
	case yamlv3.MappingNode:
		m := make(map[string]any)
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = valueOf(t, n.Content[i+1])
		}
		return m
	case yamlv3.SequenceNode:
		s := make([]any, len(n.Content))
		for i, c := range n.Content {
			s[i] = valueOf(t, c)
		}
		return s
	}
	switch {
	case n.Style == 0 && number.MatchString(n.Value):
		return json.Number(n.Value)
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return n.Value == "true"
	}
	if !strings.HasPrefix(strings.TrimLeft(n.Value, "+-"), "0o") { // yaml/v3 reads 0o+1 as a number, which it is to nobody else
		require.Equal(t, "!!str", n.Tag, n.Value)
	}
	return n.Value
}

// requireSame compares what the engine reads, numbers by value.
func requireSame(t *testing.T, want, read any, text string) {
	switch w := want.(type) {
	case map[string]any:
		m, ok := read.(map[any]any)
		require.True(t, ok, "%s", text)
		require.Len(t, m, len(w), "%s", text)
		for k, v := range w {
			require.Contains(t, m, k, "%s", text)
			requireSame(t, v, m[k], text)
		}
	case []any:
		s, ok := read.([]any)
		require.True(t, ok, "%s", text)
		require.Len(t, s, len(w), "%s", text)
		for i := range w {
			requireSame(t, w[i], s[i], text)
		}
	case json.Number:
		f, err := w.Float64()
		if err != nil {
			return // beyond what the engine can read
		}
		require.EqualValues(t, f, toFloat(t, read), "%s", text)
	default:
		require.Equal(t, want, read, "%s", text)
	}
}

func toFloat(t *testing.T, v any) float64 {
	switch n := v.(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	case float64:
		return n
	}
	require.Fail(t, "no number", "%T", v)
	return 0
}

// The corpus as YAML is the corpus.
func TestWriteYAMLOfTheCorpus(t *testing.T) {
	for object, err := range manifest.Walk([]string{"../openapi/testdata/corpus"}, os.Stdin) {
		require.NoError(t, err)
		text := writeYAML(t, string(object.JSON))
		for again, err := range manifest.Read("again", strings.NewReader(text)) {
			require.NoError(t, err)
			assert.JSONEq(t, string(object.JSON), string(again.JSON), filepath.Base(object.File))
		}
	}
}
