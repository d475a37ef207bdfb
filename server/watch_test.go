package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// event is a line of a watch.
type event struct {
	Type   string
	Object struct {
		Kind     string
		Message  string
		Code     int
		Metadata struct {
			Name, Namespace, ResourceVersion string
			Labels, Annotations              map[string]string
		}
		ColumnDefinitions []any
		Rows              []struct {
			Cells  []any
			Object struct {
				Kind     string
				Metadata struct{ Name string }
			}
		}
	}
}

func (e event) String() string {
	if m := e.Object.Metadata; m.Name != "" {
		return e.Type + " " + m.Namespace + "/" + m.Name
	}
	return e.Type
}

// watch is a stream that a test reads.
type watch struct {
	*http.Response
	t     *testing.T
	lines *bufio.Scanner
}

func (f *fixture) watch(path string, headers ...string) *watch {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+path, nil)
	require.NoError(f.t, err)
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		req.Header.Set(name, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(f.t, err)
	require.Equal(f.t, http.StatusOK, res.StatusCode)
	require.Equal(f.t, "application/json", res.Header.Get("Content-Type"))
	f.t.Cleanup(func() { res.Body.Close() })
	return &watch{res, f.t, bufio.NewScanner(res.Body)}
}

// next waits for events.
func (w *watch) next(n int) (events []event, names []string) {
	w.t.Helper()
	for range n {
		require.True(w.t, w.lines.Scan(), "the watch ended: %v", w.lines.Err())
		var e event
		require.NoError(w.t, json.Unmarshal(w.lines.Bytes(), &e))
		events, names = append(events, e), append(names, e.String())
	}
	return events, names
}

// rest reads to the end.
func (w *watch) rest() (names []string) {
	w.t.Helper()
	for w.lines.Scan() {
		var e event
		require.NoError(w.t, json.Unmarshal(w.lines.Bytes(), &e))
		names = append(names, e.String())
	}
	require.NoError(w.t, w.lines.Err())
	return names
}

func (f *fixture) revision() string {
	f.t.Helper()
	return f.get(inVMs + "?limit=1").list(f.t).Metadata.ResourceVersion
}

func (f *fixture) update(m string) {
	f.t.Helper()
	_, err := f.writer.Update(f.t.Context(), machine(m))
	require.NoError(f.t, err)
}

func (f *fixture) remove(namespace, name string) {
	f.t.Helper()
	require.NoError(f.t, f.writer.Delete(f.t.Context(), namespace, name))
}

// Any value but false and 0 asks for a watch: a client that gets a list for one
// cannot read it.
func TestWatchIsNeverAList(t *testing.T) {
	f := start(t).create("vms/a")
	for _, path := range []string{
		inVMs + "?watch=true", inVMs + "?watch=1", inVMs + "?watch", inVMs + "?watch=True", inVMs + "?watch=abc", all + "?watch=yes", all + "?watch=1&limit=1&resourceVersion=0",
		"/apis/kubevirt.io/v1/watch/namespaces/vms/virtualmachineinstances", "/apis/kubevirt.io/v1/watch/virtualmachineinstances",
		"/apis/kubevirt.io/v1/watch/namespaces/vms/virtualmachineinstances/a",
	} {
		_, names := f.watch(path).next(1)
		assert.Equal(t, []string{"ADDED vms/a"}, names, path)
	}
	for _, no := range []string{"false", "0", "False"} {
		assert.Len(t, f.get(inVMs+"?watch="+no).list(t).Items, 1)
	}
	assert.Empty(t, f.do(http.MethodHead, inVMs+"?watch=1").body)
}

func TestWatchShowsChanges(t *testing.T) {
	f := start(t).create("vms/a", "other/b")
	from := f.revision()
	live := f.watch(all + "?watch=1&resourceVersion=" + from)
	f.create("vms/c app=web")
	f.update("vms/c app=db")
	f.remove("vms", "c")
	events, names := live.next(3)
	assert.Equal(t, []string{"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"}, names)
	gone := events[2].Object.Metadata
	assert.Equal(t, "db", gone.Labels["app"])
	assert.Greater(t, gone.ResourceVersion, events[1].Object.Metadata.ResourceVersion)
	assert.Equal(t, f.revision(), gone.ResourceVersion)

	for query, want := range map[string][]string{
		"":                                  {"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"},
		"&labelSelector=app%3Dweb":          {"ADDED vms/c", "DELETED vms/c"},
		"&labelSelector=app%3Ddb":           {"ADDED vms/c", "DELETED vms/c"},
		"&fieldSelector=metadata.name%3Da":  nil,
		"&fieldSelector=metadata.name%3Dc":  {"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"},
		"&limit=1":                          {"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"},
		"&resourceVersionMatch=":            {"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"},
		"&allowWatchBookmarks=true":         {"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"},
		"&labelSelector=app%2Capp!%3Dnever": {"ADDED vms/c", "MODIFIED vms/c", "DELETED vms/c"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, f.watch(inVMs+"?watch=1&timeoutSeconds=1&resourceVersion="+from+query).rest())
		})
	}
}

