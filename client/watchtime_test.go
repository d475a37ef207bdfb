package client_test

import (
	"context"
	"io"
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

// slow is a server without a network, for the fake clock of synctest: it lists nothing
// at revision 12, and watch answers the watches.
type slow func(req *http.Request) (*http.Response, error)

func (watch slow) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Query().Has("watch") {
		return watch(req)
	}
	return respond(http.StatusOK, nil, strings.NewReader(page(""))), nil
}

func respond(status int, header http.Header, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), ProtoMajor: 1}
}

// silence is a body from which nothing comes until the request is over.
type silence struct{ ctx context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// watchSlowly counts watches until the last, which is refused, and returns when each
// was asked for, since the beginning.
func watchSlowly(t *testing.T, count int, watch slow) (at []time.Duration) {
	t.Helper()
	begin := time.Now()
	hc := &http.Client{Transport: slow(func(req *http.Request) (*http.Response, error) {
		if at = append(at, time.Since(begin)); len(at) == count {
			return respond(http.StatusForbidden, nil, http.NoBody), nil
		}
		return watch(req)
	})}
	var last error
	for e, err := range connect(t, "http://localhost", client.WithHTTPClient(hc)).Watch(t.Context(), "vms", client.WatchOptions{}) {
		if last = err; err == nil {
			assert.Equal(t, client.EventSynced, e.Type)
		}
	}
	assert.ErrorIs(t, last, client.ErrForbidden)
	return at
}

func TestWatchNoticesConnectionsThatHaveDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			at := watchSlowly(t, 2, func(req *http.Request) (*http.Response, error) {
				return respond(http.StatusOK, nil, silence{req.Context()}), nil
			})
			assert.GreaterOrEqual(t, at[1], 5*time.Minute)
			assert.Less(t, at[1], 11*time.Minute)
		}
		at := watchSlowly(t, 3, func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		assert.InDelta(t, time.Minute, at[2], float64(time.Second), "an answer that does not begin")
	})
}

func TestWatchWaitsLongerAndLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, answer := range map[string]slow{
			"503":     func(*http.Request) (*http.Response, error) { return respond(503, nil, http.NoBody), nil },
			"nothing": func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
			"an end":  func(*http.Request) (*http.Response, error) { return respond(200, nil, http.NoBody), nil },
			"410":     func(*http.Request) (*http.Response, error) { return respond(410, nil, http.NoBody), nil },
		} {
			bound, longest := 50*time.Millisecond, time.Duration(0)
			at := watchSlowly(t, 60, answer)
			for i, when := range at[1:] {
				wait := when - at[i]
				assert.LessOrEqual(t, wait, bound, "%s: wait %d", name, i)
				longest, bound = max(longest, wait), min(2*bound, 30*time.Second)
			}
			assert.Greater(t, longest, 15*time.Second, name)
		}
	})
}

func TestWatchComesWhenTheServerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for header, want := range map[string]time.Duration{"7": 7 * time.Second, "9999999": 5 * time.Minute} {
			at := watchSlowly(t, 2, func(*http.Request) (*http.Response, error) {
				return respond(429, http.Header{"Retry-After": {header}}, http.NoBody), nil
			})
			assert.GreaterOrEqual(t, at[1], want)
			assert.Less(t, at[1], want+time.Second)
		}
	})
}

// A time-out of the whole request cuts watches off; it loses nothing.
func TestWatchSurvivesATimeOutOfTheHTTPClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watches := 0
		hc := &http.Client{Timeout: 10 * time.Second, Transport: slow(func(req *http.Request) (*http.Response, error) {
			watches++
			assert.Equal(t, map[int]string{1: "12", 2: "20", 3: "20"}[watches], req.URL.Query().Get("resourceVersion"))
			event := map[int]string{1: wire("ADDED", "a", "20", ""), 3: wire("DELETED", "a", "30", "")}[watches]
			return respond(200, nil, io.MultiReader(strings.NewReader(event), silence{req.Context()})), nil
		})}
		f := follow(t, connect(t, "http://localhost", client.WithHTTPClient(hc)).Watch(t.Context(), "vms", client.WatchOptions{}))
		f.expect("Synced", "Added vms/a ", "Deleted vms/a ")
	})
}

func TestWatchOverHTTP2(t *testing.T) {
	watches := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		if !r.URL.Query().Has("watch") {
			_, _ = io.WriteString(w, page(""))
			return
		}
		watches++
		_, _ = io.WriteString(w, map[int]string{1: wire("ADDED", "a", "20", ""), 2: wire("DELETED", "a", "30", "")[:40], 3: wire("DELETED", "a", "30", "")}[watches])
		_ = http.NewResponseController(w).Flush()
		switch watches {
		case 2:
			panic(http.ErrAbortHandler) // resets the stream
		default:
			<-r.Context().Done()
		}
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	t.Cleanup(srv.Close)
	f := follow(t, connect(t, srv.URL, client.WithHTTPClient(srv.Client())).Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Synced", "Added vms/a ")
	srv.CloseClientConnections()
	f.expect("Deleted vms/a ")
	require.Equal(t, 3, watches)
}
