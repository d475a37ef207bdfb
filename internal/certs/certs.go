// Package certs provides the serving certificate of vmikit serve --tls and the
// kubeconfig that trusts it.
//
//	pair, err := certs.Ensure(".vmikit/tls", []string{"localhost", "127.0.0.1"}, time.Now())
//	config := &tls.Config{Certificates: []tls.Certificate{pair.Certificate}}
//	err = certs.WriteKubeconfig(".vmikit/kubeconfig", certs.Kubeconfig{Server: "https://localhost:6443", CA: pair.CA})
//
// [Ensure] makes a CA and a certificate of its own, [Load] takes files that
// somebody else made.
package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// Pair is a serving certificate with its key, and what a client needs to trust
// it.
type Pair struct {
	// CA is the PEM of the certificate that clients verify the server by. It is
	// nil when Load finds no self-signed certificate in the file: then clients
	// need the CA from elsewhere, or have it among their system's roots.
	CA []byte

	Certificate tls.Certificate // Leaf is set

	// Warnings are one line each, for whoever starts the server.
	Warnings []string
}

// Load reads the files of --tls-cert-file and --tls-private-key-file: PEM, the
// certificate first and its intermediates after it, as kube-apiserver takes
// them. It fails when a file is missing or unreadable, when the two do not
// belong together, and when the certificate is not valid at now. A key file
// that others can read is a warning.
func Load(certFile, keyFile string, now time.Time) (*Pair, error) {
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("tls certificate file: %w", err)
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("tls private key file: %w", err)
	}
	certificate, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("tls certificate file %s with private key file %s: %w", certFile, keyFile, err)
	}
	if err := validAt(certificate.Leaf, now); err != nil {
		return nil, fmt.Errorf("tls certificate file %s: %w", certFile, err)
	}
	pair := &Pair{Certificate: certificate, CA: selfSigned(certificate.Certificate)}
	if open, err := readableByOthers(keyFile); err != nil {
		return nil, fmt.Errorf("tls private key file: %w", err)
	} else if open {
		pair.Warnings = append(pair.Warnings,
			fmt.Sprintf("tls private key file %s: other users of this machine can read it, chmod 600 it", keyFile))
	}
	return pair, nil
}

// LoadCAs reads the file of --client-ca-file: PEM certificates of the authorities that
// clients' certificates are verified by. What else is in the file is passed over, as
// by kube-apiserver. It fails when a certificate cannot be read, and when there is none.
func LoadCAs(file string) (*x509.CertPool, error) {
	rest, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, found := x509.NewCertPool(), false
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		pool.AddCert(c)
		found = true
	}
	if !found {
		return nil, fmt.Errorf("%s: there is no PEM certificate in it", file)
	}
	return pool, nil
}

func validAt(c *x509.Certificate, now time.Time) error {
	if now.Before(c.NotBefore) {
		return fmt.Errorf("the certificate is valid only from %s", c.NotBefore.UTC().Format(time.RFC3339))
	}
	if now.After(c.NotAfter) {
		return fmt.Errorf("the certificate has expired at %s", c.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// selfSigned returns the PEM of the first certificate of a chain that is signed
// with its own key: the root, or a certificate that is its own authority.
func selfSigned(chain [][]byte) []byte {
	for _, der := range chain {
		c, err := x509.ParseCertificate(der)
		if err == nil && bytes.Equal(c.RawIssuer, c.RawSubject) &&
			c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil {
			return certificatePEM(der)
		}
	}
	return nil
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// readableByOthers tells whether group or others may read a file. Windows has
// no such bits.
func readableByOthers(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0, nil
}

// readIfThere returns nil without an error for a file that does not exist.
func readIfThere(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
