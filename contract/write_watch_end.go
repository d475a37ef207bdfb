package contract

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// longPast is a resourceVersion before every other: that of a store without anything.
const longPast = "1"

// writeExpired watches from a resourceVersion so old that a server may have forgotten
// what came after. One that has not must tell of this run's machine.
func writeExpired(ctx context.Context, w *writing, m *made) (verdict, error) {
	if !earlier(longPast, w.from) {
		return notExercised("it cannot be told that resourceVersion %s is before %q", longPast, w.from), nil
	}
	expected := "an event ERROR with a Status 410, or all events"
	var v verdict
	for range 2 { // a server may end a watch at any time, for once
		s, err := w.watchFrom(ctx, longPast, url.Values{"labelSelector": {w.runLabel()}, "timeoutSeconds": {"60"}})
		if err != nil {
			return v, err
		}
		ended, err := s.wait(ctx, watchPatience, func(lines [][]byte) bool {
			return slices.ContainsFunc(readEvents(lines), func(e event) bool {
				return e.eventType == "ERROR" || e.eventType == "ADDED" && e.machine != nil && e.machine.uid == m.uid
			})
		})
		s.stop()
		if err != nil {
			return v, err
		}
		ex, lines := s.seen()
		switch {
		case ex == nil:
			return w.unanswered(s)
		case ex.status == http.StatusForbidden:
			return verdict{outcome: Skipped, message: "the token may not watch"}, nil
		case ex.status == http.StatusGone || ex.status == http.StatusBadRequest:
			return passed("refused with status %d", ex.status), nil
		case ex.status != http.StatusOK:
			v.add(w.run, fault(ex, Fail, "a watch from a resourceVersion that may be too old is not answered", expected, "status "+strconv.Itoa(ex.status)))
			return v, nil
		}
		events := readEvents(lines)
		for _, e := range events {
			w.judge.seeEvent(ex, e)
		}
		at := slices.IndexFunc(events, func(e event) bool { return e.eventType == "ERROR" })
		switch {
		case at >= 0 && events[at].expired():
			return passed("it is told that resourceVersion %s is too old", longPast), nil
		case at >= 0:
			v.add(w.run, fault(ex.about(events[at].line, "one event of the watch"), Fail, "a watch ends with an error", expected, statusMessage(events[at].object)))
			return v, nil
		case !ended && len(events) > 0:
			return passed("everything since resourceVersion %s is told", longPast), nil
		case !ended:
			v.add(w.run, fault(ex, Fail, "a watch tells neither what has happened nor that it is too long ago", expected, fmt.Sprintf("nothing within %s", watchPatience)))
			return v, nil
		}
		v.findings = nil
		v.add(w.run, fault(ex, Fail, "a watch ends without saying that its resourceVersion is too old", expected, number(len(events), "event")+" and the end, twice"))
	}
	return v, nil
}

// shortWatch is how many seconds a watch is asked to last.
const shortWatch = 1

// writeWatchTimeout lets a watch end in its time.
func writeWatchTimeout(ctx context.Context, w *writing, _ *made) (verdict, error) {
	if w.from == "" {
		return notExercised("the list names no resourceVersion to watch from"), nil
	}
	v := passed("timeoutSeconds=%d", shortWatch)
	for try := 1; ; try++ {
		started := time.Now()
		s, err := w.watch(ctx, url.Values{"labelSelector": {w.runLabel()}, "timeoutSeconds": {strconv.Itoa(shortWatch)}})
		if err != nil {
			return v, err
		}
		ended, err := s.wait(ctx, shortWatch*time.Second+watchPatience, func([][]byte) bool { return false })
		took := time.Since(started)
		s.stop()
		if err != nil {
			return v, err
		}
		seen, unjudged, err := w.watched(s)
		switch {
		case seen == nil || err != nil:
			return unjudged, err
		case !ended:
			v.add(w.run, fault(seen.ex, Fail, "a watch goes on after its timeoutSeconds", number(shortWatch, "second"), "more than "+took.Truncate(time.Second).String()))
		case took >= shortWatch*time.Second/2:
		case try < 2:
			continue // a server may end a watch at any time, for once
		default:
			v.add(w.run, fault(seen.ex, Warning, "a watch ends before its time, twice", number(shortWatch, "second"), took.Truncate(time.Millisecond).String()))
		}
		return v, nil
	}
}
