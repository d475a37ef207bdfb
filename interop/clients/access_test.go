package clients_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The users of the tests. The first is the one of the kubeconfig that serve
// writes.
const tokens = `admin-token,admin,1,"system:masters"
viewer-token,viewer,2,"operators"
one-token,one,3
nobody-token,nobody,4
`

// roles let operators read the namespace lab, and one see a single machine.
const roles = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: vmi-reader
rules:
- apiGroups: [kubevirt.io]
  resources: [virtualmachineinstances]
  verbs: [get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: operators
  namespace: lab
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: vmi-reader
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: operators
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: one-machine
  namespace: lab
rules:
- apiGroups: [kubevirt.io]
  resources: [virtualmachineinstances]
  resourceNames: [router-lab]
  verbs: [get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: one-machine
  namespace: lab
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: one-machine
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: one
`

// serveWithUsers starts a server that serves the corpus to the users above.
func serveWithUsers(t *testing.T, args ...string) *serving {
	t.Helper()
	dir := t.TempDir()
	tokenFile, roleFile := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "roles.yaml")
	require.NoError(t, os.WriteFile(tokenFile, []byte(tokens), 0o600))
	require.NoError(t, os.WriteFile(roleFile, []byte(roles), 0o600))
	return serve(t, append([]string{"--load", corpus, "--token-auth-file", tokenFile, "--rbac", roleFile}, args...)...)
}
