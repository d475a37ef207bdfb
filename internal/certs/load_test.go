package certs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/certs"
)

// files makes a certificate and its CA and returns the paths.
func files(t *testing.T) (cert, key, ca, caKey string) {
	t.Helper()
	dir := t.TempDir()
	ensure(t, dir, now, "localhost")
	return filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
}

func join(t *testing.T, paths ...string) string {
	t.Helper()
	var all []byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, data...)
	}
	out := filepath.Join(t.TempDir(), "joined.pem")
	require.NoError(t, os.WriteFile(out, all, 0o600))
	return out
}

func TestLoad(t *testing.T) {
	cert, key, ca, caKey := files(t)
	pair, err := certs.Load(cert, key, now)
	require.NoError(t, err)
	assert.Nil(t, pair.CA, "the file does not say who signed it")
	assert.NotNil(t, pair.Certificate.Leaf)
	assert.Empty(t, pair.Warnings)

	pair, err = certs.Load(join(t, cert, ca), key, now)
	require.NoError(t, err)
	assert.NoError(t, get(t, pair, "localhost", now), "the CA is taken from the chain")

	both := join(t, cert, key)
	_, err = certs.Load(both, both, now)
	assert.NoError(t, err, "one file may hold both")

	pair, err = certs.Load(ca, caKey, now)
	require.NoError(t, err)
	assert.Equal(t, pair.Certificate.Leaf.Raw, parse(t, pair.CA).Raw, "a self-signed one is its own CA")
}

// What openssl req -x509 makes for a test server: no CA, signed by itself.
func TestLoadSelfSignedLeaf(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost"},
		NotBefore: now, NotAfter: now.AddDate(1, 0, 0), BasicConstraintsValid: true,
	}
	certDER, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "both.pem")
	both := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certDER}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})...)
	require.NoError(t, os.WriteFile(path, both, 0o600))

	pair, err := certs.Load(path, path, now)
	require.NoError(t, err)
	require.False(t, pair.Certificate.Leaf.IsCA)
	assert.NoError(t, get(t, pair, "localhost", now))
}

func TestLoadWarnsOfAReadableKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	cert, key, _, _ := files(t)
	require.NoError(t, os.Chmod(key, 0o640))
	pair, err := certs.Load(cert, key, now)
	require.NoError(t, err)
	require.Len(t, pair.Warnings, 1)
	assert.Contains(t, pair.Warnings[0], key)
	assert.Contains(t, pair.Warnings[0], "chmod 600")
}

func TestLoadRefuses(t *testing.T) {
	cert, key, ca, caKey := files(t)
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("secret notes"), 0o600))
	for _, test := range []struct {
		name, cert, key string
		days            int
		want            []string
	}{
		{"no certificate file", "/nosuch.crt", key, 0, []string{"tls certificate file", "/nosuch.crt", "no such file"}},
		{"no key file", cert, "/nosuch.key", 0, []string{"tls private key file", "/nosuch.key", "no such file"}},
		{"a directory", t.TempDir(), key, 0, []string{"tls certificate file", "is a directory"}},
		{"another key", cert, caKey, 0, []string{cert, caKey, "private key does not match public key"}},
		{"another certificate", ca, key, 0, []string{ca, key, "private key does not match public key"}},
		{"swapped", key, cert, 0, []string{"certificate"}},
		{"no PEM", text, key, 0, []string{text, "failed to find any PEM data"}},
		{"no PEM key", cert, text, 0, []string{text, "failed to find any PEM data"}},
		{"expired", cert, key, 366, []string{cert, "expired at 2027-12-01T12:00:00Z"}},
		{"not yet", cert, key, -1, []string{cert, "valid only from 2026-12-01T11:00:00Z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := certs.Load(test.cert, test.key, now.AddDate(0, 0, test.days))
			require.Error(t, err)
			for _, want := range test.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "secret notes")
		})
	}
}
