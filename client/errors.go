package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
)

// Kinds of refusal, for errors.Is with an [*Error]. They go by the HTTP status,
// since servers and proxies that send no Kubernetes Status have nothing else; only
// the two kinds of 409 are told apart by the reason.
var (
	ErrBadRequest      = errors.New("bad request")         // 400: a selector, limit, token or body that cannot be parsed
	ErrUnauthorized    = errors.New("unauthorized")        // 401: no credentials, or wrong ones
	ErrForbidden       = errors.New("forbidden")           // 403: the user may not do this
	ErrNotFound        = errors.New("not found")           // 404: no such machine, or no such API on that server
	ErrConflict        = errors.New("conflict")            // 409: changed meanwhile, a precondition does not hold, or fields are owned by others
	ErrAlreadyExists   = errors.New("already exists")      // 409 with the reason AlreadyExists: a machine of that name
	ErrGone            = errors.New("gone")                // 410: the continue token or revision is too old (reason Expired)
	ErrInvalid         = errors.New("invalid")             // 422: the object, or what a patch makes of it, is not valid
	ErrTooManyRequests = errors.New("too many requests")   // 429: try again after RetryAfter
	ErrUnavailable     = errors.New("service unavailable") // 503: the server or the proxy before it cannot answer now
)

var kinds = map[int]error{
	http.StatusBadRequest:          ErrBadRequest,
	http.StatusUnauthorized:        ErrUnauthorized,
	http.StatusForbidden:           ErrForbidden,
	http.StatusNotFound:            ErrNotFound,
	http.StatusConflict:            ErrConflict,
	http.StatusGone:                ErrGone,
	http.StatusUnprocessableEntity: ErrInvalid,
	http.StatusTooManyRequests:     ErrTooManyRequests,
	http.StatusServiceUnavailable:  ErrUnavailable,
}

// Error is an answer that is not the thing asked for: a refusal, a page of some
// proxy, a redirect, or a 200 that holds something else. Programs should act upon
// Status and Reason; Message is for people.
type Error struct {
	// Op is what the caller asked for, e.g. "get vmi default/web".
	Op string
	// Method and Path are those of the request, without host and query.
	Method, Path string
	// Status is the HTTP status.
	Status int
	// Reason is the Kubernetes reason, e.g. NotFound or Expired, empty when the
	// body was no Kubernetes Status.
	Reason string
	// Message is the server's text, or what the client found wrong with a 200.
	Message string
	// Details are those of the Kubernetes Status.
	Details vmi.StatusDetails
	// RetryAfter is how long the server asks to wait before the next try, from the
	// Retry-After header or else the details, 0 when it does not ask.
	RetryAfter time.Duration
	// Continue is of a 410 in the middle of a list: a new token that leads to the rest
	// of the list as it is now, which does not fit to the pages before. It is empty
	// when the server gives none.
	Continue string
}

// Error is one line such as "get vmi default/web: not found (404)", with at most
// 300 bytes of the message.
func (e *Error) Error() string {
	text := oneLine(e.Message, 300)
	if text == "" || text == e.Reason || e.saysNoMore() {
		text = strings.ToLower(http.StatusText(e.Status))
	}
	if text == "" {
		text = "unexpected status"
	}
	op := e.Op
	if op == "" {
		op = strings.TrimSpace(e.Method + " " + e.Path)
	}
	if op == "" {
		return fmt.Sprintf("%s (%d)", text, e.Status)
	}
	return fmt.Sprintf("%s: %s (%d)", op, text, e.Status)
}

// saysNoMore recognizes the message of an API server for an object that is not
// there, which repeats the name that Op has.
func (e *Error) saysNoMore() bool {
	return e.Reason == "NotFound" && e.Details.Name != "" && strings.HasSuffix(e.Op, "/"+e.Details.Name)
}

// Is makes errors.Is(err, ErrNotFound) and the like hold.
func (e *Error) Is(target error) bool {
	kind, ok := kinds[e.Status]
	if kind == ErrConflict && e.Reason == "AlreadyExists" {
		kind = ErrAlreadyExists
	}
	return ok && kind == target
}

// ItemError is an object with a value that its Go type cannot hold, such as a
// string for a bool, a time that is none, or an integer beyond int64.
type ItemError struct {
	// Index is the object's position in the list, across all pages for
	// [Client.All], 0 for an object that comes alone.
	Index int
	// Namespace and Name are the object's, empty when those are what is wrong.
	Namespace, Name string
	// Pointer is the JSON Pointer (RFC 6901) of the first such value in Raw, empty for
	// the object as a whole.
	Pointer string
	// Raw is the whole object.
	Raw json.RawMessage
	// Err says what is wrong with the value.
	Err error
}

// Error is one line such as "vmi default/web: /spec/domain/cpu/cores: json: cannot
// unmarshal string into Go value of type int".
func (e *ItemError) Error() string {
	what := fmt.Sprintf("item %d", e.Index)
	if e.Name != "" {
		what = "vmi " + oneLine(strings.TrimPrefix(e.Namespace+"/"+e.Name, "/"), maxNames)
	}
	where := ""
	if e.Pointer != "" {
		where = oneLine(e.Pointer, 200) + ": "
	}
	why := "value cannot be decoded"
	if e.Err != nil {
		why = oneLine(e.Err.Error(), 200)
	}
	return what + ": " + where + why
}

// Unwrap is the error of the decoder.
func (e *ItemError) Unwrap() error { return e.Err }