func TestWatchBegins(t *testing.T) {
	f := start(t)
	first := f.revision()
	f.create("vms/a app=web", "vms/b", "other/c")
	const list = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	for query, want := range map[string][]string{
		"":                                 {"ADDED vms/a", "ADDED vms/b"},
		"&resourceVersion=0":               {"ADDED vms/a", "ADDED vms/b"},
		"&labelSelector=app":               {"ADDED vms/a"},
		list:                               {"ADDED vms/a", "ADDED vms/b"},
		list + "&resourceVersion=1":        {"ADDED vms/a", "ADDED vms/b"},
		list + "&allowWatchBookmarks=true": {"ADDED vms/a", "ADDED vms/b", "BOOKMARK"},
		"&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1": nil,
		"&resourceVersion=" + f.revision():                                                 nil,
		"&resourceVersion=9" + f.revision():                                                nil, // not reached: silence
		"&resourceVersion=1":                                                               {"ERROR"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, f.watch(inVMs+"?watch=1&timeoutSeconds=1"+query).rest())
		})
	}
	events, _ := f.watch(inVMs + "?watch=1&allowWatchBookmarks=true" + list).next(3)
	mark := events[2].Object
	assert.Equal(t, "VirtualMachineInstance", mark.Kind)
	assert.Equal(t, f.revision(), mark.Metadata.ResourceVersion)
	assert.Equal(t, map[string]string{"k8s.io/initial-events-end": "true"}, mark.Metadata.Annotations)

	events, _ = f.watch(inVMs + "?watch=1&resourceVersion=1").next(1)
	assert.Equal(t, fmt.Sprintf("too old resource version: 1 (%s)", first), events[0].Object.Message)
	assert.Equal(t, http.StatusGone, events[0].Object.Code)
}

// The words are those recorded of a Kubernetes API server.
func TestWatchRefused(t *testing.T) {
	f := start(t).create("vms/a")
	for query, want := range map[string]string{
		"&sendInitialEvents=true":                            `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
		"&resourceVersionMatch=NotOlderThan":                 `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`,
		"&resourceVersionMatch=Exact&sendInitialEvents=true": `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`,
		"&continue=x":                           `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`,
		"&labelSelector=a+b":                    `unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt`,
		"&fieldSelector=status.phase%3DRunning": `field label not supported: status.phase`,
		"&resourceVersion=abc":                  `resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
		"&resourceVersion=-1":                   `resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax`,
		"&timeoutSeconds=abc":                   `strconv.ParseInt: parsing "abc": invalid syntax`,
	} {
		assert.Equal(t, want, f.get(inVMs+"?watch=1"+query).status(t).Message, query)
	}
	for accept, want := range map[string]string{
		"application/yaml":                            "only the following media types are accepted: application/json;stream=watch",
		"application/yaml,application/json":           "only the following media types are accepted: application/json;stream=watch",
		"text/html":                                   "only the following media types are accepted: application/json, application/yaml",
		strings.TrimPrefix(asPartialList, "Accept: "): "you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)",
	} {
		refused := f.get(inVMs+"?watch=1", "Accept: "+accept)
		assert.Equal(t, http.StatusNotAcceptable, refused.StatusCode, accept)
		assert.Contains(t, string(refused.body), want, accept)
	}
}

