package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// heldStore keeps requests that ask for the machine "held" waiting.
type heldStore struct {
	*store.Memory
	entered chan struct{}
	release chan struct{}
}

func newHeldStore() *heldStore {
	return &heldStore{store.NewMemory(), make(chan struct{}, 10), make(chan struct{})}
}

func (h *heldStore) wait(key store.Key) {
	if key.Name == "held" {
		h.entered <- struct{}{}
		<-h.release
	}
}

func (h *heldStore) Get(ctx context.Context, key store.Key) (*store.Object, error) {
	h.wait(key)
	return h.Memory.Get(ctx, key)
}

func (h *heldStore) Create(ctx context.Context, d store.Draft) (*store.Object, error) {
	h.wait(d.Key)
	return h.Memory.Create(ctx, d)
}

// Differs: too many requests at once
func TestInFlight(t *testing.T) {
	st := newHeldStore()
	f := startStore(t, st, server.WithMaxInFlight(2, 1), tokens(t))
	const user, master = "Authorization: Bearer viewertoken", "Authorization: Bearer admintoken"
	answered := make(chan int, 3)
	for range 2 {
		go func() { answered <- f.get(inVMs+"/held", user).StatusCode }()
	}
	go func() { answered <- f.send("POST", inVMs, vm("held"), user).StatusCode }()
	for range 3 {
		<-st.entered
	}
	for _, r := range []reply{
		f.get(inVMs, user), f.get("/version", user), f.get("/nosuch", user), f.do("HEAD", inVMs, user),
		f.send("POST", inVMs, vm("a"), user), f.send("DELETE", inVMs, "", user), f.send("PATCH", inVMs+"/a", "{}", user), f.do("FOO", "/version", user),
	} {
		what := r.Request.Method + " " + r.Request.URL.Path
		assert.Equal(t, 429, r.StatusCode, what)
		assert.Equal(t, "1", r.Header.Get("Retry-After"), what)
		if r.Request.Method != "HEAD" {
			s := r.status(t)
			assert.Equal(t, "TooManyRequests", s.Reason)
			assert.Equal(t, "Too many requests, please try again later.", s.Message)
			assert.EqualValues(t, 1, s.Details.RetryAfterSeconds)
		}
	}
	assert.Equal(t, 401, f.get(inVMs).StatusCode, "strangers are told nothing else")
	assert.Equal(t, 405, f.do("FOO", inVMs, user).StatusCode, "what is refused anyway takes no place")
	assert.Equal(t, 200, f.get(inVMs, master).StatusCode, "somebody must be able to look")
	f.watch(inVMs+"?watch=1", user)
	f.watch(inVMs+"?watch=1", user)
	f.watch("/apis/kubevirt.io/v1/watch/namespaces/vms/virtualmachineinstances", user)

	close(st.release)
	codes := fmt.Sprint(<-answered, <-answered, <-answered)
	assert.Equal(t, 1, strings.Count(codes, "201"), codes)
	assert.Eventually(t, func() bool { return f.get(inVMs, user).StatusCode == 200 }, 10*time.Second, time.Millisecond, "places are given back")
	assert.Eventually(t, func() bool { return f.send("DELETE", inVMs, "", user).StatusCode == 200 }, 10*time.Second, time.Millisecond)
}

// Only those that change something are bounded here.
func TestInFlightWithoutLimit(t *testing.T) {
	st := newHeldStore()
	f := startStore(t, st, server.WithMaxInFlight(0, 1))
	done := make(chan int, 1)
	go func() { done <- f.send("POST", inVMs, vm("held")).StatusCode }()
	<-st.entered
	assert.Equal(t, 200, f.get(inVMs).StatusCode)
	assert.Equal(t, 429, f.send("POST", inVMs, vm("a")).StatusCode)
	close(st.release)
	assert.Equal(t, 201, <-done)

	_, err := server.New(st, server.WithMaxInFlight(-1, 0))
	require.EqualError(t, err, "server: -1 and 0 requests in flight: must not be below zero")
}

// post sends the head of a POST and a part of its body, and leaves the rest for later.
func (f *fixture) post(length int, part string) net.Conn {
	f.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	require.NoError(f.t, err)
	f.t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", inVMs, length, part)
	require.NoError(f.t, err)
	return c
}

