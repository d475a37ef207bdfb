package kubeconfig_test

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

const example = "server: 'https://api.example:6443'"

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "config", strings.Replace(config("server: 'https://api.example/k8s/'", "token: t0k3n"),
		"user: u}", "user: u, namespace: vms}", 1))
	for name, load := range map[string]func() (*kubeconfig.Config, error){
		"WithFile": func() (*kubeconfig.Config, error) { return kubeconfig.Load(nil, kubeconfig.WithFile(file)) },
		"KUBECONFIG": func() (*kubeconfig.Config, error) {
			t.Setenv("KUBECONFIG", filepath.Join(dir, "missing")+string(os.PathListSeparator)+file)
			return kubeconfig.Load(kubeconfig.WithFile(""), kubeconfig.WithContext(""))
		},
	} {
		c, err := load()
		require.NoError(t, err, name)
		assert.Equal(t, "https://api.example/k8s", c.URL)
		assert.Equal(t, "vms", c.Namespace)
		assert.Equal(t, []string{"test", "c", "u"}, []string{c.Context, c.Cluster, c.User})
		assert.Equal(t, "a token", c.Credential())
		token, err := c.Token(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "t0k3n", token)
	}
}

func TestNothingIsConfigured(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("KUBECONFIG", "")
	file := filepath.Join(home, ".kube", "config")
	_, err := kubeconfig.Load()
	require.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
	assert.EqualError(t, err, "kubeconfig: no server is configured: KUBECONFIG is not set and "+file+
		" is missing or has no cluster; set KUBECONFIG, or give a file or a server")

	other := write(t, home, "other", strings.Replace(config(example, ""), "current-context: test", "", 1))
	t.Setenv("KUBECONFIG", other)
	_, err = kubeconfig.Load()
	require.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
	assert.EqualError(t, err, `kubeconfig: no server is configured: there is no current-context; choose a context: there is "test"`)

	t.Setenv("KUBECONFIG", "")
	c, err := kubeconfig.Load(kubeconfig.WithOverrides(kubeconfig.Overrides{Server: "https://api.example", Token: "t0k3n"}))
	require.NoError(t, err)
	assert.Equal(t, "https://api.example (namespace default, credential: a token)", c.String())

	write(t, home, ".kube/config", config(example, ""))
	c, err = kubeconfig.Load()
	require.NoError(t, err)
	assert.Equal(t, "none", c.Credential())
}

// Errors say where and what, and repeat no secret: every value here that could be
// one has s3cr3t in it.
func TestErrors(t *testing.T) {
	key := issue(t, "s3cr3t", nil)
	data := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	long := strings.Repeat("x", 100)
	tests := []struct{ cluster, user, want string }{
		{"", "", `FILE:5: cluster "c": has no server`},
		{"server: 'https://me:s3cr3t@api.example'", "", `FILE:5: cluster "c": server has a user name in its URL; put username and password into the user`},
		{"server: 'https://me:s3cr3t@api example'", "", `FILE:5: cluster "c": server is neither a URL nor host:port`},
		{"server: 'ftp://api.example'", "", `FILE:5: cluster "c": server has the scheme "ftp", not https or http`},
		{"server: 'https://:6443'", "", `FILE:5: cluster "c": server has no host`},
		{"server: [a]", "", "FILE:6: clusters[0].cluster.server must be a string, not a list"},
		{example + ", proxy-url: 'socks5h://me:s3cr3t@proxy'", "", `FILE:5: cluster "c": proxy-url must begin with http://, https:// or socks5://`},
		{example + ", proxy-url: 'http://me:s3cr3t@pro xy'", "", `FILE:5: cluster "c": proxy-url is not a URL`},
		{example + ", certificate-authority: none.crt", "", `FILE:5: cluster "c": certificate-authority: open DIR/none.crt: no such file or directory`},
		{example + ", certificate-authority-data: czNjcjN0", "", `FILE:5: cluster "c", user "u": certificate-authority holds no certificate in PEM`},
		{example + ", certificate-authority-data: s3cr3t!", "", "FILE:6: clusters[0].cluster.certificate-authority-data is not base64"},
		{example + ", insecure-skip-tls-verify: true, certificate-authority-data: czNjcjN0", "", `FILE:5: cluster "c": has certificate authorities together with insecure-skip-tls-verify; only one is allowed`},
		{example + ", insecure-skip-tls-verify: 'yes'", "", "FILE:6: clusters[0].cluster.insecure-skip-tls-verify must be true or false without quotes, not a string"},
		{example, "token: 12345", "FILE:9: users[0].user.token must be a string, not a number; put it in quotes"},
		{example, "token: *s3cr3t", "FILE: has an alias (*name) without an anchor; put values that begin with a star in quotes"},
		{example, "token: !!int s3cr3t", "FILE:9: users[0].user.token has a value that does not fit its tag"},
		{example, `token: "s3\ncr3t"`, `FILE:8: user "u": the token has characters that a header cannot carry`},
		{example, "token: s3cr3t, username: me", `FILE:8: user "u": has a token and a user name with password; only one way to authenticate is allowed`},
		{example, "tokenFile: config", `FILE:8: user "u": token file FILE: the token has characters that a header cannot carry`},
		{example, "tokenFile: none", `FILE:8: user "u": token file: open DIR/none: no such file or directory`},
		{example, "client-certificate-data: czNjcjN0, client-key-data: czNjcjN0", `FILE:5: cluster "c", user "u": client certificate and key: tls: failed to find any PEM data in certificate input`},
		{example, "client-certificate-data: " + data(key.cert) + ", client-key-data: " + data(issue(t, "s3cr3t", nil).key), `FILE:5: cluster "c", user "u": client certificate and key: tls: private key does not match public key`},
		{example, "client-certificate-data: czNjcjN0", `FILE:8: user "u": has a client certificate without client-key or client-key-data`},
		{example, "as-groups: [s3cr3t]", `FILE:8: user "u": impersonates a uid, groups or extra values without a user (as)`},
		{example, "auth-provider: {name: gcp, config: {access-token: s3cr3t}}", `FILE:8: user "u": the auth-provider "gcp" is not supported; use the exec plugin gke-gcloud-auth-plugin (gcloud container clusters get-credentials writes it)`},
		{example, "auth-provider: {name: " + long + "}", `FILE:8: user "u": the auth-provider "` + long[:60] + `…" is not supported; use an exec plugin`},
		{example, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws, args: [s3cr3t]}", `FILE:8: user "u": exec plugin: the apiVersion "client.authentication.k8s.io/v1alpha1" is not supported, only client.authentication.k8s.io/v1 and v1beta1; a newer aws may have one of them`},
		{example, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}", `FILE:8: user "u": exec plugin: interactiveMode must be Never, IfAvailable or Always, not ""`},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		file := write(t, dir, "config", config(tt.cluster, tt.user))
		_, err := kubeconfig.Load(kubeconfig.WithFile(file))
		want := strings.NewReplacer("FILE", file, "DIR", dir).Replace(tt.want)
		assert.EqualError(t, err, "kubeconfig: "+want)
		assert.NotContains(t, err.Error(), "s3cr3t")
	}
}

