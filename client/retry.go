package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Attempt is one that has failed, for a [RetryPolicy] to judge.
type Attempt struct {
	// Number counts the attempts of one call, from 1.
	Number int
	// Method is the HTTP method.
	Method string
	// Err is how it ended: an [*Error] when there was an answer, or else what
	// net/http says, wrapped.
	Err error
}

// Wait is how long to wait before the next attempt: Least, and on top a time drawn
// at random and evenly from 0 up to Spread, so that clients which failed together
// do not come back together.
type Wait struct {
	Least, Spread time.Duration
}

// RetryPolicy says whether a call is made again after an attempt that failed, and
// how long to wait before. It is asked after every failure except the end of the
// call's context, which ends the call at once, also in the middle of a wait; a
// Least that goes beyond the context's deadline ends it without waiting.
//
// A list that a loop has begun to see is not made again, whatever the policy says.
type RetryPolicy func(Attempt) (wait Wait, again bool)

const (
	maxAttempts = 5
	firstSpread = 100 * time.Millisecond
	maxSpread   = 10 * time.Second
	// maxAsked is a wait that a caller would rather know about than sit out.
	maxAsked = time.Minute
)

// DefaultRetry is the policy of a client that was given no other. It makes at most
// five attempts and waits up to 100 ms after the first, up to twice as long after
// each further one and never more than 10 s, all on top of what a Retry-After asks
// for. An answer that asks for more than a minute ends the call; its RetryAfter is
// in the [*Error].
//
// Reads (GET) are made again after a failed connection, after an answer that broke
// off, and after the statuses 429, 502, 503 and 504. Certificates that are not
// accepted and host names that do not exist are no failed connections: waiting
// does not mend them. Nor is a time-out of an http.Client or of [WithTimeout].
//
// Writes are made again only when the server has certainly not begun them: after
// 429, with which servers turn requests away unseen, and when there was no
// connection to send them over. A 503 is not among these, with a Retry-After
// neither: that header says when to ask, not that nothing has happened, and proxies
// send it for servers behind them that had the request already. A create made twice
// would end in ErrAlreadyExists, a JSON patch made twice could add things twice.
//
// It depends on its argument alone. A program that wants other limits can call it
// with another argument: with Method set to GET, writes are treated like reads.
func DefaultRetry(a Attempt) (Wait, bool) {
	if a.Number >= maxAttempts {
		return Wait{}, false
	}
	wait := Wait{Spread: min(firstSpread<<max(a.Number-1, 0), maxSpread)}
	refused, answered := errors.AsType[*Error](a.Err)
	if !answered {
		if a.Method == http.MethodGet {
			return wait, isConnectionError(a.Err)
		}
		return wait, isNeverSent(a.Err)
	}
	wait.Least = refused.RetryAfter
	if wait.Least > maxAsked {
		return Wait{}, false
	}
	switch refused.Status {
	case http.StatusTooManyRequests:
		return wait, true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return wait, a.Method == http.MethodGet
	}
	return Wait{}, false
}

// NoRetry is the policy of never trying again.
func NoRetry(Attempt) (Wait, bool) { return Wait{}, false }

// isNeverSent reports whether there was no connection, so that no server can have
// seen anything of the request. What fails later may have been read.
func isNeverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect") && isConnectionError(err)
}

// isConnectionError reports whether an error is of a kind that may be gone when the
// same is asked again. It names what is, so that errors of a transport of the
// program's own, such as a credential plugin's, are not asked for again and again.
func isConnectionError(err error) bool {
	if isOwn(err) {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return false
	}
	// TLS alerts from the other side, about our certificate for one, come as the
	// OpError "remote error".
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op != "remote error" && op.Op != "local error"
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errTooLarge) {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	if timed, ok := errors.AsType[net.Error](err); ok && timed.Timeout() {
		return true
	}
	return isTransportError(err)
}

// transportErrors are how those texts begin that net/http has no types for: an HTTP/2
// stream that was reset, an HTTP/2 connection that said GOAWAY or whose pings went
// unanswered, and a connection that broke off in the middle of the line that an HTTP/1
// answer begins with, of a header or of a trailer, which it calls suspiciously long then.
var transportErrors = []string{
	"http2: ", "stream error: ",
	"net/http: HTTP/1.x transport connection broken: malformed ",
	"http: unexpected EOF reading trailer", "http: suspiciously long trailer",
}

func isTransportError(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		if slices.ContainsFunc(transportErrors, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
			return true
		}
	}
	return false
}

// duration draws the wait.
func (w Wait) duration() time.Duration {
	if w.Spread <= 0 {
		return max(w.Least, 0)
	}
	return max(w.Least, 0) + rand.N(w.Spread)
}

// sleep waits and reports whether the context has lasted that long. It does not
// begin a wait whose least part goes beyond the deadline.
func sleep(ctx context.Context, wait Wait, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait.Least {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
