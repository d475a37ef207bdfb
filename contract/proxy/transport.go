package proxy

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	idleTimeout = 90 * time.Second
	// idlePerHost is how many connections to the one host there is are kept. Clients
	// come in numbers.
	idlePerHost = 100
)

// transport sends requests, upgrades over HTTP/1.1: HTTP/2 has none.
type transport struct {
	plain, upgrades http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") != "" {
		return t.upgrades.RoundTrip(r)
	}
	return t.plain.RoundTrip(r)
}

func newTransport(cfg *config) http.RoundTripper {
	var given http.RoundTripper = &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2: true, IdleConnTimeout: idleTimeout,
	}
	if cfg.client != nil {
		if given = cfg.client.Transport; given == nil {
			given = http.DefaultTransport
		}
	}
	known, ok := given.(*http.Transport)
	if !ok {
		return given
	}
	plain := known.Clone()
	// What the client did not ask for it does not get; what it did, it gets as it is.
	plain.DisableCompression = true
	plain.MaxIdleConnsPerHost = idlePerHost
	upgrades := plain.Clone()
	upgrades.ForceAttemptHTTP2 = false
	upgrades.TLSNextProto = make(map[string]func(string, *tls.Conn) http.RoundTripper)
	if upgrades.TLSClientConfig != nil {
		upgrades.TLSClientConfig.NextProtos = nil
	}
	return &transport{plain, upgrades}
}

func (cfg *config) errorLog() *log.Logger {
	if cfg.log != nil {
		return cfg.log
	}
	return log.New(io.Discard, "", 0)
}
