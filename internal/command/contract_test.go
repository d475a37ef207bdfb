package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/command"
)

func TestContractOfOurServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	s := start(t, "--quiet", "--tls", "--tls-dir", dir,
		"--token-auth-file", write(t, "tokens.csv", "the-token,root,1,system:masters\nanother-token,joe,2\n"),
		"--rbac", write(t, "policy.yaml", policy))
	token, forbidden := write(t, "token", "the-token\n"), write(t, "forbidden", "another-token")
	for _, profile := range []string{"kubevirt", "kubernetes", "document"} {
		args := []string{"contract", "--server", s.url, "--profile", profile, "--certificate-authority", filepath.Join(dir, "ca.crt"),
			"--token-file", token, "--forbidden-token-file", forbidden}
		if profile == "document" {
			args = append(args, "-n", "production")
		}
		got := vmikit(t, args...)
		assert.Equal(t, 0, got.code, got.stdout)
		assert.Empty(t, got.stderr)
		assert.Contains(t, got.stdout, "selector.equals")
		assert.NotContains(t, got.stdout, "FAIL")
		assert.NotContains(t, got.stdout, "the-token")
	}
}

func TestContractFlags(t *testing.T) {
	s := start(t, "--quiet")
	got := vmikit(t, "contract", "--server", s.url, "--only", "selector", "--skip", "selector.in", "--rate", "0", "--max-requests", "50", "-n", "staging")
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Contains(t, got.stdout, "namespace staging")
	assert.Regexp(t, `(?m)^pass +selector\.equals `, got.stdout)
	assert.Regexp(t, `(?m)^skipped +selector\.in +switched off`, got.stdout)
	assert.Regexp(t, `(?m)^skipped +paging\.limit `, got.stdout)

	got = vmikit(t, "contract", "--server", s.url, "-o", "junit", "--only", "notfound")
	assert.Equal(t, 0, got.code)
	require.NoError(t, xml.Unmarshal([]byte(got.stdout), new(struct{})))

	// TLS is verified unless a flag gives it up.
	secure := start(t, "--quiet", "--tls", "--tls-dir", t.TempDir())
	assert.Equal(t, 3, vmikit(t, "contract", "--server", secure.url).code)
	assert.Equal(t, 0, vmikit(t, "contract", "--server", secure.url, "--insecure-skip-tls-verify").code)
}

func TestContractExitCodes(t *testing.T) {
	refusing := start(t, "--quiet", "--token-auth-file", write(t, "tokens.csv", "the-token,root,1\n"))
	empty := start(t, "--quiet", "--load", write(t, "none.yaml", ""))
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"unreachable", []string{"--server", "http://127.0.0.1:1"}, 3, "error: target unreachable: "},
		{"another API", []string{"--server", refusing.url + "/elsewhere", "--token", "the-token"}, 3, "error: target unreachable: "},
		{"refused", []string{"--server", refusing.url}, 2, "error: target refuses the list: status 401"},
		{"no URL", []string{"--server", "ftp://localhost"}, 2, `--server has the scheme "ftp", not https or http`},
		{"a query", []string{"--server", empty.url + "/?x=1"}, 2, "--server must have no user, query or fragment"},
		{"kubeconfig and server", []string{"--server", empty.url, "--kubeconfig", "x"}, 2, "--kubeconfig is for where --server is not given"},
		{"no such context", []string{"--kubeconfig", write(t, "config", kubeconfigOf(empty.url, "")), "--context", "nosuch"}, 2, `context "nosuch"`},
		{"no such report", []string{"--server", empty.url, "--report", "pdf=x"}, 2, `--report "pdf=x": must be FORMAT=FILE`},
		{"two reports in one file", []string{"--server", empty.url, "--report", "json=x", "--report", "html=x"}, 2, "another report is written to that file"},
		{"no directory for the report", []string{"--server", empty.url, "--report", "html=nosuch/x"}, 2, "there is no directory nosuch"},
		{"unknown known failure", []string{"--server", empty.url, "--known-failures", write(t, "known", "\nno.such\n")}, 2, `line 2: no check "no.such"`},
		{"no known failures", []string{"--server", empty.url, "--known-failures", "nosuch"}, 2, "error: --known-failures: open nosuch: "},
		{"no fixtures", []string{"--server", empty.url, "--seed-dir", "nosuch.yaml"}, 2, "nosuch.yaml"},
		{"no share", []string{"--server", empty.url, "--require-exercised", "90"}, 2, "must be a percentage"},
		{"half a certificate", []string{"--server", empty.url, "--client-key", "x"}, 2, "need each other"},
		{"write under document", []string{"--server", empty.url, "--profile", "document", "-n", "a", "--write", "a"}, 2, "error: "},
		{"no such check", []string{"--server", empty.url, "--only", "nosuch"}, 2, `error: no check "nosuch"`},
		{"no requests", []string{"--server", empty.url, "--max-requests", "0"}, 2, "error: at least one request"},
		{"document without a namespace", []string{"--server", empty.url, "--profile", "document"}, 2, "error: profile document has no list of all namespaces"},
		{"nothing to tell by", []string{"--server", empty.url, "--only", "selector.equals"}, 4, "not exercised"},
		{"no token file", []string{"--server", empty.url, "--token-file", "nosuch"}, 2, "error: --token-file: open nosuch: "},
		{"empty token file", []string{"--server", empty.url, "--token-file", write(t, "token", "\n")}, 2, "the file is empty"},
		{"no CA file", []string{"--server", empty.url, "--certificate-authority", "nosuch"}, 2, "error: --certificate-authority: open nosuch: "},
		{"no CA in the file", []string{"--server", empty.url, "--certificate-authority", "sample.yaml"}, 2, "there is no PEM in it"},
	} {
		got := vmikit(t, append([]string{"contract"}, test.args...)...)
		assert.Equal(t, test.code, got.code, "%s: %s", test.name, got.stderr)
		assert.Contains(t, got.stdout+got.stderr, test.says, test.name)
	}
}

