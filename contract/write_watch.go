package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// watchPatience is how long an event may be late.
const watchPatience = 5 * time.Second

// beginWatch notes where the story of this run's machines begins and watches them
// from there on, the way an informer does.
func (w *writing) beginWatch(ctx context.Context) error {
	ex, err := w.ask(ctx, w.listRequest(scope(w.namespace), url.Values{"limit": {"1"}}))
	if err != nil {
		return err
	}
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if ex.status != http.StatusOK || json.Unmarshal(ex.body, &list) != nil {
		return nil // the checks of watches say that there is nothing to begin with
	}
	if w.from = list.Metadata.ResourceVersion; w.from == "" {
		return nil
	}
	if ok, _ := w.config.chosen("write.watch"); !ok {
		return nil
	}
	// Nothing runs that ends the watch, should this process be stopped.
	seconds := 60 + int((writeRequests*w.caller.pause)/time.Second)
	w.live, err = w.watch(ctx, url.Values{"labelSelector": {w.runLabel()}, "timeoutSeconds": {strconv.Itoa(seconds)}})
	return err
}

// watch begins a watch of the namespace from before the first change.
func (w *writing) watch(ctx context.Context, query url.Values) (*stream, error) {
	return w.watchFrom(ctx, w.from, query)
}

func (w *writing) watchFrom(ctx context.Context, version string, query url.Values) (*stream, error) {
	query.Set("watch", "true")
	query.Set("resourceVersion", version)
	req := w.listRequest(scope(w.namespace), query)
	req.form = openapi.FormWatchEvent
	s, err := w.caller.watch(ctx, req)
	w.tell()
	return s, err
}

func writeWatch(ctx context.Context, w *writing, _ *made) (verdict, error) {
	if w.live == nil {
		return notExercised("the list names no resourceVersion to watch from"), nil
	}
	return w.judgeWatch(ctx, w.live, w.due(), func(it *item) bool { return it.labels[labelRun] == w.id })
}

func writeReplay(ctx context.Context, w *writing, _ *made) (verdict, error) {
	if w.from == "" {
		return notExercised("the list names no resourceVersion to watch from"), nil
	}
	s, err := w.watch(ctx, url.Values{"timeoutSeconds": {"60"}})
	if err != nil {
		return verdict{}, err
	}
	return w.judgeWatch(ctx, s, w.due(), func(*item) bool { return true })
}

// event is one line of a watch.
type event struct {
	line      []byte
	eventType string
	object    json.RawMessage
	machine   *machineMeta // nil for what has no name
}

func readEvents(lines [][]byte) []event {
	var events []event
	for _, line := range lines {
		var e struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		ev := event{line: line}
		if json.Unmarshal(line, &e) == nil {
			ev.eventType, ev.object = e.Type, e.Object
			ev.machine, _ = readMachine(e.Object)
		}
		events = append(events, ev)
	}
	return events
}

// of reports whether an event tells a change, or the deletion of its machine.
func (e event) of(c change) bool {
	if e.machine == nil || e.machine.uid != c.uid || e.machine.name != c.machine.name {
		return false
	}
	if c.eventType == "DELETED" {
		return e.eventType == "DELETED"
	}
	return e.machine.resourceVersion == c.resourceVersion
}

// due is what a watch must have told by now.
func (w *writing) due() []change {
	due := slices.Clone(w.changes)
	for _, m := range w.made {
		if m.gone && m.first != "" {
			due = append(due, change{eventType: "DELETED", machine: m, uid: m.uid})
		}
	}
	return due
}

// judgeWatch waits for what is due and judges all that came, which must be of what is
// selected only. It ends the watch.
func (w *writing) judgeWatch(ctx context.Context, s *stream, due []change, selected func(*item) bool) (verdict, error) {
	seen, v, err := w.collect(ctx, s, func(events []event) bool {
		return !slices.ContainsFunc(due, func(c change) bool {
			return !slices.ContainsFunc(events, func(e event) bool { return e.of(c) })
		})
	})
	if seen == nil || err != nil {
		return v, err
	}
	v.message = fmt.Sprintf("%s in %s", number(len(due), "change"), number(len(seen.events), "event"))
	j := watchJudge{w, &v, seen.ex, selected}
	j.types(seen.events)
	j.order(seen.events)
	j.stories(seen.events)
	j.missing(seen.events, due)
	return v, nil
}

// watched is what came of a watch.
type watched struct {
	ex     *exchange
	events []event
}

// collect waits until the events are enough or late, and ends the watch. One that
// the server ends before is begun once more, as a server may end a watch at any
// time. Without events that can be judged it returns nil and the verdict.
func (w *writing) collect(ctx context.Context, s *stream, enough func([]event) bool) (*watched, verdict, error) {
	var v verdict
	done := func(lines [][]byte) bool { return enough(readEvents(lines)) }
	early, err := s.wait(ctx, watchPatience, done)
	s.stop()
	if err == nil && early && s.answered() {
		v.notes = append(v.notes, "the watch was ended before its time, and begun again")
		if s, err = w.caller.watch(ctx, s.request); err == nil {
			_, err = s.wait(ctx, watchPatience, done)
			s.stop()
		}
	}
	if err != nil {
		return nil, v, err
	}
	seen, unjudged, err := w.watched(s)
	unjudged.notes = v.notes
	return seen, unjudged, err
}

