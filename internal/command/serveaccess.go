package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"sync"

	"github.com/vmikit/vmikit/internal/certs"
	"github.com/vmikit/vmikit/server"
)

// access is who may come in and who may do what.
type access struct {
	options []server.Option
	// token is the first of --token-auth-file, "" for none.
	token     string
	tokens    *server.Tokens        // nil for none
	clientCAs func() *x509.CertPool // nil for none
}

// knows reports whether the API lets in who has a token.
func (a *access) knows(token string) bool {
	if a.tokens == nil {
		return false
	}
	_, ok := a.tokens.Authenticate(token)
	return ok
}

// askForCertificates has clients show the certificates that they have. The handler
// verifies them: whose is none of ours is answered with 401, as by kube-apiserver.
func (a *access) askForCertificates(config *tls.Config) {
	if a.clientCAs == nil {
		return
	}
	config.ClientAuth = tls.RequestClientCert
	var mu sync.Mutex
	var asking *tls.Config // which says whose certificates are good
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		if cas := a.clientCAs(); asking == nil || asking.ClientCAs != cas {
			asking = config.Clone()
			asking.ClientCAs, asking.GetConfigForClient = cas, nil
		}
		return asking, nil
	}
}

// access reads the files that say who may come in and who may do what.
func (o *serveOptions) access(ctx context.Context, stdin io.Reader, c *console) (*access, error) {
	a := &access{}
	if o.tokenFile != "" {
		tokens, first, err := readTokens(o.tokenFile)
		if err != nil {
			return nil, err
		}
		a.token, a.tokens, a.options = first, tokens, append(a.options, server.WithTokens(tokens))
		if !o.secure() {
			c.warn("kubectl and client-go send no token over plain http; add --tls")
		}
	}
	if o.clientCAFile != "" {
		cas, err := certs.Reload(func() (*x509.CertPool, error) { return certs.LoadCAs(o.clientCAFile) },
			c.tellReload("--client-ca-file", o.clientCAFile), o.clientCAFile)
		if err != nil {
			return nil, fmt.Errorf("--client-ca-file: %w", err)
		}
		a.clientCAs, a.options = cas.Get, append(a.options, server.WithClientCASource(cas.Get))
	}
	if o.anonymousAuth.on {
		a.options = append(a.options, server.WithAnonymous())
	}
	if len(o.rbac) > 0 {
		policy, err := readPolicy(ctx, o.rbac, stdin)
		if err != nil {
			return nil, err
		}
		for _, w := range policy.Warnings() {
			c.warn("--rbac: %s", w)
		}
		a.options = append(a.options, server.WithPolicy(policy))
	}
	o.tellAccess(c)
	return a, nil
}

// tellAccess says what is more open than it may look.
func (o *serveOptions) tellAccess(c *console) {
	switch {
	case len(o.rbac) > 0 && !o.asksWho():
		c.warn("--rbac without --token-auth-file or --client-ca-file: every request is of the user system:anonymous")
	case len(o.rbac) == 0 && o.asksWho() && o.anonymousAuth.on:
		c.warn("no --rbac: everybody may do everything, with credentials or without")
	case len(o.rbac) == 0 && o.clientCAFile == "" && o.asksWho():
		c.warn("no --rbac: every user of --token-auth-file may do everything")
	case len(o.rbac) == 0 && o.asksWho():
		c.warn("no --rbac: everybody with a token or a certificate may do everything")
	}
	if !o.asksWho() && o.admission.value == "kubevirt" {
		c.warn("--admission=kubevirt without --token-auth-file or --client-ca-file: nobody is KubeVirt, so nobody can change a spec or a status")
	}
}
