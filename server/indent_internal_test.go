package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzIndent holds the indenter to json.Indent, which has the whole text at once,
// however it is cut into writes.
func FuzzIndent(f *testing.F) {
	for _, text := range []string{
		`{"a":[1.50,-0,1e400,{"b":{}},[],[[]]],"":null,"c":"a\\\"b,{}[]: \u00e9 <&>","d":true}` + "\n",
		` [ ] `, "{\r\n\t}", `"a"`, `1`, `{"a":{},"b":[]}`, `"\\"`, `["\"",{"\\":"\\\\"}]`, `[[[[{"a":[{}]}]]]]`,
		`["` + strings.Repeat("x", 3*indentBuffer) + `"]`,
	} {
		f.Add([]byte(text), uint(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint) {
		if !json.Valid(text) {
			return
		}
		var want, got bytes.Buffer
		require.NoError(t, json.Indent(&want, bytes.TrimSpace(text), "", "  "))
		d := &indenter{to: &got}
		for rest := text; len(rest) > 0; {
			n := min(int(size%64)+1, len(rest))
			wrote, err := d.Write(rest[:n])
			require.NoError(t, err)
			require.Equal(t, n, wrote)
			rest = rest[n:]
		}
		require.Equal(t, want.String(), got.String())
	})
}

type broken struct{ after int }

var errBroken = errors.New("broken pipe")

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// Deep nesting makes a text that is much larger than the JSON; the indenter neither
// keeps it nor goes on when nobody reads.
func TestIndentOfDeepNesting(t *testing.T) {
	deep := []byte(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
	d := &indenter{to: &broken{after: 1 << 20}}
	_, err := d.Write(deep)
	require.ErrorIs(t, err, errBroken)
	assert.Less(t, cap(d.out), 64<<10)
}
