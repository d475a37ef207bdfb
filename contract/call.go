package contract

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

const (
	userAgent = "vmikit-contract"
	// maxBody bounds what is read of one answer. 10,000 real machines are 64 MB.
	maxBody = 128 << 20
	// maxStreak is how many answers of 500 and above, or failures to get any, end
	// a run.
	maxStreak = 3
	// maxTries is how often a request is sent when the target is busy, or breaks
	// off.
	maxTries = 3
	// maxWait is how long a run waits for a busy target at most.
	maxWait = 60 * time.Second
)

var (
	// errUsedUp says that the run may send no more requests.
	errUsedUp = errors.New("the requests are used up")
	// errStopped says that the run ends early for the target's sake.
	errStopped = errors.New("the run was stopped")
	// errBusy says that the target had no time for a request.
	errBusy = errors.New("the target is busy")
	// errNoAnswer says that a request was not answered.
	errNoAnswer = errors.New("no answer")
	// errBrokenOff says that the target took a request and broke off.
	errBrokenOff = fmt.Errorf("%w: broken off", errNoAnswer)
	// errUnreadable says that a list cannot be read; the schema checks say why.
	errUnreadable = errors.New("an answer cannot be read, see the schema checks")
)

// request is one request to the target. The zero credential is the token.
type request struct {
	op         *openapi.Operation
	form       openapi.Form
	method     string // "" is GET
	path       string // escaped, below the base URL
	query      url.Values
	rawQuery   string // in place of query, for what no url.Values can say
	credential credential
	// body is sent with contentType, by requests that write.
	body        []byte
	contentType string
	// refusable says that the document demands a refusal without declaring its
	// status code.
	refusable bool
	// writes says that the request changes something: it is not repeated unless the
	// target says that it did nothing, and the documents do not declare its answers.
	writes bool
}

// exchange is a request and its answer.
type exchange struct {
	request request
	status  int
	header  http.Header
	body    []byte
	// unread says why the body was not read to its end, "" when it was.
	unread string
	curl   string
	url    string
	// note says what body is where it is not the whole body.
	note       string
	sentHeader http.Header
	started    time.Time
	took       time.Duration

	list     listBody
	listOK   bool
	listRead bool
}

// split takes the body apart as a list; see splitList.
func (ex *exchange) split() (list listBody, ok bool) {
	if !ex.listRead {
		ex.list, ex.listOK = splitList(ex.body)
		ex.listRead = true
	}
	return ex.list, ex.listOK
}

// caller sends requests, at the pace and in the number that are allowed.
type caller struct {
	target  Target
	base    *url.URL
	client  *http.Client
	bare    *http.Client // without a credential of its own
	timeout time.Duration
	max     int
	pause   time.Duration
	redact  *redactor

	sent   int
	next   time.Time
	streak int
	// stopped says why the run ends early.
	stopped string

	// timings are those of all answers, hiccups what had to be asked again.
	timings []timing
	hiccups map[string]int

	// watcher has connections of its own for watches, nil before the first.
	watcher *http.Client
	// transports are those that the run has made, and whose connections it closes.
	transports []*http.Transport
	// reserved is how many requests are kept for writing and cleaning up; cleaning
	// says that what was made is being removed, which nothing but time bounds.
	reserved int
	cleaning bool
}

// timing is how long an answer took, its body included.
type timing struct {
	curl string
	took time.Duration
}

func newCaller(target Target, base *url.URL, cfg *config) *caller {
	c := &caller{
		target:  target,
		base:    base,
		hiccups: make(map[string]int),
		timeout: cfg.timeout,
		max:     cfg.maxRequests,
		redact:  newRedactor(target),
	}
	c.client = c.httpClient(target.HTTPClient)
	if c.bare = c.client; target.Bare != nil {
		c.bare = c.httpClient(target.Bare)
	}
	if cfg.rate > 0 {
		c.pause = time.Duration(float64(time.Second) / cfg.rate)
	}
	return c
}

// httpClient is a client of the run: the given one without what would blur the
// answers.
func (c *caller) httpClient(given *http.Client) *http.Client {
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if given != nil {
		client.Transport = given.Transport
	}
	if client.Transport == nil {
		if transport, ok := http.DefaultTransport.(*http.Transport); ok {
			own := c.clone(transport)
			own.MaxConnsPerHost = 1
			client.Transport = own
		}
	}
	return client
}