func TestWatchForms(t *testing.T) {
	f := start(t).create("vms/a")
	w := f.watch(inVMs+"?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
	f.update("vms/a app=web")
	events, _ := w.next(3)
	for i, e := range events {
		assert.Equal(t, []string{"ADDED", "BOOKMARK", "MODIFIED"}[i], e.Type)
		assert.Equal(t, "Table", e.Object.Kind)
		assert.Len(t, e.Object.ColumnDefinitions, []int{8, 0, 0}[i], "said once")
		require.Len(t, e.Object.Rows, 1)
		assert.Equal(t, []string{"a", "", "a"}[i], e.Object.Rows[0].Cells[0])
		assert.Equal(t, "PartialObjectMetadata", e.Object.Rows[0].Object.Kind)
	}
	assert.Equal(t, f.revision(), events[2].Object.Metadata.ResourceVersion)

	events, names := f.watch(inVMs+"?watch=1", "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io").next(1)
	assert.Equal(t, []string{"ADDED vms/a"}, names)
	assert.Equal(t, "PartialObjectMetadata", events[0].Object.Kind)
	assert.Empty(t, f.watch(inVMs+"?watch=1&timeoutSeconds=1", "Accept-Encoding: gzip").Header.Get("Content-Encoding"))
}

// flushes is a client in this process.
type flushes struct{ *httptest.ResponseRecorder }

func (flushes) SetReadDeadline(time.Time) error  { return nil }
func (flushes) SetWriteDeadline(time.Time) error { return nil }

// About every minute, and before the end; never unasked.
//
// Differs: periodic BOOKMARK
func TestBookmarks(t *testing.T) {
	for query, want := range map[string]int{"&allowWatchBookmarks=true": 4, "": 0, "&allowWatchBookmarks=false": 0} {
		synctest.Test(t, func(t *testing.T) {
			st := store.NewMemory()
			h, err := server.New(st, server.WithResponseValidation(server.ValidateFull), server.WithHosts("example.com"))
			require.NoError(t, err)
			began := time.Now()
			rec := httptest.NewRecorder()
			h.ServeHTTP(flushes{rec}, httptest.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s?watch=1&timeoutSeconds=200&resourceVersion=%d%s", all, began.UnixMicro(), query), nil))
			assert.Equal(t, 200*time.Second, time.Since(began))
			assert.Equal(t, want, strings.Count(rec.Body.String(), `{"type":"BOOKMARK","object":{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"resourceVersion":"`), rec.Body)
		})
	}
}

// A watch without a time of its own ends between half an hour and an hour.
func TestWatchesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := server.New(store.NewMemory(), server.WithHosts("example.com"))
		require.NoError(t, err)
		for _, query := range []string{"", "&timeoutSeconds=0", "&timeoutSeconds=-5", "&timeoutSeconds=9223372036854775807"} {
			began := time.Now()
			h.ServeHTTP(flushes{httptest.NewRecorder()}, httptest.NewRequestWithContext(t.Context(), "GET", all+"?watch=1"+query, nil))
			assert.GreaterOrEqual(t, time.Since(began), 30*time.Minute)
			assert.LessOrEqual(t, time.Since(began), time.Hour)
		}
	})
}

// When the server ends its watches end, cleanly, and a client that goes is forgotten.
func TestWatchLifetime(t *testing.T) {
	life, end := context.WithCancel(t.Context())
	f := start(t, server.WithLifetime(life)).create("vms/a")
	w := f.watch(all + "?watch=1")
	_, names := w.next(1)
	assert.Equal(t, []string{"ADDED vms/a"}, names)
	end()
	assert.Empty(t, w.rest())
}

// stuck is a client that reads nothing after a while.
type stuck struct {
	*httptest.ResponseRecorder
	room int
	late chan struct{} // closed by a deadline that has passed
}

func newStuck(room int) *stuck {
	return &stuck{httptest.NewRecorder(), room, make(chan struct{})}
}

func (s *stuck) SetReadDeadline(time.Time) error { return nil }

func (s *stuck) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() && !at.After(time.Now()) {
		close(s.late)
	}
	return nil
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		<-s.late
		return 0, errors.New("i/o timeout")
	}
	return s.ResponseRecorder.Write(p)
}

// A client that does not read is cut off, and keeps no writer waiting.
//
// Differs: a watch that does not keep up
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		h, err := server.New(st, server.WithHosts("example.com"))
		require.NoError(t, err)
		w, err := server.NewWriter(st)
		require.NoError(t, err)
		done := make(chan time.Duration)
		began := time.Now()
		go func() {
			h.ServeHTTP(newStuck(100_000), httptest.NewRequestWithContext(t.Context(), "GET", all+"?watch=1", nil))
			done <- time.Since(began)
		}()
		for i := range 1000 {
			_, err := w.Create(t.Context(), machine(fmt.Sprintf("vms/vm%d", i)))
			require.NoError(t, err)
		}
		assert.Zero(t, time.Since(began), "no write waited")
		assert.Equal(t, 30*time.Second, <-done)
	})
}

