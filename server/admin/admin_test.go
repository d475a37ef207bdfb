package admin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/admin"
	"github.com/vmikit/vmikit/server/store"
)

func get(t *testing.T, h http.Handler, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Host = "localhost:9090"
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

func TestMetrics(t *testing.T) {
	m := admin.NewMetrics()
	st := store.NewMemory()
	m.AddStore("kubevirt.io", "virtualmachineinstances", st)
	h := admin.New(m)
	list := admin.Request{Verb: "list", Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}
	watch, create := list, list
	watch.Verb, create.Verb = "watch", "create"

	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			m.RequestBegan(list)
			m.RequestEnded(list, 200, 20*time.Millisecond)
			m.RequestBegan(watch)
			m.EventSent(watch)
			m.RequestEnded(watch, 200, time.Hour)
		})
	}
	wg.Wait()
	m.RequestBegan(create)
	m.RequestBegan(watch)
	m.RequestBegan(list)
	m.RequestEnded(list, 403, time.Minute)
	m.RequestBegan(admin.Request{})
	m.RequestEnded(admin.Request{}, 403, 0)

	r := get(t, h, "/metrics")
	assert.Equal(t, 200, r.StatusCode)
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", r.Header.Get("Content-Type"))
	text := body(t, r)
	const about = `group="kubevirt.io",version="v1",resource="virtualmachineinstances"`
	for _, line := range []string{
		`apiserver_request_total{verb="LIST",` + about + `,code="200"} 10`,
		`apiserver_request_total{verb="LIST",` + about + `,code="403"} 1`,
		`apiserver_request_total{verb="WATCH",` + about + `,code="200"} 10`,
		`apiserver_request_total{verb="other",group="",version="",resource="",code="403"} 1`,
		`apiserver_request_duration_seconds_bucket{verb="LIST",` + about + `,le="0.01"} 0`,
		`apiserver_request_duration_seconds_bucket{verb="LIST",` + about + `,le="0.025"} 10`,
		`apiserver_request_duration_seconds_bucket{verb="LIST",` + about + `,le="+Inf"} 11`,
		`apiserver_request_duration_seconds_count{verb="LIST",` + about + `} 11`,
		`apiserver_current_inflight_requests{request_kind="mutating"} 1`,
		`apiserver_current_inflight_requests{request_kind="readOnly"} 0`,
		`apiserver_longrunning_requests{verb="WATCH",` + about + `} 1`,
		`apiserver_watch_events_total{` + about + `} 10`,
		`apiserver_resource_objects{group="kubevirt.io",resource="virtualmachineinstances"} 0`,
		`vmikit_history_bytes{group="kubevirt.io",resource="virtualmachineinstances"} 0`,
		"# TYPE apiserver_request_total counter",
		"# TYPE apiserver_request_duration_seconds histogram",
	} {
		assert.Contains(t, text, line+"\n")
	}
	assert.NotContains(t, text, `duration_seconds_count{verb="WATCH"`, "how long a watch lasts says nothing")
	assert.Contains(t, text, "\ngo_goroutines ")

	_, err := st.Create(t.Context(), store.Draft{Key: store.Key{Namespace: "vms", Name: "a"}, JSON: []byte(`{"metadata":{"resourceVersion":""}}`), RevisionAt: 32})
	require.NoError(t, err)
	assert.Contains(t, body(t, get(t, h, "/metrics")), `apiserver_resource_objects{group="kubevirt.io",resource="virtualmachineinstances"} 1`+"\n")
}

func TestAccess(t *testing.T) {
	h := admin.New(admin.NewMetrics(), admin.WithToken("s3cr3t-s3cr3t-s3cr3t"), admin.WithHosts("Admin.example.org", "::2"))
	for _, c := range []struct {
		header string
		status int
	}{
		{"Authorization: Bearer s3cr3t-s3cr3t-s3cr3t", 200},
		{"Authorization: bearer  s3cr3t-s3cr3t-s3cr3t", 200},
		{"Authorization: Bearer s3cr3t-s3cr3t-s3cr3", 401},
		{"Authorization: Bearer s3cr3t-s3cr3t-s3cr3tt", 401},
		{"Authorization: Bearer ", 401},
		{"Authorization: Basic s3cr3t-s3cr3t-s3cr3t", 401},
		{"Authorization: s3cr3t-s3cr3t-s3cr3t", 401},
		{"X-None: 1", 401},
	} {
		for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
			r := get(t, h, path, c.header)
			assert.Equal(t, c.status, r.StatusCode, "%s %s", path, c.header)
			assert.Equal(t, "no-store", r.Header.Get("Cache-Control"))
		}
		if c.status == 401 {
			assert.Equal(t, 401, get(t, h, "/nosuch", c.header).StatusCode)
		}
	}
	for host, status := range map[string]int{
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1": 200, "[::1]:1": 200, "admin.example.org:9090": 200, "[::2]:1": 200,
		"evil.example": 403, "192.0.2.1": 403, "": 403,
	} {
		assert.Equal(t, status, get(t, h, "/metrics", "Host: "+host, "Authorization: Bearer s3cr3t-s3cr3t-s3cr3t").StatusCode, host)
	}
}

func TestNothingElse(t *testing.T) {
	h := admin.New(admin.NewMetrics())
	assert.Equal(t, 200, get(t, h, "/debug/pprof/goroutine?debug=1").StatusCode)
	assert.Equal(t, 404, get(t, h, "/").StatusCode)
	assert.Equal(t, 404, get(t, h, "/debug/vars").StatusCode)
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/metrics", nil)
	r.Host = "localhost"
	h.ServeHTTP(w, r)
	assert.Equal(t, 405, w.Code)
}

// Counting is on the way of every request and every event.
func BenchmarkRequest(b *testing.B) {
	m := admin.NewMetrics()
	r := admin.Request{Verb: "watch", Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}
	for b.Loop() {
		m.RequestBegan(r)
		m.EventSent(r)
		m.RequestEnded(r, 200, time.Millisecond)
	}
}