func TestErrorsOfWholeFiles(t *testing.T) {
	deep := "extensions: [{name: x, extension: " + strings.Repeat("{a: ", 2000) + "1" + strings.Repeat("}", 2000) + "}]"
	bomb := "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n"
	for i := range 9 {
		a := string(rune('0' + i))
		b := string(rune('1' + i))
		bomb += "x" + b + ": &x" + b + " [" + strings.Repeat("*x"+a+", ", 10) + "]\n"
	}
	tests := map[string]struct{ text, want string }{
		"not YAML":         {"a: [", "FILE:1: is not YAML: did not find expected node content"},
		"a tab":            {"a:\n\tb: c\n", "FILE:2: is not YAML: found character that cannot start any token"},
		"scalar":           {"hello", "FILE:1: the file must be a mapping"},
		"another kind":     {"apiVersion: v1\nkind: Secret\n", "FILE: is no kubeconfig: kind must be Config and apiVersion v1"},
		"twice":            {config(example, "") + "- name: test\n", `FILE:13: there is another context with the name "test"`},
		"names itself":     {"users: &u\n- name: a\n  user: *u\n", "FILE:1: users[0].user must be a mapping, not a list"},
		"merges itself":    {"users:\n- &u {<<: *u}\n", "FILE:2: users[0] merges too deeply"},
		"merges a list":    {"users:\n- {<<: [a]}\n", "FILE:2: users[0] merges something that is no mapping"},
		"odd name":         {"users:\n- {[a]: b}\n", "FILE:2: users[0] has a name that is no scalar"},
		"null name":        {"users:\n- {~: b}\n", "FILE:2: users[0] has a name that cannot be one in JSON"},
		"deep":             {config(example+", "+deep, ""), "FILE:6: clusters[0].cluster.extensions[0].extension is nested too deeply"},
		"infinity":         {config(example+", extensions: [{extension: .inf}]", ""), "FILE:6: clusters[0].cluster.extensions[0].extension has a number that JSON cannot hold"},
		"many values":      {"a: [" + strings.Repeat("1,", 600_000) + "]", "FILE: has more than 500000 values"},
		"many by alias":    {bomb + config(example+", extensions: [{extension: *x9}]", ""), "FILE:1: clusters[0].cluster.extensions[0].extension makes too many values of aliases"},
		"no context":       {strings.Replace(config(example, ""), "current-context: test", "current-context: prod", 1), `current-context is "prod", which does not exist; there is "test"`},
		"no cluster":       {strings.Replace(config(example, ""), "cluster: c,", "cluster: d,", 1), `FILE:11: the context "test" names the cluster "d", which does not exist; there is "c"`},
		"no user":          {strings.Replace(config(example, ""), "user: u}", "user: v}", 1), `FILE:11: the context "test" names the user "v", which does not exist; there is "u"`},
		"names no cluster": {strings.Replace(config(example, ""), "cluster: c,", "", 1), `no server is configured: the context "test" names no cluster`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := write(t, t.TempDir(), "config", tt.text)
			_, err := kubeconfig.Load(kubeconfig.WithFile(file))
			assert.EqualError(t, err, "kubeconfig: "+strings.ReplaceAll(tt.want, "FILE", file))
		})
	}
}

