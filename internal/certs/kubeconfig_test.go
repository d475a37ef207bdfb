package certs_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/certs"
)

func TestWriteKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".vmikit", "kubeconfig")
	require.NoError(t, certs.WriteKubeconfig(path, certs.Kubeconfig{
		Server: "https://localhost:6443", CA: []byte("ca"), Token: "12:30",
	}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, `apiVersion: v1
kind: Config
clusters:
    - name: vmikit
      cluster:
        server: https://localhost:6443
        certificate-authority-data: Y2E=
contexts:
    - name: vmikit
      context:
        cluster: vmikit
        namespace: default
        user: vmikit
current-context: vmikit
users:
    - name: vmikit
      user:
        token: "12:30"
`, string(text))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		info, err = os.Stat(filepath.Dir(path))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
}

func TestWriteKubeconfigCredentials(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, certs.WriteKubeconfig(path, certs.Kubeconfig{Server: "http://127.0.0.1:8080"}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), "user: {}\n")
	assert.NotContains(t, string(text), "data")

	require.NoError(t, certs.WriteKubeconfig(path, certs.Kubeconfig{
		Server: "https://[::1]:6443", ClientCert: []byte("certificate"), ClientKey: []byte("key"),
	}))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), "client-certificate-data: "+base64.StdEncoding.EncodeToString([]byte("certificate")))
	assert.Contains(t, string(text), "client-key-data: "+base64.StdEncoding.EncodeToString([]byte("key")))
	assert.NotContains(t, string(text), "token")
}

func TestWriteKubeconfigRefusesItsInput(t *testing.T) {
	for _, c := range []certs.Kubeconfig{
		{},
		{Server: "localhost:6443"},
		{Server: "ftp://localhost"},
		{Server: "https://"},
		{Server: "https://a b"},
		{Server: "https://localhost", ClientCert: []byte("x")},
		{Server: "https://localhost", ClientKey: []byte("secret")},
	} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		err := certs.WriteKubeconfig(path, c)
		require.ErrorContains(t, err, path)
		assert.NotContains(t, err.Error(), "secret")
		assert.NoFileExists(t, path)
	}
}

func TestWriteKubeconfigOverwritesOnlyItsOwn(t *testing.T) {
	good := certs.Kubeconfig{Server: "https://localhost:6443", Token: "new"}
	ours := func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		require.NoError(t, certs.WriteKubeconfig(path, certs.Kubeconfig{Server: "https://localhost:1", Token: "old"}))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	mine := ours(t)
	for name, test := range map[string]struct {
		text string
		ok   bool
	}{
		"empty":                    {"", true},
		"ours":                     {mine, true},
		"ours, rewritten as JSON":  {`{"kind":"Config","clusters":[{"name":"vmikit"}],"contexts":[{"name":"vmikit"}],"users":[{"name":"vmikit"}]}`, true},
		"ours, another namespace":  {strings.Replace(mine, "namespace: default", "namespace: vms", 1), true},
		"another cluster":          {strings.ReplaceAll(mine, "vmikit", "prod"), false},
		"another user added":       {mine + "    - name: jane\n      user:\n        token: secret\n", false},
		"no user":                  {"kind: Config\nclusters: [{name: vmikit}]\ncontexts: [{name: vmikit}]\n", false},
		"something else":           {strings.Replace(mine, "kind: Config", "kind: Secret", 1), false},
		"not YAML":                 {"\tsecret: [", false},
		"text":                     {"secret notes\n", false},
		"second document":          {"kind: Config\n---\n" + mine, false},
		"a list where names are":   {"kind: Config\nclusters: {name: vmikit}\n", false},
		"ours and somebody's data": {mine + "---\nsecret: 1\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o644))
			err := certs.WriteKubeconfig(path, good)
			text, readErr := os.ReadFile(path)
			require.NoError(t, readErr)
			if test.ok {
				require.NoError(t, err)
				assert.Contains(t, string(text), `token: "new"`)
				if info, err := os.Stat(path); runtime.GOOS != "windows" && assert.NoError(t, err) {
					assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
				}
				return
			}
			require.ErrorContains(t, err, "not written by vmikit")
			assert.NotContains(t, err.Error(), "secret")
			assert.Equal(t, test.text, string(text))
		})
	}
}

func TestWriteKubeconfigNeedsARegularFile(t *testing.T) {
	good := certs.Kubeconfig{Server: "https://localhost:6443"}
	dir := t.TempDir()
	assert.ErrorContains(t, certs.WriteKubeconfig(dir, good), "not a regular file")

	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, certs.WriteKubeconfig(target, good))
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here")
	}
	assert.ErrorContains(t, certs.WriteKubeconfig(link, good), "not a regular file")
}

func TestWriteKubeconfigConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	errs := make([]error, 8)
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() {
			errs[i] = certs.WriteKubeconfig(path, certs.Kubeconfig{Server: "https://localhost:6443", Token: strings.Repeat("t", i+1)})
		})
	}
	wait.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	assert.NoError(t, certs.WriteKubeconfig(path, certs.Kubeconfig{Server: "https://localhost:6443"}), "what is left is whole")
}
