package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// The users of the tests. The first is the one of the kubeconfig that serve
// writes.
const tokens = `admin-token,admin,1,"system:masters"
viewer-token,viewer,2,"operators"
one-token,one,3
nobody-token,nobody,4
client-token,client,5
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
	return serveUnder(t, roles, append([]string{"--load", corpus}, args...)...)
}

// serveFor starts a server on which the user client may do what the rules say, in all
// namespaces, and nothing else.
func serveFor(t *testing.T, rules []rbacv1.PolicyRule, args ...string) *serving {
	t.Helper()
	name := metav1.ObjectMeta{Name: "client"}
	role, err := yaml.Marshal(rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: name, Rules: rules,
	})
	require.NoError(t, err)
	binding, err := yaml.Marshal(rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "client"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "client"}},
	})
	require.NoError(t, err)
	return serveUnder(t, string(role)+"---\n"+string(binding), args...)
}

// clientToken is the token of the user client.
const clientToken = "client-token"

// may is a rule of a role.
func may(verbs, group, resources string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Split(verbs, ","), APIGroups: []string{group}, Resources: strings.Split(resources, ",")}
}

// serveUnder starts a server that has the users above and these roles.
func serveUnder(t *testing.T, roles string, args ...string) *serving {
	t.Helper()
	dir := t.TempDir()
	tokenFile, roleFile := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "roles.yaml")
	require.NoError(t, os.WriteFile(tokenFile, []byte(tokens), 0o600))
	require.NoError(t, os.WriteFile(roleFile, []byte(roles), 0o600))
	return serve(t, append([]string{"--token-auth-file", tokenFile, "--rbac", roleFile}, args...)...)
}

// actAs gives the kubeconfig another token.
func (s *serving) actAs(t *testing.T, token string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	require.NoError(t, err)
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo].Token = token
	require.NoError(t, clientcmd.WriteToFile(*config, s.kubeconfig))
}

// kubeconfigOver writes a kubeconfig of the user client whose connections go over the wire.
func (s *serving) kubeconfigOver(t *testing.T, wire *wire) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.kubeconfig)
	require.NoError(t, err)
	current := config.Contexts[config.CurrentContext]
	config.Clusters[current.Cluster].Server = "https://" + wire.address
	config.AuthInfos[current.AuthInfo].Token = clientToken
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}
