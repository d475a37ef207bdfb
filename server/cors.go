package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// What pages of other origins may send and see, beside what a browser always lets them.
// The methods and the first of the headers are those of kube-apiserver.
const (
	corsMethods = "POST, GET, OPTIONS, PUT, DELETE, PATCH"
	corsHeaders = "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since, If-None-Match"
	corsExposed = "Date, Audit-Id, Etag, Retry-After, Warning"
)

// crossOrigin knows which requests a browser has sent for a page of another origin.
var crossOrigin = http.NewCrossOriginProtection()

// checkOrigin answers the question of a browser whether a page may send a request,
// before any credentials, as there are none in it; and refuses a request by which
// another page would change something. A browser sends some of those without asking,
// from any page to a server on loopback, where no token is needed.
func (s *server) checkOrigin(x *exchange) error {
	h, origin := x.w.Header(), x.r.Header.Get("Origin")
	if len(s.origins) > 0 {
		h.Add("Vary", "Origin")
	}
	if s.origins[origin] {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", corsMethods)
		h.Set("Access-Control-Allow-Headers", corsHeaders)
		h.Set("Access-Control-Expose-Headers", corsExposed)
		h.Set("Access-Control-Allow-Credentials", "true")
		if x.r.Method == http.MethodOptions {
			x.answer = answer{status: http.StatusNoContent}
		}
		return nil
	}
	if crossOrigin.Check(x.r) != nil {
		return failure(http.StatusForbidden, "Forbidden",
			fmt.Sprintf("the server changes nothing for pages of the origin %q; origins other than its own must be listed (--cors-origin)", origin))
	}
	return nil
}

// parseOrigin returns an origin as a browser spells it.
func parseOrigin(text string) (string, error) {
	switch text {
	case "*":
		return "", fmt.Errorf("origin %q: there is no wild card; list each origin", text)
	case "null":
		return "", fmt.Errorf("origin %q: it is that of every page that has no other", text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.ContainsAny(u.Host, "*, ") || strings.HasSuffix(u.Host, ":") ||
		*u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
		return "", fmt.Errorf("origin %q: must be SCHEME://HOST or SCHEME://HOST:PORT, such as https://dashboard.example.org", text)
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); port != "" && port == defaultPorts[u.Scheme] {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host, nil
}

// defaultPorts are those that a browser leaves out.
var defaultPorts = map[string]string{"http": "80", "https": "443"}
