package command_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/certs"
)

func replaceBy(t *testing.T, path, by string) {
	t.Helper()
	data, err := os.ReadFile(by)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// A CA that comes lets its clients in, one that goes shuts them out, also on
// connections that last, and content that is none changes nothing.
func TestClientCAFileIsReadAgain(t *testing.T) {
	ca, jane := clientCA(t, "jane")
	next, joe := clientCA(t, "joe")
	dir := t.TempDir()
	s := start(t, "--tls", "--tls-dir", dir, "--client-ca-file", ca)
	by := func(certificate *tls.Certificate) func() int {
		client := trusting(t, filepath.Join(dir, "ca.crt"))
		config := client.Transport.(*http.Transport).TLSClientConfig
		config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if asked.SupportsCertificate(certificate) != nil {
				return new(tls.Certificate), nil // as clients do that look at whose are good
			}
			return certificate, nil
		}
		return func() int {
			status, _ := s.get(t, client, machines, "")
			if status == 401 {
				client.CloseIdleConnections()
			}
			return status
		}
	}
	asJane, asJoe := by(&jane), by(&joe)
	assert.Equal(t, 200, asJane())
	assert.Equal(t, 401, asJoe())

	require.NoError(t, os.WriteFile(ca, []byte("nothing\n"), 0o600))
	assert.Eventually(t, func() bool {
		assert.Equal(t, 200, asJane())
		return strings.Count(s.stderr(), "what it held before stays in force") == 1
	}, 10*time.Second, 50*time.Millisecond)

	replaceBy(t, ca, next)
	assert.Eventually(t, func() bool { return asJoe() == 200 }, 10*time.Second, 50*time.Millisecond)
	assert.Equal(t, 401, asJane())
	assert.Contains(t, s.stderr(), "a file has changed and is in force")
}

// So do the certificate and key of the server, which are replaced one after the other.
func TestServingCertificateIsReadAgain(t *testing.T) {
	dir, old, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for _, d := range []string{old, fresh} {
		_, err := certs.Ensure(d, []string{"127.0.0.1"}, time.Now())
		require.NoError(t, err)
	}
	replaceBy(t, cert, filepath.Join(old, "tls.crt"))
	replaceBy(t, key, filepath.Join(old, "tls.key"))
	s := start(t, "--tls-cert-file", cert, "--tls-private-key-file", key)
	served := func(by string) bool {
		client := trusting(t, filepath.Join(by, "ca.crt"))
		defer client.CloseIdleConnections()
		resp, err := client.Get(s.url + "/version")
		if err != nil {
			var unknown x509.UnknownAuthorityError
			assert.ErrorAs(t, err, &unknown)
			return false
		}
		defer resp.Body.Close()
		return assert.Equal(t, 2, resp.ProtoMajor)
	}
	assert.True(t, served(old))
	replaceBy(t, cert, filepath.Join(fresh, "tls.crt"))
	assert.Eventually(t, func() bool {
		return served(old) && strings.Count(s.stderr(), "what it held before stays in force") == 1
	}, 10*time.Second, 50*time.Millisecond)
	replaceBy(t, key, filepath.Join(fresh, "tls.key"))
	assert.Eventually(t, func() bool { return served(fresh) }, 10*time.Second, 50*time.Millisecond)
	assert.False(t, served(old))
}
