package kubeconfig

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// certificatePeriod is how long certificate files are trusted to be unchanged, as
// far as connections that are open are concerned.
const certificatePeriod = time.Minute

// rotating is an http.RoundTripper over a transport that it replaces when the
// certificates change. The connections of the old one end with their requests:
// servers check the certificate of a connection with each request, so one that was
// kept open would stop working when its certificate expires.
type rotating struct {
	state     *state
	anonymous bool

	mu         sync.Mutex
	current    *http.Transport
	material   material
	checked    time.Time
	generation uint64 // of the plugin's certificate
}

func newRotating(s *state, anonymous bool) (*rotating, error) {
	r := &rotating{state: s, anonymous: anonymous}
	m, err := s.readMaterial(anonymous)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	if err := r.replace(m); err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return r, nil
}

// RoundTrip sends a request over connections made with the present certificates.
func (r *rotating) RoundTrip(req *http.Request) (*http.Response, error) {
	if p := r.state.plugin; p != nil && !r.anonymous {
		// Here and not in the handshake, whose time-out would end a login.
		if _, err := p.get(req.Context()); err != nil {
			closeBody(req)
			return nil, fmt.Errorf("kubeconfig: %w", err)
		}
	}
	used := r.transport(false)
	resp, err := used.RoundTrip(req)
	if err == nil {
		if resp.StatusCode == http.StatusUnauthorized {
			r.transport(true) // perhaps the next request has more luck
		}
		return resp, nil
	}
	// The server may have a certificate of new authorities. Nothing was sent yet.
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		if next := r.transport(true); next != used {
			if again, ok := repeat(req.Clone(req.Context()), req); ok {
				return next.RoundTrip(again)
			}
		}
	}
	return nil, err
}

// CloseIdleConnections is what http.Client's method of that name calls.
func (r *rotating) CloseIdleConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current.CloseIdleConnections()
}

// transport returns the transport for the present certificates. Where they cannot
// be read, or do not fit together as in the middle of a rotation, that of the last
// ones.
func (r *rotating) transport(refused bool) *http.Transport {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.material
	if r.state.fromFiles(r.anonymous) && (refused || time.Since(r.checked) >= r.state.certificatePeriod) {
		r.checked = time.Now()
		if next, err := r.state.readMaterial(r.anonymous); err == nil {
			m = next
		}
	}
	if !m.equal(r.material) || r.pluginGeneration() != r.generation {
		_ = r.replace(m)
	}
	return r.current
}

func (r *rotating) pluginGeneration() uint64 {
	if r.anonymous || r.state.plugin == nil {
		return 0
	}
	return r.state.plugin.generation.Load()
}

// replace makes a new transport. It changes nothing if it fails.
func (r *rotating) replace(m material) error {
	config, err := r.state.tlsConfig(m)
	if err != nil {
		return err
	}
	if err := r.addCertificate(config, m); err != nil {
		return err
	}
	if r.current != nil {
		r.current.CloseIdleConnections()
	}
	r.current, r.material, r.checked = r.state.newTransport(config), m, time.Now()
	r.generation = r.pluginGeneration()
	return nil
}

// addCertificate gives the handshake its client certificate: the plugin's, or what
// is in the files at that moment.
func (r *rotating) addCertificate(config *tls.Config, m material) error {
	s := r.state
	switch {
	case r.anonymous:
		return nil
	case s.plugin != nil:
		config.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c, err := s.plugin.get(info.Context())
			if err != nil {
				return nil, err
			}
			if c.certificate == nil {
				return new(tls.Certificate), nil
			}
			return c.certificate, nil
		}
		return nil
	}
	last, err := m.pair()
	if err != nil || m.cert == nil {
		return err
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if next, err := s.readMaterial(false); err == nil {
			if pair, err := next.pair(); err == nil {
				return pair, nil
			}
		}
		return last, nil
	}
	return nil
}
