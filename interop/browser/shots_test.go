package browser_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
)

var shots = flag.String("shots", "", "a directory for pictures of the pages, light and dark, wide and narrow")

// TestShots makes the pictures that somebody who changes the page wants to look at.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("pictures are made when -shots names a directory")
	}
	require.NoError(t, os.MkdirAll(*shots, 0o755))
	for name, report := range map[string]*contract.Report{"passing": passing(t), "failing": failing(t), "hostile": hostile(t, "http://127.0.0.1:1")} {
		for _, scheme := range []string{"light", "dark"} {
			for _, pixels := range []int64{1280, 390} {
				b := open(t, report, prefer(scheme, "screen"), width(pixels))
				for part, picture := range map[string]chromedp.Action[[]byte]{"top": chromedp.CaptureScreenshot(), "whole": chromedp.FullScreenshot(100)} {
					path := filepath.Join(*shots, fmt.Sprintf("%s-%s-%d-%s.png", name, scheme, pixels, part))
					require.NoError(t, os.WriteFile(path, run(b, picture), 0o644))
				}
			}
		}
	}
}
