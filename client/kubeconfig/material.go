package kubeconfig

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// material is what TLS needs of the files of a configuration.
type material struct {
	ca, cert, key []byte // PEM
}

func (m material) equal(other material) bool {
	return bytes.Equal(m.ca, other.ca) && bytes.Equal(m.cert, other.cert) && bytes.Equal(m.key, other.key)
}

// readMaterial reads the certificate authorities, and the client certificate
// unless the transport is an anonymous one.
func (s *state) readMaterial(anonymous bool) (m material, err error) {
	if m.ca, err = s.readCA(); err != nil {
		return m, err
	}
	if anonymous || !s.user.hasCertificate() {
		return m, nil
	}
	if m.cert, err = inlineOrFile(s.user.CertData, s.user.CertFile); err != nil {
		return m, fmt.Errorf("client-certificate: %w", err)
	}
	if m.key, err = inlineOrFile(s.user.KeyData, s.user.KeyFile); err != nil {
		return m, fmt.Errorf("client-key: %w", err)
	}
	return m, nil
}

func (s *state) readCA() ([]byte, error) {
	ca, err := inlineOrFile(s.cluster.CAData, s.cluster.CAFile)
	if err != nil {
		return nil, fmt.Errorf("certificate-authority: %w", err)
	}
	return ca, nil
}

func inlineOrFile(data []byte, path string) ([]byte, error) {
	if len(data) > 0 || path == "" {
		return data, nil
	}
	return readFile(path)
}

// fromFiles reports whether the material can change.
func (s *state) fromFiles(anonymous bool) bool {
	return s.cluster.CAFile != "" ||
		!anonymous && s.user.hasCertificate() && (s.user.CertFile != "" || s.user.KeyFile != "")
}

// hasCA reports whether certificate authorities are named. Empty ones are not the
// system's.
func (s *state) hasCA() bool { return s.cluster.CAFile != "" || len(s.cluster.CAData) > 0 }

// roots are the certificate authorities to trust; nil for the system's.
func (s *state) roots(m material) (*x509.CertPool, error) {
	if !s.hasCA() {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(m.ca) {
		return nil, errors.New("certificate-authority holds no certificate in PEM")
	}
	return pool, nil
}

// pair is the client certificate; one that is empty, which tells a server that
// there is none, if m has none.
func (m material) pair() (*tls.Certificate, error) {
	if m.cert == nil {
		return new(tls.Certificate), nil
	}
	pair, err := tls.X509KeyPair(m.cert, m.key)
	if err != nil {
		return nil, fmt.Errorf("client certificate and key: %w", err)
	}
	return &pair, nil
}

// tryMaterial fails if no transport can be made now.
func (s *state) tryMaterial() error {
	m, err := s.readMaterial(false)
	if err != nil {
		return err
	}
	if _, err := s.roots(m); err != nil {
		return err
	}
	_, err = m.pair()
	return err
}
