package server_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
)

const gzipped = "Accept-Encoding: gzip"

// unzip is the body of an answer that must be compressed.
func (r reply) unzip(t *testing.T) string {
	t.Helper()
	require.Equal(t, []string{"gzip"}, r.Header["Content-Encoding"])
	require.Contains(t, r.Header["Vary"], "Accept-Encoding")
	require.Equal(t, []string{"chunked"}, r.TransferEncoding)
	z, err := gzip.NewReader(bytes.NewReader(r.body))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}

// noise is text like that of objects: it shrinks, but not to nothing.
var noise = func() string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for b.Len() < 200_000 {
		fmt.Fprintf(&b, "persistentVolumeClaim-%d/", r.IntN(100_000))
	}
	return b.String()
}()

// createLarge makes a machine whose JSON has so many bytes more.
func (f *fixture) createLarge(name string, n int) {
	f.t.Helper()
	object := strings.Replace(string(machine("vms/"+name)), `"labels":`, `"annotations":{"x":"`+noise[:n]+`"},"labels":`, 1)
	_, err := f.writer.Create(f.t.Context(), []byte(object))
	require.NoError(f.t, err)
}

// Every form above 128 KiB is compressed, and nothing below.
func TestGzip(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC) // tables show ages
	f := start(t, server.WithClock(func() time.Time { return now }))
	f.createLarge("large", 140_000)
	for i := range 3 {
		f.createLarge(fmt.Sprintf("m%d", i), 60_000)
	}
	for _, headers := range [][]string{nil, {yaml}, {curl}, {asTable}, {yamlTable}, {asPartialList}} {
		for _, path := range []string{inVMs, inVMs + "/large", inVMs + "?limit=2"} {
			if path == inVMs+"/large" && len(headers) > 0 && headers[0] == asPartialList {
				continue
			}
			plain := f.get(path, append(headers, "Accept-Encoding: identity")...)
			assert.Empty(t, plain.Header.Get("Content-Encoding"))
			assert.NotContains(t, plain.Header["Vary"], "Accept-Encoding")
			zipped := f.get(path, append(headers, gzipped)...)
			assert.True(t, string(plain.body) == zipped.unzip(t), "%s %s", path, headers)
			assert.Less(t, len(zipped.body), len(plain.body)/2)
			assert.Equal(t, plain.Header.Get("Content-Type"), zipped.Header.Get("Content-Type"))
		}
		for _, path := range []string{inVMs + "/nosuch", "/apis"} {
			assert.Empty(t, f.get(path, append(headers, gzipped)...).Header.Get("Content-Encoding"), path)
		}
	}
	assert.Empty(t, f.get(inVMs+"?includeObject=None", asTable, gzipped).Header.Get("Content-Encoding"), "a small table of large objects")
	assert.Empty(t, f.get("/openapi/v3/apis/kubevirt.io/v1", gzipped).Header.Get("Content-Encoding"), "it goes out byte for byte")
	assert.True(t, bytes.Contains(f.get(inVMs).body, []byte(noise[:140_000])), "net/http asks for gzip by itself")
}

func TestGzipThreshold(t *testing.T) {
	f := start(t)
	f.createLarge("aa", 100_000)
	without := len(f.get(inVMs+"/aa").body) - 100_000
	for size, want := range map[int]string{128 << 10: "", 128<<10 + 1: "gzip"} {
		name := fmt.Sprint("b", size%2)
		f.createLarge(name, size-without)
		require.Len(t, f.get(inVMs+"/"+name, "Accept-Encoding: identity").body, size)
		assert.Equal(t, want, f.get(inVMs+"/"+name, gzipped).Header.Get("Content-Encoding"), "%d bytes", size)
	}
	// The same where the size is not known in advance.
	f.createLarge("c", 1000)
	with := len(f.get(inVMs+"?pretty=1&fieldSelector=metadata.name%3Dc", "Accept-Encoding: identity").body) - 1000
	for size, want := range map[int]string{128 << 10: "", 128<<10 + 1: "gzip"} {
		name := string(rune('d' + size%2))
		f.createLarge(name, size-with)
		path := inVMs + "?pretty=1&fieldSelector=metadata.name%3D" + name
		require.Len(t, f.get(path, "Accept-Encoding: identity").body, size)
		assert.Equal(t, want, f.get(path, gzipped).Header.Get("Content-Encoding"), "%d bytes", size)
	}
}

func TestAcceptEncoding(t *testing.T) {
	f := start(t)
	f.createLarge("a", 140_000)
	for header, want := range map[string]string{
		"gzip": "gzip", "deflate, gzip": "gzip", "gzip,deflate,br": "gzip", " gzip ": "gzip",
		"gzip;q=0": "", "gzip; q=0.0": "", "identity": "", "deflate": "", "*": "", "*;q=0": "", "x-gzip": "", "GZIP": "", "gzip;q=0.5, identity;q=1": "",
	} {
		assert.Equal(t, want, f.get(inVMs, "Accept-Encoding: "+header).Header.Get("Content-Encoding"), header)
	}
}

func TestHeadOfGzip(t *testing.T) {
	f := start(t)
	f.createLarge("a", 140_000)
	for _, path := range []string{inVMs, inVMs + "/a", inVMs + "?pretty=1"} {
		for _, accept := range []string{"X: y", yaml} {
			for _, encoding := range []string{gzipped, "Accept-Encoding: identity"} {
				get, head := f.get(path, accept, encoding), f.do(http.MethodHead, path, accept, encoding)
				assert.Empty(t, head.body)
				for _, h := range []string{"Content-Encoding", "Content-Type", "Vary", "Content-Length"} {
					assert.Equal(t, get.Header[h], head.Header[h], "%s %s %s %s", path, accept, encoding, h)
				}
			}
		}
	}
}

func TestWatchIsNotCompressed(t *testing.T) {
	f := start(t)
	f.createLarge("a", 200_000)
	r := f.get(inVMs+"?watch=1&timeoutSeconds=1", gzipped)
	assert.Empty(t, r.Header.Get("Content-Encoding"))
	assert.True(t, bytes.HasPrefix(r.body, []byte(`{"type":"ADDED","object":`)))
}

// Writers are used again, and a client that hangs up leaves nothing in them.
func TestGzipAtOnce(t *testing.T) {
	f := start(t)
	for i := range 4 {
		f.createLarge(fmt.Sprintf("m%d", i), 140_000)
	}
	want := string(f.get(inVMs).body)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 4 {
				if i%2 == 0 {
					req, err := http.NewRequest(http.MethodGet, f.url+inVMs, nil)
					if assert.NoError(t, err) {
						req.Header.Set("Accept", "application/yaml")
						if res, err := http.DefaultTransport.RoundTrip(req); assert.NoError(t, err) {
							res.Body.Close()
						}
					}
					continue
				}
				assert.True(t, want == f.get(inVMs, gzipped).unzip(t))
			}
		})
	}
	wg.Wait()
}
