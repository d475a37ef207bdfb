package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vmikit/vmikit/gen/vmiclient"
)

// call is what a caller has asked for, from its first attempt to its last.
type call struct {
	client *Client
	op     string // e.g. "get vmi default/web"

	// stream is set for an answer without a size to expect, a list's: its items are
	// judged one by one, and it may take as long as it takes.
	stream bool
	// begun is set when something of an answer has reached the caller, who would see
	// it twice if the call were made again.
	begun bool

	attempt int
	limit   context.Context // of the attempt
	cancel  func()          // ends the attempt
	sent    func()          // begins its time
	method  string
	path    string
}

func (c *Client) call(op string) *call { return &call{client: c, op: op} }

type callKey struct{}

// callOf is the call that a request is an attempt of.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// record is a request editor that notes what the generated client has built. The
// query stays out: errors are logged, and selectors and tokens are nobody's business.
func (c *call) record(ctx context.Context, req *http.Request) error {
	c.method, c.path = req.Method, req.URL.Path
	if c.limit != nil {
		ctx = c.limit
	}
	*req = *req.WithContext(context.WithValue(ctx, callKey{}, c))
	return nil
}

// do sends a request of the generated client and hands the body of the answer to
// read when the answer is a success, and does so again as the policy says. Any other
// answer is an *Error, and so is one that read cannot make sense of. send is called
// once for each attempt and has to build the request anew; so has read its result.
func (c *call) do(ctx context.Context, send func(vmiclient.RequestEditorFn) (*http.Response, error), read func(*answer) error) error {
	for {
		c.attempt++
		err := c.try(ctx, send, read)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || c.begun {
			return err
		}
		wait, again := c.client.cfg.retry(Attempt{Number: c.attempt, Method: c.method, Err: err})
		if !again {
			return err
		}
		d := wait.duration()
		if c.client.cfg.logger != nil {
			c.client.cfg.logger.LogAttrs(ctx, slog.LevelWarn, "trying again", slog.Int("attempt", c.attempt),
				slog.Duration("wait", d), slog.String("error", err.Error()))
		}
		if !sleep(ctx, wait, d) {
			return c.ended(ctx, err)
		}
	}
}

// try is one attempt.
func (c *call) try(ctx context.Context, send func(vmiclient.RequestEditorFn) (*http.Response, error), read func(*answer) error) error {
	answered, done := c.limitTime(ctx)
	defer done()
	resp, err := send(c.record)
	if err != nil {
		return c.wrap(ctx, err)
	}
	defer c.discard(resp.Body)
	if !succeeded(c.method, resp.StatusCode) {
		return c.refused(resp)
	}
	body := &answer{from: resp.Body, contentType: resp.Header.Get("Content-Type"), most: max(maxValue, int(c.client.cfg.maxObject))}
	if c.stream {
		answered()
	} else {
		body.from = &limitedBody{from: resp.Body, left: c.client.cfg.maxObject, limit: c.client.cfg.maxObject}
	}
	err = read(body)
	if c.limit.Err() != nil && err != nil && body.failed == nil {
		// The server may have seen the end of the connection, and ended its answer in
		// order, before this side has closed it.
		body.failed = context.Cause(c.limit)
	}
	if c.begun = body.begun; body.failed != nil {
		_ = resp.Body.Close() // there may be more of it than anybody wants to read
		return c.wrap(ctx, fmt.Errorf("reading the answer: %w", body.failed))
	} else if err != nil {
		return &Error{Op: c.op, Method: c.method, Path: c.path, Status: resp.StatusCode, Message: err.Error()}
	}
	return nil
}

// succeeded reports whether an answer has what was asked for. Only a write makes
// something (201) or takes it on for later (202).
func succeeded(method string, status int) bool {
	switch status {
	case http.StatusOK:
		return true
	case http.StatusCreated, http.StatusAccepted:
		return method != http.MethodGet
	}
	return false
}

// limitTime sets the limit of [WithTimeout] for an attempt, which counts from when it
// is sent. answered lifts it, done frees what it holds.
func (c *call) limitTime(ctx context.Context) (answered, done func()) {
	limit, cancel := context.WithCancelCause(ctx)
	c.limit, c.cancel, c.sent = limit, func() { cancel(nil) }, func() {}
	d := c.client.cfg.timeout
	if d == 0 {
		return func() {}, c.cancel
	}
	var timer *time.Timer
	c.sent = func() { timer = time.AfterFunc(d, func() { cancel(&timeoutError{d}) }) }
	answered = func() {
		if timer != nil {
			timer.Stop()
		}
	}
	return answered, func() {
		answered()
		cancel(nil)
	}
}

