package client

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"
)

// Option changes how a [Client] works. Options are applied in their order; an
// option that fails makes [New] fail.
type Option func(*config) error

type config struct {
	httpClient *http.Client
	transport  http.RoundTripper
	token      string
	roots      *x509.CertPool
	userAgent  string
	header     http.Header
	retry      RetryPolicy
	limiter    func(context.Context) error
	hooks      []Hook
	logger     *slog.Logger
	timeout    time.Duration
	maxObject  int64
}

// WithHTTPClient makes the client send its requests through hc, whose transport,
// cookies and time-out then hold. Without it the client has a transport of its
// own: proxies from the environment, HTTP/2, the system's certificate authorities
// or those of [WithCAs], and no time-out.
//
// hc is copied, not changed, and later changes to its fields are not seen. Its
// CheckRedirect is asked only about redirects within the same scheme, host and
// port; others are never followed, as the transport may hold credentials.
func WithHTTPClient(hc *http.Client) Option {
	return func(c *config) error {
		if hc == nil {
			return errors.New("the HTTP client is nil")
		}
		c.httpClient = hc
		return nil
	}
}

// WithTransport makes the client send its requests through rt, which then has the
// say about proxies, certificates, HTTP/2 and connections. Redirects are followed as
// [New] follows them, within the same scheme, host and port.
//
// It cannot be combined with [WithHTTPClient], which brings a transport along.
func WithTransport(rt http.RoundTripper) Option {
	return func(c *config) error {
		if rt == nil {
			return errors.New("the transport is nil")
		}
		c.transport = rt
		return nil
	}
}

// WithRetry replaces [DefaultRetry]; [NoRetry] is the policy that never does.
// A watch that has begun goes on by rules of its own, see [Client.Watch].
func WithRetry(policy RetryPolicy) Option {
	return func(c *config) error {
		if policy == nil {
			return errors.New("the retry policy is nil")
		}
		c.retry = policy
		return nil
	}
}

// WithTimeout bounds each attempt of a call: from its first byte sent, or the wait
// for a connection, to the last byte of the answer; of a list only the wait for its
// first byte counts, as it may be long. Watches are not bounded. The error is one
// for which errors.Is(err, context.DeadlineExceeded) holds.
//
// Without it only the context of a call says how long it may take, and a server that
// sends a byte a minute is listened to for as long as that.
func WithTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("time-out %s is not above zero", d)
		}
		c.timeout = d
		return nil
	}
}

// DefaultMaxObjectBytes is how large the JSON of one machine may be where
// [WithMaxObjectBytes] does not say otherwise, 16 MiB. What etcd stores by default is
// a tenth of that.
const DefaultMaxObjectBytes = 16 << 20

// WithMaxObjectBytes limits the answers to requests for one machine, and the events
// of watches, uncompressed. A larger one is an error and is not read further. Lists
// have no limit of their own, but each of their items may have 64 MiB, or n where that
// is more; of the body of an error no more than 256 KiB are read, ever.
func WithMaxObjectBytes(n int64) Option {
	return func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("limit of %d bytes is not above zero", n)
		}
		c.maxObject = n
		return nil
	}
}

// WithBearerToken sends the token with every request. White space around it is
// dropped, as token files end in a newline.
//
// [New] refuses it for a plain http server that is not on loopback: kubectl
// leaves tokens out there without a word, which then looks like a token that
// the server does not accept.
func WithBearerToken(token string) Option {
	return func(c *config) error {
		token := strings.TrimSpace(token)
		switch {
		case token == "":
			return errors.New("the bearer token is empty")
		case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
			return errors.New("the bearer token has characters that a header cannot carry")
		}
		c.token = token
		return nil
	}
}

// WithCAs makes the client trust servers whose certificates were issued by one
// of the certificate authorities in the PEM text, and no others. Used more than
// once, or together with [WithCAFile], each adds to the set.
//
// It cannot be combined with [WithHTTPClient], whose transport has a set already.
func WithCAs(pem []byte) Option {
	return func(c *config) error { return c.addCAs(pem, "the PEM text") }
}

// WithCAFile is [WithCAs] for a file, read once, by [New].
func WithCAFile(path string) Option {
	return func(c *config) error {
		pem, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading certificate authorities: %w", err)
		}
		return c.addCAs(pem, path)
	}
}

func (c *config) addCAs(pem []byte, from string) error {
	if c.roots == nil {
		c.roots = x509.NewCertPool()
	}
	if !c.roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s holds no certificate", from)
	}
	return nil
}

// WithUserAgent adds a program's name, best as name/version, to the User-Agent
// header, after vmikit-client/<version>. The front stays as it is because API
// servers answer indented JSON to user agents that begin like a browser's or curl's.
func WithUserAgent(program string) Option {
	return func(c *config) error {
		program := strings.TrimSpace(program)
		if program == "" || strings.ContainsFunc(program, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("user agent %q is empty or not printable ASCII", shorten(program, 80))
		}
		c.userAgent = program
		return nil
	}
}
