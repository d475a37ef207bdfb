package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixed is a List with a machine, the same machine again, and other things.
const mixed = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: settings
    namespace: lab
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata:
    name: stopped
    namespace: lab
- apiVersion: kubevirt.io/v1
  kind: VirtualMachineInstance
  metadata:
    name: newcomer
    namespace: lab
  spec:
    domain:
      devices: {}
- apiVersion: kubevirt.io/v1
  kind: VirtualMachineInstance
  metadata:
    name: newcomer
    namespace: lab
  spec:
    domain:
      devices: {}
`

// TestKubectlUsers is who may do what, and what people are told who may not.
func TestKubectlUsers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "more.yaml")
	require.NoError(t, os.WriteFile(file, []byte(mixed), 0o600))
	s := serveWithUsers(t, "--load", file)
	as := func(token string, args ...string) []string { return append(args, "--token", token) }

	t.Run("load", func(t *testing.T) {
		assert.Contains(t, s.said, file+`:4: skipped ConfigMap v1 "lab/settings"`)
		assert.Contains(t, s.said, file+`:9: skipped VirtualMachine kubevirt.io/v1 "lab/stopped"`)
		assert.Contains(t, s.said, file+`:22: VirtualMachineInstance kubevirt.io/v1 "lab/newcomer" is there already, from `+file+":14")
	})
	t.Run("allowed", func(t *testing.T) {
		machines := servedMachines(t)
		assert.Len(t, keys(t, s.get(t, "get", "vmi", "-A")), len(machines)+1)
		_, rows := table(t, s.get(t, as("viewer-token", "get", "vmi", "-n", "lab")...))
		assert.Len(t, rows, len(labMachines(machines))+1)
		assert.NotEmpty(t, s.get(t, as("viewer-token", "describe", "vmi", "-n", "lab", "newcomer")...))
		assert.NotEmpty(t, s.get(t, as("nobody-token", "api-resources")...))
		// A list with the name as a field selector is one of that name.
		for _, args := range [][]string{
			{"get", "vmi", "-n", "lab", "router-lab", "-o", "name"},
			{"get", "vmi", "-n", "lab", "--field-selector", "metadata.name=router-lab", "-o", "name"},
		} {
			assert.Equal(t, "virtualmachineinstance.kubevirt.io/router-lab\n", s.get(t, as("one-token", args...)...))
		}
	})
	t.Run("forbidden", func(t *testing.T) {
		const (
			list = `Error from server (Forbidden): virtualmachineinstances.kubevirt.io is forbidden: ` +
				`User "%" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" `
			get = `Error from server (Forbidden): virtualmachineinstances.kubevirt.io "fedora-agent" is forbidden: ` +
				`User "%" cannot get resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "lab"`
		)
		s.fails(t, forUser(list, "viewer")+"at the cluster scope", as("viewer-token", "get", "vmi", "-A")...)
		s.fails(t, forUser(list, "viewer")+`in the namespace "default"`, as("viewer-token", "get", "vmi")...)
		s.fails(t, forUser(list, "one")+`in the namespace "lab"`, as("one-token", "get", "vmi", "-n", "lab")...)
		s.fails(t, forUser(get, "one"), as("one-token", "get", "vmi", "-n", "lab", "fedora-agent")...)
		s.fails(t, forUser(get, "nobody"), as("nobody-token", "get", "vmi", "-n", "lab", "fedora-agent")...)
		s.fails(t, `Error from server (Forbidden): namespaces is forbidden: User "viewer" cannot list resource "namespaces" in API group "" at the cluster scope`,
			as("viewer-token", "get", "ns")...)
	})
	t.Run("unknown", func(t *testing.T) {
		const unauthorized = "error: You must be logged in to the server (Unauthorized)"
		s.fails(t, unauthorized, as("wrong-token", "get", "vmi", "-A")...)
		s.fails(t, unauthorized, as("wrong-token", "get", "--raw", "/version")...)
	})
}

// forUser names the user in a message.
func forUser(message, user string) string { return strings.Replace(message, "%", user, 1) }
