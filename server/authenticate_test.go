package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// roundTrip sends a request and reads the answer.
func roundTrip(t *testing.T, transport http.RoundTripper, req *http.Request) reply {
	t.Helper()
	res, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return reply{res, body}
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.key, a.cert = a.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "a CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	return a
}

func (a *authority) issue(template *x509.Certificate, by *authority) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(a.t, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return key, c
}

// client makes a certificate for client authentication, with what change changes.
func (a *authority) client(name string, groups []string, change func(*x509.Certificate)) *tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	key, cert := a.issue(template, a)
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// between makes an authority that this one vouches for.
func (a *authority) between() *authority {
	b := &authority{t: a.t}
	b.key, b.cert = a.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "between"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, a)
	return b
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// secured is a server over TLS that asks for certificates.
type secured struct {
	t   *testing.T
	srv *httptest.Server
}

func startTLS(t *testing.T, opts ...server.Option) *secured {
	t.Helper()
	h, err := server.New(store.NewMemory(), append([]server.Option{server.WithResponseValidation(server.ValidateFull)}, opts...)...)
	require.NoError(t, err)
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return &secured{t, srv}
}

// transport is one client, with a certificate if it has one.
func (s *secured) transport(certificate *tls.Certificate, http2 bool) *http.Transport {
	pool := x509.NewCertPool()
	pool.AddCert(s.srv.Certificate())
	config := &tls.Config{RootCAs: pool}
	if certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: http2}
	s.t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func (s *secured) get(certificate *tls.Certificate, token string) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.srv.URL+inVMs, nil)
	require.NoError(s.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return roundTrip(s.t, s.transport(certificate, false), req)
}

func TestClientCertificates(t *testing.T) {
	ca := newAuthority(t)
	s := startTLS(t, server.WithClientCAs(ca.pool()), policy(t))
	const cannot = `virtualmachineinstances.kubevirt.io is forbidden: User "joe" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`
	between := ca.between()
	behind := between.client("viewer", nil, nil)
	behind.Certificate = append(behind.Certificate, between.cert.Raw)
	for name, c := range map[string]struct {
		certificate *tls.Certificate
		status      int
	}{
		"a user":                           {ca.client("viewer", nil, nil), 200},
		"a user who may not":               {ca.client("joe", nil, nil), 403},
		"a group that may":                 {ca.client("joe", []string{"others", "system:masters"}, nil), 200},
		"with one in between":              {behind, 200},
		"no certificate":                   {nil, 401},
		"no name":                          {ca.client("", []string{"system:masters"}, nil), 401},
		"another CA":                       {newAuthority(t).client("viewer", nil, nil), 401},
		"one in between that is not shown": {between.client("viewer", nil, nil), 401},
		"for servers": {ca.client("viewer", nil, func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}), 401},
		"expired": {ca.client("viewer", nil, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		}), 401},
		"not yet": {ca.client("viewer", nil, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		}), 401},
	} {
		r := s.get(c.certificate, "a-token-that-nobody-looks-at")
		assert.Equal(t, c.status, r.StatusCode, "%s: %s", name, r.body)
		if c.status == 403 {
			assert.Equal(t, cannot, r.status(t).Message)
		}
	}
}

