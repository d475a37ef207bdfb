package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// WithHeader sends a header with every request, in addition to those of other
// options with the same name. [ContextWithHeader] is for single calls.
//
// Headers on which the client itself or HTTP depends are refused, Accept and
// Content-Type for two. For Authorization the rule of [WithBearerToken] about plain
// http holds as well.
func WithHeader(name string, values ...string) Option {
	return func(c *config) error {
		header := http.Header{http.CanonicalHeaderKey(name): values}
		if err := checkHeader(header); err != nil {
			return err
		}
		c.header = joined(c.header, header)
		return nil
	}
}

// Impersonation is whom a request is made for, where the credentials may act for
// others (kubectl's --as). Servers answer 403 where they may not.
type Impersonation struct {
	// User is required. UID and Groups add to it; the server adds
	// system:authenticated.
	User, UID string
	Groups    []string
	// Extra are further properties, by key.
	Extra map[string][]string
}

// WithImpersonation makes every request for somebody else.
// [ContextWithImpersonation] is for single calls.
func WithImpersonation(who Impersonation) Option {
	return func(c *config) error {
		header, err := who.header()
		if err != nil {
			return err
		}
		c.header = joined(withoutImpersonation(c.header), header)
		return nil
	}
}

// header is the form of Kubernetes: keys of Extra become part of a header's name
// and are escaped as in a URL where a name cannot have their bytes.
func (i Impersonation) header() (http.Header, error) {
	if i.User == "" {
		return nil, errors.New("impersonation needs a user")
	}
	header := http.Header{"Impersonate-User": {i.User}}
	if i.UID != "" {
		header["Impersonate-Uid"] = []string{i.UID}
	}
	if len(i.Groups) > 0 {
		header["Impersonate-Group"] = i.Groups
	}
	for key, values := range i.Extra {
		header["Impersonate-Extra-"+escapeKey(key)] = values
	}
	return header, checkHeader(header)
}

func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; c != '%' && isToken(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

type headerKey struct{}

// perCall is what a context says about the headers of its requests.
type perCall struct {
	header http.Header
	err    error
}

// ContextWithHeader adds a header to the requests that are made with the context,
// beside those that a context before it has added. In the place of a header of the
// same name that an option has set, it is the only one; so an Authorization can be
// that of the user on whose behalf a program asks.
//
// A header that [WithHeader] would refuse fails the call.
func ContextWithHeader(ctx context.Context, name string, values ...string) context.Context {
	header := http.Header{http.CanonicalHeaderKey(name): values}
	return withHeader(ctx, header, checkHeader(header))
}

// ContextWithImpersonation makes the requests with the context for somebody else
// than the options, or a context before it, have said. One without a user fails the
// call.
func ContextWithImpersonation(ctx context.Context, who Impersonation) context.Context {
	header, err := who.header()
	before, _ := ctx.Value(headerKey{}).(perCall)
	before.header = withoutImpersonation(before.header)
	return withHeader(context.WithValue(ctx, headerKey{}, before), header, err)
}

func withHeader(ctx context.Context, header http.Header, err error) context.Context {
	before, _ := ctx.Value(headerKey{}).(perCall)
	if before.err != nil {
		err = before.err
	}
	return context.WithValue(ctx, headerKey{}, perCall{joined(before.header, header), err})
}

// joined has the values of both; neither is changed.
func joined(a, b http.Header) http.Header {
	both := http.Header{}
	for _, part := range []http.Header{a, b} {
		for name, values := range part {
			both[name] = append(both[name], values...)
		}
	}
	return both
}

// withoutImpersonation is a copy, as half of one impersonation and half of another
// would be somebody whom nobody meant.
func withoutImpersonation(h http.Header) http.Header {
	rest := joined(h, nil)
	for name := range rest {
		if isImpersonation(name) {
			delete(rest, name)
		}
	}
	return rest
}

func isImpersonation(name string) bool {
	return strings.HasPrefix(textproto.CanonicalMIMEHeaderKey(name), "Impersonate-")
}

// reserved are the headers that a program cannot set: those that decide what comes
// back, and those of the connection.
var reserved = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Type": true, "Content-Length": true, "Content-Encoding": true,
	"Host": true, "Connection": true, "Transfer-Encoding": true, "Trailer": true, "Te": true, "Upgrade": true,
	"Expect": true, "User-Agent": true,
}

// checkHeader never repeats a value, which may be secret.
func checkHeader(header http.Header) error {
	for name, values := range header {
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r > '~' || !isToken(byte(r)) }):
			return fmt.Errorf("header name %q cannot be sent", shorten(name, 80))
		case reserved[http.CanonicalHeaderKey(name)]:
			return fmt.Errorf("header %s is the client's own", name)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("header %s has a value with control characters", name)
			}
		}
	}
	return nil
}

// isToken reports whether a header's name may have a byte (RFC 9110, section 5.6.2).
func isToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// setHeaders puts on a request what does not depend on the operation: what the
// options say, and in its place what the context says.
func (c *config) setHeaders(ctx context.Context, req *http.Request) error {
	// Accept-Encoding stays unset: net/http then asks for gzip and undoes it.
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", strings.TrimSpace(defaultUserAgent()+" "+c.userAgent))
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	call, _ := ctx.Value(headerKey{}).(perCall)
	if call.err != nil {
		return call.err
	}
	for name := range call.header {
		if isImpersonation(name) {
			req.Header = withoutImpersonation(req.Header)
			break
		}
	}
	for name, values := range call.header {
		req.Header[name] = values
	}
	return checkPlainHTTP(req.URL, req.Header.Get("Authorization"))
}

// checkPlainHTTP keeps credentials from where everybody on the way can read them.
func checkPlainHTTP(server *url.URL, authorization string) error {
	if authorization != "" && server.Scheme == "http" && !isLoopback(server.Hostname()) {
		return fmt.Errorf("a bearer token is not sent over plain http to %s, where others could read it", server.Host)
	}
	return nil
}
