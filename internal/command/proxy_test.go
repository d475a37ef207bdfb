package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/command"
)

var passingLine = regexp.MustCompile(`passing requests on (https?://\S+) to \S+\n`)

// lineOutput is what a command prints, and whoever waits for a line of it.
type lineOutput struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	line *regexp.Regexp
	once sync.Once
	told chan string
}

func (o *lineOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	if m := o.line.FindSubmatch(o.buf.Bytes()); m != nil {
		o.once.Do(func() { o.told <- string(m[1]) })
	}
	return len(p), nil
}

func (o *lineOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// pass runs vmikit proxy on a free port. done ends it and returns what came of it.
func pass(t *testing.T, args ...string) (url string, done func() outcome) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var stdout bytes.Buffer
	stderr := &lineOutput{line: passingLine, told: make(chan string, 1)}
	code := make(chan int, 1)
	go func() {
		code <- command.Run(ctx, append([]string{"proxy", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), &stdout, stderr)
	}()
	done = func() outcome {
		cancel()
		return outcome{<-code, stdout.String(), stderr.String()}
	}
	select {
	case url = <-stderr.told:
	case c := <-code:
		require.FailNow(t, "proxy ended", "code %d: %s", c, stderr)
	}
	return url, done
}

func ask(t *testing.T, url string, headers ...string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

const inProduction = "/apis/kubevirt.io/v1/namespaces/production/virtualmachineinstances"

func TestProxyOfOurServer(t *testing.T) {
	s := start(t, "--quiet")
	reports := t.TempDir()
	url, done := pass(t, "--upstream", s.url, "--report", "html="+filepath.Join(reports, "r.html"), "--report", "har="+filepath.Join(reports, "r.har"),
		"--report", "json="+filepath.Join(reports, "r.json"), "--report", "junit="+filepath.Join(reports, "r.xml"))
	const table = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	_, list := ask(t, url+inProduction)
	var names struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(list), &names))
	require.NotEmpty(t, names.Items)
	for _, path := range []string{
		machines, machines + "?limit=2", inProduction + "?labelSelector=app", inProduction + "/" + names.Items[0].Metadata.Name,
		inProduction + "/nosuch", "/apis", machines + "?labelSelector=in+(", machines + "?limit=0",
	} {
		direct, want := ask(t, s.url+path)
		status, got := ask(t, url+path)
		assert.Equal(t, direct, status, path)
		assert.Equal(t, want, got, path)
		ask(t, url+path, table)
	}
	// The tester through the proxy sees what it sees without.
	tester := vmikit(t, "contract", "--server", url, "--skip", "auth")
	assert.Equal(t, 0, tester.code, tester.stdout)
	got := done()
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.NotContains(t, got.stdout, "FAIL")
	assert.Regexp(t, `(?m)^pass +schema\.form `, got.stdout)
	assert.Regexp(t, `(?m)^warning +client\.request `, got.stdout)
	assert.Contains(t, got.stderr, "client.request\n")
	assert.Equal(t, 1, strings.Count(got.stderr, "/query/limit breaks minimum"), "repeats are counted, not told")
	for _, name := range []string{"r.html", "r.har", "r.json", "r.xml"} {
		text, err := os.ReadFile(filepath.Join(reports, name))
		require.NoError(t, err)
		assert.Contains(t, string(text), "limit", name)
	}
}

func TestProxyFindsPlantedFaults(t *testing.T) {
	right := start(t, "--quiet")
	for name, test := range map[string]struct {
		fault fault
		paths []string
		check string
	}{
		"enum":             {faults["enum"].fault, []string{machines}, "schema.object"},
		"pattern":          {faults["pattern"].fault, []string{machines}, "schema.object"},
		"ignored selector": {faults["ignored selector"].fault, []string{machines + "?labelSelector=app%3Dnosuch"}, "selector.equals"},
		"ignored limit":    {fault{request: dropQuery("limit")}, []string{machines + "?limit=1"}, "paging.limit"},
		"all namespaces": {fault{request: func(r *http.Request) {
			r.URL.Path = machines
		}}, []string{inProduction}, "namespace.items"},
		"get differs": {fault{body: func(body map[string]any) {
			if body["items"] == nil {
				at(body, "spec")["x"] = "y"
			}
		}}, []string{machines, inProduction + "/%s"}, "consistency.get"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := httptest.NewServer(tampering(t, right.url, test.fault))
			defer broken.Close()
			url, done := pass(t, "--upstream", broken.URL)
			first := firstName(t, right.url)
			for _, path := range test.paths {
				if strings.Contains(path, "%s") {
					path = fmt.Sprintf(path, first)
				}
				status, _ := ask(t, url+path)
				assert.Equal(t, 200, status)
			}
			got := done()
			assert.Equal(t, 1, got.code, got.stdout)
			assert.Regexp(t, `(?m)^FAIL +`+regexp.QuoteMeta(test.check), got.stdout)
			assert.Contains(t, got.stderr, test.check+"\n")
		})
	}
}

func firstName(t *testing.T, server string) string {
	t.Helper()
	_, list := ask(t, server+inProduction+"?limit=1")
	var names struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(list), &names))
	require.Len(t, names.Items, 1)
	return names.Items[0].Metadata.Name
}

