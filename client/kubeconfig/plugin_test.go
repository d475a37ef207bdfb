package kubeconfig_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// The test binary is an exec plugin when this variable names a directory: it prints
// the directory's file "output", and writes its runs into the file "runs".
const pluginVariable = "KUBECONFIG_TEST_PLUGIN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(pluginVariable); dir != "" {
		os.Exit(runPlugin(dir))
	}
	os.Exit(m.Run())
}

func runPlugin(dir string) int {
	runs, err := os.OpenFile(filepath.Join(dir, "runs"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 10
	}
	fmt.Fprintln(runs, os.Getenv("KUBERNETES_EXEC_INFO"))
	_ = runs.Close()
	fmt.Fprint(os.Stderr, os.Getenv("SAY"))
	for os.Getenv("HANG") != "" {
		time.Sleep(time.Hour)
	}
	if os.Getenv("LINGER") != "" {
		for i := 0; i < 6000 && !exists(filepath.Join(dir, "release")); i++ {
			time.Sleep(10 * time.Millisecond)
		}
		return 0
	}
	if os.Getenv("DAEMON") != "" { // keeps the output open
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LINGER=1")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 11
		}
	}
	for os.Getenv("FLOOD") != "" {
		if _, err := os.Stdout.WriteString(strings.Repeat("s3cr3t ", 1000)); err != nil {
			return 12
		}
	}
	output, err := os.ReadFile(filepath.Join(dir, "output"))
	if err != nil {
		return 1
	}
	_, _ = os.Stdout.Write(output)
	return 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// testPlugin is a plugin to configure.
type testPlugin struct{ dir string }

func newTestPlugin(t testing.TB) testPlugin {
	t.Helper()
	return testPlugin{t.TempDir()}
}

// user is the YAML of a user with the plugin.
func (p testPlugin) user(t testing.TB, more string, env ...string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	variables := "{name: " + pluginVariable + ", value: '" + p.dir + "'}"
	for _, name := range env {
		variables += ", {name: " + name + ", value: '1'}"
	}
	return "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: '" + self + "', env: [" + variables + "]" + more + "}"
}

// prints lets the plugin print a status.
func (p testPlugin) prints(t testing.TB, status map[string]string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status,
	})
	require.NoError(t, err)
	write(t, p.dir, "output", string(text))
}

