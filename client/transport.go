package client

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// client returns the HTTP client that the configuration asks for.
func (c *config) client() (*http.Client, error) {
	switch given := c.httpClient != nil || c.transport != nil; {
	case c.httpClient != nil && c.transport != nil:
		return nil, errors.New("an HTTP client and a transport are given; set the transport in the client")
	case given && c.roots != nil:
		return nil, errors.New("certificate authorities cannot be added to a given HTTP client or transport; set them there")
	case c.transport != nil:
		return &http.Client{Transport: c.transport, CheckRedirect: redirectPolicy(nil)}, nil
	case !given:
		return &http.Client{Transport: c.ownTransport(), CheckRedirect: redirectPolicy(nil)}, nil
	}
	hc := *c.httpClient
	hc.CheckRedirect = redirectPolicy(hc.CheckRedirect)
	return &hc, nil
}

// ownTransport is not a clone of http.DefaultTransport, which any package of a
// program may have replaced. Its limits are for connecting and for connections
// that have died; how long an answer may take is for the context to say.
func (c *config) ownTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true, // a TLSClientConfig of our own would turn it off
		// Without pings a request on a connection whose other end has vanished
		// waits until the kernel gives up, about a quarter of an hour.
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
	}
}

// redirectPolicy follows redirects within one origin only, and there as next
// says, or ten times. net/http alone would repeat the Authorization header to
// another port or scheme of the same host and to its subdomains. A redirect that
// is not followed becomes the answer, so that the error can say where it led. Neither
// is one followed that turns a write into a GET, as 301 to 303 do: its answer would
// look as if something had been written.
func redirectPolicy(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		switch {
		case !sameOrigin(req.URL, via[0].URL), req.Method != via[0].Method:
			return http.ErrUseLastResponse
		case next != nil:
			return next(req, via)
		case len(via) >= 10:
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
}

const modulePath = "github.com/vmikit/vmikit"

// defaultUserAgent is vmikit-client/ and the version of this module in the
// running program, devel when the program was not built from a release.
var defaultUserAgent = sync.OnceValue(func() string {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Path == modulePath {
			version = info.Main.Version
		}
		for _, dep := range info.Deps {
			if dep.Path == modulePath {
				version = dep.Version
			}
		}
	}
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	return "vmikit-client/" + version
})
