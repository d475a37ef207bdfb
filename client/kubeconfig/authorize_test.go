package kubeconfig_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// recorder is a transport that keeps what it was given.
type recorder struct {
	requests []*http.Request
	bodies   []string
	status   func(token string) int
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.requests = append(r.requests, req)
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body)
		_ = req.Body.Close()
		r.bodies = append(r.bodies, string(body))
	}
	status := http.StatusOK
	if r.status != nil {
		status = r.status(req.Header.Get("Authorization"))
	}
	return answer(status, ""), nil
}

func (r *recorder) last() http.Header { return r.requests[len(r.requests)-1].Header }

func request(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, url, reader)
	require.NoError(t, err)
	return req
}

func TestAuthorizeAddsHeaders(t *testing.T) {
	for user, want := range map[string]http.Header{
		"":                             {},
		"token: t0k3n":                 {"Authorization": {"Bearer t0k3n"}},
		"username: me, password: word": {"Authorization": {"Basic bWU6d29yZA=="}},
		"token: t0k3n, as: jane, as-uid: '1', as-groups: [a, b], as-user-extra: {'x/%y': [1st, 2nd]}": {
			"Authorization": {"Bearer t0k3n"}, "Impersonate-User": {"jane"}, "Impersonate-Uid": {"1"},
			"Impersonate-Group": {"a", "b"}, "Impersonate-Extra-X%2f%25y": {"1st", "2nd"},
		},
	} {
		sent := new(recorder)
		req := request(t, http.MethodGet, "https://API.example:6443/x", "")
		_, err := mustLoad(t, example, user).Authorize(sent).RoundTrip(req)
		require.NoError(t, err)
		assert.Equal(t, want, sent.last(), user)
		assert.Empty(t, req.Header, "the caller's request was changed")
	}
}

func TestAuthorizeLeavesHeadersThatAreThere(t *testing.T) {
	sent := new(recorder)
	rt := mustLoad(t, example, "token: t0k3n, as: jane").Authorize(sent)
	req := request(t, http.MethodGet, "https://api.example:6443", "")
	req.Header.Set("Authorization", "Bearer another")
	_, err := rt.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, http.Header{"Authorization": {"Bearer another"}, "Impersonate-User": {"jane"}}, sent.last())

	req = request(t, http.MethodGet, "https://api.example:6443", "")
	req.Header.Set("Impersonate-User", "joe")
	_, err = rt.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, http.Header{"Authorization": {"Bearer t0k3n"}, "Impersonate-User": {"joe"}}, sent.last())
}

func TestTheCredentialGoesNowhereElse(t *testing.T) {
	rt := mustLoad(t, example, "token: t0k3n").Authorize(roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("sent")
	}))
	for _, url := range []string{
		"http://api.example:6443", "https://api.example", "https://api.example:443", "https://a.api.example:6443", "https://example:6443",
	} {
		_, err := rt.RoundTrip(request(t, http.MethodPost, url, "body"))
		assert.ErrorContains(t, err, "refused: the credential is for https://api.example:6443", url)
	}
}

func TestRedirects(t *testing.T) {
	ca := newAuthority(t)
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	srv := serveTLS(t, ca, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/login?state=x", http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			_, _ = io.WriteString(w, r.Header.Get("Authorization"))
		}
	})
	hc, err := mustLoad(t, "server: '"+srv.URL+"', insecure-skip-tls-verify: true", "token: t0k3n").HTTPClient()
	require.NoError(t, err)
	defer hc.CloseIdleConnections()
	status, _ := get(t, hc, srv.URL+"/away")
	assert.Equal(t, http.StatusFound, status)
	assert.Empty(t, elsewhere)
	_, body := get(t, hc, srv.URL+"/near")
	assert.Equal(t, "Bearer t0k3n", body)
	_, err = hc.Get(srv.URL + "/round")
	assert.ErrorContains(t, err, "stopped after 10 redirects")
}

