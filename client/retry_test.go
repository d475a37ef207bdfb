package client_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

func TestDefaultRetry(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	wrapped := func(err error) error { return fmt.Errorf("get vmi a/b: %w", err) }
	status := func(status int, after time.Duration) error { return &client.Error{Status: status, RetryAfter: after} }
	for name, tc := range map[string]struct {
		err         error
		read, write bool
	}{
		"429":                     {status(429, 0), true, true},
		"429 for a minute":        {status(429, time.Minute), true, true},
		"429 for longer":          {status(429, time.Minute+1), false, false},
		"502":                     {status(502, 0), true, false},
		"503":                     {status(503, 0), true, false},
		"503 with Retry-After":    {status(503, time.Second), true, false},
		"504":                     {status(504, 0), true, false},
		"500":                     {status(500, time.Second), false, false},
		"409":                     {status(409, 0), false, false},
		"200":                     {status(200, 0), false, false},
		"refused":                 {dial(syscall.ECONNREFUSED), true, true},
		"proxy refused":           {&net.OpError{Op: "proxyconnect", Err: dial(syscall.ECONNREFUSED)}, true, true},
		"no route":                {dial(syscall.EHOSTUNREACH), true, true},
		"slow connect":            {dial(&timeout{}), true, true},
		"no such host":            {dial(&net.DNSError{IsNotFound: true}), false, false},
		"resolver down":           {dial(&net.DNSError{IsTemporary: true}), true, true},
		"reset":                   {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true, false},
		"broken pipe":             {&net.OpError{Op: "write", Err: syscall.EPIPE}, true, false},
		"closed":                  {io.EOF, true, false},
		"breaks off":              {io.ErrUnexpectedEOF, true, false},
		"http2 goaway":            {errors.New("http2: server sent GOAWAY and closed the connection"), true, false},
		"http2 reset":             {errors.New("stream error: stream ID 1; INTERNAL_ERROR"), true, false},
		"slow handshake":          {&timeout{}, true, false},
		"unknown authority":       {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, false, false},
		"our certificate refused": {&net.OpError{Op: "remote error", Err: tls.AlertError(42)}, false, false},
		"scheme":                  {http.ErrSchemeMismatch, false, false},
		"client time-out":         {context.DeadlineExceeded, false, false},
		"something of a plugin":   {errors.New("exec plugin failed"), false, false},
	} {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE", "PUT"} {
			_, again := client.DefaultRetry(client.Attempt{Number: 1, Method: method, Err: wrapped(tc.err)})
			want := tc.write
			if method == "GET" {
				want = tc.read
			}
			assert.Equal(t, want, again, "%s %s", method, name)
		}
	}
}

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestDefaultRetryWaits(t *testing.T) {
	var waits []client.Wait
	for number := 1; ; number++ {
		wait, again := client.DefaultRetry(client.Attempt{Number: number, Method: "GET", Err: &client.Error{Status: 503, RetryAfter: 2 * time.Second}})
		if !again {
			break
		}
		waits = append(waits, wait)
	}
	assert.Equal(t, []client.Wait{
		{Least: 2 * time.Second, Spread: 100 * time.Millisecond}, {Least: 2 * time.Second, Spread: 200 * time.Millisecond},
		{Least: 2 * time.Second, Spread: 400 * time.Millisecond}, {Least: 2 * time.Second, Spread: 800 * time.Millisecond},
	}, waits)
}

// played answers from a list, one after the other, without a network.
type played struct {
	answers  []any // status, error, or body of a 200
	requests int
	after    string
	at       []time.Time
}

func (p *played) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	next := p.answers[min(p.requests, len(p.answers)-1)]
	p.requests++
	p.at = append(p.at, time.Now())
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "application/json")
	switch next := next.(type) {
	case error:
		return nil, next
	case int:
		if p.after != "" {
			rec.Header().Set("Retry-After", p.after)
		}
		rec.WriteHeader(next)
	case string:
		_, _ = rec.WriteString(next)
	case func() *http.Response:
		return next(), nil
	}
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}

func (p *played) client(t testing.TB, opts ...client.Option) *client.Client {
	return connect(t, "http://server.example", append(opts, client.WithTransport(p))...)
}

func TestReadsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := func() *http.Response {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(
				io.MultiReader(strings.NewReader(`{"kind":"VirtualMachineInst`), failing{&net.OpError{Op: "read", Err: syscall.ECONNRESET}}))}
		}
		p := &played{answers: []any{502, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, broken, 429, object("web", "")}}
		vm, err := p.client(t).Get(t.Context(), "vms", "web")
		require.NoError(t, err)
		assert.Equal(t, "web", vm.Name())
		assert.Equal(t, 5, p.requests)

		p = &played{answers: []any{503, page("", object("a", ""))}}
		list, err := p.client(t).List(t.Context(), "vms", client.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, 1)

		p = &played{answers: []any{504}}
		_, err = p.client(t).Get(t.Context(), "vms", "web")
		assert.EqualError(t, err, "get vmi vms/web: gateway timeout (504)")
		assert.Equal(t, 5, p.requests)

		p = &played{answers: []any{503}}
		_, err = p.client(t, once).Get(t.Context(), "vms", "web")
		assert.ErrorIs(t, err, client.ErrUnavailable)
		assert.Equal(t, 1, p.requests)
	})
}