func (p testPlugin) runs(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "runs"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestPluginRunsUntilItsCredentialExpires(t *testing.T) {
	p := newTestPlugin(t)
	synctest.Test(t, func(t *testing.T) {
		c := mustLoad(t, example, p.user(t, ""))
		assert.Empty(t, p.runs(t), "Load runs no plugin")
		token := func() string {
			token, err := c.Token(t.Context())
			require.NoError(t, err)
			return token
		}
		p.prints(t, map[string]string{"token": "first", "expirationTimestamp": time.Now().Add(time.Hour).Format(time.RFC3339)})
		assert.Equal(t, "first", token())
		p.prints(t, map[string]string{"token": "second"})
		time.Sleep(time.Hour - time.Second)
		assert.Equal(t, "first", token())
		time.Sleep(time.Second)
		assert.Equal(t, "second", token())
		time.Sleep(1000 * time.Hour)
		assert.Equal(t, "second", token(), "one without a time does not expire")
		assert.Equal(t, []string{`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}`}, p.runs(t)[1:])
	})
}

// A plugin whose clock is hours behind does not run for every request.
func TestPluginWhoseCredentialHasExpired(t *testing.T) {
	p := newTestPlugin(t)
	synctest.Test(t, func(t *testing.T) {
		p.prints(t, map[string]string{"token": "t0k3n", "expirationTimestamp": time.Now().Add(-time.Hour).Format(time.RFC3339)})
		c := mustLoad(t, example, p.user(t, ""))
		for _, want := range []int{1, 1, 2} {
			token, err := c.Token(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "t0k3n", token)
			assert.Len(t, p.runs(t), want)
			time.Sleep(5 * time.Second)
		}
	})
}

func TestRefusedCredentialOfAPluginIsRenewedOnce(t *testing.T) {
	p := newTestPlugin(t)
	synctest.Test(t, func(t *testing.T) {
		accepted := "new"
		sent := &recorder{status: func(authorization string) int {
			if authorization == "Bearer "+accepted {
				return http.StatusOK
			}
			return http.StatusUnauthorized
		}}
		rt := mustLoad(t, example, p.user(t, "")).Authorize(sent)
		send := func() int {
			resp, err := rt.RoundTrip(request(t, http.MethodGet, "https://api.example:6443", ""))
			require.NoError(t, err)
			return resp.StatusCode
		}
		p.prints(t, map[string]string{"token": "new"})
		assert.Equal(t, http.StatusOK, send())
		accepted = "newer"
		p.prints(t, map[string]string{"token": "newer"})
		assert.Equal(t, http.StatusOK, send())
		assert.Len(t, p.runs(t), 2)

		accepted = "none"
		for range 3 {
			assert.Equal(t, http.StatusUnauthorized, send())
		}
		assert.Len(t, p.runs(t), 2, "the credential has just come of a 401")
		time.Sleep(time.Minute)
		assert.Equal(t, http.StatusUnauthorized, send())
		assert.Len(t, p.runs(t), 3)

		time.Sleep(time.Minute)
		require.NoError(t, os.Remove(filepath.Join(p.dir, "output")))
		assert.Equal(t, http.StatusUnauthorized, send(), "what the server said counts more than that the plugin failed")
	})
}

func TestConcurrentRequestsRunAPluginOnce(t *testing.T) {
	p := newTestPlugin(t)
	p.prints(t, map[string]string{"token": "t0k3n"})
	c := mustLoad(t, example, p.user(t, ""))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			token, err := c.Token(context.Background())
			assert.NoError(t, err)
			assert.Equal(t, "t0k3n", token)
		})
	}
	wg.Wait()
	assert.Len(t, p.runs(t), 1)
}

func TestWaitingForAPluginEndsWithTheContext(t *testing.T) {
	p := newTestPlugin(t)
	c := mustLoad(t, example, p.user(t, "", "HANG"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(p.runs(t)) == 0 && t.Context().Err() == nil {
			runtime.Gosched()
		}
		cancel()
	}()
	_, err := c.Token(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "kubeconfig: exec plugin ")
}

// A request that gives up does not take the plugin from another that waits.
func TestAbandonedPluginStartsAgain(t *testing.T) {
	p := newTestPlugin(t)
	p.prints(t, map[string]string{"token": "t0k3n"})
	for range 5 {
		c := mustLoad(t, example, p.user(t, ""))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = c.Token(ctx) })
		wg.Go(cancel)
		wg.Go(func() {
			token, err := c.Token(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, "t0k3n", token)
		})
		wg.Wait()
	}
}

func TestPluginKnowsTheCluster(t *testing.T) {
	ca := newAuthority(t)
	file := write(t, t.TempDir(), "ca.crt", ca.cert)
	p := newTestPlugin(t)
	p.prints(t, map[string]string{"token": "t0k3n"})
	c := mustLoad(t, "server: 'https://api.example/k8s', tls-server-name: other, certificate-authority: '"+file+"', proxy-url: 'http://proxy.example', disable-compression: true, "+
		"extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x, on: yes, list: [1, 1.5, ~]}}]", p.user(t, ", provideClusterInfo: true"))
	_, err := c.Token(t.Context())
	require.NoError(t, err)
	var info struct {
		Spec struct{ Cluster map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(p.runs(t)[0]), &info))
	assert.NotEmpty(t, info.Spec.Cluster["certificate-authority-data"])
	delete(info.Spec.Cluster, "certificate-authority-data")
	assert.Equal(t, map[string]any{
		"server": "https://api.example/k8s", "tls-server-name": "other", "proxy-url": "http://proxy.example", "disable-compression": true,
		"config": map[string]any{"audience": "x", "true": true, "list": []any{1.0, 1.5, nil}},
	}, info.Spec.Cluster)
}

