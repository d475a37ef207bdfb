package servertest_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/servertest"
	"github.com/vmikit/vmikit/server/store"
)

const path = "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"

// get asks and returns the answer, whose body is read as far as it comes.
func get(t *testing.T, url string) (*http.Response, string, error) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

func status(t *testing.T, url string) int {
	t.Helper()
	res, _, err := get(t, url)
	require.NoError(t, err)
	return res.StatusCode
}

func TestFaultOfAStatus(t *testing.T) {
	s := servertest.New(t, servertest.WithClientOptions(client.WithRetry(client.NoRetry)), servertest.WithObjects(`{"metadata":{"name":"a"}}`))
	s.Inject(servertest.Fault{Status: 429, RetryAfter: 1500 * time.Millisecond, Times: 1})
	_, err := s.Client.Get(t.Context(), "default", "a")
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "TooManyRequests", refused.Reason)
	assert.Equal(t, 2*time.Second, refused.RetryAfter)
	assert.EqualValues(t, 2, refused.Details.RetryAfterSeconds)
	_, err = s.Client.Get(t.Context(), "default", "a")
	assert.NoError(t, err, "once")

	s.Inject(servertest.Fault{Status: 502, Body: "<html>Bad Gateway</html>", Times: 1})
	res, body, err := get(t, s.URL+"/version")
	require.NoError(t, err)
	assert.Equal(t, 502, res.StatusCode)
	assert.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	assert.Equal(t, "<html>Bad Gateway</html>", body)
}

func TestFaultsGoByVerbNamespaceAndName(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`))
	const all = "/apis/kubevirt.io/v1/virtualmachineinstances"
	for _, tc := range []struct {
		fault servertest.Fault
		hit   []string
		miss  []string
	}{
		{servertest.Fault{}, []string{path, path + "/a", all, "/version", "/nosuch"}, nil},
		{servertest.Fault{Verb: "get"}, []string{path + "/a", path + "/b"}, []string{path, all, "/version"}},
		{servertest.Fault{Verb: "list"}, []string{path, all, path + "?watch=false", path + "?fieldSelector=metadata.name=a"}, []string{path + "/a"}},
		{servertest.Fault{Verb: "watch"}, []string{path + "?watch=1", all + "?watch", "/apis/kubevirt.io/v1/watch/virtualmachineinstances"}, []string{path}},
		{servertest.Fault{Namespace: "default"}, []string{path, path + "/a"}, []string{all, "/api/v1/namespaces/default"}},
		{servertest.Fault{Name: "a"}, []string{path + "/a", path + "?fieldSelector=metadata.name%3Da", all + "?fieldSelector=metadata.namespace%3Ddefault,metadata.name%3D%3Da"},
			[]string{path + "/b", path, path + "?fieldSelector=metadata.name!%3Da"}},
		{servertest.Fault{Verb: "get", Namespace: "default", Name: "b"}, []string{path + "/b"}, []string{path + "/a", path + "?fieldSelector=metadata.name=b"}},
	} {
		tc.fault.Status = 418
		lift := s.Inject(tc.fault)
		for _, p := range tc.hit {
			assert.Equal(t, 418, status(t, s.URL+p), "%+v %s", tc.fault, p)
		}
		for _, p := range tc.miss {
			assert.NotEqual(t, 418, status(t, s.URL+p), "%+v %s", tc.fault, p)
		}
		lift()
		lift() // does nothing
		assert.NotEqual(t, 418, status(t, s.URL+path))
	}
	for _, tc := range []struct{ verb, method, path string }{
		{"create", http.MethodPost, path}, {"update", http.MethodPut, path + "/a"}, {"patch", http.MethodPatch, path + "/a"},
		{"delete", http.MethodDelete, path + "/a"}, {"deletecollection", http.MethodDelete, path},
	} {
		lift := s.Inject(servertest.Fault{Verb: tc.verb, Status: 418})
		req, err := http.NewRequestWithContext(t.Context(), tc.method, s.URL+tc.path, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		assert.Equal(t, 418, res.StatusCode, tc.verb)
		lift()
	}
}

func TestFaultsStrikeInTheirOrder(t *testing.T) {
	s := servertest.New(t)
	s.Inject(servertest.Fault{Verb: "list", Status: 503, Times: 2})
	s.Inject(servertest.Fault{Status: 500, Times: 1})
	var got []int
	for range 4 {
		got = append(got, status(t, s.URL+path))
	}
	assert.Equal(t, []int{503, 503, 500, 200}, got)
}

// net/http repeats requests whose connection ends without a byte.
func TestFaultsOfTheConnectionAreSeen(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`))
	require.Equal(t, 200, status(t, s.URL+path))
	before := len(s.Requests())
	s.Inject(servertest.Fault{Drop: servertest.DropBeforeAnswer, Times: 1})
	_, _, err := get(t, s.URL+path)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	requests := s.Requests()[before:]
	require.Len(t, requests, 1)
	assert.Zero(t, requests[0].Status)

	whole, _, err := get(t, s.URL+path)
	require.NoError(t, err)
	assert.Equal(t, 200, whole.StatusCode)
	for _, after := range []int{0, 1, 100} {
		s.Inject(servertest.Fault{Drop: servertest.DropInBody, After: after, Times: 1})
		_, body, err := get(t, s.URL+path)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Len(t, body, after)
	}
	s.Inject(servertest.Fault{Drop: servertest.DropInBody, After: 1 << 20, Times: 1})
	assert.Equal(t, 200, status(t, s.URL+path), "a body that is shorter")
}

