package house_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/vmikit/vmikit"

// arrows are the imports between our packages. What is not listed is forbidden.
var arrows = map[string][]string{
	"gen/vmi":                  {},
	"gen/vmiclient":            {"gen/vmi"},
	"gen/vmiserver":            {"gen/vmi"},
	"gen/clusterserver":        {},
	"openapi":                  {},
	"manifest":                 {},
	"client":                   {"gen/vmi", "gen/vmiclient"},
	"server/store":             {},
	"server/store/storetest":   {"server/store"},
	"server/rbac":              {},
	"server/managedfields":     {},
	"server/admin":             {"server/store"},
	"server/admission":         {},
	"server":                   {"gen/vmi", "gen/vmiserver", "gen/clusterserver", "openapi", "manifest", "server/store", "server/rbac", "server/managedfields", "server/admission", "internal/kubeproto"},
	"server/servertest":        {"server", "server/store", "client", "gen/vmi"},
	"contract":                 {"openapi", "manifest"},
	"contract/proxy":           {"contract", "openapi"},
	"contract/internal/mutant": {},
	"client/kubeconfig":        {},
	"internal/certs":           {},
	"internal/command":         {"openapi", "manifest", "client", "server", "server/store", "server/rbac", "server/admin", "contract", "contract/proxy", "client/kubeconfig", "internal/certs"},
	"internal/house":           {},
	"internal/kubeproto":       {},
	"cmd/vmikit":               {"internal/command"},
	"openapi/internal/overlay": {},
	"openapi/internal/fields":  {},
}

// examples are programs over the public packages.
var public = []string{"gen/vmi", "client", "openapi", "manifest", "server", "server/store", "server/rbac", "server/managedfields", "server/admin", "server/admission", "server/servertest", "contract", "contract/proxy", "client/kubeconfig"}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImportsBetweenPackages(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, known := arrows[name]
		if name == "examples" || strings.HasPrefix(name, "examples/") {
			allowed, known = public, true
		}
		assert.True(t, known, "package %s is not in the list of the house", name)
		for _, i := range p.Imports {
			if other, ours := strings.CutPrefix(i, module+"/"); ours {
				assert.True(t, slices.Contains(allowed, other), "%s must not import %s", name, other)
			}
		}
	}
}

// People pin these modules for Kubernetes; whoever imports a part of vmikit must
// not have them moved.
var kept = regexp.MustCompile(`(?m)^\s*(?:require )?((?:k8s\.io|sigs\.k8s\.io|kubevirt\.io|go\.etcd\.io/etcd|google\.golang\.org/grpc|go\.uber\.org/zap|go\.opentelemetry\.io|github\.com/prometheus/client_golang)\S*)`)

func TestRootModuleNamesNoneOfKubernetes(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	assert.Empty(t, kept.FindAllString(string(mod), -1))
	assert.NotRegexp(t, `(?m)^replace`, string(mod), "importers do not get a replace line")
}
