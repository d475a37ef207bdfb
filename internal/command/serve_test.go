package command_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/command"
)

// running is a vmikit serve in this process.
type running struct {
	url  string
	out  *output
	stop context.CancelFunc
	// code is what it ends with.
	code chan int
}

func (r *running) stderr() string { return r.out.String() }

// output is what a server prints, and whoever waits for a line of it.
type output struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	serving chan string
	told    bool
}

var (
	servingLine = regexp.MustCompile(`serving VirtualMachineInstances on (https?://[^\s"]+)`)
	// The line after it says how to reach the server; then all is told that does
	// not come beside the first requests.
	startLines = regexp.MustCompile(servingLine.String() + `.*\n.*\n`)
)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	if m := startLines.FindSubmatch(o.buf.Bytes()); m != nil && !o.told {
		o.told = true
		o.serving <- string(m[1])
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start runs vmikit serve on a free port until the test ends.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{out: &output{serving: make(chan string, 1)}, stop: cancel, code: make(chan int, 1)}
	go func() {
		r.code <- command.Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), io.Discard, r.out)
	}()
	t.Cleanup(cancel)
	select {
	case r.url = <-r.out.serving:
	case code := <-r.code:
		require.FailNow(t, "serve ended", "code %d: %s", code, r.stderr())
	}
	return r
}

func (r *running) get(t *testing.T, client *http.Client, path, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

const machines = "/apis/kubevirt.io/v1/virtualmachineinstances"

func TestServeTheSample(t *testing.T) {
	s := start(t)
	status, body := s.get(t, http.DefaultClient, machines, "")
	assert.Equal(t, 200, status)
	var list struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	assert.Len(t, list.Items, 21)
	assert.Contains(t, s.stderr(), "loaded 21, skipped 0, the built-in sample; --load PATH serves your own\n")
	assert.Contains(t, s.stderr(), "  kubectl --server "+s.url+" get vmi -A\n")

	s.stop()
	assert.Equal(t, 0, <-s.code)
}

// The URL has the real port.
func TestPortZero(t *testing.T) {
	s := start(t)
	assert.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, s.url)
	status, _ := s.get(t, http.DefaultClient, "/readyz", "")
	assert.Equal(t, 200, status)
}

func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	got := vmikit(t, "serve", "--listen", l.Addr().String())
	assert.Equal(t, 1, got.code)
	assert.True(t, strings.HasSuffix(got.stderr, "error: "+l.Addr().String()+
		" is taken by another process; choose another address with --listen, port 0 for any free one\n"), got.stderr)
}

func TestAddressThatIsNotOurs(t *testing.T) {
	got := vmikit(t, "serve", "--listen", "192.0.2.1:0", "--insecure-plain-http", "--insecure-no-authentication")
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `(?m)^error: listen on 192\.0\.2\.1:0: [^:]+\n\z`, got.stderr)
}

// What is printed to be copied survives the shell.
func TestKubectlLineIsQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it's a kubeconfig")
	s := start(t, "--kubeconfig-out", path)
	assert.Contains(t, s.stderr(), "  kubectl --kubeconfig '"+strings.ReplaceAll(path, "'", `'\''`)+"' get vmi -A\n")
}

func TestBeyondLoopback(t *testing.T) {
	tokens := write(t, "tokens.csv", "secret,jane,1\n")
	for _, test := range []struct{ line, want string }{
		{"--listen 0.0.0.0:0", "--listen 0.0.0.0:0 is beyond loopback: add --tls, or --insecure-plain-http"},
		{"--listen [::]:0", "is beyond loopback: add --tls"},
		{"--listen :0", "is beyond loopback: add --tls"},
		{"--listen 192.0.2.1:0", "is beyond loopback: add --tls"},
		{"--listen 0.0.0.0:0 --insecure-plain-http", "is beyond loopback: add --token-auth-file or --client-ca-file, or --insecure-no-authentication"},
		{"--listen 0.0.0.0:0 --tls", "is beyond loopback: add --token-auth-file"},
		{"--listen 0.0.0.0:0 --insecure-no-authentication", "is beyond loopback: add --tls"},
		{"--listen 0.0.0.0:0 --token-auth-file " + tokens, "is beyond loopback: add --tls"},
		{"--listen 0.0.0.0:0 --tls --anonymous-auth --token-auth-file " + tokens, "--anonymous-auth lets in everybody: add --rbac"},
		{"--client-ca-file ca.crt", "--client-ca-file: there are no certificates without TLS; add --tls"},
		{"--anonymous-auth=false", "--anonymous-auth=false: nobody could get in without --token-auth-file or --client-ca-file"},
	} {
		got := vmikit(t, append([]string{"serve"}, strings.Fields(test.line)...)...)
		assert.Equal(t, 2, got.code, test.line)
		assert.Contains(t, got.stderr, test.want, test.line)
	}
	s := start(t, "--listen", "0.0.0.0:0", "--insecure-plain-http", "--insecure-no-authentication", "--allowed-hosts", "vms.example.org")
	assert.Regexp(t, `^http://localhost:[0-9]+$`, s.url)
	for host, want := range map[string]int{"localhost": 200, "vms.example.org": 200, "evil.example.org": 403} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/version", nil)
		require.NoError(t, err)
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode, host)
	}
}