// A certificate that expires is refused on the connection that it has opened.
func TestClientCertificateExpiresOnAConnection(t *testing.T) {
	ca := newAuthority(t)
	var ahead atomic.Int64
	s := startTLS(t, server.WithClientCAs(ca.pool()), server.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
	transport := s.transport(ca.client("viewer", nil, nil), false)
	for _, want := range []int{200, 401} {
		req, err := http.NewRequest(http.MethodGet, s.srv.URL+inVMs, nil)
		require.NoError(t, err)
		assert.Equal(t, want, roundTrip(t, transport, req).StatusCode)
		ahead.Store(int64(2 * time.Hour))
	}
}

// Either will do, and a bad one does no harm beside a good one.
func TestCertificatesAndTokens(t *testing.T) {
	ca := newAuthority(t)
	good, bad := ca.client("viewer", nil, nil), newAuthority(t).client("viewer", nil, nil)
	for _, anonymous := range []bool{false, true} {
		opts := []server.Option{server.WithClientCAs(ca.pool()), tokens(t), policy(t)}
		nobody := 401
		if anonymous {
			opts, nobody = append(opts, server.WithAnonymous()), 403
		}
		s := startTLS(t, opts...)
		for _, c := range []struct {
			certificate *tls.Certificate
			token       string
			status      int
		}{
			{good, "", 200},
			{good, "guess", 200},
			{nil, "viewertoken", 200},
			{bad, "viewertoken", 200},
			{bad, "", 401},
			{nil, "guess", 401},
			{bad, "guess", 401},
			{nil, "", nobody},
		} {
			assert.Equal(t, c.status, s.get(c.certificate, c.token).StatusCode, "anonymous %t, certificate %t, token %q", anonymous, c.certificate == good, c.token)
		}
	}
}

// Who does not say who they are gets a connection for one request, not for streams
// without end.
func TestHTTP2IsForThoseWhoSayWhoTheyAre(t *testing.T) {
	s := startTLS(t, tokens(t), server.WithAnonymous())
	for token, kept := range map[string]bool{"": false, "guess": false, "admintoken": true} {
		transport := s.transport(nil, true)
		var connections atomic.Int32
		for range 2 {
			req, err := http.NewRequest(http.MethodGet, s.srv.URL+"/readyz", nil)
			require.NoError(t, err)
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			r := roundTrip(t, countingConnections(transport, &connections), req)
			require.Equal(t, 2, r.ProtoMajor)
		}
		assert.Equal(t, kept, connections.Load() == 1, "token %q: %d connections", token, connections.Load())
	}
}

func TestAnonymous(t *testing.T) {
	f := start(t, tokens(t), policy(t), server.WithAnonymous()).create("vms/a")
	for _, header := range []string{"X-None: 1", "Authorization: Basic YWRtaW46", "Authorization: Bearer ", "Authorization: admintoken"} {
		assert.Equal(t, `virtualmachineinstances.kubevirt.io is forbidden: User "system:anonymous" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`,
			f.get(inVMs, header).status(t).Message, header)
		assert.Equal(t, 200, f.get("/version", header).StatusCode, "unauthenticated users may ask for the version")
	}
	for _, path := range []string{inVMs, "/version", "/nosuch"} {
		assert.Equal(t, 401, f.get(path, "Authorization: Bearer wrong").StatusCode, path)
	}
	assert.Equal(t, 200, f.get(inVMs, "Authorization: Bearer viewertoken").StatusCode)
}

// countingConnections counts what a transport dials.
func countingConnections(transport *http.Transport, n *atomic.Int32) *http.Transport {
	if transport.DialContext == nil {
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			n.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		}
	}
	return transport
}

// CAs may come and go while the server runs; where there are none, nobody's certificate
// is good, and not those that the system trusts.
func TestClientCASource(t *testing.T) {
	one, two := newAuthority(t), newAuthority(t)
	var current atomic.Pointer[x509.CertPool]
	current.Store(one.pool())
	s := startTLS(t, server.WithClientCASource(current.Load), policy(t))
	first, second := one.client("viewer", nil, nil), two.client("viewer", nil, nil)
	assert.Equal(t, 200, s.get(first, "").StatusCode)
	assert.Equal(t, 401, s.get(second, "").StatusCode)
	current.Store(two.pool())
	assert.Equal(t, 401, s.get(first, "").StatusCode)
	assert.Equal(t, 200, s.get(second, "").StatusCode)
	current.Store(nil)
	assert.Equal(t, 401, s.get(second, "").StatusCode)

	_, err := server.New(store.NewMemory(), server.WithClientCASource(nil))
	require.EqualError(t, err, "server: the source of client CAs is nil")
}
