package server

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/rbac"
	"github.com/vmikit/vmikit/server/store"
)

// Option changes what [New] and [NewWriter] build.
type Option func(*config) error

type config struct {
	profile     openapi.Profile
	enumUnknown EnumUnknown
	admission   Admission
	warn        func(store.Key, openapi.Issue)
	validate    ResponseValidation
	tokens      *Tokens
	clientCAs   func() *x509.CertPool // nil for none
	anonymous   bool
	inflight    inflight
	origins     map[string]bool
	prefix      string
	policy      *rbac.Policy
	hosts       map[string]bool
	log         *slog.Logger
	now         func() time.Time
	newID       func() string
	timeout     time.Duration
	maxBody     int64
	version     string
	lifetime    context.Context
	observer    Observer

	strictNamespaces bool
}

// Check returns what [New] would find wrong with options, for those who want to know
// before there is a store.
func Check(opts ...Option) error {
	_, err := newConfig(opts)
	return err
}

func newConfig(opts []Option) (*config, error) {
	c := &config{
		profile:  openapi.ProfileKubeVirt,
		validate: ValidateEnvelope,
		hosts:    map[string]bool{"localhost": true},
		origins:  make(map[string]bool),
		log:      slog.New(slog.DiscardHandler),
		now:      time.Now,
		newID:    uuid.NewString,
		timeout:  time.Minute,
		maxBody:  3 << 20,
		version:  "devel",
		lifetime: context.Background(),
		observer: nobodyLooks{},
	}
	for _, o := range opts {
		if o == nil {
			return nil, errors.New("an option is nil")
		}
		if err := o(c); err != nil {
			return nil, err
		}
	}
	if c.warn == nil {
		c.warn = func(k store.Key, i openapi.Issue) {
			c.log.Warn("unknown value", "object", k.String(), "pointer", i.Pointer, "value", i.Value)
		}
	}
	return c, nil
}

// WithProfile chooses the document that objects and request parameters are judged
// by. The default is [openapi.ProfileKubeVirt]. Routes, status codes and error
// bodies are those of Kubernetes in every profile.
func WithProfile(p openapi.Profile) Option {
	return func(c *config) error {
		_, err := openapi.ParseProfile(string(p))
		c.profile = p
		return err
	}
}

// EnumUnknown says what becomes of an object with a value that a closed list of
// the profile does not have.
type EnumUnknown int

const (
	// EnumFail refuses it. This is the default.
	EnumFail EnumUnknown = iota
	// EnumWarn takes it and tells of it, see [WithWarnings].
	EnumWarn
)

// WithEnumUnknown softens the closed lists of values.
func WithEnumUnknown(e EnumUnknown) Option {
	return func(c *config) error { c.enumUnknown = e; return nil }
}

// WithWarnings calls tell for each value that [EnumWarn] lets pass, with the key
// of its object, before [Writer.Create] or [Writer.Update] return. The default
// logs it.
func WithWarnings(tell func(store.Key, openapi.Issue)) Option {
	return func(c *config) error {
		if tell == nil {
			return errors.New("the receiver of warnings is nil")
		}
		c.warn = tell
		return nil
	}
}

// ResponseValidation says how much of each answer is checked before it is sent.
type ResponseValidation int

const (
	// ValidateEnvelope checks all but the objects, which were checked when they
	// entered the store. This is the default.
	ValidateEnvelope ResponseValidation = iota
	// ValidateFull checks every byte. An answer is then built in memory as a whole;
	// a list of 10,000 objects takes seconds.
	ValidateFull
	// ValidateOff checks nothing.
	ValidateOff
)

// WithResponseValidation chooses how much of each answer is checked.
func WithResponseValidation(v ResponseValidation) Option {
	return func(c *config) error { c.validate = v; return nil }
}

// WithTokens demands a bearer token of every request, on every path. Without it and
// [WithClientCAs] nobody is asked who they are, and everybody is system:anonymous.
func WithTokens(t *Tokens) Option {
	return func(c *config) error {
		// Nobody means to open the server by handing over nothing.
		if t == nil {
			return errors.New("the tokens are nil")
		}
		c.tokens = t
		return nil
	}
}

// WithClientCAs lets in who has a certificate for client authentication that one of
// the CAs has signed: its common name is the user, its organizations are the groups.
// With [WithTokens] either will do. The [net/http.Server] must ask for certificates
// ([crypto/tls.RequestClientCert]) and leave it to the handler to verify them: one that does
// not verify is answered with 401.
func WithClientCAs(cas *x509.CertPool) Option {
	return func(c *config) error {
		if cas == nil {
			return errors.New("the client CAs are nil")
		}
		c.clientCAs = func() *x509.CertPool { return cas }
		return nil
	}
}

// WithClientCASource is [WithClientCAs] for CAs that change: current is asked for them at
// each request with a certificate, from many goroutines at once.
func WithClientCASource(current func() *x509.CertPool) Option {
	return func(c *config) error {
		if current == nil {
			return errors.New("the source of client CAs is nil")
		}
		c.clientCAs = current
		return nil
	}
}

