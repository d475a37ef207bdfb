package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// Values like kubectl's flags, over one of the files of testdata.
func TestOverrides(t *testing.T) {
	b := newBed(t)
	path := func(name string) string { return filepath.Join(b.dir, name) }
	https, http := "https://"+b.values["HTTPS"], "http://"+b.values["HTTP"]
	type overrides = kubeconfig.Overrides
	tests := []struct {
		name, file, context string
		overrides           overrides
	}{
		{name: "context", file: "two-contexts", context: "second"},
		{name: "context that does not exist", file: "two-contexts", context: "third"},
		{name: "context beside a current one that does not exist", file: "current-context-missing", context: "test"},
		{name: "context where none is current", file: "current-context-none", context: "test"},
		{name: "namespace", file: "namespace", overrides: overrides{Namespace: "other"}},
		{name: "user", file: "two-contexts", overrides: overrides{User: "second"}},
		{name: "user that does not exist", file: "token", overrides: overrides{User: "other"}},
		{name: "user instead of one that does not exist", file: "user-missing", overrides: overrides{User: "u"}},
		{name: "cluster", file: "two-contexts", overrides: overrides{Cluster: "second"}},
		{name: "cluster that does not exist", file: "token", overrides: overrides{Cluster: "other"}},
		{name: "cluster instead of one that does not exist", file: "cluster-missing", overrides: overrides{Cluster: "c"}},
		{name: "cluster and user without a context", file: "current-context-none", overrides: overrides{Cluster: "c", User: "u"}},

		{name: "server", file: "token", overrides: overrides{Server: https + "/other"}},
		{name: "server clears the server name", file: "tls-server-name-wrong", overrides: overrides{Server: https}},
		{name: "server with a server name", file: "tls-server-name-wrong", overrides: overrides{Server: https, TLSServerName: "localhost"}},
		{name: "server over http", file: "token", overrides: overrides{Server: http}},
		{name: "server without a scheme", file: "token", overrides: overrides{Server: b.values["HTTP"]}},
		{name: "server where the cluster does not exist", file: "cluster-missing", overrides: overrides{Server: https, CAFile: path("ca.crt")}},
		{name: "server where no context is current", file: "current-context-none", overrides: overrides{Server: https, Insecure: true, Token: "flag"}},
		{name: "server over an empty file", file: "empty", overrides: overrides{Server: https, Insecure: true, Token: "flag"}},
		{name: "server beside a current context that does not exist", file: "current-context-missing", overrides: overrides{Server: https, Insecure: true}},
		{name: "server name", file: "tls-server-name-wrong", overrides: overrides{TLSServerName: "api.example"}},
		{name: "server name over an empty file", file: "empty", overrides: overrides{TLSServerName: "api.example"}},

		{name: "insecure", file: "ca-wrong", overrides: overrides{Insecure: true}},
		{name: "insecure over both kinds", file: "ca-twice", overrides: overrides{Insecure: true}},
		{name: "insecure and authorities", file: "token", overrides: overrides{Insecure: true, CAFile: path("ca.crt")}},
		{name: "authorities", file: "ca-wrong", overrides: overrides{CAFile: path("ca.crt")}},
		{name: "authorities over inline ones", file: "token", overrides: overrides{CAFile: path("other-ca.crt")}},
		{name: "authorities instead of insecure", file: "insecure", overrides: overrides{CAFile: path("other-ca.crt")}},
		{name: "authorities that are missing", file: "token", overrides: overrides{CAFile: path("none")}},
		{name: "proxy", file: "token", overrides: overrides{ProxyURL: "http://" + b.values["PROXY"]}},
		{name: "proxy over another", file: "proxy-scheme", overrides: overrides{ProxyURL: "socks5://" + b.values["SOCKS"]}},
		{name: "compression", file: "token", overrides: overrides{DisableCompression: true}},

		{name: "token", file: "token", overrides: overrides{Token: "flag"}},
		{name: "token over nobody", file: "nobody", overrides: overrides{Token: "flag"}},
		{name: "token over a certificate", file: "certificate", overrides: overrides{Token: "flag"}},
		{name: "token over a plugin", file: "exec-fails", overrides: overrides{Token: "flag"}},
		{name: "token over a plugin of an old version", file: "exec-v1alpha1", overrides: overrides{Token: "flag"}},
		{name: "token over a provider", file: "provider-oidc", overrides: overrides{Token: "flag"}},
		{name: "token over basic", file: "basic", overrides: overrides{Token: "flag"}},
		{name: "token over http", file: "http", overrides: overrides{Token: "flag"}},
		{name: "token flag over token file", file: "token-file", overrides: overrides{Token: "flag"}},
		{name: "token where the user does not exist", file: "user-missing", overrides: overrides{Token: "flag"}},
		{name: "token file over a token", file: "token", overrides: overrides{TokenFile: path("other-token")}},
		{name: "token file over another", file: "token-file", overrides: overrides{TokenFile: path("other-token")}},
		{name: "token file that is missing", file: "nobody", overrides: overrides{TokenFile: path("none")}},
		{name: "token file that is missing over a token", file: "token", overrides: overrides{TokenFile: path("none")}},
		{name: "token and token file", file: "nobody", overrides: overrides{Token: "flag", TokenFile: path("other-token")}},
		{name: "basic", file: "nobody", overrides: overrides{Username: "flag", Password: "secret"}},
		{name: "basic over a token", file: "token", overrides: overrides{Username: "flag", Password: "secret"}},
		{name: "password", file: "basic", overrides: overrides{Password: "other-secret"}},
		{name: "certificate", file: "nobody", overrides: overrides{CertFile: path("client.crt"), KeyFile: path("client.key")}},
		{name: "certificate over inline", file: "certificate", overrides: overrides{CertFile: path("other.crt"), KeyFile: path("other.key")}},
		{name: "certificate without its key", file: "certificate", overrides: overrides{CertFile: path("other.crt")}},
		{name: "key without its certificate", file: "certificate", overrides: overrides{KeyFile: path("client.key")}},
		{name: "certificate over a plugin", file: "exec-fails", overrides: overrides{CertFile: path("client.crt"), KeyFile: path("client.key")}},

		{name: "as", file: "token", overrides: overrides{As: "joe", AsUID: "7", AsGroups: []string{"a", "b"}, AsExtra: map[string][]string{"k": {"v"}}}},
		{name: "as over another", file: "impersonate", overrides: overrides{As: "joe", AsGroups: []string{"a"}, AsExtra: map[string][]string{"scopes": {"none"}, "k": {"v"}}}},
		{name: "groups over those of a user", file: "impersonate", overrides: overrides{AsGroups: []string{"a"}}},
		{name: "groups of nobody", file: "token", overrides: overrides{AsGroups: []string{"a"}}},
		{name: "as over http", file: "http", overrides: overrides{As: "joe"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := filepath.Join("testdata", tt.file+".yaml")
			if tt.file == "two-contexts" {
				source = filepath.Join("testdata", "overrides", tt.file+".yaml")
			}
			if err := b.compare(t, tt.name, b.place(t, source), tt.overrides, tt.context); err != nil {
				assertSayable(t, err)
			}
		})
	}
	t.Logf("%d combinations", len(tests))
}

