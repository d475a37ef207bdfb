package client_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

// every is each kind of call, by what its errors begin with.
func every(ctx context.Context, c *client.Client) map[string]error {
	errs := single(ctx, c)
	_, errs["list vmis in vms: "] = c.List(ctx, "vms", client.ListOptions{})
	return errs
}

// single is each kind of call for one machine.
func single(ctx context.Context, c *client.Client) map[string]error {
	errs := map[string]error{}
	_, errs["get vmi vms/web: "] = c.Get(ctx, "vms", "web")
	_, errs["create vmi vms/web: "] = c.Create(ctx, "vms", object("web", ""), client.WriteOptions{})
	_, errs["patch vmi vms/web: "] = c.Patch(ctx, "vms", "web", client.MergePatch("{}"), client.WriteOptions{})
	errs["delete vmi vms/web: "] = c.Delete(ctx, "vms", "web", client.DeleteOptions{})
	return errs
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// endless writes a JSON string that does not end.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var out io.Writer = w
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		defer zip.Close()
		out = zip
	}
	_, err := io.WriteString(out, `{"kind":"VirtualMachineInstance","x":"`)
	for chunk := strings.Repeat("x", 1<<20); err == nil && r.Context().Err() == nil; {
		_, err = io.WriteString(out, chunk)
	}
}

func TestAnswersWithoutEnd(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(endless))
	defer srv.Close()
	before := runtime.NumGoroutine()
	transport := &http.Transport{}
	c := connect(t, srv.URL, client.WithTransport(transport), client.WithMaxObjectBytes(1<<20))
	for op, err := range single(t.Context(), c) {
		assert.EqualError(t, err, op+"reading the answer: the answer is too large: it has more than 1048576 bytes")
	}
	transport.CloseIdleConnections()
	settled(t, before)
}

func TestAnAnswerOfExactlyTheLimit(t *testing.T) {
	web := object("web", "")
	serving := answer(200, "application/json", web)
	_, err := serve(t, serving, client.WithMaxObjectBytes(int64(len(web)))).Get(t.Context(), "vms", "web")
	assert.NoError(t, err)
	_, err = serve(t, serving, client.WithMaxObjectBytes(int64(len(web)-1))).Get(t.Context(), "vms", "web")
	assert.EqualError(t, err, "get vmi vms/web: reading the answer: the answer is too large: it has more than 106 bytes")
}

// What is allowed for one machine is allowed for an item of a list, too.
func TestAnObjectBeyondEveryDefault(t *testing.T) {
	web := object("web", `,"x":"`+strings.Repeat("x", 65<<20)+`"`)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == machines {
			_, _ = io.WriteString(w, page("", web))
			return
		}
		_, _ = io.WriteString(w, web)
	}
	c := serve(t, handler, client.WithMaxObjectBytes(70<<20))
	vm, err := c.Get(t.Context(), "vms", "web")
	require.NoError(t, err)
	assert.Len(t, vm.Raw, len(web))
	_, err = c.List(t.Context(), "vms", client.ListOptions{})
	require.NoError(t, err)
	_, err = serve(t, handler).List(t.Context(), "vms", client.ListOptions{})
	assert.EqualError(t, err, "list vmis in vms: answer has a value of more than 64 MiB (200)")
}

func TestErrorsWithoutEnd(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusInternalServerError)
		var err error
		for chunk := strings.Repeat("x", 1<<20); err == nil && r.Context().Err() == nil; {
			_, err = io.WriteString(w, chunk)
		}
	})
	for op, err := range every(t.Context(), c) {
		assert.EqualError(t, err, op+strings.Repeat("x", 200)+"... (500)")
	}
}

func TestPagesOfProxiesAndHalfAnswers(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"answer is not JSON but text/html (200)": answer(200, "text/html", "<html>s3cr3t"),
		"bad gateway (502)":                      answer(502, "text/html", "<html>s3cr3t"),
		"forbidden (403)":                        answer(403, "text/html; charset=utf-8", "<html>s3cr3t"),
		"answer is empty (200)":                  answer(200, "application/json", ""),
		"redirect to http://other.example not followed (307)": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example/login?state=s3cr3t", http.StatusTemporaryRedirect)
		},
		"reading the answer: unexpected EOF": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"kind":"VirtualMachineInst`)
		},
		"answer breaks off in the middle of its JSON (200)": answer(200, "application/json", `{"kind":"VirtualMachineInst`),
	} {
		for op, err := range every(t.Context(), serve(t, handler, once)) {
			assert.EqualError(t, err, op+want)
		}
	}
}

