package client

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
)

const (
	// maxErrorBody is how much of an error's body is read. A Kubernetes Status
	// has a few hundred bytes, one with a cause for every field a few thousand.
	maxErrorBody = 256 << 10
	// maxErrorText is how much of a plain text body is kept as the message.
	maxErrorText = 200
)

// refused makes an error of an answer that is no success. Its status always counts;
// its body only where it is a Kubernetes Status or plain text. Of an HTML page
// nothing is kept.
func (c *call) refused(resp *http.Response) *Error {
	e := &Error{Op: c.op, Method: c.method, Path: c.path, Status: resp.StatusCode}
	// A body that breaks off is judged by what came; the status has come whole.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if status, ok := parseStatus(body); ok {
		e.Reason, e.Message, e.Details = status.Reason, status.Message, status.Details
		if resp.StatusCode == http.StatusGone {
			e.Continue = status.Metadata.Continue
		}
	} else if mediaType == "text/plain" {
		e.Message = oneLine(string(body), maxErrorText)
	}
	e.RetryAfter = retryAfter(resp.Header, e.Details)
	if location := redirectTarget(resp); location != "" {
		e.Message = "redirect to " + location + " not followed"
	}
	return e
}

// parseStatus reads a Kubernetes Status. Members of a wrong type are passed over,
// as nothing about an error is worth failing for.
func parseStatus(body []byte) (vmi.Status, bool) {
	var status vmi.Status
	_ = json.Unmarshal(body, &status)
	return status, status.Kind == "Status"
}

// redirectTarget is the scheme and host that a redirect leads to, without the path
// and query, in which login pages carry state.
func redirectTarget(resp *http.Response) string {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return ""
	}
	location, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || location.Host == "" {
		return ""
	}
	return oneLine((&url.URL{Scheme: location.Scheme, Host: location.Host}).String(), maxErrorText)
}

// retryAfter reads the header in both of its forms (RFC 9110, section 10.2.3). A
// date is taken relative to the Date of the same answer, so that the clocks of
// client and server need not agree. Seconds beyond what a Duration holds are as many as
// it does: they ask for more patience than anybody has, not for none.
func retryAfter(header http.Header, details vmi.StatusDetails) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(seconds, 0), math.MaxInt64/int64(time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		now, err := http.ParseTime(header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(at.Sub(now), 0)
	}
	return time.Duration(max(details.RetryAfterSeconds, 0)) * time.Second
}
