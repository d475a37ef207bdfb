package admin

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/vmikit/vmikit/server/store"
)

// Request is what is counted of a request. Its values become labels, so there must be
// only so many different ones.
type Request struct {
	// Verb in the words of Kubernetes' authorization, or a method in lower case.
	Verb string
	// Resource is empty for what is about none.
	Group, Version, Resource string
}

// Metrics counts requests and what a store holds. It is safe for concurrent use.
type Metrics struct {
	set               *metrics.Set
	reading, mutating atomic.Int64

	// of holds the numbers of each Request, *requestMetrics. After the first of its
	// kind a request takes no lock and makes no text.
	of sync.Map
}

// NewMetrics returns metrics of nothing so far. That each comes with its type is a
// setting of the process in the library below; NewMetrics sets it.
func NewMetrics() *Metrics {
	metrics.ExposeMetadata(true)
	m := &Metrics{set: metrics.NewSet()}
	for kind, n := range map[string]*atomic.Int64{"readOnly": &m.reading, "mutating": &m.mutating} {
		m.set.NewGauge(`apiserver_current_inflight_requests{request_kind="`+kind+`"}`, func() float64 { return float64(n.Load()) })
	}
	return m
}

// Store is a store that tells how much it holds, such as [*store.Memory].
type Store interface{ Stats() store.Stats }

// AddStore shows how much a store of a resource holds. It panics when the resource has
// one already.
func (m *Metrics) AddStore(group, resource string, st Store) {
	labels := fmt.Sprintf("{group=%q,resource=%q}", group, resource)
	m.set.NewGauge("apiserver_resource_objects"+labels, func() float64 { return float64(st.Stats().Objects) })
	m.set.NewGauge("vmikit_history_bytes"+labels, func() float64 { return float64(st.Stats().HistoryBytes) })
}

// RequestBegan counts a request as being answered, until RequestEnded is told.
func (m *Metrics) RequestBegan(r Request) { m.inflight(r).Add(1) }

// RequestEnded counts a request by its HTTP status, and the time it took, which for a
// watch says nothing.
func (m *Metrics) RequestEnded(r Request, code int, took time.Duration) {
	m.inflight(r).Add(-1)
	n := m.requests(r)
	n.code(m.set, code).Inc()
	if r.Verb != watch {
		n.duration.Update(took.Seconds())
	}
}

// EventSent counts an event of a watch.
func (m *Metrics) EventSent(r Request) { m.requests(r).events.Inc() }

// WritePrometheus writes all of it in the text format of Prometheus, and what the Go runtime and the system know of the process.
func (m *Metrics) WritePrometheus(w io.Writer) {
	m.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}

const watch = "watch"

// methods are the verbs as kube-apiserver's metrics name them.
var methods = map[string]string{
	"get": "GET", "list": "LIST", watch: "WATCH", "create": "POST", "update": "PUT", "patch": "PATCH",
	"delete": "DELETE", "deletecollection": "DELETECOLLECTION", "head": "GET", "post": "POST", "put": "PUT", "options": "OPTIONS",
}

// inflight is the number that a request is part of while it is answered.
func (m *Metrics) inflight(r Request) *atomic.Int64 {
	switch r.Verb {
	case watch:
		return &m.requests(r).watches
	case "get", "list", "head", "options":
		return &m.reading
	}
	return &m.mutating
}

// buckets are the bounds of the histogram, in seconds.
var buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// requestMetrics are the numbers of one sort of requests.
type requestMetrics struct {
	labels   string
	codes    sync.Map // *metrics.Counter by int
	duration *metrics.PrometheusHistogram
	watches  atomic.Int64
	events   *metrics.Counter
}

func (m *Metrics) requests(r Request) *requestMetrics {
	if n, ok := m.of.Load(r); ok {
		return n.(*requestMetrics)
	}
	verb, ok := methods[r.Verb]
	if !ok {
		verb = "other"
	}
	about := fmt.Sprintf("group=%q,version=%q,resource=%q", r.Group, r.Version, r.Resource)
	n := &requestMetrics{labels: fmt.Sprintf("verb=%q,%s", verb, about)}
	if r.Verb == watch {
		n.events = m.set.GetOrCreateCounter("apiserver_watch_events_total{" + about + "}")
	} else {
		n.duration = m.set.GetOrCreatePrometheusHistogramExt("apiserver_request_duration_seconds{"+n.labels+"}", buckets)
	}
	kept, loaded := m.of.LoadOrStore(r, n)
	n = kept.(*requestMetrics)
	if !loaded && r.Verb == watch {
		m.set.NewGauge("apiserver_longrunning_requests{"+n.labels+"}", func() float64 { return float64(n.watches.Load()) })
	}
	return n
}

func (n *requestMetrics) code(set *metrics.Set, code int) *metrics.Counter {
	if c, ok := n.codes.Load(code); ok {
		return c.(*metrics.Counter)
	}
	c := set.GetOrCreateCounter("apiserver_request_total{" + n.labels + `,code="` + strconv.Itoa(code) + `"}`)
	n.codes.Store(code, c)
	return c
}
