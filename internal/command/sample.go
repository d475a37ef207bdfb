package command

import (
	"bytes"
	_ "embed"
	"iter"

	"github.com/vmikit/vmikit/manifest"
)

// sampleYAML is what serve has without --load. It is valid by every profile.
//
//go:embed sample.yaml
var sampleYAML []byte

func sample() iter.Seq2[*manifest.Object, error] {
	return manifest.Read("sample.yaml", bytes.NewReader(sampleYAML))
}
