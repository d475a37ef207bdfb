package admin_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Metrics are a small library's, which writes Prometheus' text without what
// Kubernetes' users pin; the histogram modules are how it counts.
func TestImports(t *testing.T) {
	allowed := []string{
		"github.com/vmikit/vmikit", "github.com/tidwall/btree",
		"github.com/VictoriaMetrics/metrics", "github.com/valyala/histogram", "github.com/valyala/fastrand",
		"golang.org/x/sys", // on Windows
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, m := range slices.Compact(slices.Sorted(strings.FieldsSeq(string(out)))) {
		require.Contains(t, allowed, m, "package admin imports a module that is not in its budget")
	}
}