// trusting is a client that trusts the CA of a kubeconfig's server alone.
func trusting(t *testing.T, caFile string) *http.Client {
	t.Helper()
	ca, err := os.ReadFile(caFile)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca))
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
}

const policy = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: viewer, namespace: default}
rules:
- {apiGroups: [kubevirt.io], resources: [virtualmachineinstances], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: jane-views, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: viewer}
subjects:
- {kind: User, name: jane, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: nobody, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: nosuch}
subjects: []
`

func TestTokensAndRolesOverTLS(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s := start(t, "--tls", "--tls-dir", dir, "--kubeconfig-out", kubeconfig,
		"--token-auth-file", write(t, "tokens.csv", "janes-token,jane,1\njoes-token,joe,2\n"),
		"--rbac", write(t, "policy.yaml", policy))
	client := trusting(t, filepath.Join(dir, "ca.crt"))
	list := "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
	for _, test := range []struct {
		path, token string
		want        int
	}{
		{list, "janes-token", 200},
		{list, "joes-token", 403},
		{list, "", 401},
		{list, "nobodys-token", 401},
		{"/nosuch", "nobodys-token", 401},
		{machines, "janes-token", 403},
		{list + "/cirros", "janes-token", 200},
		{"/version", "joes-token", 200},
	} {
		status, body := s.get(t, client, test.path, test.token)
		assert.Equal(t, test.want, status, "%s %s", test.token, test.path)
		if status >= 400 {
			assert.Contains(t, body, `"kind":"Status"`)
		}
	}
	resp, err := client.Get(s.url + "/version")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor, "HTTP/2 over TLS")

	assert.Contains(t, s.stderr(), "warning: --rbac: RoleBinding default/nobody: roleRef: there is no Role default/nosuch")
	assert.NotContains(t, s.stderr(), "may do everything")
	assert.NotContains(t, s.stderr(), "-token", "no token is printed or logged")

	config, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	assert.Contains(t, string(config), "server: "+s.url+"\n")
	assert.Contains(t, string(config), `token: "janes-token"`)
	assert.Contains(t, s.stderr(), "  kubectl --kubeconfig "+kubeconfig+" get vmi -A\n")
	if runtime.GOOS != "windows" {
		info, err := os.Stat(kubeconfig)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

func TestStartSaysWhatIsOpen(t *testing.T) {
	tokens := write(t, "tokens.csv", "secret,jane,1\n")
	s := start(t, "--token-auth-file", tokens)
	assert.Contains(t, s.stderr(), "warning: no --rbac: every user of --token-auth-file may do everything\n")
	assert.Contains(t, s.stderr(), "warning: kubectl and client-go send no token over plain http; add --tls\n")
	status, _ := s.get(t, http.DefaultClient, machines, "secret")
	assert.Equal(t, 200, status)

	s = start(t, "--rbac", write(t, "policy.yaml", policy))
	assert.Contains(t, s.stderr(), "warning: --rbac without --token-auth-file or --client-ca-file: every request is of the user system:anonymous\n")
	status, _ = s.get(t, http.DefaultClient, machines, "")
	assert.Equal(t, 403, status)
}

// kubectl asks for a user name over https when the kubeconfig has no credentials.
func TestKubeconfigHasATokenWhenNoneIsNeeded(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s := start(t, "--tls", "--tls-dir", t.TempDir(), "--kubeconfig-out", kubeconfig)
	config, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	assert.Contains(t, string(config), `token: "anonymous"`)
	assert.Contains(t, string(config), "certificate-authority-data: ")
	assert.Contains(t, string(config), "server: "+s.url+"\n")
}

func TestGivenCertificate(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--tls", "--tls-dir", dir)
	s.stop()
	<-s.code
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	s = start(t, "--tls-cert-file", cert, "--tls-private-key-file", key)
	status, _ := s.get(t, trusting(t, filepath.Join(dir, "ca.crt")), "/version", "")
	assert.Equal(t, 200, status)

	got := vmikit(t, "serve", "--tls-cert-file", key, "--tls-private-key-file", cert)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "error: tls certificate file ")
}

func TestAccessFilesThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--token-auth-file", "nosuch.csv"}, "error: --token-auth-file: open nosuch.csv: "},
		{[]string{"--token-auth-file", write(t, "empty.csv", "")}, "empty.csv: there is no token in it, so nobody could get in\n"},
		{[]string{"--token-auth-file", write(t, "bad.csv", "hunter2\n")}, "bad.csv: token file: line 1: must have at least 3 columns"},
		{[]string{"--rbac", "nosuch.yaml"}, "error: --rbac: nosuch.yaml: "},
		{[]string{"--rbac", write(t, "role.yaml", strings.Replace(policy, "verbs: [get, list]", "verbs: []", 1))},
			"role.yaml:6: rbac: Role default/viewer: rules[0].verbs: must have at least one verb\n"},
	} {
		got := vmikit(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, test.args...)...)
		assert.Equal(t, 1, got.code, test.args)
		assert.Contains(t, got.stderr, test.want)
		assert.NotContains(t, got.stderr, "hunter2")
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
	}
}

// A request that is in flight when the signal comes is answered to its end. The
// list is larger than what the sockets hold, so it is in flight for sure.
func TestShutdownFinishesWhatIsInFlight(t *testing.T) {
	const fat = 10
	note := `,"annotations":{"note":"` + strings.Repeat("x", 1<<20) + `"}`
	var manifests bytes.Buffer
	for i := range fat {
		fmt.Fprintf(&manifests, machine, fmt.Sprintf("fat-%d", i), note)
	}
	s := start(t, "--load", write(t, "fat.json", manifests.String()))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(256<<10), "so that little of it is under way")
	_, err = io.WriteString(conn, "GET "+machines+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	_, err = in.Peek(1)
	require.NoError(t, err, "the answer has begun")

	s.stop()
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, fat, bytes.Count(body, []byte(`"name":"fat-`)))
	assert.True(t, json.Valid(body), "to its end")
	assert.Equal(t, 0, <-s.code)
	_, err = net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	assert.Error(t, err, "nobody listens any more")
}