func TestFaultOfADelay(t *testing.T) {
	s := servertest.New(t)
	lift := s.Inject(servertest.Fault{Verb: "list", Delay: 20 * time.Millisecond})
	begin := time.Now()
	assert.Equal(t, 200, status(t, s.URL+path))
	assert.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)
	lift()

	s.Inject(servertest.Fault{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Client.List(ctx, "", client.ListOptions{})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	// One that still waits does not keep the server from closing.
	go func() { _, _ = http.Get(s.URL + path) }()
	require.Eventually(t, func() bool { return len(s.Requests()) == 3 }, 10*time.Second, time.Millisecond)
}

// watch begins one and returns its events, line by line.
func watch(t *testing.T, url string) (next func() (string, error)) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewReader(res.Body)
	return func() (string, error) { return lines.ReadString('\n') }
}

func TestWatchesAreDropped(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`))
	assert.Zero(t, s.DropWatches())
	a, b := watch(t, s.URL+path+"?watch=true"), watch(t, s.URL+path+"?watch=true")
	for _, next := range []func() (string, error){a, b} {
		line, err := next()
		require.NoError(t, err)
		assert.Contains(t, line, `"ADDED"`)
	}
	assert.Equal(t, 2, s.DropWatches())
	for _, next := range []func() (string, error){a, b} {
		_, err := next()
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	assert.Zero(t, s.DropWatches())
}

func TestExpire(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`))
	list, err := s.Client.List(t.Context(), "default", client.ListOptions{Limit: 1})
	require.NoError(t, err)
	running := watch(t, s.URL+path+"?watch=true&resourceVersion="+list.ResourceVersion)
	s.Expire()
	_, err = s.Client.List(t.Context(), "default", client.ListOptions{Limit: 1, Continue: list.Continue})
	assert.ErrorIs(t, err, client.ErrGone)
	line, err := watch(t, s.URL+path+"?watch=true&resourceVersion="+list.ResourceVersion)()
	require.NoError(t, err)
	assert.Contains(t, line, `"ERROR"`)
	assert.Contains(t, line, `"Expired"`)
	s.Delete("default", "a")
	line, err = running()
	require.NoError(t, err)
	assert.Contains(t, line, `"DELETED"`)
}