// Writers whose bodies take their time keep no other waiting.
//
// Differs: which requests count among those at once
func TestInFlightSlowBodies(t *testing.T) {
	began := make(chan struct{}, 10)
	f := start(t, server.WithMaxInFlight(1, 1), server.WithObserver(tellsBegin{began}))
	body := vm("slow")
	slow := make([]net.Conn, 3)
	for i := range slow {
		slow[i] = f.post(len(body), body[:10])
		<-began
	}
	assert.Equal(t, 201, f.send("POST", inVMs, vm("quick")).StatusCode)
	assert.Equal(t, 200, f.send("DELETE", inVMs+"/quick", "").StatusCode)

	_, err := io.WriteString(slow[0], body[10:])
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(slow[0]), nil)
	require.NoError(t, err)
	assert.Equal(t, 201, res.StatusCode, "nor are they themselves refused")
	require.NoError(t, res.Body.Close())
}

// tellsBegin tells that a request has begun.
type tellsBegin struct{ began chan struct{} }

func (o tellsBegin) RequestBegan(server.RequestInfo)                 { o.began <- struct{}{} }
func (o tellsBegin) RequestEnded(server.RequestInfo, server.Outcome) {}
func (o tellsBegin) EventSent(server.RequestInfo)                    {}

// What is on its way has no more memory than the places would have, and who fills that
// keeps out nobody whose objects are of the usual size.
func TestInFlightArrivingBytes(t *testing.T) {
	const most = 1 << 20
	f := start(t, server.WithMaxInFlight(0, 2), server.WithMaxBodyBytes(most))
	almost := strings.Repeat("x", most-1)
	slow := []net.Conn{f.post(most, almost), f.post(most, almost)}
	refused := func() bool { return f.send("POST", inVMs, vm("a")+strings.Repeat(" ", 300<<10)).StatusCode == 429 }
	assert.Eventually(t, refused, 10*time.Second, time.Millisecond)
	assert.Equal(t, 200, f.get(inVMs).StatusCode)
	assert.Equal(t, 201, f.send("POST", inVMs, vm("small")).StatusCode)
	for _, c := range slow {
		require.NoError(t, c.Close())
	}
	assert.Eventually(t, func() bool { return !refused() }, 10*time.Second, time.Millisecond)
	assert.Equal(t, 200, f.get(inVMs+"/a").StatusCode)
}

// A body that does not say how long it is may be as long as any other.
func TestInFlightBodyOfUnknownLength(t *testing.T) {
	f := start(t, server.WithMaxInFlight(0, 1), server.WithMaxBodyBytes(1<<20))
	for size, want := range map[int]int{300 << 10: 201, 1<<20 + 1: 413} {
		body := vm(fmt.Sprintf("m%d", want))
		body += strings.Repeat(" ", size-len(body))
		req, err := http.NewRequest("POST", f.url+inVMs, io.MultiReader(strings.NewReader(body)))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		assert.Equal(t, want, roundTrip(t, http.DefaultTransport, req).StatusCode)
	}
}

// unread is a client that does not read its answer.
type unread struct {
	header            http.Header
	answered, release chan struct{}
}

func (u *unread) Header() http.Header { return u.header }
func (u *unread) WriteHeader(int)     {}
func (u *unread) Write(p []byte) (int, error) {
	u.answered <- struct{}{}
	<-u.release
	return len(p), nil
}

// A writer that does not read its answer keeps no other waiting.
func TestInFlightUnreadAnswers(t *testing.T) {
	h, err := server.New(store.NewMemory(), server.WithMaxInFlight(1, 1))
	require.NoError(t, err)
	post := func(w http.ResponseWriter, name string) {
		r := httptest.NewRequest("POST", "http://localhost"+inVMs, strings.NewReader(vm(name)))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(w, r)
	}
	slow := &unread{make(http.Header), make(chan struct{}, 1), make(chan struct{})}
	var done sync.WaitGroup
	done.Go(func() { post(slow, "a") })
	<-slow.answered
	quick := httptest.NewRecorder()
	post(quick, "b")
	assert.Equal(t, 201, quick.Code)
	close(slow.release)
	done.Wait()
}