func TestAccessLog(t *testing.T) {
	s := start(t)
	s.get(t, http.DefaultClient, "/readyz?secret=1", "a-token")
	s.stop()
	<-s.code
	assert.Regexp(t, `level=INFO msg=request id=\S+ method=GET path=/readyz .*status=200`, s.stderr())
	assert.NotContains(t, s.stderr(), "secret")
	assert.NotContains(t, s.stderr(), "a-token")

	s = start(t, "--quiet")
	s.get(t, http.DefaultClient, "/readyz", "")
	s.stop()
	<-s.code
	assert.NotContains(t, s.stderr(), "msg=request")
}

func TestJSONLogHasNothingElse(t *testing.T) {
	s := start(t, "--log-format", "json", "--load", "testdata/broken.yaml")
	s.get(t, http.DefaultClient, "/readyz", "")
	s.stop()
	<-s.code
	var messages []string
	for line := range strings.Lines(s.stderr()) {
		var record struct{ Msg, Level string }
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		messages = append(messages, record.Msg)
	}
	assert.Contains(t, messages, "loaded 1, skipped 1, refused 1")
	assert.Contains(t, messages, "request")
}

func TestKubeconfigOfSomebodyElseIsLeftAlone(t *testing.T) {
	path := write(t, "config", "kind: Config\nclusters: [{name: production}]\n")
	got := vmikit(t, "serve", "--listen", "127.0.0.1:0", "--kubeconfig-out", path)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "not written by vmikit")
}
