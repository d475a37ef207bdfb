package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vmikit/vmikit/openapi"
)

// maxShown bounds, in bytes, what a report shows of one body.
const maxShown = 16 << 10

// Exchange is a request and its answer as reports show them: tokens are replaced
// by $TOKEN and $FORBIDDEN_TOKEN, what looks secret in a body by
// [openapi.Redacted], and what is no UTF-8 by U+FFFD.
type Exchange struct {
	Method string
	URL    string
	// RequestHeader and Header have what was sent and answered.
	RequestHeader http.Header
	RequestBody   string
	Status        int
	Header        http.Header
	// Body is what is shown of the body, at most 16 KiB.
	Body string
	// Note says what Body is where it is not the whole body: a part of a list, or
	// its beginning.
	Note     string
	Started  time.Time
	Duration time.Duration
}

// shown is what stays of an exchange when its body does not: enough for a report.
func (ex *exchange) shown() *exchange {
	if ex == nil {
		return nil
	}
	short := *ex
	short.list, short.listOK, short.listRead = listBody{}, false, false
	if len(short.body) > maxShown {
		short.note = strings.TrimSpace(fmt.Sprintf("the first %d of %d bytes %s", maxShown, len(ex.body), ex.note))
		short.body = slices.Clone(ex.body[:maxShown])
	}
	return &short
}

// about returns the exchange with a part of its body in the body's place.
func (ex *exchange) about(part []byte, what string) *exchange {
	short := *ex
	short.body, short.note = part, what
	return &short
}

// exchange returns an exchange as reports show it.
func (r *redactor) exchange(ex *exchange) *Exchange {
	if ex == nil {
		return nil
	}
	ex = ex.shown()
	method := ex.request.method
	if method == "" {
		method = http.MethodGet
	}
	return &Exchange{
		Method: method, URL: r.tokens.Replace(ex.url),
		RequestHeader: r.header(ex.sentHeader), RequestBody: r.body(ex.request.body),
		Status: ex.status, Header: r.header(ex.header), Body: r.body(ex.body), Note: ex.note,
		Started: ex.started, Duration: ex.took,
	}
}

// unsaid are the headers whose values are credentials, and unsaidWords stand in the
// names of others.
var (
	unsaid      = []string{"Cookie", "Set-Cookie", "Proxy-Authorization", "Authentication-Info"}
	unsaidWords = []string{"token", "secret", "passw", "credential", "session", "apikey", "api-key", "signature"}
)

func unsaidHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(unsaid, http.CanonicalHeaderKey(name)) ||
		slices.ContainsFunc(unsaidWords, func(word string) bool { return strings.Contains(name, word) })
}

func (r *redactor) header(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		for _, v := range values {
			switch {
			case unsaidHeader(name):
				v = openapi.Redacted
			case strings.Contains(v, "?"):
				v = withoutSecrets(v) // Location, for one
			case name == "Authorization":
				v = r.authorization(v)
			}
			out.Add(printable(name), printable(r.tokens.Replace(v)))
		}
	}
	return out
}

// authorization keeps the scheme, and of what follows only what is no secret.
func (r *redactor) authorization(value string) string {
	clean := r.tokens.Replace(value)
	if clean != value || strings.HasSuffix(value, wrongToken) {
		return clean
	}
	scheme, _, _ := strings.Cut(value, " ")
	return scheme + " " + openapi.Redacted
}

func (r *redactor) body(body []byte) string {
	text := strings.ToValidUTF8(r.tokens.Replace(openapi.Redact(body)), string(utf8.RuneError))
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return c
		}
		return visible(c)
	}, text)
}
