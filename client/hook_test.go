package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

// seen notes what a hook sees, one line an attempt.
func seen(lines *[]string) client.Option {
	return client.WithHook(func(ctx context.Context, r *client.Request) (context.Context, func(client.Result)) {
		return ctx, func(res client.Result) {
			line := fmt.Sprintf("%s %s %s %s/%s %d sent %d: %d, %d bytes", r.Verb, r.Method, r.Route, r.Namespace, r.Name, r.Attempt, r.Bytes, res.Status, res.Bytes)
			if res.Err != nil {
				line += ", " + res.Err.Error()
			}
			*lines = append(*lines, line)
		}
	})
}

const route = "/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances"

func TestHooksSeeEveryAttempt(t *testing.T) {
	var lines []string
	web := object("web", "")
	answers := []string{"", web}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/clusters/a b/apis/") {
			t.Error(r.URL.Path)
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "virtualmachineinstances") && r.Method == "GET":
			answer(200, "application/json", page(""))(w, r)
		case len(answers) > 1:
			answers = answers[1:]
			answer(503, "text/plain", "later")(w, r)
		default:
			answer(200, "application/json", web)(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	c := connect(t, srv.URL+"/clusters/a%20b/", seen(&lines))
	ctx := t.Context()
	_, err := c.Get(ctx, "vms", "web")
	require.NoError(t, err)
	_, err = c.List(ctx, "", client.ListOptions{LabelSelector: "owner=s3cr3t"})
	require.NoError(t, err)
	_, err = c.List(ctx, "vms", client.ListOptions{})
	require.NoError(t, err)
	_, err = c.Create(ctx, "vms", web, client.WriteOptions{})
	require.NoError(t, err)
	_, err = c.Patch(ctx, "vms", "web", client.MergePatch("{}"), client.WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Delete(ctx, "vms", "web", client.DeleteOptions{}))
	size := len(web)
	assert.Equal(t, []string{
		"get GET " + route + "/{name} vms/web 1 sent 0: 503, 5 bytes",
		fmt.Sprintf("get GET %s/{name} vms/web 2 sent 0: 200, %d bytes", route, size),
		fmt.Sprintf("list GET /apis/kubevirt.io/v1/virtualmachineinstances / 1 sent 0: 200, %d bytes", len(page(""))),
		fmt.Sprintf("list GET %s vms/ 1 sent 0: 200, %d bytes", route, len(page(""))),
		fmt.Sprintf("create POST %s vms/ 1 sent %d: 200, %d bytes", route, size, size),
		fmt.Sprintf("patch PATCH %s/{name} vms/web 1 sent 2: 200, %d bytes", route, size),
		fmt.Sprintf("delete DELETE %s/{name} vms/web 1 sent 42: 200, %d bytes", route, size),
	}, lines)
}

func TestHooksSeeFailures(t *testing.T) {
	var lines []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
	}, seen(&lines), once)
	_, err := c.Get(t.Context(), "vms", "web")
	assert.Error(t, err)
	_, err = connect(t, "http://127.0.0.1:1", seen(&lines), once).List(t.Context(), "vms", client.ListOptions{LabelSelector: "owner=s3cr3t"})
	assert.Error(t, err)
	assert.Equal(t, []string{
		"get GET " + route + "/{name} vms/web 1 sent 0: 200, 1 bytes, unexpected EOF",
		"list GET " + route + " vms/ 1 sent 0: 0, 0 bytes, dial tcp 127.0.0.1:1: connect: connection refused",
	}, lines)
}

type spanKey struct{}

func TestHooksPassContextAndHeadersOn(t *testing.T) {
	var order []string
	hook := func(name string) client.Option {
		return client.WithHook(func(ctx context.Context, r *client.Request) (context.Context, func(client.Result)) {
			assert.Empty(t, r.Header)
			r.Header.Set("traceparent", name)
			r.Verb, r.Route = "misled", "misled"
			parent, _ := ctx.Value(spanKey{}).(string)
			order = append(order, "begin "+name)
			return context.WithValue(ctx, spanKey{}, parent+"/"+name), func(client.Result) { order = append(order, "end "+name) }
		})
	}
	var span any
	var headers []string
	none := client.WithHook(func(context.Context, *client.Request) (context.Context, func(client.Result)) { return nil, nil })
	var lines []string
	c := connect(t, "http://server.example", hook("a"), none, hook("b"), seen(&lines), client.WithTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
		span, headers = r.Context().Value(spanKey{}), r.Header["Traceparent"]
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Type", "application/json")
		rec.Header().Add("Warning", `299 - "unknown field \"spec.bogus\""`)
		rec.Header().Add("Warning", `110 - "stale"`)
		_, _ = rec.WriteString(object("web", ""))
		return rec.Result(), nil
	})))
	_, err := c.Get(t.Context(), "vms", "web")
	require.NoError(t, err)
	assert.Equal(t, "/a/b", span)
	assert.Equal(t, []string{"a", "b"}, headers)
	assert.Equal(t, []string{"begin a", "begin b", "end b", "end a"}, order)
	assert.Contains(t, lines[0], "get GET "+route)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAHookThatSetsABadHeaderFailsTheCall(t *testing.T) {
	ended := false
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") }, client.WithHook(
		func(ctx context.Context, r *client.Request) (context.Context, func(client.Result)) {
			r.Header.Set("Accept", "text/html")
			return ctx, func(res client.Result) { ended = res.Err != nil }
		}))
	_, err := c.Get(t.Context(), "vms", "web")
	assert.EqualError(t, err, "get vmi vms/web: hook: header Accept is the client's own")
	assert.True(t, ended)
}