// timeoutError is the end of an attempt, as opposed to the end of the caller's context.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no whole answer within %s", e.after) }

// Is makes errors.Is(err, context.DeadlineExceeded) hold, as for every time-out.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout is that of a net.Error.
func (e *timeoutError) Timeout() bool { return true }

// limitedBody fails after a number of bytes.
type limitedBody struct {
	from        io.Reader
	left, limit int64
}

var errTooLarge = errors.New("the answer is too large")

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// A body of exactly the limit has to reach its end.
		var more [1]byte
		if n, err := b.from.Read(more[:]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%w: it has more than %d bytes", errTooLarge, b.limit)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// wrap says which call failed below HTTP.
func (c *call) wrap(ctx context.Context, err error) error {
	err = withoutURL(err)
	// net/http reports the context's cause or, over HTTP/2, that it has ended; callers
	// look for both.
	if end := ctx.Err(); end != nil {
		if !errors.Is(err, end) {
			err = fmt.Errorf("%w: %w", end, err)
		}
		if cause := context.Cause(ctx); !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", err, cause)
		}
		return fmt.Errorf("%s: %w", c.op, err)
	}
	// HTTP/2 says only that the context was canceled.
	if c.limit != nil {
		if late, ok := context.Cause(c.limit).(*timeoutError); ok {
			return fmt.Errorf("%s: %w", c.op, late)
		}
	}
	return fmt.Errorf("%s: %w", c.op, err)
}

// maxCauseText is how much of the text of an error below HTTP is shown.
const maxCauseText = 1 << 10

// withoutURL keeps only the cause of a url.Error, whose text holds the query. Of a cause
// that repeats what the server has sent, no more is shown than is known to be harmless.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if err == nil {
		return nil
	}
	text := err.Error()
	if strings.HasPrefix(text, "failed to parse Location header ") {
		return errors.New("redirect to a place that is no URL")
	}
	if short := oneLine(text, maxCauseText); short != text {
		return &shortened{short, err}
	}
	return err
}

// shortened is an error with a text of its own: net/http repeats a line of whatever
// length that is not HTTP.
type shortened struct {
	text string
	err  error
}

func (e *shortened) Error() string { return e.text }
func (e *shortened) Unwrap() error { return e.err }

// ended is the error of a call whose context did not last until the next attempt.
func (c *call) ended(ctx context.Context, last error) error {
	end := ctx.Err()
	if end == nil {
		return last // the wait would have gone beyond the deadline
	}
	return &interrupted{op: c.op, end: end, cause: context.Cause(ctx), last: last}
}

type interrupted struct {
	op               string
	end, cause, last error
}

func (e *interrupted) Error() string {
	end := e.end.Error()
	if e.cause != e.end {
		end += ": " + e.cause.Error()
	}
	return fmt.Sprintf("%s: %s, after %s", e.op, end, strings.TrimPrefix(e.last.Error(), e.op+": "))
}

func (e *interrupted) Unwrap() []error { return []error{e.end, e.cause, e.last} }

const (
	// maxDiscard is how much of a body is read only to keep its connection for the
	// next request; beyond it a new connection is cheaper.
	maxDiscard = 64 << 10
	// maxDiscardTime is how long that may take: nobody is to wait for a server that
	// holds back what nobody wants.
	maxDiscardTime = 100 * time.Millisecond
)

// discard is done with a body, whether or not it has come to its end.
func (c *call) discard(body io.ReadCloser) {
	if observed, ok := body.(*observedBody); ok {
		observed.end(nil) // What follows is none of a hook's business.
	}
	late := time.AfterFunc(maxDiscardTime, c.cancel)
	_, _ = io.CopyN(io.Discard, body, maxDiscard)
	late.Stop()
	_ = body.Close()
}

// checkNames is checkSegment for a machine.
func checkNames(namespace, name string) error {
	if err := checkSegment("namespace", namespace); err != nil {
		return err
	}
	return checkSegment("name", name)
}

// checkSegment refuses what cannot be a segment of a path in Kubernetes, by the
// rule all its names have in common. The point is that "..", resolved as a path,
// would ask for something else; whether a name exists is for the server to say.
func checkSegment(what, value string) error {
	switch {
	case value == "":
		return fmt.Errorf("the %s is empty", what)
	case value == "." || value == "..":
		return fmt.Errorf("the %s may not be %q", what, value)
	case strings.ContainsAny(value, "/%"):
		return fmt.Errorf("the %s may not contain %q or %q", what, "/", "%")
	}
	return nil
}
