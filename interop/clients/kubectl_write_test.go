package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const made = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: made
  namespace: lab
  labels: {app: web}
spec:
  domain:
    devices: {}
    memory: {guest: 1Gi}
`

// TestKubectlWrites makes, changes and removes a machine with default flags, over TLS
// and under roles.
func TestKubectlWrites(t *testing.T) {
	t.Parallel()
	s := serveWithUsers(t, "--validate-responses=full")
	manifest := filepath.Join(t.TempDir(), "made.yaml")
	write := func(text string) {
		require.NoError(t, os.WriteFile(manifest, []byte(text), 0o600))
	}
	write(made)
	vmi := func(args ...string) string { return s.get(t, append(args, "-n", "lab")...) }
	const name = "virtualmachineinstance.kubevirt.io/made"

	assert.Equal(t, name+" created (server dry run)\n", vmi("create", "-f", manifest, "--dry-run=server"))
	assert.Equal(t, name+" created\n", vmi("create", "-f", manifest))
	s.fails(t, `Error from server (AlreadyExists): error when creating "`+manifest+`": virtualmachineinstances.kubevirt.io "made" already exists`, "create", "-f", manifest)
	assert.Equal(t, name+" labeled\n", vmi("label", "vmi", "made", "tier=gold"))
	assert.Equal(t, name+" annotated\n", vmi("annotate", "vmi", "made", "note=x"))
	assert.Equal(t, name+" patched\n", vmi("patch", "vmi", "made", "--type=merge", "-p", `{"status":{"phase":"Running"}}`))
	assert.Equal(t, name+" patched\n", vmi("patch", "vmi", "made", "--type=json", "-p", `[{"op":"remove","path":"/metadata/annotations/note"}]`))
	assert.Equal(t, name+" condition met\n", vmi("wait", "vmi/made", "--for=jsonpath={.status.phase}=Running", "--timeout=20s"))
	assert.Equal(t, "gold 1Gi", vmi("get", "vmi", "made", "-o", "jsonpath={.metadata.labels.tier} {.spec.domain.memory.guest}"))

	assert.Equal(t, name+" serverside-applied\n", vmi("apply", "--server-side", "-f", manifest))
	write(strings.Replace(made, "guest: 1Gi", "guest: 2Gi", 1))
	a := s.kubectl(t, "apply", "--server-side", "-f", manifest)
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, `conflict with "kubectl-create" using kubevirt.io/v1: .spec.domain.memory.guest`)
	assert.Equal(t, name+" serverside-applied\n", vmi("apply", "--server-side", "--force-conflicts", "-f", manifest))
	assert.Equal(t, "2Gi", vmi("get", "vmi", "made", "-o", "jsonpath={.spec.domain.memory.guest}"))
	assert.Contains(t, vmi("explain", "vmi.spec.domain.cpu"), "cores")

	write(strings.Replace(made, "devices: {}", "devices: {}\n    bogus: 1", 1))
	a = s.kubectl(t, "create", "-f", manifest, "--dry-run=server")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, `unknown field "spec.domain.bogus"`)

	assert.Equal(t, `virtualmachineinstance.kubevirt.io "made" deleted from lab namespace`+"\n", vmi("delete", "vmi", "made"))
	write(made)
	assert.Equal(t, name+" created\n", vmi("apply", "-f", manifest))
	assert.Equal(t, name+" unchanged\n", vmi("apply", "-f", manifest))
	write(strings.Replace(made, "guest: 1Gi", "guest: 2Gi", 1))
	assert.Equal(t, name+" configured\n", vmi("apply", "-f", manifest))
	assert.Equal(t, `virtualmachineinstance.kubevirt.io "made" deleted from lab namespace`+"\n", vmi("delete", "-f", manifest))
}
