package command_test

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var adminLine = regexp.MustCompile(`metrics on (https?://\S+)/metrics, profiles on /debug/pprof/ there`)

func TestAdminListen(t *testing.T) {
	const token = "a-token-of-the-admin"
	s := start(t, "--admin-listen", "127.0.0.1:0", "--admin-token-file", write(t, "admin.token", token+"\n"),
		"--token-auth-file", write(t, "tokens.csv", "janes-token,jane,1\n"))
	m := adminLine.FindStringSubmatch(s.stderr())
	require.NotNil(t, m, s.stderr())
	s.get(t, http.DefaultClient, machines, "janes-token")
	s.get(t, http.DefaultClient, machines, "guess")

	api, second := s.url, &running{url: m[1]}
	status, text := second.get(t, http.DefaultClient, "/metrics", token)
	assert.Equal(t, 200, status)
	const about = `verb="LIST",group="kubevirt.io",version="v1",resource="virtualmachineinstances"`
	assert.Contains(t, text, "apiserver_request_total{"+about+`,code="200"} 1`+"\n")
	assert.Contains(t, text, "apiserver_request_total{"+about+`,code="401"} 1`+"\n")
	assert.Contains(t, text, `apiserver_resource_objects{group="kubevirt.io",resource="virtualmachineinstances"} 21`+"\n")
	status, text = second.get(t, http.DefaultClient, "/debug/pprof/goroutine?debug=1", token)
	assert.Equal(t, 200, status)
	assert.Contains(t, text, "goroutine profile:")
	for _, other := range []string{"", "janes-token", "guess"} {
		status, _ = second.get(t, http.DefaultClient, "/metrics", other)
		assert.Equal(t, 401, status, other)
	}
	status, _ = s.get(t, http.DefaultClient, "/metrics", "janes-token")
	assert.Equal(t, 404, status, "the API has none of it")
	status, _ = s.get(t, http.DefaultClient, machines, token)
	assert.Equal(t, 401, status)
	assert.NotContains(t, s.stderr(), token)

	s.stop()
	assert.Equal(t, 0, <-s.code)
	for _, url := range []string{api, m[1]} {
		_, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		assert.Error(t, err, "nobody listens any more")
	}
}

func TestAdminListenOnLoopbackNeedsNoToken(t *testing.T) {
	s := start(t, "--admin-listen", "127.0.0.1:0")
	m := adminLine.FindStringSubmatch(s.stderr())
	require.NotNil(t, m)
	for host, want := range map[string]int{"localhost": 200, "evil.example": 403} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m[1]+"/metrics", nil)
		require.NoError(t, err)
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode, host)
	}
	assert.NotRegexp(t, adminLine, start(t).stderr(), "off by default")
}

// Beyond loopback it has the API's certificate.
func TestAdminListenBeyondLoopback(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "--tls", "--tls-dir", dir, "--admin-listen", "0.0.0.0:0", "--admin-token-file", write(t, "admin.token", "a-token-of-the-admin"))
	m := adminLine.FindStringSubmatch(s.stderr())
	require.NotNil(t, m)
	require.Regexp(t, `^https://localhost:`, m[1])
	status, _ := (&running{url: m[1]}).get(t, trusting(t, dir+"/ca.crt"), "/metrics", "a-token-of-the-admin")
	assert.Equal(t, 200, status)
}

func TestAdminListenThatCannotBe(t *testing.T) {
	token := write(t, "admin.token", "a-token-of-the-admin\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--admin-listen", "0.0.0.0:0"}, 2, "--admin-listen 0.0.0.0:0 is beyond loopback: add --admin-token-file"},
		{[]string{"--admin-listen", "0.0.0.0:0", "--admin-token-file", token}, 2, "--admin-listen 0.0.0.0:0 is beyond loopback: add --tls, or --insecure-plain-http"},
		{[]string{"--admin-listen", "9090"}, 2, `--admin-listen "9090": must be HOST:PORT`},
		{[]string{"--admin-token-file", token}, 2, "--admin-token-file: there is no --admin-listen that it is for"},
		{[]string{"--admin-listen", taken.Addr().String()}, 1, "choose another address with --admin-listen"},
		{[]string{"--admin-listen", "127.0.0.1:0", "--admin-token-file", "nosuch"}, 1, "--admin-token-file: open nosuch: "},
		{[]string{"--admin-listen", "127.0.0.1:0", "--admin-token-file", write(t, "short", "hunter2\n")}, 1, "short: a token has at least 16 characters"},
		{[]string{"--admin-listen", "127.0.0.1:0", "--admin-token-file", write(t, "two", "hunter2-hunter2-1\nhunter2-hunter2-2\n")}, 1, "two: must hold one token"},
		{[]string{"--admin-listen", "127.0.0.1:0", "--admin-token-file", token, "--token-auth-file", write(t, "tokens.csv", "a-token-of-the-admin,jane,1\n")}, 1,
			"its token is in --token-auth-file too"},
	} {
		got := vmikit(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, test.args...)...)
		assert.Equal(t, test.code, got.code, test.args)
		assert.Contains(t, got.stderr, test.want)
		assert.NotContains(t, got.stderr, "hunter2")
		assert.NotContains(t, got.stderr, "a-token")
	}
}