// Wherever an answer breaks off, a read is made again.
func TestReadsAreTriedAgainWhereverTheAnswerBreaksOff(t *testing.T) {
	web := object("web", "")
	for _, text := range []string{
		fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(web), web),
		fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n%x\r\n%s\r\n0\r\nX: y\r\n\r\n", len(web), web),
	} {
		for end := range len(text) {
			tries := 0
			cut := func(a client.Attempt) (client.Wait, bool) {
				tries++
				_, again := client.DefaultRetry(a)
				return client.Wait{}, again
			}
			c := connect(t, "http://vms.example", client.WithRetry(cut), client.WithTransport(&http.Transport{
				DialContext: func(context.Context, string, string) (net.Conn, error) {
					return answering(text[:min(len(text), end+tries*len(text))]), nil
				},
			}))
			vm, err := c.Get(t.Context(), "vms", "web")
			if assert.NoError(t, err, text[:end]) {
				assert.Equal(t, web, string(vm.Raw))
				assert.Equal(t, 1, tries, text[:end])
			}
		}
	}
}

// answering is a connection whose other end answers a request with a text and hangs up.
func answering(text string) net.Conn {
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
			_, _ = io.WriteString(there, text)
		}
	}()
	return here
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &played{answers: []any{429, 503, object("web", "")}, after: "7"}
		start := time.Now()
		_, err := p.client(t).Get(t.Context(), "vms", "web")
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(start), 14*time.Second)
		assert.Less(t, time.Since(start), 14*time.Second+300*time.Millisecond)

		// A wait beyond the deadline is not begun.
		p = &played{answers: []any{429}, after: "7"}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start = time.Now()
		_, err = p.client(t).Get(ctx, "vms", "web")
		assert.ErrorIs(t, err, client.ErrTooManyRequests)
		assert.Zero(t, time.Since(start))
	})
}

func TestEndOfTheContextWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &played{answers: []any{429}, after: "7"}
		ctx, cancel := context.WithCancelCause(t.Context())
		tired := errors.New("tired")
		time.AfterFunc(time.Second, func() { cancel(tired) })
		_, err := p.client(t).Get(ctx, "vms", "web")
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, tired)
		assert.ErrorIs(t, err, client.ErrTooManyRequests)
		assert.EqualError(t, err, "get vmi vms/web: context canceled: tired, after too many requests (429)")
		assert.Equal(t, 1, p.requests)
	})
}

func TestWritesAreTriedAgainOnlyWhenNothingCanHaveHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		for name, write := range map[string]func(*client.Client) error{
			"create": func(c *client.Client) error {
				_, err := c.Create(t.Context(), "vms", object("web", ""), client.WriteOptions{})
				return err
			},
			"patch": func(c *client.Client) error {
				_, err := c.Patch(t.Context(), "vms", "web", client.MergePatch("{}"), client.WriteOptions{})
				return err
			},
			"delete": func(c *client.Client) error { return c.Delete(t.Context(), "vms", "web", client.DeleteOptions{}) },
		} {
			p := &played{answers: []any{429, refused, object("web", "")}}
			assert.NoError(t, write(p.client(t)), name)
			assert.Equal(t, 3, p.requests)
			for _, unsafe := range []any{502, 503, 504, io.EOF, &net.OpError{Op: "read", Err: syscall.ECONNRESET}} {
				p := &played{answers: []any{unsafe}, after: "1"}
				assert.Error(t, write(p.client(t)), "%s %v", name, unsafe)
				assert.Equal(t, 1, p.requests, "%s %v", name, unsafe)
			}
			// A program that knows better.
			p = &played{answers: []any{503, object("web", "")}}
			assert.NoError(t, write(p.client(t, client.WithRetry(func(a client.Attempt) (client.Wait, bool) {
				a.Method = "GET"
				return client.DefaultRetry(a)
			}))))
		}
	})
}

// The items of a page that is too large to be held back have been seen.
func TestAPageThatWasBegunIsNotAskedForAgain(t *testing.T) {
	large := object("web", `,"pad":"`+strings.Repeat("x", 1<<20)+`"`)
	text := page("", large, large, large, large, large, large)
	var requests atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = io.WriteString(w, text[:len(text)-100])
	})
	seen := 0
	var last error
	for vm, err := range c.All(t.Context(), "vms", client.ListOptions{}) {
		if last = err; vm != nil {
			seen++
		}
	}
	assert.ErrorIs(t, last, io.ErrUnexpectedEOF)
	assert.Equal(t, 5, seen)
	assert.EqualValues(t, 1, requests.Load())
}

func TestAConnectionThatIsRefusedIsTriedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	attempts := 0
	_, err = connect(t, url, client.WithRetry(func(a client.Attempt) (client.Wait, bool) {
		attempts = a.Number
		wait, again := client.DefaultRetry(a)
		wait.Spread /= 100
		return wait, again
	})).Create(t.Context(), "vms", object("web", ""), client.WriteOptions{})
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.Equal(t, 5, attempts)
}
