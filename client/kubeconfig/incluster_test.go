package kubeconfig_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// pod makes the program one that runs in a pod of a server.
func pod(t *testing.T, host, port string) (dir string, option kubeconfig.Option) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "token", "of-the-pod\n")
	write(t, dir, "namespace", "machines\n")
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	t.Setenv("POD_NAMESPACE", "")
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	return dir, kubeconfig.WithServiceAccount(dir)
}

func TestInPod(t *testing.T) {
	ca := newAuthority(t)
	srv := serveTLS(t, ca, whoAmI)
	dir, inPod := pod(t, "127.0.0.1", portOf(t, srv))
	write(t, dir, "ca.crt", ca.cert)
	c, err := kubeconfig.Load(inPod)
	require.NoError(t, err)
	assert.Equal(t, srv.URL, c.URL)
	assert.Equal(t, "machines", c.Namespace)
	assert.Equal(t, "the token in "+filepath.Join(dir, "token"), c.Credential())
	hc, err := c.HTTPClient()
	require.NoError(t, err)
	defer hc.CloseIdleConnections()
	status, body := get(t, hc, srv.URL)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, " Bearer of-the-pod HTTP/2.0", body)
}

func TestInPodWithOverrides(t *testing.T) {
	_, inPod := pod(t, "fd00::1", "443")
	c, err := kubeconfig.Load(inPod, kubeconfig.WithOverrides(kubeconfig.Overrides{Token: "given", Namespace: "mine", TLSServerName: "kubernetes"}))
	require.NoError(t, err)
	assert.Equal(t, "https://[fd00::1]:443 (namespace mine, credential: a token)", c.String())
	_, err = kubeconfig.Load(inPod, kubeconfig.WithInCluster(), kubeconfig.WithContext("prod"))
	assert.EqualError(t, err, "kubeconfig: there is no context, cluster or user to choose from in a pod's service account")
}

func TestPodOrFile(t *testing.T) {
	dir, inPod := pod(t, "10.0.0.1", "443")
	file := write(t, dir, "config", config(example, "token: t0k3n"))
	t.Setenv("KUBECONFIG", file)
	c, err := kubeconfig.Load(inPod)
	require.NoError(t, err)
	assert.Equal(t, "https://api.example:6443", c.URL)
	assert.Equal(t, "machines", c.Namespace, "as for kubectl")
	c, err = kubeconfig.Load(inPod, kubeconfig.WithInCluster())
	require.NoError(t, err)
	assert.Equal(t, "https://10.0.0.1:443", c.URL)

	t.Setenv("POD_NAMESPACE", "by-environment")
	c, err = kubeconfig.Load(inPod, kubeconfig.WithInCluster())
	require.NoError(t, err)
	assert.Equal(t, "by-environment", c.Namespace)

	// A file that was asked for is not replaced by the pod.
	_, err = kubeconfig.Load(inPod, kubeconfig.WithFile(write(t, dir, "empty", "")))
	assert.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
	// Nor are mistakes in files.
	t.Setenv("KUBECONFIG", write(t, dir, "broken", "a: ["))
	_, err = kubeconfig.Load(inPod)
	assert.ErrorContains(t, err, "is not YAML")
}

func TestNoPod(t *testing.T) {
	dir, inPod := pod(t, "10.0.0.1", "443")
	require.NoError(t, os.Remove(filepath.Join(dir, "token")))
	_, err := kubeconfig.Load(inPod, kubeconfig.WithInCluster())
	require.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
	_, err = kubeconfig.Load(inPod)
	assert.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
}