// CI gets a report of a run that ended before its first check, too.
func TestContractReportsARunThatEndsEarly(t *testing.T) {
	refusing := start(t, "--quiet", "--token-auth-file", write(t, "tokens.csv", "the-token,root,1\n"))
	for server, code := range map[string]int{"http://127.0.0.1:1": 3, refusing.url: 2} {
		got := vmikit(t, "contract", "--server", server, "-o", "junit")
		assert.Equal(t, code, got.code)
		assert.Regexp(t, `^error: target [^\n]+\n$`, got.stderr)
		var report struct {
			Suites []struct {
				Errors int `xml:"errors,attr"`
			} `xml:"testsuite"`
		}
		require.NoError(t, xml.Unmarshal([]byte(got.stdout), &report), got.stdout)
		require.Len(t, report.Suites, 1)
		assert.Equal(t, 1, report.Suites[0].Errors)

		got = vmikit(t, "contract", "--server", server)
		assert.Equal(t, code, got.code)
		assert.Empty(t, got.stdout)
	}
	// Wrong usage has no report.
	got := vmikit(t, "contract", "--server", refusing.url, "--token", "a\nb", "-o", "junit")
	assert.Equal(t, 2, got.code)
	assert.Empty(t, got.stdout)
	assert.NotContains(t, got.stderr, "a\\nb")
}

// fault breaks a right server in one way.
type fault struct {
	// request changes what the server is asked.
	request func(*http.Request)
	// body changes an answer of status 200 that is a list or a machine.
	body func(map[string]any)
}

// eachMachine changes every machine of an answer.
func eachMachine(change func(machine map[string]any)) func(map[string]any) {
	return func(body map[string]any) {
		items, isList := body["items"].([]any)
		if !isList {
			change(body)
		}
		for _, item := range items {
			change(item.(map[string]any))
		}
	}
}

func dropQuery(name string) func(*http.Request) {
	return func(r *http.Request) {
		q := r.URL.Query()
		q.Del(name)
		r.URL.RawQuery = q.Encode()
	}
}

// at returns the object at a path, which must be there.
func at(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		o, _ = o[name].(map[string]any)
	}
	return o
}