func TestErrorsListWhatThereIs(t *testing.T) {
	var text strings.Builder
	text.WriteString("contexts:\n")
	for i := range 25 {
		text.WriteString("- name: context-" + string(rune('a'+i)) + "\n")
	}
	file := write(t, t.TempDir(), "config", text.String())
	_, err := kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithContext("prod"))
	assert.ErrorContains(t, err, `kubeconfig: the context "prod" does not exist; there is "context-a", "context-b", `)
	assert.ErrorContains(t, err, `"context-t" and 5 more`)

	_, err = kubeconfig.Load(kubeconfig.WithFile(file), kubeconfig.WithOverrides(kubeconfig.Overrides{Cluster: "c"}))
	assert.EqualError(t, err, `kubeconfig: the override names the cluster "c", which does not exist; there is none`)
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	_, err := kubeconfig.Load(kubeconfig.WithFile(filepath.Join(dir, "none")))
	var pathError *fs.PathError
	require.ErrorAs(t, err, &pathError)
	assert.ErrorIs(t, err, fs.ErrNotExist)

	_, err = kubeconfig.Load(kubeconfig.WithFile(dir))
	assert.ErrorContains(t, err, dir)

	large := write(t, dir, "large", "")
	require.NoError(t, os.Truncate(large, 16<<20+1))
	_, err = kubeconfig.Load(kubeconfig.WithFile(large))
	assert.EqualError(t, err, "kubeconfig: read "+large+": has more than 16 MiB")

	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("no symbolic links here")
	}
	_, err = kubeconfig.Load(kubeconfig.WithFile(loop))
	require.ErrorAs(t, err, &pathError)
	assert.Equal(t, loop, pathError.Path)
}

// A pipe of a shell's process substitution is no regular file.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	path := filepath.Join("/dev/fd", fmt.Sprint(r.Fd()))
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /dev/fd here")
	}
	_, err = w.WriteString(config(example, "token: t0k3n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	c, err := kubeconfig.Load(kubeconfig.WithFile(path))
	require.NoError(t, err)
	assert.Equal(t, "https://api.example:6443", c.URL)
}

func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "# nothing\n", config(example, "token: t0k3n"), config("server: 'localhost:8080'", "username: a, password: b"),
		config("server: 'https://a/b?c#d', insecure-skip-tls-verify: On, proxy-url: 'socks5://p:1'", "as: j, as-groups: [1], as-user-extra: {k: [v]}"),
		`{"apiVersion":"v1","clusters":[{"name":"c","cluster":{"server":"https://x"}}]}`,
		config(example+", extensions: [{name: e, extension: {a: [1.5, 0x1F, ~, 2001-01-01, y]}}]", "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: a, value: b}]}"),
		"a: &a {b: 1, <<: *a}\nusers: [*a, {<<: [*a]}]\n", "users: &u [*u]\n", "--- !!map\n? [a]\n: b\n", "\xff\xfea\x00", "\ufeffkind: Config\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := write(t, t.TempDir(), "config", text)
		c, err := kubeconfig.Load(kubeconfig.WithFile(file))
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), "kubeconfig: "), err)
			return
		}
		assert.NotEmpty(t, c.URL)
		assert.NotEmpty(t, c.Namespace)
		assert.NotNil(t, c.Authorize(nil))
	})
}

// Without files what the overrides say is all there is: the credentials of another
// server are not for the one that is named.
func TestWithoutFiles(t *testing.T) {
	t.Setenv("KUBECONFIG", write(t, t.TempDir(), "config", config(example, "token: t0k3n")))
	c, err := kubeconfig.Load(kubeconfig.WithoutFiles(), kubeconfig.WithOverrides(kubeconfig.Overrides{Server: "https://elsewhere.example:6443"}))
	require.NoError(t, err)
	assert.Equal(t, "https://elsewhere.example:6443", c.URL)
	token, err := c.Token(t.Context())
	require.NoError(t, err)
	assert.Empty(t, token)
	_, err = kubeconfig.Load(kubeconfig.WithoutFiles())
	require.ErrorIs(t, err, kubeconfig.ErrNotConfigured)
	assert.ErrorContains(t, err, "no kubeconfig is read and no server is given")
}
