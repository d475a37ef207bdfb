package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// refuse says why a request is not passed on, "" when it is.
func (cfg *config) refuse(r *http.Request) string {
	host := canonicalHost(r.Host)
	if cfg.hosts != nil && !loopback(host) && !cfg.hosts[host] {
		return "the Host header names another host than this proxy"
	}
	if origin := r.Header.Get("Origin"); cfg.ownCredential && origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return "a page of another origin must not use the credential of this proxy"
		}
	}
	return ""
}

// canonicalHost is a host without port, brackets and the dot at its end.
func canonicalHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return host
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
