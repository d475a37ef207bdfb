package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Request is one attempt of a call, on its way to the server, as a [Hook] sees it.
// Route, Verb, Method and the status of the [Result] are few and fit for the labels
// of metrics; Namespace and Name are not.
type Request struct {
	// Verb is that of Kubernetes' access rules: get, list, watch, create, update,
	// patch or delete.
	Verb string
	// Method is the HTTP method.
	Method string
	// Route is the path with placeholders, such as
	// /apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances/{name},
	// without what the URL given to [New] has in front.
	Route string
	// Namespace and Name are what stands for the placeholders, empty where the route
	// has none.
	Namespace, Name string
	// Attempt counts the attempts of a call, from 1.
	Attempt int
	// Bytes is the length of the body, 0 without one.
	Bytes int64
	// Header is empty. What a hook puts into it is sent with the request, traceparent
	// for one; the credentials are not to be seen here.
	Header http.Header
}

// Result is how an attempt ended.
type Result struct {
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Err is what went wrong below HTTP, while waiting for the answer or while
	// reading it, nil when the answer was read as far as it was wanted. Statuses such
	// as 404 are no error here.
	Err error
	// Bytes is how much of the answer's body was read, uncompressed.
	Bytes int64
	// Duration is from the start of the request to the end of its body. A watch is as
	// long as it was followed, a list of [Client.All] as long as its loop took.
	Duration time.Duration
	// Warnings are the server's, such as that a field is unknown or a version is
	// deprecated.
	Warnings []string
}

// Hook is called before each attempt, and the function that it returns after it,
// once; either result may be nil. The context it returns is used for the attempt:
// it may carry a span or an httptrace.ClientTrace. Hooks run in the goroutine of
// the call and take part of its time.
type Hook func(ctx context.Context, req *Request) (context.Context, func(Result))

// WithHook adds a hook, for tracing and metrics. Used more than once, the first is
// the outermost.
func WithHook(hook Hook) Option {
	return func(c *config) error {
		if hook == nil {
			return errors.New("the hook is nil")
		}
		c.hooks = append(c.hooks, hook)
		return nil
	}
}

// WithLimiter calls wait before each attempt of a call; it may block to keep to a
// rate, as the Wait of golang.org/x/time/rate does, and should end with the context.
// An error fails the call. Without this option nothing limits the rate.
func WithLimiter(wait func(context.Context) error) Option {
	return func(c *config) error {
		if wait == nil {
			return errors.New("the limiter is nil")
		}
		c.limiter = wait
		return nil
	}
}

// sender sends what the generated client has built: limiter, then hooks, then HTTP.
type sender struct {
	cfg  *config
	http *http.Client
	base string // the path of the server's URL
}

// Do is for the generated client.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	if s.cfg.limiter != nil {
		if err := s.cfg.limiter(req.Context()); err != nil {
			return nil, &ownError{fmt.Errorf("waiting for the limiter: %w", err)}
		}
	}
	callOf(req.Context()).sent()
	if len(s.cfg.hooks) == 0 {
		return s.http.Do(req)
	}
	req, done, err := s.begin(req)
	if err != nil {
		return nil, err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		done(0, err, 0, nil)
		return resp, err
	}
	resp.Body = &observedBody{ReadCloser: resp.Body, done: func(read int64, err error) {
		done(resp.StatusCode, err, read, resp.Header)
	}}
	return resp, nil
}

// ownError is one of the program's limiter or of its hooks, with which no connection and
// no server has to do: nothing mends it.
type ownError struct{ err error }

func (e *ownError) Error() string { return e.err.Error() }
func (e *ownError) Unwrap() error { return e.err }

func isOwn(err error) bool {
	_, own := errors.AsType[*ownError](err)
	return own
}

type ending func(status int, err error, read int64, header http.Header)

// begin calls the hooks.
func (s *sender) begin(req *http.Request) (*http.Request, ending, error) {
	about := s.describe(req)
	ctx, start := req.Context(), time.Now()
	var after []func(Result)
	added := http.Header{}
	for _, hook := range s.cfg.hooks {
		about.Header = http.Header{}
		own := about // a hook cannot mislead the next
		next, done := hook(ctx, &own)
		if next != nil {
			ctx = next
		}
		if done != nil {
			after = append(after, done)
		}
		added = joined(added, own.Header)
	}
	done := func(status int, err error, read int64, header http.Header) {
		result := Result{Status: status, Err: withoutURL(err), Bytes: read, Duration: time.Since(start), Warnings: warnings(header)}
		for i := range after {
			after[len(after)-1-i](result)
		}
	}
	req = req.WithContext(ctx)
	for name, values := range added {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	err := checkHeader(added)
	if err == nil {
		err = checkPlainHTTP(req.URL, added.Get("Authorization"))
	}
	if err != nil {
		err = &ownError{fmt.Errorf("hook: %w", err)}
		done(0, err, 0, nil)
	}
	return req, done, err
}

// describe goes by the path, which is the generated client's.
func (s *sender) describe(req *http.Request) Request {
	about := Request{Method: req.Method, Attempt: callOf(req.Context()).attempt, Bytes: max(req.ContentLength, 0)}
	path := strings.TrimPrefix(req.URL.EscapedPath(), s.base)
	segments := strings.Split(path, "/")
	// "", apis, group, version, namespaces, {namespace}, resource, {name}
	fill := func(at int, placeholder string, value *string) {
		if len(segments) > at {
			*value, _ = url.PathUnescape(segments[at])
			segments[at] = placeholder
		}
	}
	if len(segments) > 4 && segments[4] == "namespaces" {
		fill(5, "{namespace}", &about.Namespace)
		fill(7, "{name}", &about.Name)
	}
	about.Route = strings.Join(segments, "/")
	about.Verb = verb(req, about.Name != "")
	return about
}

func verb(req *http.Request, named bool) string {
	switch req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case named:
		return "get"
	case req.URL.Query().Get("watch") != "":
		return "watch"
	}
	return "list"
}

// observedBody tells once how the reading of a body has ended: at its end, with an
// error, or because it was closed.
type observedBody struct {
	io.ReadCloser
	read int64
	once sync.Once
	done func(read int64, err error)
}

func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch err {
	case nil:
	case io.EOF:
		b.end(nil)
	default:
		b.end(err)
	}
	return n, err
}

func (b *observedBody) end(err error) { b.once.Do(func() { b.done(b.read, err) }) }

func (b *observedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

// warnings are the texts of the Warning headers: code, agent, quoted text (RFC 7234,
// section 5.5). API servers use code 299 and no date.
func warnings(header http.Header) []string {
	var texts []string
	for _, value := range header.Values("Warning") {
		if _, text, ok := strings.Cut(value, `"`); ok && strings.HasPrefix(value, "299 ") {
			text = strings.TrimSuffix(strings.TrimSpace(text), `"`)
			texts = append(texts, oneLine(unescapeQuoted.Replace(text), 300))
		}
	}
	return texts
}

var unescapeQuoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
