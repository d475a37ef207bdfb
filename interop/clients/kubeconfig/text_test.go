package kubeconfig_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// refusedByUs are our errors about what clientcmd leaves to the first request, or
// to nobody: the differences, and servers and proxies that no request could reach.
var refusedByUs = regexp.MustCompile(`names the user|has a user name in its URL|server has|server is neither|proxy-url has no host|` +
	`a header cannot carry|the token is empty|client certificate and key|makes too many values|nested too deeply|has more than`)

// unread is what clientcmd decodes, and so may refuse, although nothing uses it;
// ours does not look at it.
var unread = regexp.MustCompile(`preferences|extensions|config`)

// FuzzText holds the two sides to each other on texts, without requests: what is
// refused, and which server, namespace and token come of the rest.
func FuzzText(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(strings.NewReplacer("${HTTPS}", "api.example:6443", "${HTTP}", "api.example:8080", "${CA_CRT}", "", "${SELF}", "plugin").Replace(string(text)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "config")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		want, wantErr := theirText(file)
		got, gotErr := ourText(t, file)
		switch {
		case wantErr == nil && gotErr == nil:
			assert.Equal(t, want, got)
		case wantErr == nil:
			assert.Regexp(t, refusedByUs, gotErr.Error())
		case gotErr == nil && !unread.MatchString(text):
			assert.Fail(t, "only clientcmd refuses this", "%v", wantErr)
		}
	})
}

// result is what is compared of a text.
type result struct{ URL, Namespace, Token string }

func theirText(file string) (result, error) {
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: file}, &clientcmd.ConfigOverrides{})
	config, err := loading.ClientConfig()
	if err != nil {
		return result{}, err
	}
	namespace, _, err := loading.Namespace()
	if err != nil {
		return result{}, err
	}
	if _, err := rest.TransportFor(config); err != nil {
		return result{}, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return result{}, err
	}
	plain := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: strings.TrimRight(base.Path, "/"), RawPath: strings.TrimRight(base.RawPath, "/")}
	r := result{URL: plain.String(), Namespace: namespace}
	if config.BearerTokenFile == "" {
		r.Token = strings.TrimSpace(config.BearerToken)
	}
	return r, nil
}

func ourText(t *testing.T, file string) (result, error) {
	config, err := kubeconfig.Load(kubeconfig.WithFile(file))
	if err != nil {
		return result{}, err
	}
	r := result{URL: config.URL, Namespace: config.Namespace}
	if strings.HasPrefix(config.Credential(), "a token") {
		r.Token, err = config.Token(t.Context())
	}
	return r, err
}