func TestProxyEnforces(t *testing.T) {
	right := start(t, "--quiet")
	broken := httptest.NewServer(tampering(t, right.url, faults["enum"].fault))
	defer broken.Close()
	url, done := pass(t, "--upstream", broken.URL, "--enforce", "--quiet")
	status, body := ask(t, url+machines)
	assert.Equal(t, 502, status)
	assert.Contains(t, body, `"reason":"ContractBroken"`)
	assert.Contains(t, body, `"field":"/status/phase"`)
	got := done()
	assert.Equal(t, 1, got.code)
	assert.NotContains(t, got.stderr, "schema.object")

	known := write(t, "known", "schema.object /status/phase  # ours\n")
	url, done = pass(t, "--upstream", broken.URL, "--enforce", "--known-failures", known)
	status, _ = ask(t, url+machines)
	assert.Equal(t, 200, status)
	assert.Equal(t, 0, done().code)
}

// With a kubeconfig or a token the proxy is somebody, and its clients with it.
func TestProxyWithCredentials(t *testing.T) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	s := start(t, "--quiet", "--tls", "--tls-dir", filepath.Join(dir, "tls"), "--kubeconfig-out", kubeconfig,
		"--token-auth-file", write(t, "tokens.csv", "the-token,root,1,system:masters\n"))
	for _, args := range [][]string{
		{"--kubeconfig", kubeconfig},
		{"--upstream", s.url, "--certificate-authority", filepath.Join(dir, "tls", "ca.crt"), "--token-file", write(t, "token", "the-token\n")},
	} {
		url, done := pass(t, args...)
		status, _ := ask(t, url+machines)
		assert.Equal(t, 200, status)
		status, _ = ask(t, url+machines, "Authorization: Bearer wrong")
		assert.Equal(t, 200, status, "the client's credential does not count")
		status, _ = ask(t, url+machines, "Origin: http://evil.example")
		assert.Equal(t, 403, status)
		got := done()
		assert.Equal(t, 0, got.code, got.stdout)
		assert.NotContains(t, got.stdout+got.stderr, "the-token")
		assert.Contains(t, got.stderr, "whoever reaches it acts with the credentials of the proxy")
	}
	// Without, it is nobody.
	url, done := pass(t, "--upstream", s.url, "--certificate-authority", filepath.Join(dir, "tls", "ca.crt"))
	status, _ := ask(t, url+machines)
	assert.Equal(t, 401, status)
	status, _ = ask(t, url+machines, "Authorization: Bearer the-token")
	assert.Equal(t, 200, status)
	got := done()
	assert.NotContains(t, got.stdout+got.stderr, "the-token")
}

func TestProxyExitCodes(t *testing.T) {
	s := start(t, "--quiet")
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"unreachable", []string{"--upstream", "http://127.0.0.1:1"}, 3, "error: target unreachable: "},
		{"no such check", []string{"--upstream", s.url, "--skip", "nosuch"}, 2, `error: no check "nosuch"`},
		{"report nowhere", []string{"--upstream", s.url, "--report", "html=/nosuch/r.html"}, 2, "there is no directory"},
		{"known failures nowhere", []string{"--upstream", s.url, "--known-failures", "nosuch"}, 2, "--known-failures: open nosuch"},
		{"beyond loopback", []string{"--upstream", s.url, "--listen", "0.0.0.0:0"}, 2, "is beyond loopback: add --tls"},
		{"everybody somebody", []string{"--upstream", s.url, "--token", "x", "--insecure-plain-http", "--listen", "0.0.0.0:0"}, 2, "add --insecure-no-authentication"},
		{"half a certificate", []string{"--upstream", s.url, "--tls-cert-file", "x"}, 2, "must be given together"},
		{"time-out", []string{"--upstream", s.url, "--request-timeout", "0s"}, 2, "must be above zero"},
		{"host", []string{"--upstream", s.url, "--allowed-hosts", "a:1"}, 2, "a port does not belong to it"},
	} {
		got := vmikit(t, append([]string{"proxy", "--listen", "127.0.0.1:0"}, test.args...)...)
		assert.Equal(t, test.code, got.code, "%s: %s", test.name, got.stderr)
		assert.Contains(t, got.stderr, test.says, test.name)
	}
	_, done := pass(t, "--upstream", s.url)
	assert.Equal(t, 4, done().code, "nothing was seen")
}

func TestProxyListensForTLS(t *testing.T) {
	s := start(t, "--quiet")
	dir := filepath.Join(t.TempDir(), "tls")
	url, done := pass(t, "--upstream", s.url, "--tls", "--tls-dir", dir)
	assert.True(t, strings.HasPrefix(url, "https://"))
	client := trusting(t, filepath.Join(dir, "ca.crt"))
	resp, err := client.Get(url + machines)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
	client.CloseIdleConnections()
	assert.Equal(t, 0, done().code)
}

// A watch in flight ends when the proxy is told to, and does not hold it up.
func TestProxyEndsWithAWatch(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		if r.URL.Query().Has("watch") {
			<-r.Context().Done()
		}
	}))
	defer upstream.Close()
	url, done := pass(t, "--upstream", upstream.URL)
	resp, err := http.Get(url + machines + "?watch=true")
	require.NoError(t, err)
	defer resp.Body.Close()
	got := done()
	assert.Equal(t, 4, got.code)
	assert.NotContains(t, got.stderr, "cut off")
}
