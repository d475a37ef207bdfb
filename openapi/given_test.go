package openapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/openapi"
)

// The document is what was given, byte for byte. The tree is kept besides, so
// that a reader of a diff sees which rule would have changed.
const givenSHA256 = "498f9856605d5f0a1a3be78c340440ade1bf94222464ff9d7eac03af9fd74d5f"

const givenTree = "testdata/kubevirt-vmi.json"

var update = flag.Bool("update", false, "write the files under testdata that tests compare with")

func TestDocumentIsTheGivenOne(t *testing.T) {
	source := openapi.Source(openapi.ProfileDocument)
	sum := sha256.Sum256(source)
	assert.Equal(t, givenSHA256, hex.EncodeToString(sum[:]), "kubevirt-vmi.yaml was edited; a change belongs into an overlay")

	var tree map[string]any
	require.NoError(t, yaml.Unmarshal(source, &tree))
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	require.NoError(t, enc.Encode(tree))
	if *update {
		require.NoError(t, os.WriteFile(givenTree, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(givenTree)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())
}
