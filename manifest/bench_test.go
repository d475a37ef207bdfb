package manifest_test

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
)

// BenchmarkRead reads 10,000 objects of about 4 KB as JSON or YAML, as a stream
// or a List. One iteration is the whole load.
func BenchmarkRead(b *testing.B) {
	const objects = 10_000
	text, err := os.ReadFile("../openapi/testdata/corpus/11-wire-ocpv-instancetype-2026.yaml")
	require.NoError(b, err)
	yaml := strings.TrimSpace(string(text)) + "\n"
	json := string(read(b, yaml).objects[0].JSON)
	item := "- " + strings.ReplaceAll(strings.TrimSpace(yaml), "\n", "\n  ") + "\n"

	for _, c := range []struct{ name, stream string }{
		{"json", strings.Repeat(json+"\n", objects)},
		{"json-list", `{"apiVersion":"v1","items":[` + strings.Join(slices.Repeat([]string{json}, objects), ",\n") + `],"kind":"List"}`},
		{"yaml", strings.Repeat(yaml+"---\n", objects)},
		{"yaml-list", "apiVersion: v1\nitems:\n" + strings.Repeat(item, objects) + "kind: List\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.stream)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range manifest.Read(c.name, strings.NewReader(c.stream)) {
					require.NoError(b, err)
					n++
				}
				require.Equal(b, objects, n)
			}
		})
	}
}

// BenchmarkLineOf finds a line in an object of 4 KB, the first time and again.
func BenchmarkLineOf(b *testing.B) {
	text, err := os.ReadFile("../openapi/testdata/corpus/11-wire-ocpv-instancetype-2026.yaml")
	require.NoError(b, err)
	pointer := "/status/conditions/" + strconv.Itoa(0)
	b.Run("yaml-first", func(b *testing.B) {
		for b.Loop() {
			for object := range manifest.Read("f", bytes.NewReader(text)) {
				object.LineOf(pointer)
			}
		}
	})
	object := read(b, string(text)).objects[0]
	b.Run("yaml-again", func(b *testing.B) {
		for b.Loop() {
			object.LineOf(pointer)
		}
	})
	object = read(b, string(object.JSON)).objects[0]
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			object.LineOf(pointer)
		}
	})
}