func TestPluginErrors(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	v1 := `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",`
	for output, want := range map[string]string{
		"please log in":                    "printed something that is not an ExecCredential in JSON",
		`{"kind":"ExecCredential","s3cr3t`: "printed something that is not an ExecCredential in JSON",
		`{"kind":"Secret"}`:                "printed something that is not an ExecCredential in JSON",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"s3cr3t"}}`: `is configured for apiVersion client.authentication.k8s.io/v1 and printed "client.authentication.k8s.io/v1beta1"`,
		v1 + `"status":null}`:                                                        "printed no status",
		v1 + `"status":{}}`:                                                          "printed neither a token nor a client certificate",
		v1 + `"status":{"token":["s3cr3t"]}}`:                                        "printed something that is not an ExecCredential in JSON",
		v1 + `"status":{"token":"s3\ncr3t"}}`:                                        "the token has characters that a header cannot carry",
		v1 + `"status":{"clientKeyData":"s3cr3t"}}`:                                  "printed a client certificate or a key without the other",
		v1 + `"status":{"token":"s","expirationTimestamp":"s3cr3t"}}`:                "printed an expirationTimestamp that is not RFC 3339",
		v1 + `"status":{"clientCertificateData":"s3cr3t","clientKeyData":"s3cr3t"}}`: "client certificate and key: tls: failed to find any PEM data in certificate input",
	} {
		p := newTestPlugin(t)
		write(t, p.dir, "output", output)
		_, err := mustLoad(t, example, p.user(t, ", args: [s3cr3t]")).Token(t.Context())
		assert.EqualError(t, err, "kubeconfig: exec plugin "+self+": "+want)
	}
	p := newTestPlugin(t)
	_, err = mustLoad(t, example, p.user(t, "")).Token(t.Context())
	assert.EqualError(t, err, "kubeconfig: exec plugin "+self+": failed: exit status 1")
	_, err = mustLoad(t, example, p.user(t, "", "FLOOD")).Token(t.Context())
	assert.EqualError(t, err, "kubeconfig: exec plugin "+self+": printed more than 1 MiB")
}

func TestPluginThatIsNotInstalled(t *testing.T) {
	user := `exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: vmikit-no-such-plugin, installHint: "get \e[1mit\n\nfrom there"}`
	_, err := mustLoad(t, example, user).Token(t.Context())
	require.ErrorIs(t, err, exec.ErrNotFound)
	assert.EqualError(t, err, `kubeconfig: exec plugin vmikit-no-such-plugin: is not installed: `+
		`exec: "vmikit-no-such-plugin": executable file not found in $PATH: get [1mit from there`)

	dir := t.TempDir()
	file := write(t, dir, "config", config(example, strings.Replace(user, "vmikit-no-such-plugin", "./none", 1)))
	c, err := kubeconfig.Load(kubeconfig.WithFile(file))
	require.NoError(t, err)
	_, err = c.Token(t.Context())
	assert.ErrorContains(t, err, "exec plugin "+filepath.Join(dir, "none")+": is not installed")
}

// A plugin may leave a process behind that keeps its output open.
func TestPluginThatLeavesADaemon(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes that are left behind keep the test's directory there")
	}
	p := newTestPlugin(t)
	p.prints(t, map[string]string{"token": "t0k3n"})
	defer write(t, p.dir, "release", "")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // half of what the daemon lives
	defer cancel()
	token, err := mustLoad(t, example, p.user(t, "", "DAEMON")).Token(ctx)
	require.NoError(t, err)
	assert.Equal(t, "t0k3n", token)
}

func TestPluginSpeaksToItsUser(t *testing.T) {
	p := newTestPlugin(t)
	p.prints(t, map[string]string{"token": "t0k3n"})
	var said bytes.Buffer
	c := mustLoad(t, example, p.user(t, "", "SAY"), kubeconfig.WithPluginStderr(&said))
	_, err := c.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "1", said.String())
	_, err = load(t, example, "", kubeconfig.WithPluginStderr(nil))
	assert.EqualError(t, err, "kubeconfig: the writer for the standard error of plugins is nil")
}

// withStdin makes a file the program's standard input.
func withStdin(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	before := os.Stdin
	os.Stdin = f
	t.Cleanup(func() { os.Stdin = before; _ = f.Close() })
}

func TestStdinOfPlugins(t *testing.T) {
	tests := []struct {
		stdin, mode string
		options     []kubeconfig.Option
		interactive bool
		want        string
	}{
		{stdin: os.DevNull, mode: "Never"},
		{stdin: os.DevNull, mode: "IfAvailable"},
		{stdin: os.DevNull, mode: "Always", want: "needs standard input, which is not a terminal"},
		{stdin: "/dev/ptmx", mode: "Never"},
		{stdin: "/dev/ptmx", mode: "IfAvailable", interactive: true},
		{stdin: "/dev/ptmx", mode: "Always", interactive: true},
		{stdin: "/dev/ptmx", mode: "IfAvailable", options: []kubeconfig.Option{kubeconfig.WithoutStdin("")}},
		{stdin: "/dev/ptmx", mode: "Always", options: []kubeconfig.Option{kubeconfig.WithoutStdin("")}, want: "needs standard input, which it cannot have"},
		{stdin: "/dev/ptmx", mode: "Always", options: []kubeconfig.Option{kubeconfig.WithoutStdin("it is read as a manifest")}, want: "needs standard input, which it cannot have: it is read as a manifest"},
	}
	for _, tt := range tests {
		t.Run(tt.stdin+" "+tt.mode, func(t *testing.T) {
			withStdin(t, tt.stdin)
			p := newTestPlugin(t)
			p.prints(t, map[string]string{"token": "t0k3n"})
			user := strings.Replace(p.user(t, ""), "Never", tt.mode, 1)
			_, err := mustLoad(t, example, user, tt.options...).Token(t.Context())
			if tt.want != "" {
				require.ErrorContains(t, err, ": "+tt.want)
				assert.Empty(t, p.runs(t))
				return
			}
			require.NoError(t, err)
			assert.Contains(t, p.runs(t)[0], fmt.Sprintf(`"interactive":%v`, tt.interactive))
		})
	}
}

// The certificate of a plugin comes with the handshake, and a new one with a new
// connection.
func TestPluginWithACertificate(t *testing.T) {
	ca := newAuthority(t)
	var accepted string
	srv := serveTLS(t, ca, func(w http.ResponseWriter, r *http.Request) {
		if user(r) != accepted {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, user(r)+r.Header.Get("Authorization"))
	})
	p := newTestPlugin(t)
	prints := func(name string) {
		i := ca.issue(t, name)
		p.prints(t, map[string]string{"clientCertificateData": i.cert, "clientKeyData": i.key})
	}
	prints("first")
	c := mustLoad(t, "server: '"+srv.URL+"', insecure-skip-tls-verify: true", p.user(t, ""))
	hc, err := c.HTTPClient()
	require.NoError(t, err)
	defer hc.CloseIdleConnections()
	accepted = "first"
	status, body := get(t, hc, srv.URL)
	assert.Equal(t, "200 first", fmt.Sprint(status, " ", body))

	prints("second")
	accepted = "second"
	status, body = get(t, hc, srv.URL)
	assert.Equal(t, "200 second", fmt.Sprint(status, " ", body))
	assert.Len(t, p.runs(t), 2)
	token, err := c.Token(t.Context())
	require.NoError(t, err)
	assert.Empty(t, token)

	transport, err := c.Transport()
	require.NoError(t, err)
	_, body = get(t, &http.Client{Transport: transport}, srv.URL)
	assert.Equal(t, "second", body)
	anonymous, err := c.AnonymousTransport()
	require.NoError(t, err)
	status, body = get(t, &http.Client{Transport: anonymous}, srv.URL)
	assert.Equal(t, "401 ", fmt.Sprint(status, " ", body))
}