// What a client may take to read is counted while something is written: a watch may
// be idle for as long as it lasts, and then the connection is for other requests.
func TestIdleWatcher(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		synctest.Test(t, func(t *testing.T) {
			st := store.NewMemory()
			h, err := server.New(st, server.WithHosts("example.com"))
			require.NoError(t, err)
			w, err := server.NewWriter(st)
			require.NoError(t, err)
			go func() {
				for _, name := range []string{"vms/a", "vms/b"} {
					time.Sleep(5 * time.Minute)
					_, err := w.Create(t.Context(), machine(name))
					assert.NoError(t, err)
				}
			}()
			client := piped(t, h, protocol)
			began := time.Now()
			for _, want := range []string{`(?s)^{"type":"ADDED",.*\n{"type":"ADDED",.*\n$`, `^{"apiVersion":"kubevirt.io/v1","items":`} {
				resp, err := client.Get("http://example.com" + all + map[bool]string{true: "?watch=1&timeoutSeconds=700"}[time.Since(began) == 0])
				require.NoError(t, err)
				assert.Equal(t, protocol, resp.Proto)
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err, protocol)
				assert.Regexp(t, want, string(body))
				assert.Equal(t, 700*time.Second, time.Since(began), protocol)
			}
		})
	}
}

// piped is a client of a server without a network, so that time is the test's.
func piped(t *testing.T, h http.Handler, protocol string) *http.Client {
	l := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(protocol == "HTTP/1.1")
	protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
	s := &http.Server{Handler: h, Protocols: protocols, ReadTimeout: time.Minute, WriteTimeout: 3 * time.Minute}
	ended := make(chan error)
	go func() { ended <- s.Serve(l) }()
	transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		l.dialed <- server
		return client, nil
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		assert.NoError(t, s.Close())
		assert.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return &http.Client{Transport: transport}
}

type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { close(l.closed); return nil }
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// The limits of a server for ordinary requests do not end a watch.
func TestWatchOutlivesReadTimeout(t *testing.T) {
	st := store.NewMemory()
	h, err := server.New(st)
	require.NoError(t, err)
	w, err := server.NewWriter(st)
	require.NoError(t, err)
	hs := httptest.NewUnstartedServer(h)
	hs.Config.ReadTimeout, hs.Config.WriteTimeout = 50*time.Millisecond, 100*time.Millisecond
	hs.Start()
	t.Cleanup(hs.Close)
	f := &fixture{t, hs.URL, w}
	watch := f.watch(all + "?watch=1&timeoutSeconds=1")
	time.Sleep(300 * time.Millisecond)
	f.create("vms/a")
	assert.Equal(t, []string{"ADDED vms/a"}, watch.rest())
}

// A watch that has not kept up with what is kept is told so.
func TestWatcherFarBehind(t *testing.T) {
	f := startStore(t, store.NewMemory(store.WithHistory(store.History{Changes: 10})))
	f.create("vms/a")
	from := f.revision()
	for i := range 20 {
		f.update(fmt.Sprintf("vms/a n=%d", i))
	}
	events, _ := f.watch(all + "?watch=1&resourceVersion=" + from).next(1)
	assert.Equal(t, "ERROR", events[0].Type)
	assert.Equal(t, http.StatusGone, events[0].Object.Code)
}

// A bookmark is as far as the store, though nothing of it was shown.
func TestBookmarkOfAnIdleNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		h, err := server.New(st, server.WithHosts("example.com"))
		require.NoError(t, err)
		w, err := server.NewWriter(st)
		require.NoError(t, err)
		go func() {
			time.Sleep(30 * time.Second)
			_, err := w.Create(t.Context(), machine("elsewhere/a"))
			assert.NoError(t, err)
		}()
		rec := httptest.NewRecorder()
		h.ServeHTTP(flushes{rec}, httptest.NewRequestWithContext(t.Context(), "GET", inVMs+"?watch=1&timeoutSeconds=61&allowWatchBookmarks=1", nil))
		newest, err := st.Revision(t.Context())
		require.NoError(t, err)
		assert.Contains(t, rec.Body.String(), fmt.Sprintf(`"metadata":{"resourceVersion":"%d"}`, newest))
	})
}
