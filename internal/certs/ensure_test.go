package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/certs"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func ensure(t *testing.T, dir string, at time.Time, hosts ...string) *certs.Pair {
	t.Helper()
	pair, err := certs.Ensure(dir, hosts, at)
	require.NoError(t, err)
	return pair
}

// get asks a server that has the pair, under the name host, as a client that
// trusts the CA at the given time.
func get(t *testing.T, pair *certs.Pair, host string, at time.Time) error {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair.Certificate}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(pair.CA))
	conn, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{
		RootCAs: roots, ServerName: host, Time: func() time.Time { return at },
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.True(t, bytes.HasSuffix(answer, []byte("ok")))
	return nil
}

func TestEnsureServesEachHost(t *testing.T) {
	pair := ensure(t, filepath.Join(t.TempDir(), "tls"), now, "127.0.0.1", "[::1]", "LOCALHOST", "vmikit.example.org.", "fe80::1%eth0", "box_1")
	for _, host := range []string{"127.0.0.1", "::1", "localhost", "vmikit.example.org", "fe80::1", "box_1"} {
		assert.NoError(t, get(t, pair, host, now), host)
		assert.NoError(t, get(t, pair, host, now.Add(-30*time.Minute)), "clock behind: %s", host)
	}
	for _, host := range []string{"127.0.0.2", "example.org", "other.example.org"} {
		assert.ErrorContains(t, get(t, pair, host, now), "x509: certificate is valid for", host)
	}
	assert.ErrorContains(t, get(t, pair, "localhost", now.AddDate(1, 0, 1)), "expired")
}

func TestEnsureCertificates(t *testing.T) {
	pair := ensure(t, t.TempDir(), now, "localhost")
	ca, leaf := parse(t, pair.CA), pair.Certificate.Leaf
	for _, c := range []*x509.Certificate{ca, leaf} {
		assert.Equal(t, elliptic.P256(), c.PublicKey.(*ecdsa.PublicKey).Curve)
	}
	assert.True(t, ca.IsCA)
	assert.True(t, ca.MaxPathLenZero)
	assert.Equal(t, x509.KeyUsageCertSign, ca.KeyUsage)
	assert.False(t, leaf.IsCA)
	assert.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, leaf.ExtKeyUsage)
	assert.Equal(t, now.AddDate(0, 0, 3650), ca.NotAfter)
	assert.Equal(t, now.AddDate(0, 0, 365), leaf.NotAfter)
	assert.Empty(t, pair.Warnings)
}

func parse(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode(text)
	require.NotNil(t, block)
	require.Empty(t, rest)
	c, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return c
}

func TestEnsureKeepsWhatIsGood(t *testing.T) {
	dir := t.TempDir()
	first := ensure(t, dir, now, "localhost", "127.0.0.1")
	for _, hosts := range [][]string{{"localhost", "127.0.0.1"}, {"127.0.0.1"}} {
		again := ensure(t, dir, now.AddDate(0, 11, 0), hosts...)
		assert.Equal(t, first.CA, again.CA)
		assert.Equal(t, first.Certificate.Certificate, again.Certificate.Certificate)
	}
}

func TestEnsureRenews(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		at     time.Time
		hosts  []string
		keepCA bool
	}{
		{name: "another host", hosts: []string{"localhost", "other"}, keepCA: true},
		{name: "leaf expired", at: now.AddDate(2, 0, 0), keepCA: true},
		{name: "leaf expires within a month", at: now.AddDate(0, 0, 340), keepCA: true},
		{name: "leaf from the future", at: now.AddDate(0, 0, -1)},
		{name: "ca expires within a year", at: now.AddDate(9, 6, 0)},
		{name: "ca expired", at: now.AddDate(11, 0, 0)},
		{name: "no leaf", damage: remove("tls.crt"), keepCA: true},
		{name: "no leaf key", damage: remove("tls.key"), keepCA: true},
		{name: "no ca", damage: remove("ca.crt")},
		{name: "no ca key", damage: remove("ca.key")},
		{name: "nothing", damage: remove("ca.crt", "ca.key", "tls.crt", "tls.key")},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			first := ensure(t, dir, now, "localhost")
			if test.damage != nil {
				test.damage(t, dir)
			}
			at, hosts := test.at, test.hosts
			if at.IsZero() {
				at = now
			}
			if hosts == nil {
				hosts = []string{"localhost"}
			}
			second := ensure(t, dir, at, hosts...)
			for _, host := range hosts {
				assert.NoError(t, get(t, second, host, at))
			}
			assert.Equal(t, test.keepCA, bytes.Equal(first.CA, second.CA))
			third := ensure(t, dir, at, hosts...)
			assert.Equal(t, second.CA, third.CA, "what was made is kept")
			assert.Equal(t, second.Certificate.Certificate, third.Certificate.Certificate)
		})
	}
}

