package contract

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
)

// stepWatched is the label that the merge patch sets and the JSON patch changes again.
const stepWatched = "patched"

// writeWatchSelector watches by a label that the machine had for a while.
func writeWatchSelector(ctx context.Context, w *writing, m *made) (verdict, error) {
	enters, leaves := w.stay(m)
	if w.from == "" || leaves == "" {
		return notExercised("no label changed and changed back, see write.merge-patch and write.json-patch"), nil
	}
	s, err := w.watch(ctx, url.Values{"labelSelector": {w.runLabel() + "," + labelStep + "=" + stepWatched}, "timeoutSeconds": {"60"}})
	if err != nil {
		return verdict{}, err
	}
	seen, v, err := w.collect(ctx, s, func(events []event) bool {
		return slices.ContainsFunc(events, func(e event) bool { return e.eventType == "DELETED" })
	})
	if seen == nil || err != nil {
		return v, err
	}
	v.message = fmt.Sprintf("a label that comes and goes, in %s", number(len(seen.events), "event"))
	j := watchJudge{w, &v, seen.ex, func(it *item) bool { return it.labels[labelRun] == w.id }}
	j.types(seen.events)
	j.order(seen.events)
	j.stories(seen.events)
	for _, want := range []struct{ eventType, version, message string }{
		{"ADDED", enters, "a watch does not tell of an object that begins to match its selector"},
		{"DELETED", leaves, "a watch does not tell of an object that no longer matches its selector"},
	} {
		if !slices.ContainsFunc(seen.events, func(e event) bool {
			return e.eventType == want.eventType && e.machine != nil && e.machine.resourceVersion == want.version
		}) {
			v.add(w.run, fault(seen.ex, Fail, want.message, want.eventType+" with resourceVersion "+want.version, number(len(seen.events), "event")))
		}
	}
	for _, e := range seen.events {
		if e.machine == nil || e.eventType == "DELETED" {
			continue // a deletion may show the labels of before or of after
		}
		if got := e.machine.labels[labelStep]; got != stepWatched {
			j.say(e, "a watch tells of an object that its selector does not select", labelStep+"="+stepWatched, labelStep+"="+strconv.Quote(got))
		}
	}
	return v, nil
}

// writeWatchName watches one machine, as kubectl does that waits for it.
func writeWatchName(ctx context.Context, w *writing, m *made) (verdict, error) {
	if w.from == "" {
		return notExercised("the list names no resourceVersion to watch from"), nil
	}
	s, err := w.watch(ctx, url.Values{"fieldSelector": {"metadata.name=" + m.name}, "timeoutSeconds": {"60"}})
	if err != nil {
		return verdict{}, err
	}
	due := slices.DeleteFunc(w.due(), func(c change) bool { return c.machine != m })
	return w.judgeWatch(ctx, s, due, func(it *item) bool { return it.name == m.name })
}

// stay returns the resourceVersions with which the label came and went, "" where it
// did not.
func (w *writing) stay(m *made) (enters, leaves string) {
	for _, c := range w.changes {
		switch it, ok := readItem(c.body, w.namespace); {
		case !ok || c.machine != m:
		case it.labels[labelStep] == stepWatched:
			enters = cmp.Or(enters, c.resourceVersion)
		case enters != "":
			leaves = cmp.Or(leaves, c.resourceVersion)
		}
	}
	return enters, leaves
}
