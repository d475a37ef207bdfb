package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
)

// Option changes what [New] builds.
type Option func(*handler)

type handler struct {
	mux      *http.ServeMux
	hosts    map[string]bool
	token    [sha256.Size]byte
	hasToken bool
}

// WithToken demands this bearer token of every request.
func WithToken(token string) Option {
	return func(h *handler) { h.token, h.hasToken = sha256.Sum256([]byte(token)), true }
}

// WithHosts adds names and addresses, without a port, that the Host header may have
// beside those of loopback: a page in a browser must not reach the handler by a name
// that its own DNS points there.
func WithHosts(hosts ...string) Option {
	return func(h *handler) {
		for _, host := range hosts {
			h.hosts[strings.ToLower(strings.Trim(host, "[]"))] = true
		}
	}
}

// New returns a handler that serves /metrics and /debug/pprof/. A profile or trace
// takes the seconds that it is asked for, so whoever serves it lets answers take long.
// (To import net/http/pprof puts it into [http.DefaultServeMux] too.)
func New(m *Metrics, opts ...Option) http.Handler {
	h := &handler{mux: http.NewServeMux(), hosts: map[string]bool{"localhost": true}}
	for _, o := range opts {
		o(h)
	}
	h.mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.WritePrometheus(w)
	})
	h.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	h.mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	h.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	h.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	h.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	h.mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !h.knows(r.Host):
		http.Error(w, "this name is none of the server's", http.StatusForbidden)
	case h.hasToken && !h.mayEnter(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	default:
		h.mux.ServeHTTP(w, r)
	}
}

func (h *handler) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	ip := net.ParseIP(host)
	return h.hosts[host] || ip != nil && ip.IsLoopback()
}

// mayEnter compares sums, which have one length, in a time that says nothing.
func (h *handler) mayEnter(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(given[:], h.token[:]) == 1 && strings.EqualFold(scheme, "bearer")
}