// clone makes a transport with connections of its own.
func (c *caller) clone(transport *http.Transport) *http.Transport {
	own := transport.Clone()
	c.transports = append(c.transports, own)
	return own
}

// hangUp closes the connections that nobody but the run has.
func (c *caller) hangUp() {
	for _, transport := range c.transports {
		transport.CloseIdleConnections()
	}
}

// left is how many requests may still be sent.
func (c *caller) left() int { return max(0, c.max-c.reserved-c.sent) }

// do sends a request until it is answered with something else than that the
// target is busy. A target that breaks off every time has a fault, which the
// error carries.
func (c *caller) do(ctx context.Context, req request) (*exchange, error) {
	for try := 1; ; try++ {
		ex, err := c.send(ctx, req)
		wait := time.Second
		switch {
		case errors.Is(err, errBrokenOff) && req.writes:
			c.suffer("three requests in a row were not answered")
			return nil, err
		case errors.Is(err, errBrokenOff) && try == maxTries:
			c.suffer("three requests in a row were not answered")
			return nil, &faultError{err, Finding{
				Outcome: Fail, Message: "a request is taken and not answered",
				Expected: "an answer", Got: fmt.Sprintf("%s, %d times", err, try), Curl: c.redact.curl(req, c.url(req)),
			}}
		case errors.Is(err, errBrokenOff):
			c.hiccups["broken off"]++
		case err != nil:
			return nil, err
		case !busy(ex.status):
			return ex, nil
		default:
			c.hiccups["status "+strconv.Itoa(ex.status)]++
			wait = retryAfter(ex.header, time.Now())
			done := req.writes && ex.status != http.StatusTooManyRequests // for all we know
			if wait > maxWait {
				c.postpone(wait)
			}
			if try == maxTries || wait > maxWait || done {
				return nil, fmt.Errorf("%w: status %d", errBusy, ex.status)
			}
		}
		if err := sleep(ctx, max(wait, c.pause)); err != nil {
			return nil, err
		}
	}
}

// faultError is an error that is the target's fault.
type faultError struct {
	error
	finding Finding
}

func (e *faultError) Unwrap() error { return e.error }

func busy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter returns the wait that a header Retry-After asks for, a second when
// it asks for none that can be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return time.Second
}

// send sends a request once.
func (c *caller) send(ctx context.Context, req request) (*exchange, error) {
	if err := c.admit(ctx); err != nil {
		return nil, err
	}
	ex, err := c.roundTrip(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case brokenOff(err):
		return nil, fmt.Errorf("%w: %s", errBrokenOff, c.redact.clean(c.plain(err)))
	case err != nil:
		c.suffer("three requests in a row were not answered")
		return nil, fmt.Errorf("%w: %s", errNoAnswer, c.redact.clean(c.plain(err)))
	case ex.status >= 500:
		c.suffer("three answers in a row were 500 or above")
	default:
		c.streak = 0
	}
	return ex, nil
}

// admit waits until one more request may be sent, and counts it.
func (c *caller) admit(ctx context.Context) error {
	switch {
	case c.cleaning:
	case c.stopped != "":
		return errStopped
	case c.left() == 0:
		return errUsedUp
	}
	wait, pause := time.Until(c.next), c.pause
	if c.cleaning {
		wait, pause = min(wait, cleanUpPause), min(pause, cleanUpPause)
	}
	if err := sleep(ctx, wait); err != nil {
		return err
	}
	c.next = time.Now().Add(pause)
	c.sent++
	return nil
}

// postpone ends a run whose target asks to be left alone for longer than a run waits.
func (c *caller) postpone(wait time.Duration) {
	c.stopped = fmt.Sprintf("the target asks to wait %s", wait)
}

// suffer counts what may be a target in trouble.
func (c *caller) suffer(why string) {
	if c.streak++; c.streak >= maxStreak {
		c.stopped = why
	}
}

