package kubeconfig

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"
)

// HTTPClient returns a client with connections of its own that sends the
// credential with every request to the server. It has no time-out, and follows
// redirects within the server's scheme, host and port only; others become the
// answer.
func (c *Config) HTTPClient() (*http.Client, error) {
	transport, err := c.Transport()
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: c.Authorize(transport), CheckRedirect: checkRedirect}, nil
}

// Transport returns a transport with connections of its own that reaches the
// server with TLS, proxy and client certificate as configured, but puts nothing
// into requests; [Config.Authorize] does. An exec plugin may run for the client
// certificate that it gives.
//
// It is a wrapper that follows changes of the files: with a client certificate or
// certificate authorities that changed, new requests use new connections.
func (c *Config) Transport() (http.RoundTripper, error) { return c.transport(false) }

// AnonymousTransport is [Config.Transport] without the client certificate: nothing
// identifies the user.
func (c *Config) AnonymousTransport() (http.RoundTripper, error) { return c.transport(true) }

func (c *Config) transport(anonymous bool) (http.RoundTripper, error) {
	s := c.state()
	if s == nil {
		return nil, errNotLoaded
	}
	if s.base.Scheme != "https" {
		return s.newTransport(nil), nil
	}
	return newRotating(s, anonymous)
}

var errNotLoaded = errors.New("kubeconfig: this Config was not made by Load")

// newTransport is not a clone of http.DefaultTransport, which any package of a
// program may have replaced. Its limits are for connecting and for connections
// that have died; how long an answer may take is for the context to say.
func (s *state) newTransport(config *tls.Config) *http.Transport {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true, // a TLSClientConfig of our own would turn it off
		// Without pings a request on a connection whose other end has vanished
		// waits until the kernel gives up, about a quarter of an hour.
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  s.cluster.DisableCompression,
	}
	if s.proxy != nil {
		t.Proxy = http.ProxyURL(s.proxy)
	}
	return t
}

func (s *state) tlsConfig(m material) (*tls.Config, error) {
	roots, err := s.roots(m)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            roots,
		ServerName:         s.cluster.TLSServerName,
		InsecureSkipVerify: s.cluster.Insecure,
	}, nil
}

// checkRedirect follows redirects within one origin, ten at most. net/http alone
// would repeat requests to any host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case origin(req.URL) != origin(via[0].URL):
		return http.ErrUseLastResponse
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}
