package server

import (
	"crypto/x509"
	"slices"
)

// byCertificate finds out who asks by the certificate of the connection: its common
// name is the user, its organizations are the groups, as for a Kubernetes API server.
// A certificate without a common name says nothing.
//
// It is verified here and not in the handshake, so that one that does not verify is
// told so in an answer, and for each request, so that one that expires meanwhile is
// noticed on a connection that lasts.
func (s *server) byCertificate(x *exchange) (User, credential) {
	if s.clientCAs == nil || x.r.TLS == nil || len(x.r.TLS.PeerCertificates) == 0 {
		return User{}, credentialNone
	}
	roots := s.clientCAs()
	if roots == nil { // which would be those of the system
		return User{}, credentialBad
	}
	leaf, others := x.r.TLS.PeerCertificates[0], x.r.TLS.PeerCertificates[1:]
	between := x509.NewCertPool()
	for _, c := range others {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: between,
		CurrentTime:   s.now(),
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		s.log.Info("a client certificate is refused", "id", x.id, "error", err)
		return User{}, credentialBad
	}
	if leaf.Subject.CommonName == "" {
		return User{}, credentialNone
	}
	user := User{Name: leaf.Subject.CommonName, Groups: slices.Clone(leaf.Subject.Organization)}
	user.addAuthenticated()
	return user, credentialGood
}