func TestHistory(t *testing.T) {
	s := servertest.New(t, servertest.WithHistory(store.History{Changes: 1}))
	list, err := s.Client.List(t.Context(), "default", client.ListOptions{})
	require.NoError(t, err)
	s.Create(`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`)
	line, err := watch(t, s.URL+path+"?watch=true&resourceVersion="+list.ResourceVersion)()
	require.NoError(t, err)
	assert.Contains(t, line, `"Expired"`)
}

func TestReset(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"a"}}`))
	before, err := s.Client.List(t.Context(), "", client.ListOptions{})
	require.NoError(t, err)
	running := watch(t, s.URL+path+"?watch=true&resourceVersion="+before.ResourceVersion)
	s.Delete("default", "a")
	s.Create(`{"metadata":{"name":"b"}}`)
	s.Inject(servertest.Fault{Status: 500})
	s.Reset()
	assert.Empty(t, s.Requests())
	assert.Equal(t, 200, status(t, s.URL+path+"/a"))
	assert.Equal(t, 404, status(t, s.URL+path+"/b"))
	for {
		if _, err := running(); err != nil {
			assert.Equal(t, io.EOF, err)
			break
		}
	}
	line, err := watch(t, s.URL+path+"?watch=true&resourceVersion="+before.ResourceVersion)()
	require.NoError(t, err)
	assert.Contains(t, line, `"Expired"`)
}

func TestRequests(t *testing.T) {
	s := servertest.New(t, servertest.WithServerOptions(server.WithPathPrefix("/k8s")))
	_, _ = http.Get(s.URL + "/k8s" + path + "?limit=5&labelSelector=app%3Dweb&access_token=s3cr3t")
	_, _ = http.Get(s.URL + "/k8s" + path + "/a")
	_, _ = http.Get(s.URL + "/k8s/version")
	watch(t, s.URL+"/k8s"+path+"?watch=true")
	requests := s.Requests()
	require.Len(t, requests, 4)
	assert.Equal(t, []servertest.Request{
		{Verb: "list", Method: "GET", Path: "/k8s" + path, Query: "access_token=&labelSelector=app%3Dweb&limit=5", Status: 200},
		{Verb: "get", Method: "GET", Path: "/k8s" + path + "/a", Status: 404},
		{Verb: "get", Method: "GET", Path: "/k8s/version", Status: 200},
		{Verb: "watch", Method: "GET", Path: "/k8s" + path, Query: "watch=true", Status: 200},
	}, requests)
	assert.Equal(t, "GET /k8s/version", requests[2].String())
	assert.Equal(t, "GET /k8s"+path+"?watch=true", requests[3].String())
}

func TestOnlySoManyRequestsAreKept(t *testing.T) {
	s := servertest.New(t)
	s.Inject(servertest.Fault{Status: 418})
	for i := range 10_001 {
		status(t, s.URL+"/"+strconv.Itoa(i))
	}
	requests := s.Requests()
	assert.LessOrEqual(t, len(requests), 10_000)
	assert.Greater(t, len(requests), 8_000)
	assert.Equal(t, "/10000", requests[len(requests)-1].Path)
}

func TestFaultsThatCannotBe(t *testing.T) {
	for want, f := range map[string]servertest.Fault{
		"nothing goes wrong":                          {Verb: "get"},
		`there is no verb "read"`:                     {Verb: "read", Status: 500},
		"a number is below zero":                      {Status: 500, Times: -1},
		"status 200 is not from 300 to 599":           {Status: 200},
		"there is no drop 3":                          {Drop: 3},
		"it has both a status and a drop":             {Status: 500, Drop: servertest.DropInBody},
		"a retry-after or a body needs a status":      {RetryAfter: time.Second, Delay: time.Second},
		"only a drop in the body has bytes before it": {After: 1, Drop: servertest.DropBeforeAnswer},
	} {
		failed := &failing{TB: t}
		s := servertest.New(failed)
		assert.Panics(t, func() { s.Inject(f) })
		assert.Equal(t, "fault: "+want, failed.message)
	}
}
