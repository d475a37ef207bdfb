package server_test

import (
	"context"
	"fmt"
	"strings"
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
		f.send("POST", inVMs, vm("a"), user), f.send("DELETE", inVMs, "", user), f.send("PATCH", inVMs+"/a", "{}", user), f.do("FOO", inVMs, user),
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
