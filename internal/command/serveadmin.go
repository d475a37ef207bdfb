package command

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/admin"
	"github.com/vmikit/vmikit/server/store"
)

// adminListener is the second address, for who runs the server.
type adminListener struct {
	at       *endpoint
	listener net.Listener
	token    string // "" for none
	metrics  *admin.Metrics
}

// checkAdmin looks at the flags of the second address; nil is none.
func (o *serveOptions) checkAdmin() (*endpoint, error) {
	if o.adminListen == "" {
		if o.adminTokenFile != "" {
			return nil, usagef("--admin-token-file: there is no --admin-listen that it is for")
		}
		return nil, nil
	}
	at, err := resolve("--admin-listen", o.adminListen)
	if err != nil || at.loopback() {
		return at, err
	}
	if o.adminTokenFile == "" {
		return nil, usagef("--admin-listen %s is beyond loopback: add --admin-token-file", o.adminListen)
	}
	if !o.secure() && !o.plainHTTP {
		return nil, usagef("--admin-listen %s is beyond loopback: add --tls, or --insecure-plain-http to let everybody on the way read and change what is sent", o.adminListen)
	}
	return at, nil
}

// openAdmin opens the second address; nil is none.
func (o *serveOptions) openAdmin(who *access, objects *store.Memory) (a *adminListener, err error) {
	if o.adminAt == nil {
		return nil, nil
	}
	a = &adminListener{at: o.adminAt, metrics: admin.NewMetrics()}
	a.metrics.AddStore(machineGroup, "virtualmachineinstances", objects)
	if o.adminTokenFile != "" {
		if a.token, err = readAdminToken(o.adminTokenFile); err != nil {
			return nil, fmt.Errorf("--admin-token-file: %w", err)
		}
		if who.knows(a.token) {
			return nil, fmt.Errorf("--admin-token-file %s: its token is in --token-auth-file too; who may use the API is not who runs the server", o.adminTokenFile)
		}
	}
	a.listener, err = a.at.listen()
	return a, err
}

// minToken is what a token must have so that nobody guesses it.
const minToken = 16

func readAdminToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	switch {
	case len(token) < minToken:
		return "", fmt.Errorf("%s: a token has at least %d characters", path, minToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", fmt.Errorf("%s: must hold one token of printable ASCII and nothing else", path)
	}
	return token, nil
}

// options are what the API's server is told of the metrics.
func (a *adminListener) options() []server.Option {
	if a == nil {
		return nil
	}
	return []server.Option{server.WithObserver(observer{a.metrics})}
}

// close leaves the address to others.
func (a *adminListener) close() {
	if a != nil {
		a.listener.Close()
	}
}

// serve answers until the returned function is called, which is after the API has
// answered its last. Beyond loopback the certificate is the API's.
func (a *adminListener) serve(certificate *servingCertificate, c *console) (stop func()) {
	if a == nil {
		return func() {}
	}
	options := []admin.Option{admin.WithHosts(a.at.hosts()...)}
	if a.token != "" {
		options = append(options, admin.WithToken(a.token))
	}
	s := newHTTPServer(admin.New(a.metrics, options...), nil, 0, c.log)
	listen := s.Serve
	if certificate != nil && !a.at.loopback() {
		s = newHTTPServer(s.Handler, certificate, 0, c.log)
		listen = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
	}
	c.say("metrics on %s/metrics, profiles on /debug/pprof/ there", a.at.url(s.TLSConfig != nil, a.listener))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := listen(a.listener); !errors.Is(err, http.ErrServerClosed) {
			c.warn("--admin-listen: %v", err)
		}
	}()
	return func() {
		s.Close()
		<-done
	}
}

// observer hands on what the server tells.
type observer struct{ metrics *admin.Metrics }

func (o observer) RequestBegan(r server.RequestInfo) { o.metrics.RequestBegan(admin.Request(r)) }
func (o observer) EventSent(r server.RequestInfo)    { o.metrics.EventSent(admin.Request(r)) }
func (o observer) RequestEnded(r server.RequestInfo, out server.Outcome) {
	o.metrics.RequestEnded(admin.Request(r), out.Code, out.Took)
}