// drip sends a byte at a time and never ends, from the first byte or after the headers.
func drip(t *testing.T, head string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					_, err = io.WriteString(conn, head)
				}
				for err == nil {
					time.Sleep(5 * time.Millisecond)
					_, err = io.WriteString(conn, "x")
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestServersThatDrip(t *testing.T) {
	const start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for where, head := range map[string]string{
		"headers": start + "X-Slow: ",
		"body":    start + "\r\n" + `{"kind":"VirtualMachineInstance","x":"`,
		"error":   "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\n\r\n" + `{"kind":"Status","message":"`,
	} {
		url := drip(t, head)
		before := runtime.NumGoroutine()
		transport := &http.Transport{}

		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := connect(t, url, client.WithTransport(transport)).Get(ctx, "vms", "web")
		_, listErr := connect(t, url, client.WithTransport(transport)).List(ctx, "vms", client.ListOptions{})
		cancel()
		assert.ErrorIs(t, listErr, context.DeadlineExceeded, where)
		assert.ErrorContains(t, err, "get vmi vms/web: ", where)
		if where != "error" { // there the status has come
			assert.ErrorIs(t, err, context.DeadlineExceeded, where)
		}

		limited := connect(t, url, client.WithTransport(transport), client.WithTimeout(50*time.Millisecond))
		for op, err := range single(t.Context(), limited) {
			if where == "error" {
				assert.EqualError(t, err, op+"internal server error (500)")
				continue
			}
			assert.ErrorIs(t, err, context.DeadlineExceeded, where)
			assert.ErrorContains(t, err, op, where)
			assert.ErrorContains(t, err, "no whole answer within 50ms", where)
		}
		transport.CloseIdleConnections()
		settled(t, before)
	}
}

// A list may take as long as it takes once it has begun.
func TestTheTimeoutOfAListIsForItsFirstByte(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
		_, _ = io.WriteString(w, page(""))
	}, client.WithTimeout(50*time.Millisecond))
	_, err := c.List(t.Context(), "vms", client.ListOptions{})
	assert.NoError(t, err)
}

// stalled is a server that sends the beginning of an answer and then nothing more.
func stalled(status int, contentType, begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, begin)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// What is known to be wrong is told without waiting for the rest of it.
func TestTheRestOfAnAnswerThatIsNotWantedIsNotWaitedFor(t *testing.T) {
	var ended []client.Result
	hook := client.WithHook(func(ctx context.Context, _ *client.Request) (context.Context, func(client.Result)) {
		return ctx, func(r client.Result) { ended = append(ended, r) }
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for op, err := range every(ctx, serve(t, stalled(200, "text/html", "<html>"), once, hook)) {
		assert.EqualError(t, err, op+"answer is not JSON but text/html (200)")
	}
	require.Len(t, ended, 5)
	for _, result := range ended {
		assert.NoError(t, result.Err)
	}
}

// spoken is a server that sends the same bytes on each connection, whatever they mean.
func spoken(t *testing.T, text string, asked *atomic.Int32) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				asked.Add(1)
				_, _ = io.WriteString(conn, text)
			}
			_ = conn.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestServersThatSpeakSomethingElse(t *testing.T) {
	var asked atomic.Int32
	c := connect(t, spoken(t, "220 "+strings.Repeat("welcome \x1b[31m", 1<<16)+"\r\n", &asked), once)
	for op, err := range every(t.Context(), c) {
		require.ErrorContains(t, err, op+"net/http: HTTP/1.x transport connection broken: malformed HTTP ")
		assert.Less(t, len(err.Error()), 1200)
		assert.NotContains(t, err.Error(), "\x1b")
	}
}

// A list that says no state, or of what it is, is nothing to compare with and to go on from.
func TestListsThatAWatchCannotGoOnFrom(t *testing.T) {
	for body, want := range map[string]string{
		strings.Replace(page("", object("a", "")), `"12"`, `""`, 1):  `answer has the resourceVersion "", which is no state to go on from (200)`,
		strings.Replace(page("", object("a", "")), `"12"`, `"0"`, 1): `answer has the resourceVersion "0", which is no state to go on from (200)`,
		page("", object("", "")):                                     "answer has an item without a name (200)",
		page("", "null"):                                             "answer has an item without a name (200)",
	} {
		err := follow(t, serve(t, answer(200, "application/json", body)).Watch(t.Context(), "vms", client.WatchOptions{})).end()
		assert.EqualError(t, err, "list vmis in vms: "+want)
	}
}