// WithAnonymous lets in requests without a token or certificate although there are
// some, as the user system:anonymous of the group system:unauthenticated; the policy
// says what they may do. Credentials that are wrong are refused all the same.
func WithAnonymous() Option {
	return func(c *config) error { c.anonymous = true; return nil }
}

// WithPolicy decides who may do what, and who may be taken for whom (the verbs of
// Kubernetes' impersonation, which kubectl --as asks for). Without it everybody who
// got in may do everything, so that too.
func WithPolicy(p *rbac.Policy) Option {
	return func(c *config) error {
		if p == nil {
			return errors.New("the policy is nil")
		}
		c.policy = p
		return nil
	}
}

// WithHosts adds names and addresses that the Host header may have. Loopback
// addresses and localhost always may. Anything else is refused, or a page in a
// browser could reach the server by a name that its own DNS points at loopback.
func WithHosts(hosts ...string) Option {
	return func(c *config) error {
		for _, h := range hosts {
			if net.ParseIP(strings.Trim(h, "[]")) == nil && !hostName.MatchString(h) {
				return fmt.Errorf("host %q is neither a name nor an address; it has no port and no wild card", h)
			}
			c.hosts[canonicalHost(h)] = true
		}
		return nil
	}
}

// WithCORS lets pages of other origins use the server from a browser, with the
// credentials that the browser has for it. An origin is exact, SCHEME://HOST or
// SCHEME://HOST:PORT. Without it pages of other origins see no answer and change
// nothing.
func WithCORS(origins ...string) Option {
	return func(c *config) error {
		for _, text := range origins {
			origin, err := parseOrigin(text)
			if err != nil {
				return err
			}
			c.origins[origin] = true
		}
		return nil
	}
}

// WithPathPrefix serves everything under a path, such as /k8s, and nothing beside it.
// URLs in answers have it, so the handler must see it: no [net/http.StripPrefix].
func WithPathPrefix(prefix string) Option {
	return func(c *config) error {
		c.prefix = prefix
		return checkPrefix(prefix)
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([-A-Za-z0-9_.]{0,251}[A-Za-z0-9_])?\.?$`)

func canonicalHost(h string) string {
	h = strings.TrimSuffix(strings.ToLower(strings.Trim(h, "[]")), ".")
	if ip := net.ParseIP(h); ip != nil {
		return ip.String()
	}
	return h
}

// WithLogger logs each request at level Info, and what is wrong with the server
// itself at level Error. The default logs nothing. No token and no body is logged.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error {
		if l == nil {
			return errors.New("the logger is nil")
		}
		c.log = l
		return nil
	}
}

// WithClock takes the time from now. The default is the clock of the machine.
func WithClock(now func() time.Time) Option {
	return func(c *config) error {
		if now == nil {
			return errors.New("the clock is nil")
		}
		c.now = now
		return nil
	}
}

// WithIDs takes request ids and the uids of new objects from next. The default
// makes random UUIDs.
func WithIDs(next func() string) Option {
	return func(c *config) error {
		if next == nil {
			return errors.New("the source of ids is nil")
		}
		c.newID = next
		return nil
	}
}

// WithRequestTimeout ends a request that takes longer with 504. The default is
// one minute, as in a cluster.
func WithRequestTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("request timeout %s: must be above zero", d)
		}
		c.timeout = d
		return nil
	}
}

// WithMaxBodyBytes refuses larger request bodies with 413. The default is 3 MiB,
// as in a cluster.
func WithMaxBodyBytes(n int64) Option {
	return func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("body limit %d: must be above zero", n)
		}
		c.maxBody = n
		return nil
	}
}

// WithMaxInFlight bounds how many requests are answered at once, those that change
// something apart from the others; more are answered with 429 and told to come again
// in a second. 0 is no limit, and the default. Watches and members of the group
// system:masters are not bounded. A request that changes something counts from when its
// body is there; all bodies of more than 64 KiB that are on their way may have as many bytes
// together as the requests in flight could.
func WithMaxInFlight(reading, mutating int) Option {
	return func(c *config) error {
		if reading < 0 || mutating < 0 {
			return fmt.Errorf("%d and %d requests in flight: must not be below zero", reading, mutating)
		}
		c.inflight = newInflight(reading, mutating)
		return nil
	}
}

// WithLifetime ends watches when ctx does, which otherwise go on for up to an hour:
// cancel it before an [http.Server] is shut down. Other requests are not its affair.
func WithLifetime(ctx context.Context) Option {
	return func(c *config) error {
		if ctx == nil {
			return errors.New("the lifetime is nil")
		}
		c.lifetime = ctx
		return nil
	}
}

// WithStrictNamespaces lets nothing be made in a namespace that is not there, as in a
// cluster. Without it a namespace is there as soon as something is made in it.
func WithStrictNamespaces() Option {
	return func(c *config) error { c.strictNamespaces = true; return nil }
}

// WithVersion is what /version says of this build, e.g. 1.2.3.
func WithVersion(v string) Option {
	return func(c *config) error { c.version = v; return nil }
}