func TestPlainHTTPIsAnonymous(t *testing.T) {
	c := mustLoad(t, "server: 'localhost:8080'", "token: t0k3n, as: jane")
	assert.Equal(t, "http://localhost:8080", c.URL)
	assert.Equal(t, "none, as credentials go over https only", c.Credential())
	token, err := c.Token(t.Context())
	require.NoError(t, err)
	assert.Empty(t, token)
	sent := new(recorder)
	_, err = c.Authorize(sent).RoundTrip(request(t, http.MethodGet, c.URL, ""))
	require.NoError(t, err)
	assert.Equal(t, http.Header{"Impersonate-User": {"jane"}}, sent.last())
}

func TestTokenFileIsReadAgain(t *testing.T) {
	file := write(t, t.TempDir(), "token", "first\n")
	synctest.Test(t, func(t *testing.T) {
		c := mustLoad(t, example, "tokenFile: '"+file+"'")
		token := func() string {
			token, err := c.Token(t.Context())
			require.NoError(t, err)
			return token
		}
		write(t, "", file, "second\n")
		assert.Equal(t, "first", token())
		time.Sleep(time.Minute - time.Second)
		assert.Equal(t, "first", token())
		time.Sleep(time.Second)
		assert.Equal(t, "second", token())

		require.NoError(t, os.Remove(file))
		time.Sleep(time.Hour)
		assert.Equal(t, "second", token(), "in the middle of a rotation")
		write(t, "", file, "")
		assert.Equal(t, "second", token())
		write(t, "", file, "third")
		assert.Equal(t, "third", token())
	})
}

func TestRefusedTokenIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "token", "old")
	sent := &recorder{status: func(authorization string) int {
		if authorization == "Bearer new" {
			return http.StatusOK
		}
		return http.StatusUnauthorized
	}}
	rt := mustLoad(t, example, "tokenFile: '"+file+"'").Authorize(sent)
	send := func(req *http.Request) int {
		resp, err := rt.RoundTrip(req)
		require.NoError(t, err)
		return resp.StatusCode
	}
	url := "https://api.example:6443"
	assert.Equal(t, http.StatusUnauthorized, send(request(t, http.MethodGet, url, "")))
	assert.Len(t, sent.requests, 1, "the file has the same token")

	write(t, dir, "token", "new")
	once := request(t, http.MethodPost, url, "once")
	once.GetBody = nil
	assert.Equal(t, http.StatusUnauthorized, send(once))
	assert.Len(t, sent.requests, 2, "the body cannot be had again")
	assert.Equal(t, http.StatusOK, send(request(t, http.MethodGet, url, "")))

	write(t, dir, "token", "old")
	rt = mustLoad(t, example, "tokenFile: '"+file+"'").Authorize(sent)
	write(t, dir, "token", "new")
	sent.bodies = nil
	assert.Equal(t, http.StatusOK, send(request(t, http.MethodPost, url, "twice")))
	assert.Equal(t, []string{"twice", "twice"}, sent.bodies)
}

func TestOverridesOfTokens(t *testing.T) {
	file := write(t, t.TempDir(), "token", "of-the-file")
	c := mustLoad(t, example, "token: t0k3n, tokenFile: '"+file+"'")
	token, err := c.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "of-the-file", token)
	assert.Equal(t, "the token in "+file, c.Credential())

	c = mustLoad(t, example, "tokenFile: '"+file+"'", kubeconfig.WithOverrides(kubeconfig.Overrides{Token: "given"}))
	token, err = c.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "given", token)
}

func TestConfigThatWasNotLoaded(t *testing.T) {
	c := new(kubeconfig.Config)
	_, err := c.HTTPClient()
	require.EqualError(t, err, "kubeconfig: this Config was not made by Load")
	_, err = c.Authorize(nil).RoundTrip(request(t, http.MethodGet, "https://api.example", ""))
	require.ErrorContains(t, err, "refused")
	token, err := c.Token(t.Context())
	require.NoError(t, err)
	assert.Empty(t, token)
	assert.Equal(t, "none", c.Credential())
}
