package client_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

func TestNewRefusesWhatIsNoServer(t *testing.T) {
	for server, want := range map[string]string{
		"":                                  "not an absolute http or https URL",
		"localhost:6443":                    "not an absolute http or https URL",
		"/apis":                             "not an absolute http or https URL",
		"ftp://host":                        "not an absolute http or https URL",
		"https://":                          "not an absolute http or https URL",
		"https://:6443":                     "not an absolute http or https URL",
		"https:host":                        "not an absolute http or https URL",
		"https://host/?limit=3":             "query or a fragment",
		"https://host?":                     "query or a fragment",
		"https://host/#top":                 "query or a fragment",
		"https://admin:hunter2@host":        "user information",
		"https://hunter2@host":              "user information",
		"https://admin:hunt%zzer2@host":     "cannot be parsed",
		"https://admin:hunter2/x@host:port": "cannot be parsed",
		"https://host:port":                 "cannot be parsed: invalid port",
		"https://ho st":                     "cannot be parsed",
		"https://host/\x00":                 "cannot be parsed",
	} {
		c, err := client.New(server)
		require.ErrorContains(t, err, want, "%q", server)
		assert.Nil(t, c)
		assert.NotContains(t, err.Error(), "hunt")
		assert.NotContains(t, err.Error(), "\n")
	}
}

func TestPathOfTheServerIsKept(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath()
		_, _ = w.Write(recorded(t, "get.json"))
	}))
	defer srv.Close()
	for prefix, want := range map[string]string{
		"":                  machines + "/vm1",
		"/":                 machines + "/vm1",
		"/k8s/clusters/a":   "/k8s/clusters/a" + machines + "/vm1",
		"/k8s/clusters/a/":  "/k8s/clusters/a" + machines + "/vm1",
		"/clusters/a%2Fb/c": "/clusters/a%2Fb/c" + machines + "/vm1",
	} {
		_, err := connect(t, srv.URL+prefix).Get(t.Context(), "vms", "vm1")
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", prefix)
	}
}

func TestTokensAreNotSentInTheClear(t *testing.T) {
	for server, allowed := range map[string]bool{
		"https://api.example.com":    true,
		"http://localhost:8001":      true,
		"http://LOCALHOST.:8001":     true,
		"http://127.0.0.1:8001":      true,
		"http://127.8.8.8":           true,
		"http://[::1]:8001":          true,
		"http://[::ffff:127.0.0.1]":  true,
		"http://api.example.com":     false,
		"http://localhost.evil.com":  false,
		"http://10.0.0.1:6443":       false,
		"http://0.0.0.0:6443":        false,
		"http://[2001:db8::1]:6443/": false,
	} {
		_, err := client.New(server, client.WithBearerToken("s3cr3t"))
		if allowed {
			assert.NoError(t, err, server)
			continue
		}
		require.ErrorContains(t, err, "over plain http", server)
		assert.NotContains(t, err.Error(), "s3cr3t")
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	_, caPEM := newTLSServer(t)
	empty := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(empty, []byte("no certificate\n"), 0o600))
	for want, opts := range map[string][]client.Option{
		"the HTTP client is nil":                {client.WithHTTPClient(nil)},
		"the bearer token is empty":             {client.WithBearerToken(" \n")},
		"characters that a header cannot carry": {client.WithBearerToken("s3cr3t\r\nHost: x")},
		"the PEM text holds no certificate":     {client.WithCAs(nil)},
		"nosuch.crt":                            {client.WithCAFile("nosuch.crt")},
		empty + " holds no certificate":         {client.WithCAFile(empty)},
		`user agent "a\nb"`:                     {client.WithUserAgent("a\nb")},
		"to a given HTTP client":                {client.WithCAs(caPEM), client.WithHTTPClient(&http.Client{})},
	} {
		c, err := client.New("https://localhost", opts...)
		require.ErrorContains(t, err, want)
		assert.Nil(t, c)
		assert.NotContains(t, err.Error(), "s3cr3t")
	}
	_, err := client.New("https://localhost", client.WithCAFile("nosuch.crt"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = client.New("https://localhost", nil)
	assert.NoError(t, err, "an option that is nil is no option")
}

// newTLSServer serves the recorded machine over HTTP/2 and returns its CA.
func newTLSServer(t *testing.T) (*httptest.Server, []byte) {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
			return
		}
		_, _ = w.Write(recorded(t, "get.json"))
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
}

func TestCertificateAuthoritiesAreTrusted(t *testing.T) {
	srv, caPEM := newTLSServer(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, caPEM, 0o600))
	for name, opt := range map[string]client.Option{
		"WithCAs": client.WithCAs(caPEM), "WithCAFile": client.WithCAFile(file),
	} {
		vm, err := connect(t, srv.URL, opt).Get(t.Context(), "vms", "vm1")
		require.NoError(t, err, "%s, over HTTP/2", name)
		assert.Equal(t, "vm1", vm.Name())
	}
	_, err := connect(t, srv.URL).Get(t.Context(), "vms", "vm1")
	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, err, &unknown)
	assert.ErrorContains(t, err, "get vmi vms/vm1: tls: ")
}

func TestHeadersOfARequest(t *testing.T) {
	var got http.Header
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = w.Write(recorded(t, "empty.json"))
	}, client.WithBearerToken("s3cr3t\n"), client.WithUserAgent("shop/1.2 (billing)"))
	_, err := c.List(t.Context(), "", client.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, "application/json", got.Get("Accept"))
	assert.Equal(t, "Bearer s3cr3t", got.Get("Authorization"))
	assert.Equal(t, "gzip", got.Get("Accept-Encoding"))
	assert.Regexp(t, `^vmikit-client/\S+ shop/1\.2 \(billing\)$`, got.Get("User-Agent"))

	c = serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = w.Write(recorded(t, "empty.json"))
	})
	_, err = c.List(t.Context(), "", client.ListOptions{})
	require.NoError(t, err)
	assert.NotContains(t, got, "Authorization")
	assert.Regexp(t, `^vmikit-client/\S+$`, got.Get("User-Agent"))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestGivenHTTPClientIsUsedAndNotChanged(t *testing.T) {
	var hosts []string
	hc := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Host)
		rec := httptest.NewRecorder()
		answer(http.StatusOK, "application/json", page(""))(rec, r)
		return rec.Result(), nil
	})}
	c := connect(t, "https://api.example.com", client.WithHTTPClient(hc))
	_, err := c.List(t.Context(), "vms", client.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"api.example.com"}, hosts)
	assert.Nil(t, hc.CheckRedirect)
}

func TestConnectionsAreReused(t *testing.T) {
	var mu sync.Mutex
	opened := 0
	page := "<html>" + strings.Repeat(" ", 32<<10)
	answers := []http.HandlerFunc{
		answer(200, "application/json", string(recorded(t, "get.json"))),
		answer(404, "application/json", string(recorded(t, "notfound.json"))),
		answer(502, "text/html", page),
		answer(200, "text/html", page), // given up at its first byte
		answer(200, "application/json", object("web", "")),
	}
	requests := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[requests](w, r)
		requests++
	}))
	srv.Config.ConnState = newConns(&mu, &opened)
	srv.Start()
	defer srv.Close()
	c := connect(t, srv.URL, once)
	for range answers {
		_, _ = c.Get(t.Context(), "vms", "vm1")
	}
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, len(answers), requests)
	assert.Equal(t, 1, opened)
}
