package command_test

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clientCA makes a CA and a certificate of a user, and returns the file of the first.
func clientCA(t *testing.T, user string) (file string, certificate tls.Certificate) {
	t.Helper()
	issue := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		if signer == nil {
			parent, signer = template, key
		}
		template.SerialNumber = big.NewInt(1)
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		require.NoError(t, err)
		c, err := x509.ParseCertificate(der)
		require.NoError(t, err)
		return c, key
	}
	ca, caKey := issue(&x509.Certificate{Subject: pkix.Name{CommonName: "clients"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	leaf, key := issue(&x509.Certificate{Subject: pkix.Name{CommonName: user}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca, caKey)
	file = filepath.Join(t.TempDir(), "clients.crt")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), 0o600))
	return file, tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
}

func TestClientCertificates(t *testing.T) {
	ca, jane := clientCA(t, "jane")
	_, stranger := clientCA(t, "jane")
	dir := t.TempDir()
	s := start(t, "--tls", "--tls-dir", dir, "--client-ca-file", ca, "--rbac", write(t, "policy.yaml", policy))
	list := "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
	for _, c := range []struct {
		certificate *tls.Certificate
		status      int
	}{{&jane, 200}, {&stranger, 401}, {nil, 401}} {
		client := trusting(t, filepath.Join(dir, "ca.crt"))
		if c.certificate != nil {
			client.Transport.(*http.Transport).TLSClientConfig.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
				assert.Len(t, asked.AcceptableCAs, 1, "clients are told whose certificates are good")
				return c.certificate, nil
			}
		}
		status, body := s.get(t, client, list, "")
		assert.Equal(t, c.status, status, body)
		client.CloseIdleConnections()
	}
}

func TestAnonymousAuth(t *testing.T) {
	tokens, roles := write(t, "tokens.csv", "janes-token,jane,1\n"), write(t, "policy.yaml", policy)
	for _, c := range []struct {
		flag                          string
		nobody, nobodyWantsTheVersion int
	}{
		{"--anonymous-auth", 403, 200},
		{"--anonymous-auth=true", 403, 200},
		{"--anonymous-auth=false", 401, 401},
		{"--quiet", 401, 401},
	} {
		s := start(t, "--token-auth-file", tokens, "--rbac", roles, c.flag)
		for _, ask := range []struct {
			path, token string
			want        int
		}{
			{machines, "", c.nobody}, {"/version", "", c.nobodyWantsTheVersion},
			{machines, "guess", 401}, {"/version", "guess", 401},
		} {
			status, _ := s.get(t, http.DefaultClient, ask.path, ask.token)
			assert.Equal(t, ask.want, status, "%s %s %q", c.flag, ask.path, ask.token)
		}
	}
	s := start(t, "--token-auth-file", tokens, "--anonymous-auth")
	assert.Contains(t, s.stderr(), "warning: no --rbac: everybody may do everything, with credentials or without\n")
	assert.NotContains(t, s.stderr(), "every user")
}

func TestClientCAFileThatCannotBe(t *testing.T) {
	for file, want := range map[string]string{
		"nosuch.crt":                       "error: --client-ca-file: open nosuch.crt: ",
		write(t, "empty.crt", "nothing\n"): "empty.crt: there is no PEM certificate in it\n",
		write(t, "bad.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"): "bad.crt: x509: ",
	} {
		got := vmikit(t, "serve", "--listen", "127.0.0.1:0", "--tls", "--tls-dir", t.TempDir(), "--client-ca-file", file)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.stderr, want)
	}
}

// A limit of one is reached by a list whose client does not read it.
func TestMaxInFlight(t *testing.T) {
	got := vmikit(t, "serve", "--max-requests-inflight", "-1")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "must not be below zero; 0 is no limit")

	var manifests bytes.Buffer
	for i := range 10 {
		fmt.Fprintf(&manifests, machine, fmt.Sprintf("fat-%d", i), `,"annotations":{"note":"`+strings.Repeat("x", 1<<20)+`"}`)
	}
	s := start(t, "--load", write(t, "fat.json", manifests.String()), "--max-requests-inflight", "1")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(256<<10), "so that little of it is under way")
	_, err = io.WriteString(conn, "GET "+machines+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	_, err = in.Peek(1)
	require.NoError(t, err, "the answer has begun")
	status, body := s.get(t, http.DefaultClient, "/version", "")
	assert.Equal(t, 429, status)
	assert.Contains(t, body, `"retryAfterSeconds":1`)
	_, err = io.Copy(io.Discard, io.LimitReader(in, 10<<20))
	require.NoError(t, err)
	conn.Close()
	assert.Eventually(t, func() bool {
		status, _ := s.get(t, http.DefaultClient, "/version", "")
		return status == 200
	}, 10*time.Second, 5*time.Millisecond)
}
