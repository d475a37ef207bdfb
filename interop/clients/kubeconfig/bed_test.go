package kubeconfig_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// seen is what a server, and the proxy before it, saw of a request.
type seen struct {
	TLS           bool
	Host          string // without the port
	SNI           string
	Path          string
	Authorization []string
	Impersonate   http.Header
	Certificate   string // common name
	Encoding      []string
	Protocol      string
	Proxy         string // kind and user
}

// bed is a directory with certificates, and the servers that kubeconfigs name.
type bed struct {
	dir    string
	values map[string]string // what stands for ${NAME} in testdata

	mu    sync.Mutex
	proxy string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{dir: t.TempDir(), values: map[string]string{}}
	self, err := os.Executable()
	require.NoError(t, err)
	b.values["SELF"], b.values["DIR"] = self, b.dir

	ca, caKey := b.issue(t, "ca", nil, nil)
	b.issue(t, "other-ca", nil, nil)
	b.issue(t, "client", ca, caKey)
	b.issue(t, "other", ca, caKey)
	serverCert, serverKey := b.issue(t, "server", ca, caKey)

	b.write(t, "token", "in-the-file\n")
	b.write(t, "other-token", "in-the-other-file")
	b.write(t, "empty", "")
	b.write(t, "odd-token", "two\nlines")
	require.NoError(t, os.Symlink(self, filepath.Join(b.dir, "plugin")))

	roots := x509.NewCertPool()
	roots.AddCert(ca)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(b.serve))
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.TLS = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{serverCert.Raw}, PrivateKey: serverKey}},
		ClientAuth:   tls.VerifyClientCertIfGiven, ClientCAs: roots,
	}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(plain.Close)
	b.values["HTTPS"], b.values["HTTP"] = secure.Listener.Addr().String(), plain.Listener.Addr().String()
	b.startProxies(t)
	return b
}

// serve answers with nothing; what it saw is in the answer's header.
func (b *bed) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	s := seen{
		TLS: r.TLS != nil, Path: r.URL.RequestURI(), Authorization: r.Header["Authorization"], Protocol: r.Proto,
		Encoding: r.Header["Accept-Encoding"], Impersonate: http.Header{}, Proxy: b.proxy,
	}
	b.proxy = ""
	b.mu.Unlock()
	s.Host, _, _ = net.SplitHostPort(r.Host)
	for name, values := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			s.Impersonate[name] = values
		}
	}
	if r.TLS != nil {
		s.SNI = r.TLS.ServerName
		for _, c := range r.TLS.PeerCertificates {
			s.Certificate = c.Subject.CommonName
		}
	}
	answer(w, s)
}

// issue makes a certificate and key, signed by itself if there is no parent, as
// NAME.crt and NAME.key, and as the values NAME_CRT and NAME_KEY in base64.
func (b *bed) issue(t *testing.T, name string, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost", "api.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: parent == nil, BasicConstraintsValid: true,
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for suffix, block := range map[string]*pem.Block{
		"crt": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		text := string(pem.EncodeToMemory(block))
		b.write(t, name+"."+suffix, text)
		variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_") + "_" + suffix)
		b.values[variable] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return certificate, key
}

func (b *bed) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (b *bed) expand(text string) string {
	return os.Expand(text, func(name string) string {
		if value, ok := b.values[name]; ok {
			return value
		}
		return "${" + name + "}"
	})
}

// startProxies starts an HTTP proxy, and a SOCKS5 proxy.
func (b *bed) startProxies(t *testing.T) {
	t.Helper()
	hop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := r.Header.Get("Proxy-Authorization")
		b.passed(strings.TrimSpace("http " + user))
		if r.Method != http.MethodConnect {
			r.RequestURI = ""
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			defer resp.Body.Close()
			w.Header().Set(seenHeader, resp.Header.Get(seenHeader))
			w.WriteHeader(resp.StatusCode)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			join(conn, r.Host)
		}
	}))
	t.Cleanup(hop.Close)
	u, err := url.Parse(hop.URL)
	require.NoError(t, err)
	b.values["PROXY"] = u.Host

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	b.values["SOCKS"] = listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go b.socks(conn)
		}
	}()
}

// passed notes the proxy that the next request comes by.
func (b *bed) passed(proxy string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.proxy = proxy
}

// socks serves one connection of SOCKS5 (RFC 1928) to an IPv4 address.
func (b *bed) socks(conn net.Conn) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(conn, head); err != nil || head[0] != 5 {
		_ = conn.Close()
		return
	}
	_, _ = io.CopyN(io.Discard, conn, int64(head[1]))
	_, _ = conn.Write([]byte{5, 0})
	request := make([]byte, 10)
	if _, err := io.ReadFull(conn, request); err != nil || request[3] != 1 {
		_ = conn.Close()
		return
	}
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	b.passed("socks5")
	target := net.TCPAddr{IP: request[4:8], Port: int(request[8])<<8 | int(request[9])}
	join(conn, target.String())
}

func join(conn net.Conn, address string) {
	defer conn.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { _, _ = io.Copy(to, conn); _ = to.Close() }()
	_, _ = io.Copy(conn, to)
}
