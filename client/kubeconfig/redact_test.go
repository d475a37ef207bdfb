package kubeconfig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// printed is a value in every way that programs print values.
func printed(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%20v", "%T"} {
		fmt.Fprintf(&out, verb+"\n", value)
		fmt.Fprintf(&out, verb+"\n", []any{value})
		fmt.Fprintf(&out, verb+"\n", struct{ Field any }{value})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", value)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", value)
	text, err := json.Marshal(value)
	require.NoError(t, err)
	out.Write(text)
	return out.String()
}

func TestNothingSecretIsPrinted(t *testing.T) {
	overrides := kubeconfig.Overrides{
		Server: "https://me:s3cr3t@api.example", ProxyURL: "me:s3cr3t@proxy.example",
		Token: "s3cr3t", Username: "me", Password: "s3cr3t", Namespace: "vms",
	}
	p := newTestPlugin(t)
	values := map[string]any{"overrides": overrides, "overrides pointer": &overrides, "redacted": overrides.String() + overrides.GoString()}
	for name, user := range map[string]string{
		"token": "token: s3cr3t", "basic": "username: me, password: s3cr3t", "plugin": p.user(t, ", args: [s3cr3t]"),
	} {
		c := mustLoad(t, example+", proxy-url: 'http://me:s3cr3t@proxy.example'", user)
		p.prints(t, map[string]string{"token": "s3cr3t"})
		_, err := c.Token(t.Context())
		require.NoError(t, err)
		values[name], values[name+" value"] = c, *c
	}
	for name, value := range values {
		text := printed(t, value)
		assert.NotRegexp(t, `s3cr3t|(?i)733363723374|115 51 99 114`, text, name)
		assert.Regexp(t, "vms|api.example", text, name)
	}
	assert.Contains(t, overrides.String(), "Token:REDACTED TokenFile: ")
	assert.Contains(t, overrides.String(), "Server:https://REDACTED@api.example ")
	assert.Equal(t, "s3cr3t", overrides.Token, "the value itself was changed")
}

func TestString(t *testing.T) {
	c := mustLoad(t, example, "token: s3cr3t")
	assert.Equal(t, "https://api.example:6443 (namespace default, context test, cluster c, user u, credential: a token)", c.String())
	assert.Equal(t, c.String(), fmt.Sprintf("%#v", c))
	assert.Equal(t, "kubeconfig.Config{}", new(kubeconfig.Config).String())
	assert.Equal(t, "kubeconfig.Config{}", fmt.Sprint((*kubeconfig.Config)(nil)))
}
