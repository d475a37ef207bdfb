package kubeconfig_test

import (
	"crypto/tls"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

func whoAmI(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, user(r)+" "+r.Header.Get("Authorization")+" "+r.Proto)
}

func TestTransportsWithLessAndLessCredential(t *testing.T) {
	ca := newAuthority(t)
	srv := serveTLS(t, ca, whoAmI)
	dir := t.TempDir()
	admin := ca.issue(t, "admin")
	write(t, dir, "ca.crt", ca.cert)
	write(t, dir, "admin.crt", admin.cert)
	write(t, dir, "admin.key", admin.key)
	file := write(t, dir, "config", config("server: '"+srv.URL+"', certificate-authority: ca.crt",
		"token: t0k3n, client-certificate: admin.crt, client-key: admin.key"))
	c, err := kubeconfig.Load(kubeconfig.WithFile(file))
	require.NoError(t, err)
	assert.Equal(t, "a token and a client certificate", c.Credential())

	hc, err := c.HTTPClient()
	require.NoError(t, err)
	transport, err := c.Transport()
	require.NoError(t, err)
	anonymous, err := c.AnonymousTransport()
	require.NoError(t, err)
	for want, hc := range map[string]*http.Client{
		"admin Bearer t0k3n HTTP/2.0": hc,
		"admin  HTTP/2.0":             {Transport: transport},
		"  HTTP/2.0":                  {Transport: anonymous},
		" Bearer t0k3n HTTP/2.0":      {Transport: c.Authorize(anonymous)},
	} {
		_, body := get(t, hc, srv.URL)
		assert.Equal(t, want, body)
		hc.CloseIdleConnections()
	}
}

func TestServersThatAreNotTrusted(t *testing.T) {
	srv := serveTLS(t, newAuthority(t), whoAmI)
	other := base64.StdEncoding.EncodeToString([]byte(newAuthority(t).cert))
	for _, cluster := range []string{"", ", certificate-authority-data: " + other} {
		hc, err := mustLoad(t, "server: '"+srv.URL+"'"+cluster, "token: t0k3n").HTTPClient()
		require.NoError(t, err)
		_, err = hc.Get(srv.URL)
		_, ok := err.(interface{ Unwrap() error })
		require.True(t, ok)
		var untrusted *tls.CertificateVerificationError
		assert.ErrorAs(t, err, &untrusted)
		assert.NotContains(t, err.Error(), "t0k3n")
	}
}

// A server that speaks plain text on its TLS port.
func TestPlainTextOnTLS(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	hc, err := mustLoad(t, "server: 'https://"+srv.Listener.Addr().String()+"'", "token: t0k3n").HTTPClient()
	require.NoError(t, err)
	_, err = hc.Get("https://" + srv.Listener.Addr().String())
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "t0k3n")
}

// New connections have the certificate that is in the files then, and a change
// ends the use of old ones.
func TestClientCertificateRotates(t *testing.T) {
	ca := newAuthority(t)
	status := http.StatusOK
	srv := serveTLS(t, ca, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, user(r))
	})
	dir := t.TempDir()
	put := func(i issued) {
		write(t, dir, "crt", i.cert)
		write(t, dir, "key", i.key)
	}
	client := func(period time.Duration) (*http.Client, *kubeconfig.Config) {
		put(ca.issue(t, "first"))
		c := mustLoad(t, "server: '"+srv.URL+"', insecure-skip-tls-verify: true",
			"client-certificate: '"+dir+"/crt', client-key: '"+dir+"/key'", kubeconfig.WithCertificatePeriod(period))
		hc, err := c.HTTPClient()
		require.NoError(t, err)
		t.Cleanup(hc.CloseIdleConnections)
		return hc, c
	}
	who := func(hc *http.Client) string {
		_, body := get(t, hc, srv.URL)
		return body
	}

	hc, _ := client(0)
	assert.Equal(t, "first", who(hc))
	before := srv.connections.Load()
	assert.Equal(t, "first", who(hc))
	assert.Equal(t, before, srv.connections.Load(), "a connection is used again while nothing changes")
	put(ca.issue(t, "second"))
	assert.Equal(t, "second", who(hc))

	write(t, dir, "crt", ca.issue(t, "third").cert) // the key is to follow
	assert.Equal(t, "second", who(hc))
	require.NoError(t, os.Remove(filepath.Join(dir, "key")))
	hc.CloseIdleConnections()
	assert.Equal(t, "second", who(hc))

	hc, _ = client(time.Hour)
	assert.Equal(t, "first", who(hc))
	put(ca.issue(t, "second"))
	assert.Equal(t, "first", who(hc), "the connection is open, and the period not over")
	hc.CloseIdleConnections()
	assert.Equal(t, "second", who(hc), "a new connection reads the files")
	put(ca.issue(t, "third"))
	status = http.StatusUnauthorized
	assert.Equal(t, "second", who(hc))
	status = http.StatusOK
	assert.Equal(t, "third", who(hc), "the server had refused the one before")
}

// A server whose certificate comes from new authorities is trusted as soon as they
// are in the file.
func TestAuthoritiesRotate(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	srv := serveTLS(t, second, whoAmI)
	dir := t.TempDir()
	ca := write(t, dir, "ca.crt", first.cert)
	c := mustLoad(t, "server: '"+srv.URL+"', certificate-authority: '"+ca+"'", "token: t0k3n")
	hc, err := c.HTTPClient()
	require.NoError(t, err)
	defer hc.CloseIdleConnections()
	_, err = hc.Get(srv.URL)
	require.Error(t, err)
	write(t, dir, "ca.crt", second.cert)
	status, _ := get(t, hc, srv.URL)
	assert.Equal(t, http.StatusOK, status)
	require.NoError(t, os.Remove(ca))
	status, _ = get(t, hc, srv.URL)
	assert.Equal(t, http.StatusOK, status)
	_, err = c.Transport()
	assert.ErrorContains(t, err, "certificate-authority: open "+ca)
}

func TestProxyPasswordStaysSecret(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	c := mustLoad(t, example+", proxy-url: 'http://me:s3cr3t@"+srv.Listener.Addr().String()+"'", "")
	hc, err := c.HTTPClient()
	require.NoError(t, err)
	_, err = hc.Get(c.URL)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "s3cr3t")
}
