package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	leafLifetime = 365 * 24 * time.Hour

	// A certificate is renewed before it expires, so that a server that was
	// started with it can run for a while: the leaf with a month left, the CA
	// when a new leaf would outlive it.
	leafReserve = 30 * 24 * time.Hour
	caReserve   = leafLifetime

	// clockSkew is how far the clock of a client may be behind.
	clockSkew = time.Hour
)

// Ensure returns a serving certificate for the hosts, names or IP addresses,
// and the CA that signed it. Both are kept in dir as ca.crt, ca.key, tls.crt
// and tls.key, ECDSA P-256, the CA for ten years and the certificate for one.
// What is there and still good is used; what is missing, about to expire or
// lacks one of the hosts is made. A certificate is renewed with the key that is
// there, so that a kubeconfig with the old CA keeps working.
//
// Key files have mode 0600, and dir is made with 0700. Files are replaced as a
// whole, and several processes may call Ensure for one dir at the same time.
// Ensure fails rather than overwrite a file that is no key or certificate.
func Ensure(dir string, hosts []string, now time.Time) (*Pair, error) {
	hosts, err := normalize(hosts)
	if err != nil {
		return nil, fmt.Errorf("tls certificate: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("tls directory: %w", err)
	}
	ca, caKey, err := ensureCA(dir, now)
	if err != nil {
		return nil, fmt.Errorf("tls directory %s: %w", dir, err)
	}
	leaf, leafKey, err := ensureLeaf(dir, ca, caKey, hosts, now)
	if err != nil {
		return nil, fmt.Errorf("tls directory %s: %w", dir, err)
	}
	return &Pair{
		CA:          certificatePEM(ca.Raw),
		Certificate: tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey, Leaf: leaf},
	}, nil
}

func ensureCA(dir string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, "ca.crt")
	old, err := readCertificate(path)
	if err != nil {
		return nil, nil, err
	}
	key, err := ensureKey(filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, nil, err
	}
	if old != nil && old.IsCA && key.PublicKey.Equal(old.PublicKey) && lastsFrom(old, now, caReserve) {
		return old, key, nil
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "vmikit CA"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(caLifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	ca, err := issue(path, template, template, &key.PublicKey, key)
	return ca, key, err
}

func ensureLeaf(dir string, ca *x509.Certificate, caKey *ecdsa.PrivateKey, hosts []string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	path := filepath.Join(dir, "tls.crt")
	old, err := readCertificate(path)
	if err != nil {
		return nil, nil, err
	}
	key, err := ensureKey(filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, nil, err
	}
	if old != nil && key.PublicKey.Equal(old.PublicKey) && lastsFrom(old, now, leafReserve) && serves(old, ca, hosts, now) {
		return old, key, nil
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "vmikit"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(leafLifetime),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip, err := netip.ParseAddr(host); err == nil {
			template.IPAddresses = append(template.IPAddresses, ip.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	leaf, err := issue(path, template, ca, &key.PublicKey, caKey)
	return leaf, key, err
}

// lastsFrom tells whether c is valid at now and for reserve after it.
func lastsFrom(c *x509.Certificate, now time.Time, reserve time.Duration) bool {
	return validAt(c, now) == nil && validAt(c, now.Add(reserve)) == nil
}

// serves tells whether a client that trusts ca accepts leaf for all hosts.
func serves(leaf, ca *x509.Certificate, hosts []string, now time.Time) bool {
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for _, host := range hosts {
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now}); err != nil {
			return false
		}
	}
	return true
}

// issue signs a certificate and writes it to path.
func issue(path string, template, parent *x509.Certificate, public *ecdsa.PublicKey, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	return c, replaceFile(path, certificatePEM(der), 0o644)
}

// ensureKey reads the key at path, or makes one. Of several processes that make
// one at the same time, the first wins and the others read its key: what they
// sign afterwards fits together, whoever writes last.
func ensureKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := readKey(path)
	if key != nil || err != nil {
		return key, err
	}
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	err = createFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	if errors.Is(err, fs.ErrExist) {
		if key, err = readKey(path); key == nil && err == nil {
			err = fmt.Errorf("%s appears and disappears", filepath.Base(path))
		}
	}
	return key, err
}

// readKey returns nil without an error when there is no file. A key that others
// can read is closed to them.
func readKey(path string) (*ecdsa.PrivateKey, error) {
	data, err := readIfThere(path)
	if data == nil || err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not a PEM file; remove it to have a new one made", filepath.Base(path))
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s is not an ECDSA P-256 key; remove it to have a new one made", filepath.Base(path))
	}
	if open, err := readableByOthers(path); err != nil || !open {
		return key, err
	}
	return key, os.Chmod(path, 0o600)
}

// readCertificate returns nil without an error when there is no file.
func readCertificate(path string) (*x509.Certificate, error) {
	data, err := readIfThere(path)
	if data == nil || err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not a PEM file; remove it to have a new one made", filepath.Base(path))
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s is not a certificate; remove it to have a new one made: %w", filepath.Base(path), err)
	}
	return c, nil
}

// normalize brings hosts into the form of a certificate: lower case, IP
// addresses without brackets and zone, no final dot.
func normalize(hosts []string) ([]string, error) {
	if len(hosts) == 0 {
		return nil, errors.New("no host to make it for")
	}
	out := make([]string, 0, len(hosts))
	for _, given := range hosts {
		host := strings.ToLower(strings.TrimSuffix(given, "."))
		if inner, ok := strings.CutPrefix(host, "["); ok {
			host = strings.TrimSuffix(inner, "]")
		}
		if ip, err := netip.ParseAddr(host); err == nil {
			out = append(out, ip.Unmap().WithZone("").String())
			continue
		}
		if !isHostName(host) {
			return nil, fmt.Errorf("%q is neither a host name nor an IP address", given)
		}
		out = append(out, host)
	}
	return out, nil
}

func isHostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" ||
			strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}
