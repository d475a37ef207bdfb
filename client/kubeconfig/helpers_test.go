package kubeconfig_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// write writes a file into a directory and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// config is a kubeconfig with one context, of a cluster's and a user's members in
// YAML's flow style.
func config(cluster, user string) string {
	return `apiVersion: v1
kind: Config
current-context: test
clusters:
- name: c
  cluster: {` + cluster + `}
users:
- name: u
  user: {` + user + `}
contexts:
- name: test
  context: {cluster: c, user: u}
`
}

// load loads what config makes, from a directory of its own.
func load(t testing.TB, cluster, user string, options ...kubeconfig.Option) (*kubeconfig.Config, error) {
	t.Helper()
	file := write(t, t.TempDir(), "config", config(cluster, user))
	return kubeconfig.Load(append(options, kubeconfig.WithFile(file))...)
}

func mustLoad(t testing.TB, cluster, user string, options ...kubeconfig.Option) *kubeconfig.Config {
	t.Helper()
	c, err := load(t, cluster, user, options...)
	require.NoError(t, err)
	return c
}

// secureServer serves over TLS with the authority's certificate, and takes client
// certificates of that authority. Its value is YAML for the server and the CA.
type secureServer struct {
	*httptest.Server
	connections atomic.Int64
}

func serveTLS(t testing.TB, ca *authority, handler http.HandlerFunc) *secureServer {
	t.Helper()
	s := &secureServer{Server: httptest.NewUnstartedServer(handler)}
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Server.TLS = &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, "server").pair},
		ClientAuth:   tls.VerifyClientCertIfGiven, ClientCAs: ca.pool,
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// user is the common name of a request's client certificate.
func user(r *http.Request) string {
	if len(r.TLS.PeerCertificates) == 0 {
		return ""
	}
	return r.TLS.PeerCertificates[0].Subject.CommonName
}

// get sends a request and returns the answer's status and body.
func get(t testing.TB, hc *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := hc.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// roundTrip is an http.RoundTripper that sends nothing.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// authority issues certificates.
type authority struct {
	issued
	pool *x509.CertPool
}

type issued struct {
	cert, key string // PEM
	pair      tls.Certificate
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{pool: x509.NewCertPool()}
	a.issued = issue(t, "authority", nil)
	a.pool.AddCert(a.pair.Leaf)
	return a
}

func (a *authority) issue(t testing.TB, name string) issued { return issue(t, name, &a.pair) }

func issue(t testing.TB, name string, by *tls.Certificate) issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: by == nil, BasicConstraintsValid: true,
	}
	parent, signer := template, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	i := issued{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
	}
	i.pair, err = tls.X509KeyPair([]byte(i.cert), []byte(i.key))
	require.NoError(t, err)
	return i
}

func portOf(t testing.TB, s *secureServer) string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	return port
}