func remove(names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
	}
}

// A kubeconfig holds the CA of the day it was written.
func TestEnsureRenewedCAIsTrustedByTheOld(t *testing.T) {
	dir := t.TempDir()
	first := ensure(t, dir, now, "localhost")
	second := ensure(t, dir, now.AddDate(9, 6, 0), "localhost")
	require.NotEqual(t, first.CA, second.CA)
	second.CA = first.CA
	assert.NoError(t, get(t, second, "localhost", now.AddDate(9, 6, 0)))
}

func TestEnsureModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	ensure(t, dir, now, "localhost")
	mode := func(name string) os.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	assert.Equal(t, os.FileMode(0o700), mode("."))
	for name, want := range map[string]os.FileMode{"ca.crt": 0o644, "tls.crt": 0o644, "ca.key": 0o600, "tls.key": 0o600} {
		assert.Equal(t, want, mode(name), name)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 4, "no temporary file is left")

	require.NoError(t, os.Chmod(filepath.Join(dir, "tls.key"), 0o644))
	ensure(t, dir, now, "localhost")
	assert.Equal(t, os.FileMode(0o600), mode("tls.key"), "closed again")
}

// Several servers start at once in one directory: each serves with what it got,
// and what is left on disk fits together.
func TestEnsureConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	pairs := make([]*certs.Pair, 8)
	errs := make([]error, len(pairs))
	var wait sync.WaitGroup
	for i := range pairs {
		wait.Go(func() { pairs[i], errs[i] = certs.Ensure(dir, []string{"localhost"}, now) })
	}
	wait.Wait()
	for i := range pairs {
		require.NoError(t, errs[i])
	}
	last := ensure(t, dir, now, "localhost")
	for _, pair := range append(pairs, last) {
		assert.NoError(t, get(t, pair, "localhost", now))
		pair.CA = last.CA
		assert.NoError(t, get(t, pair, "localhost", now), "the CA on disk trusts every server")
	}
}

func TestEnsureRefuses(t *testing.T) {
	for name, hosts := range map[string][]string{
		"no host to make it for":                                nil,
		`"" is neither a host name nor an IP address`:           {""},
		`"a b" is neither`:                                      {"a b"},
		`"localhost:6443" is neither`:                           {"localhost:6443"},
		`"https://localhost" is neither`:                        {"https://localhost"},
		`"-a" is neither`:                                       {"-a"},
		`"bücher.example" is neither`:                           {"bücher.example"},
		`"a..b" is neither a host name nor an IP address`:       {"localhost", "a..b"},
		`"*.example.org" is neither a host name nor an IP addr`: {"*.example.org"},
	} {
		dir := filepath.Join(t.TempDir(), "tls")
		_, err := certs.Ensure(dir, hosts, now)
		assert.ErrorContains(t, err, name)
		assert.NoDirExists(t, dir)
	}

	_, err := certs.Ensure(filepath.Join(t.TempDir(), "\x00"), []string{"localhost"}, now)
	assert.Error(t, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = certs.Ensure(file, []string{"localhost"}, now)
	assert.ErrorContains(t, err, "tls directory")
}

func TestEnsureLeavesForeignFiles(t *testing.T) {
	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(other)
	require.NoError(t, err)
	otherKey := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for _, name := range []string{"ca.crt", "ca.key", "tls.crt", "tls.key"} {
		for _, text := range []string{"", "secret notes", "-----BEGIN X-----\nAAAA\n-----END X-----\n", otherKey} {
			dir := t.TempDir()
			ensure(t, dir, now, "localhost")
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := certs.Ensure(dir, []string{"localhost"}, now)
			require.ErrorContains(t, err, name)
			assert.ErrorContains(t, err, "remove it")
			assert.NotContains(t, err.Error(), "secret")
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
		}
	}
}