var faults = map[string]struct {
	fault
	check string
}{
	"enum": {fault{body: eachMachine(func(m map[string]any) { at(m, "status")["phase"] = "Runing" })}, "schema.object"},
	"pattern": {fault{body: eachMachine(func(m map[string]any) {
		for _, i := range at(m, "spec", "domain", "devices")["interfaces"].([]any) {
			i.(map[string]any)["macAddress"] = "02:00:00"
		}
	})}, "schema.object"},
	"minimum":          {fault{body: eachMachine(func(m map[string]any) { at(m, "spec", "domain", "cpu")["cores"] = 0 })}, "schema.object"},
	"missing name":     {fault{body: eachMachine(func(m map[string]any) { delete(at(m, "metadata"), "name") })}, "schema."},
	"ignored selector": {fault{request: dropQuery("labelSelector")}, "selector.equals"},
	"lost page item": {fault{body: func(body map[string]any) {
		items, _ := body["items"].([]any)
		if next, _ := at(body, "metadata")["continue"].(string); next != "" && len(items) > 1 {
			body["items"] = items[1:]
		}
	}}, "paging.pages"},
	"accepted bad token": {fault{request: func(r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			r.Header.Set("Authorization", "Bearer the-token")
		}
	}}, "auth.wrong-token"},
}

func TestContractFindsPlantedFaults(t *testing.T) {
	right := start(t, "--quiet", "--token-auth-file", write(t, "tokens.csv", "the-token,root,1\n"))
	for name, test := range faults {
		t.Run(name, func(t *testing.T) {
			broken := httptest.NewServer(tampering(t, right.url, test.fault))
			defer broken.Close()
			got := vmikit(t, "contract", "--server", broken.URL, "--token", "the-token")
			assert.Equal(t, 1, got.code, got.stdout+got.stderr)
			assert.Regexp(t, `(?m)^FAIL +`+strings.ReplaceAll(test.check, ".", `\.`), got.stdout)
		})
	}
	t.Run("none", func(t *testing.T) {
		same := httptest.NewServer(tampering(t, right.url, fault{}))
		defer same.Close()
		got := vmikit(t, "contract", "--server", same.URL, "--token", "the-token")
		assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	})
}

// tampering is a proxy in front of a right server that has the fault.
func tampering(t *testing.T, to string, f fault) http.Handler {
	t.Helper()
	target, err := url.Parse(to)
	require.NoError(t, err)
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if f.request != nil {
				f.request(r.Out)
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			if f.body == nil || resp.StatusCode != http.StatusOK || resp.Request.Method != http.MethodGet {
				return nil
			}
			dec := json.NewDecoder(resp.Body)
			dec.UseNumber()
			var body map[string]any
			if err := dec.Decode(&body); err != nil {
				return err
			}
			resp.Body.Close()
			f.body(body)
			data, err := json.Marshal(body)
			resp.Body = io.NopCloser(bytes.NewReader(data))
			resp.ContentLength = int64(len(data))
			resp.Header.Set("Content-Length", strconv.Itoa(len(data)))
			return err
		},
	}
}

// kubeconfigOf is a kubeconfig for one server and token.
func kubeconfigOf(server, token string) string {
	return `{"apiVersion":"v1","kind":"Config","current-context":"test",
"clusters":[{"name":"c","cluster":{"server":"` + server + `","insecure-skip-tls-verify":` + strconv.FormatBool(strings.HasPrefix(server, "https")) + `}}],
"users":[{"name":"u","user":{"token":"` + token + `"}}],
"contexts":[{"name":"test","context":{"cluster":"c","user":"u","namespace":"production"}}]}`
}

// Server and credentials come from the kubeconfig where no server is given, and from
// nowhere else where one is.
func TestContractByKubeconfig(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--quiet", "--tls", "--tls-dir", dir, "--token-auth-file", write(t, "tokens.csv", "the-token,root,1,system:masters\n"))
	config := write(t, "config", kubeconfigOf(s.url, "the-token"))
	t.Setenv("KUBECONFIG", config)
	for _, args := range [][]string{{}, {"--context", "test"}, {"--kubeconfig", config}} {
		got := vmikit(t, append([]string{"contract", "--only", "auth,consistency", "--rate", "0"}, args...)...)
		assert.Equal(t, 0, got.code, got.stdout+got.stderr)
		assert.Regexp(t, `(?m)^pass +auth\.no-token `, got.stdout)
		assert.NotContains(t, got.stdout, "the-token")
	}
	got := vmikit(t, "contract", "--profile", "document", "--rate", "0")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, "namespace production", "that of the context, since the document needs one")

	got = vmikit(t, "contract", "--server", s.url, "--insecure-skip-tls-verify")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "target refuses the list: status 401", "the token of another server is not sent")
}

