package clients_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestKubectlIdentity is how people find out what they may do, and act for others.
func TestKubectlIdentity(t *testing.T) {
	t.Parallel()
	s := serveWithUsers(t)
	as := func(token string, args ...string) []string { return append(args, "--token", token) }

	t.Run("can-i", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, "yes\n", s.get(t, "auth", "can-i", "delete", "vmi", "-A"))
		assert.Equal(t, "yes\n", s.get(t, as("viewer-token", "auth", "can-i", "list", "vmi", "-n", "lab")...))
		assert.Equal(t, answer{stdout: "no\n", code: 1}, s.kubectl(t, as("viewer-token", "auth", "can-i", "delete", "vmi", "-n", "lab")...))
		assert.Equal(t, answer{stdout: "no\n", code: 1}, s.kubectl(t, as("viewer-token", "auth", "can-i", "list", "vmi", "-A")...))
		assert.Equal(t, "yes\n", s.get(t, as("one-token", "auth", "can-i", "get", "vmi/router-lab", "-n", "lab")...))
		assert.Equal(t, answer{stdout: "no\n", code: 1}, s.kubectl(t, as("one-token", "auth", "can-i", "get", "vmi/fedora-agent", "-n", "lab")...))
		assert.Regexp(t, `(?m)^virtualmachineinstances\.kubevirt\.io +\[\] +\[\] +\[get list\]$`,
			s.get(t, as("viewer-token", "auth", "can-i", "--list", "-n", "lab")...))
		assert.NotContains(t, s.get(t, as("viewer-token", "auth", "can-i", "--list", "-n", "demo")...), "virtualmachineinstances")
		s.fails(t, "error: You must be logged in to the server (Unauthorized)", as("wrong-token", "auth", "can-i", "list", "vmi")...)
	})
	t.Run("as another", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, "yes\n", s.get(t, "auth", "can-i", "list", "vmi", "-n", "lab", "--as", "somebody", "--as-group", "operators"))
		assert.Equal(t, answer{stdout: "no\n", code: 1}, s.kubectl(t, "auth", "can-i", "list", "vmi", "-n", "lab", "--as", "somebody"))
		assert.Equal(t, "virtualmachineinstance.kubevirt.io/router-lab\n", s.get(t, "get", "vmi", "-n", "lab", "router-lab", "-o", "name", "--as", "one"))
		s.fails(t, `Error from server (Forbidden): virtualmachineinstances.kubevirt.io "fedora-agent" is forbidden: User "one" cannot get resource `+
			`"virtualmachineinstances" in API group "kubevirt.io" in the namespace "lab"`, "get", "vmi", "-n", "lab", "fedora-agent", "--as", "one")
		s.fails(t, `Error from server (Forbidden): virtualmachineinstances.kubevirt.io is forbidden: User "viewer" cannot impersonate-on:user-info:list resource `+
			`"virtualmachineinstances" in API group "kubevirt.io" in the namespace "lab"`,
			as("viewer-token", "get", "vmi", "-n", "lab", "--as", "admin")...)
	})
}

// TestKubectlCertificate comes in with a client certificate in the kubeconfig, and finds
// everything under a path.
func TestKubectlCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, stranger := newAuthority(t, "people"), newAuthority(t, "people of elsewhere")
	caFile, roleFile := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "roles.yaml")
	require.NoError(t, os.WriteFile(caFile, ca.pem, 0o600))
	require.NoError(t, os.WriteFile(roleFile, []byte(roles), 0o600))
	s := serve(t, "--load", corpus, "--client-ca-file", caFile, "--rbac", roleFile, "--path-prefix", "/k8s")

	written, err := clientcmd.LoadFromFile(s.kubeconfig)
	require.NoError(t, err)
	require.Equal(t, "https://"+s.address+"/k8s", written.Clusters[written.Contexts[written.CurrentContext].Cluster].Server)
	// who is the user of the kubeconfig from here on.
	who := func(user clientcmdapi.AuthInfo) {
		config := written.DeepCopy()
		config.AuthInfos = map[string]*clientcmdapi.AuthInfo{config.Contexts[config.CurrentContext].AuthInfo: &user}
		require.NoError(t, clientcmd.WriteToFile(*config, s.kubeconfig))
	}
	certificate := func(a *authority, name string, groups ...string) clientcmdapi.AuthInfo {
		certificate, key := a.issue(t, name, groups...)
		return clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	}

	who(certificate(ca, "alice", "operators"))
	assert.Equal(t, "virtualmachineinstance.kubevirt.io/router-lab\n", s.get(t, "get", "vmi", "-n", "lab", "router-lab", "-o", "name"))
	assert.Contains(t, s.get(t, "explain", "vmi.spec.domain.cpu"), "cores")
	s.fails(t, `Error from server (Forbidden): virtualmachineinstances.kubevirt.io is forbidden: User "alice" cannot list resource `+
		`"virtualmachineinstances" in API group "kubevirt.io" at the cluster scope`, "get", "vmi", "-A")

	who(certificate(ca, "root", "system:masters"))
	manifest := filepath.Join(dir, "made.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte(made), 0o600))
	assert.Equal(t, "virtualmachineinstance.kubevirt.io/made serverside-applied\n", s.get(t, "apply", "--server-side", "-f", manifest))
	assert.Equal(t, `virtualmachineinstance.kubevirt.io "made" deleted from lab namespace`+"\n", s.get(t, "delete", "-f", manifest))

	who(certificate(stranger, "root", "system:masters"))
	s.fails(t, "error: You must be logged in to the server (Unauthorized)", "get", "vmi", "-n", "lab")
}

// authority is a CA of client certificates.
type authority struct {
	pem         []byte
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{pemOf("CERTIFICATE", der), certificate, key}
}

// issue makes a certificate and its key, in PEM, for a user in groups.
func (a *authority) issue(t *testing.T, user string, groups ...string) (certificate, privateKey []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: user, Organization: groups},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", keyDER)
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
