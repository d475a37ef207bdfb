package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/server/store"
)

func TestHealth(t *testing.T) {
	f := start(t)
	for _, of := range []string{"healthz", "livez", "readyz"} {
		for query, want := range map[string]string{
			"":                                       "ok",
			"?exclude=ping":                          "ok",
			"?exclude=nosuch":                        "ok",
			"?verbose":                               "[+]ping ok\n[+]store ok\n" + of + " check passed\n",
			"?verbose=false":                         "[+]ping ok\n[+]store ok\n" + of + " check passed\n",
			"?verbose&exclude=ping":                  "[+]ping excluded: ok\n[+]store ok\n" + of + " check passed\n",
			"?verbose&exclude=b&exclude=a&exclude=b": "[+]ping ok\n[+]store ok\nwarn: some health checks cannot be excluded: no matches for \"a\",\"b\"\n" + of + " check passed\n",
			"/ping":                                  "ok",
			"/store?verbose":                         "ok",
		} {
			r := f.get("/" + of + query)
			assert.Equal(t, 200, r.StatusCode)
			assert.Equal(t, want, string(r.body), of+query)
			assert.Equal(t, "text/plain; charset=utf-8", r.Header.Get("Content-Type"))
		}
		assert.Equal(t, 404, f.get("/"+of+"/etcd").StatusCode)
		assert.Equal(t, 404, f.get("/"+of+"/ping/ping").StatusCode)
	}
}

func TestHealthOfStoreThatIsDown(t *testing.T) {
	f := startStore(t, down{store.NewMemory(), errors.New("disk on fire")})
	r := f.get("/readyz")
	assert.Equal(t, 500, r.StatusCode)
	assert.Equal(t, "[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n", string(r.body))
	assert.Equal(t, "ok", string(f.get("/readyz?exclude=store").body))
	assert.Equal(t, "ok", string(f.get("/readyz/ping").body))
	one := f.get("/readyz/store")
	assert.Equal(t, 500, one.StatusCode)
	assert.True(t, strings.HasPrefix(string(one.body), "internal server error: store failed"), string(one.body))
}