// A server without credentials is not accused of letting everybody in.
func TestContractOfAnOpenServer(t *testing.T) {
	got := vmikit(t, "contract", "--server", start(t, "--quiet").url)
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Regexp(t, `(?m)^skipped +auth\.no-token `, got.stdout)
}

func TestContractReports(t *testing.T) {
	s := start(t, "--quiet")
	dir := t.TempDir()
	args := []string{"contract", "--server", s.url, "--only", "consistency,paging"}
	for _, format := range []string{"text", "json", "junit", "har", "html"} {
		args = append(args, "--report", format+"="+filepath.Join(dir, format))
		got := vmikit(t, "contract", "--server", s.url, "--only", "notfound", "-o", format)
		assert.Equal(t, 0, got.code)
		assert.NotEmpty(t, got.stdout)
	}
	assert.Equal(t, 0, vmikit(t, args...).code)
	for format, begins := range map[string]string{"text": "http://", "json": "{", "junit": "<?xml", "har": "{", "html": "<!"} {
		text, err := os.ReadFile(filepath.Join(dir, format))
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(strings.ToLower(string(text)), begins), format)
	}
}

func TestContractKnownFailuresAndFixtures(t *testing.T) {
	machine := `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","namespace":"default","labels":{"x":"1"}},"spec":{"domain":{"devices":{}}}}`
	file := write(t, "a.json", machine)
	s := start(t, "--quiet", "--load", file)
	got := vmikit(t, "contract", "--server", s.url, "--seed-dir", file, "--only", "fixture")
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Regexp(t, `(?m)^pass +fixture\.listed +1 fixture`, got.stdout)
	other := write(t, "b.json", strings.Replace(machine, `"name":"a"`, `"name":"b"`, 1))
	got = vmikit(t, "contract", "--server", s.url, "--seed-dir", other, "--only", "fixture")
	assert.Equal(t, 1, got.code, got.stdout)
	got = vmikit(t, "contract", "--server", s.url, "--seed-dir", other, "--only", "fixture", "--known-failures", write(t, "known", "fixture.listed # soon\nfixture.get\n"))
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Regexp(t, `(?m)^known failure +fixture\.listed`, got.stdout)
	got = vmikit(t, "contract", "--server", s.url, "--require-exercised", "95%")
	assert.Equal(t, 4, got.code, got.stdout)
	assert.Contains(t, got.stdout, "95% is required")
}

func TestContractFuzzAndProbes(t *testing.T) {
	got := vmikit(t, "contract", "--server", start(t, "--quiet").url, "--fuzz", "200", "--probe-methods", "--only", "fuzz,method")
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Regexp(t, `(?m)^pass +fuzz\.requests `, got.stdout)
	assert.Regexp(t, `(?m)^pass +method\.write `, got.stdout)
}

// The page of the documentation is what the command prints.
func TestContractChecks(t *testing.T) {
	page, err := os.ReadFile("../../contract/CHECKS.md")
	require.NoError(t, err)
	got := vmikit(t, "contract", "checks", "-o", "markdown")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, string(page), got.stdout, "run make generate")
	got = vmikit(t, "contract", "checks")
	assert.Contains(t, got.stdout, "selector.equals")
	var checks []struct{ ID, Clause, Explain string }
	require.NoError(t, json.Unmarshal([]byte(vmikit(t, "contract", "checks", "-o", "json").stdout), &checks))
	assert.Greater(t, len(checks), 50)
}

// Who interrupts a run sees what it has found so far.
func TestContractInterrupted(t *testing.T) {
	s := start(t, "--quiet")
	target, err := url.Parse(s.url)
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	n := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 60 {
			interrupt()
		}
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 2, command.Run(ctx, []string{"contract", "--server", front.URL}, strings.NewReader(""), &stdout, &stderr))
	assert.Equal(t, "error: interrupted\n", stderr.String())
	assert.Contains(t, stdout.String(), "pass          consistency.list")
	assert.Contains(t, stdout.String(), "\nThe run ended in an error")
}
