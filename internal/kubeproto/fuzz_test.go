package kubeproto_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/kubeproto"
)

// FuzzDecode looks for a panic, and for an answer that is not one line of JSON of
// the type that was asked for.
func FuzzDecode(f *testing.F) {
	for _, body := range recorded(f) {
		f.Add(body)
	}
	f.Add(metadata(field(17, field(7, field(1, `{"f:metadata":{}}`))), field(13, field(3, "owner"))))
	f.Fuzz(func(t *testing.T, body []byte) {
		defaults := kubeproto.TypeMeta{APIVersion: "v1", Kind: "Event"}
		got, err := kubeproto.Decode(body, defaults)
		if err != nil {
			assert.Nil(t, got)
			assert.True(t, strings.HasPrefix(err.Error(), "protobuf body: "), err)
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		require.True(t, utf8.Valid(got))
		assert.NotContains(t, string(got), "\n")
		var object struct{ Kind, APIVersion string }
		require.NoError(t, json.Unmarshal(got, &object), string(got))
		assert.NotEmpty(t, object.Kind)
		assert.NotEmpty(t, object.APIVersion)
	})
}
