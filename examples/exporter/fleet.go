package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
)

// labels are what machines are counted by.
type labels struct {
	namespace string
	phase     vmi.Phase
	node      string
}

// fleet is what is known of the machines. It needs a few bytes of each, not the
// machines.
type fleet struct {
	mu       sync.Mutex
	synced   bool
	machines map[string]labels // by namespace and name
	retries  int
}

func newFleet() *fleet { return &fleet{machines: make(map[string]labels)} }

// follow keeps the fleet as the cluster has it, until the watch ends.
func (f *fleet) follow(ctx context.Context, c *client.Client) error {
	opts := client.WatchOptions{OnRetry: func(error, time.Duration) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.retries++
	}}
	for e, err := range c.Watch(ctx, "", opts) {
		if err != nil {
			return err
		}
		f.take(e)
	}
	return nil
}

func (f *fleet) take(e client.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := e.Namespace + "/" + e.Name
	switch e.Type {
	case client.EventSynced:
		f.synced = true
	case client.EventDeleted:
		delete(f.machines, key)
	default:
		f.machines[key] = labels{e.Namespace, e.VMI.Phase(), e.VMI.NodeName()}
	}
}

// ServeHTTP answers in Prometheus' text format.
func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case r.URL.Path != "/metrics":
		http.NotFound(w, r)
	case !f.synced:
		http.Error(w, "the machines are not known yet", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		f.write(w)
	}
}

func (f *fleet) write(w io.Writer) {
	counts := make(map[labels]int)
	for _, l := range f.machines {
		counts[l]++
	}
	var series []labels
	for l := range counts {
		series = append(series, l)
	}
	slices.SortFunc(series, func(a, b labels) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.phase, b.phase), cmp.Compare(a.node, b.node))
	})
	fmt.Fprint(w, "# HELP vmi_machines Machines by namespace, phase and node.\n# TYPE vmi_machines gauge\n")
	for _, l := range series {
		fmt.Fprintf(w, "vmi_machines{namespace=%s,phase=%s,node=%s} %d\n", quote(l.namespace), quote(string(l.phase)), quote(l.node), counts[l])
	}
	fmt.Fprintf(w, "# HELP vmi_watch_retries_total Failures that the watch has survived.\n# TYPE vmi_watch_retries_total counter\nvmi_watch_retries_total %d\n", f.retries)
}

// quote writes a label's value as the text format has it.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}