func TestLimiter(t *testing.T) {
	calls := 0
	p := &played{answers: []any{503, object("web", "")}}
	c := p.client(t, client.WithLimiter(func(ctx context.Context) error {
		calls++
		return ctx.Err()
	}))
	_, err := c.Get(t.Context(), "vms", "web")
	require.NoError(t, err)
	assert.Equal(t, 2, calls)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Get(ctx, "vms", "web")
	assert.ErrorIs(t, err, context.Canceled)
	no := errors.New("no more today")
	_, err = p.client(t, client.WithLimiter(func(context.Context) error { return no })).Get(t.Context(), "vms", "web")
	assert.ErrorIs(t, err, no)
	assert.EqualError(t, err, "get vmi vms/web: waiting for the limiter: no more today")
	assert.Equal(t, 2, p.requests)
}

// A limiter may hold a call for longer than an answer may take.
func TestTheTimeOfACallDoesNotCountTheLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := client.WithLimiter(func(ctx context.Context) error {
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		p := &played{answers: []any{object("web", "")}}
		_, err := p.client(t, limiter, client.WithTimeout(time.Second)).Get(t.Context(), "vms", "web")
		assert.NoError(t, err)

		p = &played{answers: []any{403}}
		for _, err := range p.client(t, limiter).Watch(t.Context(), "vms", client.WatchOptions{ResourceVersion: "7"}) {
			assert.ErrorIs(t, err, client.ErrForbidden)
		}
	})
}

// What a limiter or a hook refuses is for the program to mend, not for a server.
func TestAWatchEndsWithAnErrorOfALimiterOrAHook(t *testing.T) {
	no := errors.New("no more today")
	calls := 0
	limiter := client.WithLimiter(func(context.Context) error {
		if calls++; calls > 2 {
			return fmt.Errorf("%w: %w", no, io.ErrUnexpectedEOF)
		}
		return nil
	})
	hook := client.WithHook(func(ctx context.Context, r *client.Request) (context.Context, func(client.Result)) {
		if calls++; calls > 2 {
			r.Header.Set("X-Key", "a\nb")
		}
		return ctx, nil
	})
	for want, opt := range map[string]client.Option{
		"watch vmis in vms: waiting for the limiter: no more today: unexpected EOF": limiter,
		"watch vmis in vms: hook: header X-Key has a value with control characters": hook,
	} {
		calls = 0
		f := follow(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !r.URL.Query().Has("watch") {
				_, _ = io.WriteString(w, page(""))
			}
		}, opt).Watch(t.Context(), "vms", client.WatchOptions{}))
		f.expect("Synced")
		assert.EqualError(t, f.end(), want)
		assert.Equal(t, 3, calls)
	}
}

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tries := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 {
			answer(503, "text/plain", "later")(w, r)
			return
		}
		w.Header().Set("Warning", `299 - "old version"`)
		answer(200, "application/json", page(""))(w, r)
	}, client.WithLogger(logger), client.WithBearerToken("s3cr3t-token"), client.WithHeader("X-Key", "s3cr3t-key"))
	_, err := c.List(t.Context(), "vms", client.ListOptions{LabelSelector: "owner=s3cr3t"})
	require.NoError(t, err)
	assert.Contains(t, out.String(), `level=DEBUG msg=request verb=list route=`+route+` namespace=vms name="" attempt=1 status=503 bytes=5 duration=`)
	assert.Contains(t, out.String(), `level=WARN msg="trying again" attempt=1 wait=`)
	assert.Contains(t, out.String(), `error="list vmis in vms: later (503)"`)
	assert.Contains(t, out.String(), `level=WARN msg="warning of the server" verb=list`)
	assert.Contains(t, out.String(), `warning="old version"`)
	assert.NotContains(t, out.String(), "s3cr3t")
}

func TestDurationIsThatOfTheWholeAnswer(t *testing.T) {
	var took time.Duration
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		time.Sleep(20 * time.Millisecond)
		_, _ = io.WriteString(w, object("web", ""))
	}, client.WithHook(func(ctx context.Context, _ *client.Request) (context.Context, func(client.Result)) {
		return ctx, func(res client.Result) { took = res.Duration }
	}))
	_, err := c.Get(t.Context(), "vms", "web")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, took, 20*time.Millisecond)
}
