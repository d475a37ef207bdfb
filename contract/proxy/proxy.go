package proxy

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/vmikit/vmikit/contract"
)

// Proxy passes requests on to an upstream. It is an [http.Handler].
type Proxy struct {
	config   *config
	observer *contract.Observer
	reverse  *httputil.ReverseProxy
	queue    *queue
}

// Option changes how a proxy goes about its work.
type Option func(*config) error

type config struct {
	client        *http.Client
	ownCredential bool
	hosts         map[string]bool // nil for any
	enforce       bool
	timeout       time.Duration
	maxBody       int64
	log           *log.Logger
}

// WithClient has requests sent with the transport of a client, which decides about
// TLS, proxies and HTTP versions. Its redirects, cookies and time-out are not used.
// The default is a transport of its own, which speaks HTTP/2 where it can. Upgrades
// other than to a web socket need HTTP/1.1, which [http.Transport] is made to speak
// for them; another one must do so itself.
func WithClient(c *http.Client) Option {
	return func(cfg *config) error {
		cfg.client = c
		return nil
	}
}

// WithCredential says that the transport of [WithClient] adds a credential of its
// own: those that clients send are then not passed on. Whoever reaches the proxy
// acts with that credential, so requests that a browser makes for a page of
// another origin are refused.
func WithCredential() Option {
	return func(cfg *config) error {
		cfg.ownCredential = true
		return nil
	}
}

// WithHosts refuses requests whose Host header names, port aside, neither a
// loopback address nor one of the hosts: a page whose name leads to this machine
// could else use the proxy from a browser. By default any host is good.
func WithHosts(hosts ...string) Option {
	return func(cfg *config) error {
		cfg.hosts = make(map[string]bool)
		for _, h := range hosts {
			cfg.hosts[canonicalHost(h)] = true
		}
		return nil
	}
}

// Enforce holds back answers that break the contract. The client gets a status 502
// instead, whose Status names what is broken; in a watch the broken event is
// replaced by one of type ERROR, and the watch ends. What is judged is read whole
// before it is passed on, so answers begin later.
func Enforce() Option {
	return func(cfg *config) error {
		cfg.enforce = true
		return nil
	}
}

// WithTimeout bounds how long the upstream may take to begin its answer, and in
// [Enforce] to send all of one that is no watch. The default is a minute.
func WithTimeout(d time.Duration) Option {
	return func(cfg *config) error {
		if d <= 0 {
			return errors.New("the time-out must be positive")
		}
		cfg.timeout = d
		return nil
	}
}

// WithMaxBody bounds in bytes what is judged of one answer or event; larger ones
// pass on without being judged. The default is 64 MiB, as much as 10,000 machines.
func WithMaxBody(bytes int64) Option {
	return func(cfg *config) error {
		if bytes < 1 {
			return errors.New("the largest body must have a byte at least")
		}
		cfg.maxBody = bytes
		return nil
	}
}

// WithErrorLog has the proxy log what goes wrong with connections. The default
// is not to.
func WithErrorLog(l *log.Logger) Option {
	return func(cfg *config) error {
		cfg.log = l
		return nil
	}
}

// New returns a proxy in front of the upstream, a base URL that may have a path.
func New(upstream *url.URL, observer *contract.Observer, options ...Option) (*Proxy, error) {
	if upstream == nil || upstream.Scheme != "http" && upstream.Scheme != "https" || upstream.Host == "" {
		return nil, errors.New("the upstream must be http://HOST or https://HOST")
	}
	if observer == nil {
		return nil, errors.New("a proxy needs an observer")
	}
	cfg := &config{timeout: time.Minute, maxBody: 64 << 20}
	for _, option := range options {
		if err := option(cfg); err != nil {
			return nil, err
		}
	}
	if cfg.ownCredential && cfg.client == nil {
		return nil, errors.New("a credential of the proxy's own needs a client that adds it")
	}
	p := &Proxy{config: cfg, observer: observer, queue: newQueue()}
	base := *upstream
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&base)
			r.SetXForwarded()
			if cfg.ownCredential {
				r.Out.Header.Del("Authorization")
			}
			prepare(r.Out)
			// net/http writes to the log of the process what comes on a connection after
			// an answer, a body to HEAD for one.
			r.Out.Close = r.Out.Method == http.MethodHead
		},
		Transport:      newTransport(cfg),
		FlushInterval:  -1,
		ModifyResponse: p.answer,
		ErrorHandler:   p.failed,
		ErrorLog:       cfg.errorLog(),
	}
	return p, nil
}

// Wait returns when everything that has passed by is judged. The report of the
// observer is complete then, if no more requests come.
func (p *Proxy) Wait() { p.queue.wait() }

// passage is what is known of a request on its way.
type passage struct {
	method  string
	url     *url.URL
	header  http.Header
	started time.Time
	judged  bool
	watch   bool
}

type passageKey struct{}

func passageOf(r *http.Request) *passage {
	p, _ := r.Context().Value(passageKey{}).(*passage)
	return p
}

// ServeHTTP passes a request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := p.config.refuse(r); why != "" {
		writeStatus(w, newStatus(http.StatusForbidden, "Forbidden", why))
		return
	}
	on := &passage{method: r.Method, url: r.URL, header: r.Header, started: time.Now()}
	on.judged, on.watch = p.observer.Judges(r.Method, r.URL)
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), passageKey{}, on))
	defer cancel(nil)
	timer := time.AfterFunc(p.config.timeout, func() {
		cancel(fmt.Errorf("%w after %s", errTooSlow, p.config.timeout))
	})
	defer timer.Stop()
	ctx = context.WithValue(ctx, timerKey{}, timer)
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
}

// errTooSlow says that the upstream took too long.
var errTooSlow = errors.New("no answer")

type timerKey struct{}

// inTime says that the upstream is as quick as it must be.
func inTime(r *http.Request) {
	if timer, ok := r.Context().Value(timerKey{}).(*time.Timer); ok {
		timer.Stop()
	}
}

// prepare has the answer come in a form that can be judged: watches are never
// compressed, and what the client did not ask for compressed is not either.
func prepare(out *http.Request) {
	if on := passageOf(out); on.watch || out.Header.Get("Accept-Encoding") == "" {
		out.Header.Set("Accept-Encoding", "identity")
	}
}

// failed answers when the upstream did not.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, errTooSlow):
		err = cause
	case cause != nil:
		return // the client is gone
	}
	if on := passageOf(r); on != nil {
		p.observe(contract.Observation{
			Method: on.method, URL: on.url, RequestHeader: on.header, Status: http.StatusBadGateway,
			Header: http.Header{}, Started: on.started, Ended: time.Now(),
		}, 0)
	}
	p.config.errorLog().Printf("%s %s: %v", r.Method, r.URL.Path, plain(err))
	writeStatus(w, newStatus(http.StatusBadGateway, "UpstreamUnreachable", "the upstream gave no answer: "+plain(err).Error()))
}

// plain is an error without the URL in front.
func plain(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
