package client_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

// sentBy returns the headers of a request.
func sentBy(t *testing.T, ctx context.Context, opts ...client.Option) http.Header {
	var got http.Header
	_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		answer(200, "application/json", object("web", ""))(w, r)
	}, opts...).Get(ctx, "vms", "web")
	require.NoError(t, err)
	for _, name := range []string{"Accept", "User-Agent", "Accept-Encoding"} {
		got.Del(name)
	}
	return got
}

func TestHeaders(t *testing.T) {
	ctx := client.ContextWithHeader(t.Context(), "x-tenant", "b")
	ctx = client.ContextWithHeader(client.ContextWithHeader(ctx, "X-Tenant", "c"), "X-More", "1")
	opts := []client.Option{client.WithHeader("x-tenant", "a"), client.WithHeader("X-Key", "k1", "k2"), client.WithHeader("X-Key", "k3")}
	assert.Equal(t, http.Header{"X-Tenant": {"a"}, "X-Key": {"k1", "k2", "k3"}}, sentBy(t, t.Context(), opts...))
	assert.Equal(t, http.Header{"X-Tenant": {"b", "c"}, "X-Key": {"k1", "k2", "k3"}, "X-More": {"1"}}, sentBy(t, ctx, opts...))

	// The token of somebody else, for one call.
	ctx = client.ContextWithHeader(t.Context(), "Authorization", "Bearer of-a-user")
	assert.Equal(t, http.Header{"Authorization": {"Bearer of-a-user"}}, sentBy(t, ctx, client.WithBearerToken("own")))
}

func TestImpersonation(t *testing.T) {
	jane := client.Impersonation{User: "jane", UID: "7", Groups: []string{"dev", "ops"}, Extra: map[string][]string{"example.com/team a%": {"x", "y"}}}
	want := http.Header{"Impersonate-User": {"jane"}, "Impersonate-Uid": {"7"}, "Impersonate-Group": {"dev", "ops"},
		"Impersonate-Extra-Example.com%2fteam%20a%25": {"x", "y"}}
	assert.Equal(t, want, sentBy(t, t.Context(), client.WithImpersonation(jane)))

	// Nobody is half of one and half of another.
	joe := client.Impersonation{User: "joe"}
	assert.Equal(t, http.Header{"Impersonate-User": {"joe"}}, sentBy(t, client.ContextWithImpersonation(t.Context(), joe), client.WithImpersonation(jane)))
	assert.Equal(t, http.Header{"Impersonate-User": {"joe"}},
		sentBy(t, client.ContextWithImpersonation(client.ContextWithImpersonation(t.Context(), jane), joe)))
	assert.Equal(t, want, sentBy(t, t.Context(), client.WithImpersonation(joe), client.WithImpersonation(jane)))
}

func TestHeadersThatCannotBeSent(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"Accept", "text/html", "header Accept is the client's own"},
		{"content-type", "text/html", "header Content-Type is the client's own"},
		{"", "x", `header name "" cannot be sent`},
		{"a b", "x", `header name "a b" cannot be sent`},
		{"ä", "x", `header name "ä" cannot be sent`},
		{"X-Key", "s3cr3t\r\nHost: other", "header X-Key has a value with control characters"},
	} {
		_, err := client.New("http://localhost", client.WithHeader(tc.name, tc.value))
		assert.EqualError(t, err, "new client: "+tc.want)
		c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
		ctx := client.ContextWithHeader(client.ContextWithHeader(t.Context(), tc.name, tc.value), "X-Fine", "1")
		_, err = c.Get(ctx, "vms", "web")
		assert.EqualError(t, err, "get vmi vms/web: "+tc.want)
		_, err = c.Get(client.ContextWithImpersonation(t.Context(), client.Impersonation{Groups: []string{"dev"}}), "vms", "web")
		assert.EqualError(t, err, "get vmi vms/web: impersonation needs a user")
	}
	_, err := client.New("http://localhost", client.WithImpersonation(client.Impersonation{}))
	assert.EqualError(t, err, "new client: impersonation needs a user")
}

// However the token is given, it does not go where others could read it.
func TestAuthorizationIsNotSentOverPlainHTTP(t *testing.T) {
	const want = "a bearer token is not sent over plain http to api.example.com, where others could read it"
	_, err := client.New("http://api.example.com", client.WithHeader("authorization", "Bearer t"))
	assert.EqualError(t, err, "new client: "+want)
	p := &played{answers: []any{object("web", "")}}
	c, err := client.New("http://api.example.com", client.WithTransport(p))
	require.NoError(t, err)
	_, err = c.Get(client.ContextWithHeader(t.Context(), "Authorization", "Bearer t"), "vms", "web")
	assert.EqualError(t, err, "get vmi vms/web: "+want)
	c, err = client.New("http://api.example.com", client.WithTransport(p), client.WithHook(
		func(ctx context.Context, r *client.Request) (context.Context, func(client.Result)) {
			r.Header.Set("Authorization", "Bearer t")
			return ctx, nil
		}))
	require.NoError(t, err)
	_, err = c.Get(t.Context(), "vms", "web")
	assert.EqualError(t, err, "get vmi vms/web: hook: "+want)
	assert.Zero(t, p.requests)
}

func TestOptionsThatAreNone(t *testing.T) {
	rt := roundTrip(nil)
	for want, opts := range map[string][]client.Option{
		"the transport is nil":                {client.WithTransport(nil)},
		"the retry policy is nil":             {client.WithRetry(nil)},
		"the hook is nil":                     {client.WithHook(nil)},
		"the limiter is nil":                  {client.WithLimiter(nil)},
		"the logger is nil":                   {client.WithLogger(nil)},
		"time-out 0s is not above zero":       {client.WithTimeout(0)},
		"limit of -1 bytes is not above zero": {client.WithMaxObjectBytes(-1)},
		"an HTTP client and a transport are given; set the transport in the client": {client.WithHTTPClient(http.DefaultClient), client.WithTransport(rt)},
	} {
		_, err := client.New("http://localhost", opts...)
		assert.EqualError(t, err, "new client: "+want)
	}
}
