package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vmikit/vmikit/gen/vmiclient"
)

// call is one request on its way, for the errors it may end in.
type call struct {
	op     string // e.g. "get vmi default/web"
	method string
	path   string
}

// record is a request editor that notes what the generated client has built. The
// query stays out: errors are logged, and selectors and tokens are nobody's business.
func (c *call) record(_ context.Context, req *http.Request) error {
	c.method, c.path = req.Method, req.URL.Path
	return nil
}

// do sends a request of the generated client and hands the body of a 200 to read.
// Any other answer is an *Error, and so is one that read cannot make sense of.
func (c *call) do(ctx context.Context, send func(vmiclient.RequestEditorFn) (*http.Response, error), read func(*answer) error) error {
	resp, err := send(c.record)
	if err != nil {
		return c.wrap(ctx, err)
	}
	defer discard(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
	}
	body := &answer{from: resp.Body, contentType: resp.Header.Get("Content-Type")}
	if err := read(body); body.failed != nil {
		return c.wrap(ctx, fmt.Errorf("reading the answer: %w", body.failed))
	} else if err != nil {
		return &Error{Op: c.op, Method: c.method, Path: c.path, Status: resp.StatusCode, Message: err.Error()}
	}
	return nil
}

// wrap says which call failed below HTTP. Of a url.Error only the cause is kept,
// as its text holds the query.
func (c *call) wrap(ctx context.Context, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	// net/http reports the context's cause when there is one; callers look for
	// context.Canceled or context.DeadlineExceeded.
	if end := ctx.Err(); end != nil && !errors.Is(err, end) {
		return fmt.Errorf("%s: %w: %w", c.op, end, err)
	}
	return fmt.Errorf("%s: %w", c.op, err)
}

// maxDiscard is how much of a body is read only to keep its connection for the
// next request; beyond it a new connection is cheaper.
const maxDiscard = 64 << 10

func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDiscard)
	_ = body.Close()
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
