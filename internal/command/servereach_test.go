package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPathPrefix(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s := start(t, "--path-prefix", "/k8s", "--kubeconfig-out", kubeconfig)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/k8s$`, s.url)
	status, _ := s.get(t, http.DefaultClient, machines, "")
	assert.Equal(t, 200, status)
	config, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	assert.Contains(t, string(config), "server: "+s.url+"\n")
}

func TestCORSOrigin(t *testing.T) {
	s := start(t, "--cors-origin", "https://a.example", "--cors-origin", "https://b.example")
	for origin, want := range map[string]string{"https://a.example": "https://a.example", "https://b.example": "https://b.example", "https://c.example": ""} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.url+machines, nil)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, want, resp.Header.Get("Access-Control-Allow-Origin"))
	}
}

func TestReachThatCannotBe(t *testing.T) {
	for _, test := range []struct{ flag, value, want string }{
		{"--path-prefix", "k8s/", `--path-prefix: path prefix "k8s/": must be an absolute path without a slash at its end, such as /k8s`},
		{"--cors-origin", "*", `--cors-origin: origin "*": there is no wild card; list each origin`},
		{"--cors-origin", "null", `--cors-origin: origin "null": it is that of every page that has no other`},
	} {
		got := vmikit(t, "serve", test.flag, test.value)
		assert.Equal(t, 2, got.code, got.stderr)
		assert.Contains(t, got.stderr, "error: "+test.want+"\n")
	}
}
