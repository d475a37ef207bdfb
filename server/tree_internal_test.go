package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standardRead is what readTree is to do.
func standardRead(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return v, nil
}

// standardText is what appendTree is to do.
func standardText(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(buf.String(), "\n"), err
}

// A tree is read, compared and written as encoding/json and reflect.DeepEqual do.
func FuzzTree(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,-0,0.10,1e+2,1E-2,1.5e3],"a":{"":null,"x":true,"y":false},"b":[]}`, ` [ {} , [ ] , "" ] `, `null`, `"x"`, `1`, `-`, `01`, `1.`, `.1`, `1e`, `+1`, `1e5.5`, `--1`,
		`"\u00e9\ud83d\ude00\ud800\n\/<>&"`, "\"\xff\u2028\x7f\"", `"\x"`, `"\u12"`, "\"\n\"", `"`, `"\`, `{"a"`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a" : 1 , "c" : 2 }`, `[1,]`, `[1`, `tru`, `nulll`, `1 2`, `{}}`, "", " ", "\x00", "[\x00]", "{\x00",
		strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30),
	} {
		f.Add([]byte(seed), []byte(`{"a":1}`))
	}
	f.Fuzz(func(t *testing.T, data, other []byte) {
		v, err := readTree(data)
		want, wantErr := standardRead(data)
		require.Equal(t, wantErr == nil, err == nil, "%v, not %v", err, wantErr)
		if err != nil {
			return
		}
		require.Equal(t, want, v)
		text, err := appendTree([]byte("before "), v)
		require.NoError(t, err)
		plain, err := standardText(v)
		require.NoError(t, err)
		require.Equal(t, "before "+plain, string(text))

		again, err := readTree([]byte(plain))
		require.NoError(t, err)
		require.True(t, sameTree(v, again))
		if o, err := readTree(other); err == nil {
			require.Equal(t, assert.ObjectsAreEqual(v, o), sameTree(v, o))
		}
	})
}

func TestTreeDepth(t *testing.T) {
	for _, ends := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}} {
		per := strings.Count(ends[0], "[") + strings.Count(ends[0], "{")
		for _, depth := range []int{maxTreeDepth - per, maxTreeDepth, maxTreeDepth + per} {
			text := []byte(strings.Repeat(ends[0], depth/per) + "1" + strings.Repeat(ends[1], depth/per))
			_, err := readTree(text)
			_, want := standardRead(text)
			assert.Equal(t, want == nil, err == nil, "%d of %s", depth, ends[0])
		}
	}
}

// What no text is read as is written, too, or refused.
func TestTreeOfOtherThings(t *testing.T) {
	for _, v := range []any{1, 1.5, map[string]any(nil), []any(nil), []string{"a"}, map[string]any{"a": map[string]string{"b": "<"}}, json.Number(""), json.Number("x"), func() {}, []any{func() {}}, map[string]any{"f": func() {}}} {
		text, err := appendTree(nil, v)
		want, wantErr := standardText(v)
		assert.Equal(t, wantErr == nil, err == nil, "%#v", v)
		if wantErr == nil {
			assert.Equal(t, want, string(text))
		}
	}
	assert.True(t, sameTree([]any{1}, []any{1}))
	assert.False(t, sameTree([]any{1}, []any{json.Number("1")}))
	assert.False(t, sameTree(map[string]any{"a": nil}, map[string]any{"b": nil}))
	assert.False(t, sameTree("a", []any{}))
}