// watched returns what came of a watch that has ended; without events that can be
// judged it returns nil and the verdict.
func (w *writing) watched(s *stream) (*watched, verdict, error) {
	var v verdict
	ex, lines := s.seen()
	switch {
	case ex == nil:
		v, err := w.unanswered(s)
		return nil, v, err
	case ex.status == http.StatusForbidden:
		return nil, verdict{outcome: Skipped, message: "the token may not watch"}, nil
	case ex.status == http.StatusGone:
		return nil, notExercised("the watch is answered with 410: the target forgets too quickly"), nil
	case ex.status != http.StatusOK:
		v.add(w.run, fault(ex, Fail, "a watch is not answered", "status 200", "status "+strconv.Itoa(ex.status)))
		return nil, v, nil
	}
	seen := &watched{ex, readEvents(lines)}
	for _, e := range seen.events {
		w.judge.seeEvent(ex, e)
	}
	if slices.ContainsFunc(seen.events, event.expired) {
		return nil, notExercised("the watch ends with 410 Expired: the target forgets too quickly"), nil
	}
	return seen, v, nil
}

// unanswered is the verdict on a watch that has ended without an answer.
func (w *writing) unanswered(s *stream) (v verdict, err error) {
	if err := s.failure(w.caller); err != nil {
		return v, err
	}
	v.add(w.run, Finding{
		Outcome: Fail, Message: "a watch is not answered", Expected: "status 200 and the events",
		Got: fmt.Sprintf("nothing within %s", watchPatience), Curl: w.caller.redact.curl(s.request, w.caller.url(s.request)),
	})
	return v, nil
}

// expired reports whether an event says that the resourceVersion is too old, which a
// server may say at any time.
func (e event) expired() bool {
	var status struct{ Code int }
	return e.eventType == "ERROR" && json.Unmarshal(e.object, &status) == nil && status.Code == http.StatusGone
}

// watchJudge judges the events of one watch.
type watchJudge struct {
	*writing
	v        *verdict
	ex       *exchange
	selected func(*item) bool
}

func (j *watchJudge) say(e event, message, expected, got string) {
	f := fault(j.ex.about(e.line, "one event of the watch"), Fail, message, expected, got)
	if e.machine != nil {
		f.Objects = []string{e.machine.key()}
	}
	j.v.add(j.run, f)
}

// types looks for lines that are no event, or none that was asked for.
func (j *watchJudge) types(events []event) {
	for _, e := range events {
		switch e.eventType {
		case "ADDED", "MODIFIED", "DELETED":
			switch {
			case e.machine == nil:
				j.say(e, "an event has no object", "a machine", "something else")
			case e.machine.namespace != j.namespace:
				j.say(e, "a watch tells of another namespace", j.namespace, e.machine.namespace)
			case !j.selected(e.machine.item):
				j.say(e, "a watch tells of an object that its selector does not select", "what is selected", fmt.Sprintf("%s, %v", e.machine.key(), e.machine.labels))
			}
		case "BOOKMARK":
			j.say(e, "a watch has a bookmark that was not asked for", "none without allowWatchBookmarks", "one")
		case "ERROR":
			j.say(e, "a watch ends with an error", "events", statusMessage(e.object))
		default:
			j.say(e, "a line of a watch is no event", "a type and an object", "type "+strconv.Quote(e.eventType))
		}
	}
}

// order looks whether resourceVersions rise from event to event.
func (j *watchJudge) order(events []event) {
	last := j.from
	for _, e := range events {
		if e.machine == nil {
			continue
		}
		switch now := e.machine.resourceVersion; {
		case now == last:
			j.say(e, "two events have the same resourceVersion", "a later one than "+last, now)
		case earlier(now, last):
			j.say(e, "an event is told after a later one", "a later resourceVersion than "+last, now)
		default:
			last = now
		}
	}
}

// stories looks whether each of this run's machines is added, modified and deleted,
// in this order.
func (j *watchJudge) stories(events []event) {
	state := make(map[string]string)
	for _, e := range events {
		if e.machine == nil || !j.ours(e.machine.item) {
			continue
		}
		switch before := state[e.machine.uid]; {
		case before == "" && e.eventType != "ADDED":
			j.say(e, "the first event of an object is not that it was added", "ADDED", e.eventType)
		case before != "" && e.eventType == "ADDED":
			j.say(e, "an object is added that is there", "MODIFIED or DELETED", "ADDED after "+before)
		case before == "DELETED":
			j.say(e, "an object that was deleted has another event", "none", e.eventType)
		}
		state[e.machine.uid] = e.eventType
	}
}

// missing looks for the changes that were answered.
func (j *watchJudge) missing(events []event, due []change) {
	for _, c := range due {
		i := slices.IndexFunc(events, func(e event) bool { return e.of(c) })
		key := j.namespace + "/" + c.machine.name
		if i < 0 {
			what := c.eventType
			if c.resourceVersion != "" {
				what += " with resourceVersion " + c.resourceVersion
			}
			f := fault(j.ex, Fail, "a watch leaves out a change", what, fmt.Sprintf("%s within %s", number(len(events), "event"), watchPatience))
			f.Objects = []string{key}
			j.v.add(j.run, f)
			continue
		}
		e := events[i]
		if e.eventType != c.eventType {
			j.say(e, "an event has another type than the change", c.eventType, e.eventType)
		}
		if c.body == nil {
			if lost := j.lost(e.machine); c.machine.whole && lost != "" {
				j.say(e, "a deletion is told without the last state of the object", lost, "another value, or none")
			}
			continue
		}
		if diff := differences(c.body, e.object); len(diff) > 0 {
			f := fault(j.ex.about(e.line, "one event of the watch"), Fail, "an event has another object than the write was answered with", "the answer to the write", diff.String())
			f.Objects, f.Diff = []string{key}, diff.lines()
			j.v.add(j.run, f)
		}
	}
}