func (c *caller) roundTrip(ctx context.Context, req request) (*exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	u := c.url(req)
	hr, err := http.NewRequestWithContext(ctx, cmp.Or(req.method, http.MethodGet), u, bytes.NewReader(req.body))
	if err != nil {
		return nil, err
	}
	c.dress(hr, req)
	// net/http writes to the log of the process what comes on a connection after an
	// answer, a body to HEAD for one: objects, with all that is secret in them.
	hr.Close = hr.Method == http.MethodHead
	client := c.client
	if req.credential != withToken {
		client = c.bare
	}
	started := time.Now()
	resp, err := client.Do(hr)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	ex := &exchange{
		request: req, status: resp.StatusCode, header: resp.Header,
		url: u, curl: c.redact.curl(req, u), sentHeader: hr.Header, started: started,
	}
	if resp.ContentLength <= maxBody {
		ex.body, err = readBody(resp.Body)
	}
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), isCorrupt(err):
		ex.unread, ex.body = "the body is not what its Content-Encoding says", nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		ex.unread = "the body ends before its length"
	case errors.Is(err, errTooLong), resp.ContentLength > maxBody:
		ex.unread, ex.body = fmt.Sprintf("the body is longer than %d MiB", maxBody>>20), nil
	case err != nil:
		return nil, err
	}
	ex.took = time.Since(started)
	c.timings = append(c.timings, timing{ex.curl, ex.took})
	return ex, nil
}

// errTooLong says that a body is longer than what is read of one.
var errTooLong = errors.New("the body is too long")

// readBody reads a body to its end. While it grows it is not moved, so that an
// endless one takes no more than it may.
func readBody(from io.Reader) ([]byte, error) {
	var pieces [][]byte
	for total := 0; ; {
		piece := make([]byte, min(1<<20, max(4<<10, total)))
		n, err := 0, error(nil)
		for n < len(piece) && err == nil {
			var read int
			read, err = from.Read(piece[n:])
			n += read
		}
		pieces, total = append(pieces, piece[:n]), total+n
		switch {
		case total > maxBody:
			return nil, errTooLong
		case errors.Is(err, io.EOF):
			return bytes.Join(pieces, nil), nil
		case err != nil:
			return bytes.Join(pieces, nil), err
		}
	}
}

// dress gives a request its headers.
func (c *caller) dress(hr *http.Request, req request) {
	hr.Header.Set("Accept", "application/json")
	hr.Header.Set("User-Agent", userAgent)
	if req.contentType != "" {
		hr.Header.Set("Content-Type", req.contentType)
	}
	if value := req.credential.header(c.target); value != "" {
		hr.Header.Set("Authorization", value)
	}
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[flate.CorruptInputError](err)
	return ok
}

func (c *caller) url(req request) string {
	u := c.base.String() + req.path
	switch {
	case req.rawQuery != "":
		u += "?" + req.rawQuery
	case len(req.query) > 0:
		u += "?" + req.query.Encode()
	}
	return u
}

// brokenOff reports whether an error came after the target had taken the
// request: a connection closed, reset or filled with what is no HTTP.
func brokenOff(err error) bool {
	var stream streamError
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return true
	}
	return errors.As(err, &stream) || strings.Contains(err.Error(), "malformed HTTP")
}

// streamError has the fields of the error with which net/http says that an
// HTTP/2 stream was reset, which has no exported type.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream reset with code %d", e.Code) }

// plain returns an error of net/http without the URL in front, which reports
// name themselves.
func (c *caller) plain(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("nothing within %s", c.timeout)
	}
	text := err.Error()
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		text = wrapped.Err.Error()
	}
	return text + hint(err)
}

// hint says what to do about an error that people meet when they aim at a target for
// the first time.
func hint(err error) string {
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "; it speaks no TLS there, so its URL begins with http://"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "; name the CA of its certificate"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "; it needs another certificate, or this machine another clock"
	}
	return ""
}

// speaksTLS reports whether an answer is that of Go's and others' servers to plain
// HTTP on a port for TLS.
func speaksTLS(ex *exchange) bool {
	return ex != nil && ex.status == http.StatusBadRequest && len(ex.body) < 1024 &&
		bytes.Contains(bytes.ToLower(ex.body), []byte("http request")) && bytes.Contains(bytes.ToLower(ex.body), []byte("https"))
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