// Several files by KUBECONFIG, and none.
func TestPlaces(t *testing.T) {
	b := newBed(t)
	paths := map[string]string{"missing": filepath.Join(b.dir, "none"), "directory": b.dir, "": ""}
	for _, name := range []string{"contexts", "sub/clusters", "later"} {
		paths[name] = b.place(t, filepath.Join("testdata", "merge", filepath.FromSlash(name)+".yaml"))
	}
	for _, name := range []string{"token", "broken", "empty"} {
		paths[name] = b.place(t, filepath.Join("testdata", name+".yaml"))
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	// clientcmd looks at the home directory when the program starts.
	recommended := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(home, ".kube", "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = recommended })

	lists := [][]string{
		{"contexts", "sub/clusters"}, {"sub/clusters", "contexts"},
		{"contexts", "sub/clusters", "later"}, {"later", "contexts", "sub/clusters"},
		{"missing", "contexts", "missing", "", "sub/clusters", "contexts"},
		{"contexts", "later"}, {"contexts"}, {"later"}, {"token", "contexts"}, {"contexts", "token"},
		{"empty", "token"}, {"missing"}, {"missing", "empty"}, {"token", "broken"}, {"directory", "token"}, {""},
	}
	for _, list := range lists {
		for _, context := range []string{"", "second", "test"} {
			t.Run(strings.Join(list, "+")+"@"+context, func(t *testing.T) {
				var elements []string
				for _, name := range list {
					elements = append(elements, paths[name])
				}
				t.Setenv("KUBECONFIG", strings.Join(elements, string(os.PathListSeparator)))
				if err := b.compare(t, t.Name(), "", kubeconfig.Overrides{}, context); err != nil {
					assertSayable(t, err)
				}
			})
		}
	}
	t.Run("home", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "")
		err := b.compare(t, t.Name(), "", kubeconfig.Overrides{}, "")
		assert.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
		require.NoError(t, os.MkdirAll(filepath.Join(home, ".kube"), 0o755))
		text, err := os.ReadFile(paths["token"])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(home, ".kube", "config"), text, 0o600))
		assert.NoError(t, b.compare(t, t.Name(), "", kubeconfig.Overrides{}, ""))
	})
	t.Run("explicit file that is missing", func(t *testing.T) {
		t.Setenv("KUBECONFIG", paths["token"])
		assert.ErrorIs(t, b.compare(t, t.Name(), paths["missing"], kubeconfig.Overrides{}, ""), os.ErrNotExist)
	})
	// The working directory is not where relative paths of files begin.
	t.Run("relative path of a file", func(t *testing.T) {
		t.Chdir(filepath.Dir(paths["sub/clusters"]))
		t.Setenv("KUBECONFIG", "clusters.yaml"+string(os.PathListSeparator)+"../contexts.yaml")
		assert.NoError(t, b.compare(t, t.Name(), "", kubeconfig.Overrides{}, ""))
		assert.NoError(t, b.compare(t, t.Name(), "", kubeconfig.Overrides{TokenFile: "../../other-token"}, ""))
	})
}
