package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

// Port, scheme and subdomain are cases in which net/http by itself repeats the
// Authorization header.
func TestRedirectsToAnotherOriginAreNotFollowed(t *testing.T) {
	for _, target := range []string{
		"http://login.example.com", "https://127.0.0.1:PORT", "http://127.0.0.1:1", "http://localhost:PORT",
		"http://a.127.0.0.1:PORT", "//other:PORT",
	} {
		var asked []string
		var location string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Host)
			http.Redirect(w, r, location+"/login?state=s3cr3t", http.StatusFound)
		}))
		defer srv.Close()
		host := strings.TrimPrefix(srv.URL, "http://")
		_, port, _ := strings.Cut(host, ":")
		location = strings.ReplaceAll(target, "PORT", port)
		hc := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
		for _, opts := range [][]client.Option{
			{client.WithBearerToken("t0k3n")}, {client.WithHTTPClient(hc)},
		} {
			asked = nil
			_, err := connect(t, srv.URL, opts...).Get(t.Context(), "vms", "vm1")
			var refused *client.Error
			require.ErrorAs(t, err, &refused, target)
			assert.Equal(t, http.StatusFound, refused.Status)
			assert.EqualError(t, err, "get vmi vms/vm1: redirect to "+location+" not followed (302)")
			assert.Equal(t, []string{host}, asked)
		}
	}
}

func TestRedirectsWithinTheServerAreFollowed(t *testing.T) {
	var tokens []string
	handler := func(w http.ResponseWriter, r *http.Request) {
		tokens = append(tokens, r.Header.Get("Authorization"))
		if strings.HasPrefix(r.URL.Path, "/moved/") {
			_, _ = w.Write(recorded(t, "get.json"))
			return
		}
		http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusTemporaryRedirect)
	}
	vm, err := serve(t, handler, client.WithBearerToken("t0k3n")).Get(t.Context(), "vms", "vm1")
	require.NoError(t, err)
	assert.Equal(t, "vm1", vm.Name())
	assert.Equal(t, []string{"Bearer t0k3n", "Bearer t0k3n"}, tokens)

	hc := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, err = serve(t, handler, client.WithHTTPClient(hc)).Get(t.Context(), "vms", "vm1")
	assert.EqualError(t, err, "get vmi vms/vm1: temporary redirect (307)")
}

func TestRedirectLoopEnds(t *testing.T) {
	requests := 0
	_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	}).Get(t.Context(), "vms", "vm1")
	assert.EqualError(t, err, "get vmi vms/vm1: stopped after 10 redirects")
	assert.Equal(t, 10, requests)
}

// net/http goes on with a GET after 301, 302 and 303, whose answer, the machine, would
// pass for that of a deletion.
func TestRedirectsThatMakeAReadOfAWriteAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var methods []string
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			methods = append(methods, r.Method)
			if !strings.HasPrefix(r.URL.Path, "/moved/") {
				http.Redirect(w, r, "/moved"+r.URL.Path, status)
				return
			}
			_, _ = w.Write(recorded(t, "get.json"))
		})
		err := c.Delete(t.Context(), "vms", "vm1", client.DeleteOptions{})
		if status >= 307 {
			assert.NoError(t, err)
			assert.Equal(t, []string{"DELETE", "DELETE"}, methods)
			continue
		}
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, status, refused.Status)
		assert.Equal(t, []string{"DELETE"}, methods)
	}
}

// net/http repeats what it cannot parse, and login pages carry state in it.
func TestRedirectsToWhatIsNoURLAreNotRepeated(t *testing.T) {
	for _, location := range []string{"http://[::1/?state=s3cr3t", "%zz?s3cr3t", "http://a b/?s3cr3t", "http://u:s3cr3t@h:0x/"} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Location"] = []string{location}
			w.WriteHeader(http.StatusFound)
		})
		for op, err := range every(t.Context(), c) {
			assert.EqualError(t, err, op+"redirect to a place that is no URL")
			assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), "s3cr3t")
		}
	}
}
