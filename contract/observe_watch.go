package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// Watch is a watch that is observed. Its methods are for one goroutine at a time.
type Watch struct {
	observer *Observer
	asked    *asked
	begin    Observation
	// versions are the newest of each uid in this watch.
	versions map[string]int64
	// ended says that what comes is no events, so that nothing more can be said.
	ended bool
}

// Watch begins to observe a watch, by its request and the head of its answer. It
// is nil when the exchange is no watch, or no answer of status 200 that can be
// read event by event: it is then one for [Observer.Observe].
func (o *Observer) Watch(ob Observation) *Watch {
	a := o.ask(ob.Method, ob.URL, ob.RequestHeader)
	if a == nil || !a.watch || ob.Status != http.StatusOK || ob.Method == http.MethodHead ||
		unjudged(a, ob) != "" || a.form(ob) == formForeign || ob.Header.Get("Content-Encoding") != "" {
		return nil
	}
	w := &Watch{observer: o, asked: a, begin: ob, versions: make(map[string]int64)}
	if len(a.forms) > 0 {
		return w
	}
	return nil
}

// Begin judges what the head of the answer shows.
func (w *Watch) Begin() []Violation {
	s := w.observer.scene(w.asked, w.begin)
	s.judge.seen[checkStatusCode]++
	s.judge.seen[checkContentType]++
	s.judge.file(s.ex, "", s.judge.doc.ValidateResponse(openapi.Response{Operation: w.asked.op, Status: http.StatusOK, Header: w.begin.Header, Head: true}))
	return w.observer.take(s)
}

// Event judges one event, a line of the stream, that was there at the given time.
func (w *Watch) Event(line []byte, at time.Time) []Violation {
	if w.ended || len(strings.TrimSpace(string(line))) == 0 {
		return nil
	}
	ob := w.begin
	ob.Body, ob.Ended = line, at
	s := w.observer.scene(w.asked, ob)
	s.counts = false
	delete(s.judge.seen, checkRequest)
	delete(s.judge.found, checkRequest)
	s.ex.request.form, s.ex.note = w.form(line), "one event of the watch"
	s.event(w)
	return w.observer.take(s)
}

// Untold counts a part of the watch that is not judged, with the reason.
func (w *Watch) Untold(why string) {
	w.observer.mu.Lock()
	defer w.observer.mu.Unlock()
	w.observer.untold[why]++
}

// form is that of one event: what the client takes, and of these what the event has.
func (w *Watch) form(line []byte) openapi.Form {
	var event struct{ Object json.RawMessage }
	if json.Unmarshal(line, &event) == nil {
		if form, ok := formOf(event.Object); ok {
			of := map[openapi.Form]openapi.Form{
				openapi.FormTable:         openapi.FormWatchEventTable,
				openapi.FormPartialObject: openapi.FormWatchEventPartialObject,
			}[form]
			if slices.Contains(w.asked.forms, of) {
				return of
			}
		}
	}
	if slices.Contains(w.asked.forms, openapi.FormWatchEvent) {
		return openapi.FormWatchEvent
	}
	return w.asked.forms[0]
}

// event judges one event.
func (s *scene) event(w *Watch) {
	j := s.judge
	j.seen[checkEvent]++
	j.seen[checkJSON]++
	var event struct {
		Type   *string
		Object json.RawMessage
	}
	if err := json.Unmarshal(s.ex.body, &event); err != nil || event.Type == nil {
		// A list that comes in place of events, line by line, is one fault.
		w.ended = true
		j.add(checkEvent, fault(s.ex, Fail, "a watch is answered with something else than events",
			"one JSON object with type and object a line", "a line without them"))
		return
	}
	for _, issue := range j.doc.ValidateResponse(openapi.Response{
		Operation: w.asked.op, Form: s.ex.request.form, Status: http.StatusOK, Header: asJSON, Body: s.ex.body,
	}) {
		// A machine in an event is judged like one in a list.
		if pointer, ok := strings.CutPrefix(issue.Pointer, "/object/"); ok && s.ex.request.form == openapi.FormWatchEvent && machineEvent(*event.Type) {
			issue.Pointer = "/" + pointer
			j.file(s.ex, requestedIn(event.Object), openapi.Issues{issue})
			continue
		}
		j.file(s.ex, "", openapi.Issues{issue})
	}
	if !machineEvent(*event.Type) {
		return
	}
	if s.ex.request.form == openapi.FormWatchEventTable {
		for _, raw := range objectsIn(event.Object) {
			s.show(raw, false)
		}
	} else {
		s.show(event.Object, s.ex.request.form == openapi.FormWatchEvent)
	}
	for _, m := range s.shown {
		m.gone = *event.Type == "DELETED"
	}
	s.places()
	s.selection()
	w.order(s)
}

// machineEvent reports whether events of a type are about a machine.
func machineEvent(eventType string) bool {
	return eventType == "ADDED" || eventType == "MODIFIED" || eventType == "DELETED"
}

// requestedIn is the key of the machine of an event.
func requestedIn(object []byte) string {
	if it, ok := readItem(object, ""); ok {
		return it.key()
	}
	return "the object of an event"
}

// maxWatched is how many machines of one watch are compared by their order.
const maxWatched = 20_000

// order compares an event with those before it in the watch.
func (w *Watch) order(s *scene) {
	if !s.judge.conventions() {
		return
	}
	for _, m := range s.shown {
		version, err := strconv.ParseInt(m.resourceVersion, 10, 64)
		if err != nil || m.uid == "" {
			continue
		}
		s.judge.seen[checkRepeat]++
		if before := w.versions[m.uid]; version < before {
			s.accuse(checkRepeat, m, "the resourceVersion of an object goes back within a watch", "at least "+strconv.FormatInt(before, 10), m.resourceVersion)
		}
		if len(w.versions) >= maxWatched {
			clear(w.versions)
		}
		w.versions[m.uid] = version
	}
}
