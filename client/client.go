package client

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/vmikit/vmikit/gen/vmiclient"
)

// Client talks to one API server. Make it with [New]. It is safe for use by
// several goroutines at once and is best shared: connections are reused.
type Client struct {
	raw *vmiclient.Client
	cfg *config
}

// New returns a client for the API server at the given base URL, such as
// https://localhost:6443. A path in it is kept in front of every request, as
// proxies that serve several clusters need it.
//
// It connects to nothing. It fails when the URL is not absolute, is neither http
// nor https, or carries a query, a fragment or user information (API servers take
// tokens and certificates, not passwords, and URLs end up in logs), and when an
// option fails or options contradict each other.
func New(server string, opts ...Option) (*Client, error) {
	base, err := parseServer(server)
	if err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	cfg := &config{retry: DefaultRetry, maxObject: DefaultMaxObjectBytes}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(cfg); err != nil {
			return nil, fmt.Errorf("new client: %w", err)
		}
	}
	if err := checkPlainHTTP(base, cfg.token+cfg.header.Get("Authorization")); err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	httpClient, err := cfg.client()
	if err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	send := &sender{cfg: cfg, http: httpClient, base: strings.TrimSuffix(base.EscapedPath(), "/")}
	raw, err := vmiclient.NewClient(base.String(),
		vmiclient.WithHTTPClient(send), vmiclient.WithRequestEditorFn(cfg.setHeaders))
	if err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	return &Client{raw: raw, cfg: cfg}, nil
}

// parseServer checks a base URL. Its errors never repeat what may be a password.
func parseServer(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil && strings.Contains(server, "@"):
		return nil, errors.New("server URL cannot be parsed")
	case err != nil:
		// The url.Error would repeat the whole text; its cause is enough.
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("server URL cannot be parsed: %w", err)
	case u.User != nil:
		return nil, errors.New("server URL carries user information; use a token or a certificate")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("server URL %q is not an absolute http or https URL", shorten(server, 80))
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("server URL carries a query or a fragment")
	}
	return u, nil
}

// isLoopback reports whether a host name or address never leaves the machine.
// localhost counts by its name (RFC 6761, section 6.3); nothing is resolved.
func isLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// sameOrigin reports whether two URLs lead to the same server by the same
// scheme: a redirect from one to the other gives no credential away.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(hostPort(a), hostPort(b))
}

func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "http":
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
