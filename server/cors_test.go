package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

const allowed = "https://dashboard.example.org"

func TestCORS(t *testing.T) {
	f := start(t, server.WithCORS("HTTPS://Dashboard.example.org:443", "http://localhost:3000"), tokens(t)).create("vms/a")
	const token = "Authorization: Bearer admintoken"
	for _, origin := range []string{allowed, "http://localhost:3000"} {
		ask := f.do("OPTIONS", inVMs+"/a", "Origin: "+origin, "Access-Control-Request-Method: PATCH", "Access-Control-Request-Headers: authorization")
		assert.Equal(t, 204, ask.StatusCode, "without credentials")
		assert.Empty(t, ask.body)
		assert.Empty(t, ask.Header.Get("Content-Type"))
		assert.Contains(t, ask.Header.Get("Access-Control-Allow-Methods"), "PATCH")
		assert.Contains(t, ask.Header.Get("Access-Control-Allow-Headers"), "Authorization")
		for _, r := range []reply{
			ask, f.get(inVMs, "Origin: "+origin), f.get(inVMs+"/nosuch", "Origin: "+origin, token), f.get("/openapi/v3/api/v1", "Origin: "+origin, token),
			f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"a":"b"}}}`, "Origin: "+origin, "Sec-Fetch-Site: cross-site", token),
		} {
			assert.Equal(t, origin, r.Header.Get("Access-Control-Allow-Origin"))
			assert.Equal(t, "true", r.Header.Get("Access-Control-Allow-Credentials"))
			assert.Contains(t, r.Header.Get("Access-Control-Expose-Headers"), "Date")
			assert.Contains(t, r.Header.Values("Vary"), "Origin")
		}
	}
	assert.Equal(t, []string{"Origin", "Accept"}, f.get("/openapi/v3/api/v1", token).Header.Values("Vary"))
	for _, origin := range []string{"", "null", "*", "http://dashboard.example.org", allowed + ".evil.example", allowed + ":8443", "https://evil.example", allowed + "/"} {
		for _, r := range []reply{f.get(inVMs, token, "Origin: "+origin), f.do("OPTIONS", inVMs, token, "Origin: "+origin)} {
			for name := range r.Header {
				assert.NotContains(t, name, "Access-Control", origin)
			}
			assert.Equal(t, []string{"Origin"}, r.Header.Values("Vary"), "what is for one origin is not kept for another")
		}
		assert.Equal(t, 401, f.do("OPTIONS", inVMs, "Origin: "+origin).StatusCode)
	}
	assert.Equal(t, 403, f.do("OPTIONS", inVMs, "Origin: "+allowed, "Host: evil.example").StatusCode, "names that are not the server's first")
}

// A page of another origin must not write to a server that asks for no credentials,
// which a browser would do for it without asking when the body has no type.
//
// Differs: a write that a browser sends for a page of another origin
func TestPagesOfOtherOriginsChangeNothing(t *testing.T) {
	f := start(t).create("vms/a")
	for _, headers := range [][]string{
		{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"},
		{"Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"},
		{"Origin: https://evil.example"},
		{"Origin: null"},
	} {
		for _, method := range []string{"POST", "DELETE"} {
			r := f.send(method, inVMs, vm("b"), headers...)
			assert.Equal(t, 403, r.StatusCode, headers)
			assert.Contains(t, r.status(t).Message, "(--cors-origin)")
			assert.Empty(t, r.Header.Values("Vary"))
		}
		assert.Equal(t, 200, f.get(inVMs, headers...).StatusCode, "the browser keeps the answer to itself")
	}
	assert.Equal(t, "vms/a", names(f.get(inVMs).list(t)))
	for i, headers := range [][]string{
		{"Origin: " + f.url, "Sec-Fetch-Site: same-origin"},
		{"Origin: https://dashboard.example.org", "Sec-Fetch-Site: same-origin"}, // behind a proxy
		{"Origin: " + f.url},
		{},
	} {
		assert.Equal(t, 201, f.send("POST", inVMs, vm(string(rune('k'+i))), headers...).StatusCode, headers)
	}
}

// Differs: origins of pages that may use the server
func TestOriginsThatCannotBe(t *testing.T) {
	for _, origin := range []string{"*", "null", "", "example.org", "https://", "https://*.example.org", "https://a.example/", "https://a.example/b", "https://a.example?b",
		"https://a.example:", "https://user@a.example", "https://a.example,https://b.example", "https://a.example:x", "//a.example", "https:a.example"} {
		_, err := server.New(store.NewMemory(), server.WithCORS(origin))
		require.Error(t, err, origin)
		assert.True(t, strings.HasPrefix(err.Error(), "server: origin "), err)
	}
	for _, origin := range []string{"https://a.example", "http://[::1]:3000", "tauri://localhost", "http://192.0.2.1"} {
		_, err := server.New(store.NewMemory(), server.WithCORS(origin))
		require.NoError(t, err)
	}
}
