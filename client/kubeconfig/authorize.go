package kubeconfig

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const authorizationHeader = "Authorization"

// Token returns the bearer token that requests would carry now: empty when the user
// is known by a client certificate, by a password or not at all. It may read the
// token file or run the exec plugin; ctx ends the wait for that.
func (c *Config) Token(ctx context.Context) (string, error) {
	s := c.state()
	if s == nil || s.credentials == nil {
		return "", nil
	}
	credential, err := s.credentials.get(ctx)
	if err != nil {
		return "", fmt.Errorf("kubeconfig: %w", err)
	}
	return credential.token, nil
}

// Authorize returns rt with the credential added to each request, unless it has an
// Authorization header, and the headers of impersonation, unless it has
// Impersonate-User. With a new credential a request that was answered with 401 is
// sent a second time, if its body can be had again (GetBody).
//
// Requests to another scheme, host or port than the server's are refused with an
// error, so that a redirect cannot take the credential elsewhere. A nil rt stands
// for http.DefaultTransport.
func (c *Config) Authorize(rt http.RoundTripper) http.RoundTripper {
	if rt == nil {
		rt = http.DefaultTransport
	}
	a := &authorizer{next: rt, credentials: fixed{new(credential)}}
	if s := c.state(); s != nil {
		a.origin, a.impersonation = origin(s.base), s.user.impersonation()
		if s.credentials != nil {
			a.credentials = s.credentials
		}
	}
	return a
}

type authorizer struct {
	next          http.RoundTripper
	origin        string
	credentials   credentials
	impersonation http.Header
}

func (a *authorizer) RoundTrip(req *http.Request) (*http.Response, error) {
	if to := origin(req.URL); to != a.origin {
		closeBody(req)
		return nil, fmt.Errorf("kubeconfig: request to %s refused: the credential is for %s", to, a.origin)
	}
	if req.Header.Get(authorizationHeader) != "" {
		return a.next.RoundTrip(a.prepared(req, ""))
	}
	used, err := a.credentials.get(req.Context())
	if err != nil {
		closeBody(req)
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	resp, err := a.next.RoundTrip(a.prepared(req, used.authorization))
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	// A renewal that fails, say because a plugin's login is over, leaves the 401:
	// it is what the server said.
	renewed, err := a.credentials.renew(req.Context(), used)
	if err != nil || renewed == used {
		return resp, nil
	}
	again, ok := repeat(a.prepared(req, renewed.authorization), req)
	if !ok {
		return resp, nil
	}
	drain(resp)
	return a.next.RoundTrip(again)
}

// CloseIdleConnections is what http.Client's method of that name calls.
func (a *authorizer) CloseIdleConnections() {
	if closer, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// prepared returns a copy of a request with the headers added.
func (a *authorizer) prepared(req *http.Request, authorization string) *http.Request {
	req = req.Clone(req.Context())
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if authorization != "" {
		req.Header.Set(authorizationHeader, authorization)
	}
	if req.Header.Get("Impersonate-User") == "" {
		for name, values := range a.impersonation {
			req.Header[name] = append(req.Header[name], values...)
		}
	}
	return req
}

// repeat gives a copy of a request that was sent its body again.
func repeat(again, sent *http.Request) (*http.Request, bool) {
	if sent.Body == nil || sent.Body == http.NoBody {
		return again, true
	}
	if sent.GetBody == nil {
		return nil, false
	}
	body, err := sent.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return again, true
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// drain reads what is left of a small answer, so that its connection can be used
// again.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
}

// impersonation is the headers for as, as-uid, as-groups and as-user-extra.
func (u *user) impersonation() http.Header {
	if u.As == "" {
		return nil
	}
	h := http.Header{"Impersonate-User": {u.As}}
	if u.AsUID != "" {
		h.Set("Impersonate-Uid", u.AsUID)
	}
	for _, group := range u.AsGroups {
		h.Add("Impersonate-Group", group)
	}
	for key, values := range u.AsExtra {
		for _, value := range values {
			h.Add("Impersonate-Extra-"+escapeHeaderKey(key), value)
		}
	}
	return h
}

// escapeHeaderKey encodes what a header's name cannot hold with percent signs, as
// the API server decodes it.
func escapeHeaderKey(key string) string {
	const token = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" // RFC 9110, without %
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; strings.IndexByte(token, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
