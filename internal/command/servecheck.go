package command

import (
	"net"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/server"
)

// secure reports whether https is asked for.
func (o *serveOptions) secure() bool { return o.tls || o.tlsCertFile != "" }

// check looks at what the flags say together, the protecting defaults among it.
func (o *serveOptions) check() (*endpoint, error) {
	if (o.tlsCertFile == "") != (o.tlsKeyFile == "") {
		return nil, usagef("--tls-cert-file and --tls-private-key-file must be given together")
	}
	if o.requestTimeout <= 0 {
		return nil, usagef("--request-timeout %s: must be above zero", o.requestTimeout)
	}
	if o.maxInFlight < 0 || o.maxMutatingInFlight < 0 {
		return nil, usagef("--max-requests-inflight and --max-mutating-requests-inflight must not be below zero; 0 is no limit")
	}
	for _, h := range o.allowedHosts {
		if !isHost(h) {
			return nil, usagef("--allowed-hosts: %q is neither a name nor an address; a port does not belong to it", h)
		}
	}
	if err := server.Check(server.WithCORS(o.corsOrigins...)); err != nil {
		return nil, usagef("--cors-origin: %v", err)
	}
	if o.pathPrefix != "" {
		if err := server.Check(server.WithPathPrefix(o.pathPrefix)); err != nil {
			return nil, usagef("--path-prefix: %v", err)
		}
	}
	if err := stdinOnce(slices.Concat(o.load, o.rbac)); err != nil {
		return nil, err
	}
	if err := o.checkAccess(); err != nil {
		return nil, err
	}
	at, err := resolve("--listen", o.listen)
	if err == nil {
		o.adminAt, err = o.checkAdmin()
	}
	if err != nil || at.loopback() {
		return at, err
	}
	if !o.secure() && !o.plainHTTP {
		return nil, usagef("--listen %s is beyond loopback: add --tls, or --insecure-plain-http to let everybody on the way read and change what is sent", o.listen)
	}
	switch {
	case o.anonymous:
	case !o.asksWho():
		return nil, usagef("--listen %s is beyond loopback: add --token-auth-file or --client-ca-file, or --insecure-no-authentication to let in whoever reaches it", o.listen)
	case o.anonymousAuth.on && len(o.rbac) == 0:
		return nil, usagef("--listen %s is beyond loopback and --anonymous-auth lets in everybody: add --rbac to say what they may do, or --insecure-no-authentication to let them do everything", o.listen)
	}
	return at, nil
}

// asksWho reports whether there are credentials that requests can have.
func (o *serveOptions) asksWho() bool { return o.tokenFile != "" || o.clientCAFile != "" }

func (o *serveOptions) checkAccess() error {
	if o.clientCAFile != "" && !o.secure() {
		return usagef("--client-ca-file: there are no certificates without TLS; add --tls")
	}
	if o.anonymousAuth.given && !o.anonymousAuth.on && !o.asksWho() {
		return usagef("--anonymous-auth=false: nobody could get in without --token-auth-file or --client-ca-file")
	}
	return nil
}

// isHost reports whether a text may be the host of a Host header, without a port.
func isHost(s string) bool {
	if net.ParseIP(strings.Trim(s, "[]")) != nil {
		return true
	}
	return s != "" && !strings.ContainsAny(s, "/ :*")
}
