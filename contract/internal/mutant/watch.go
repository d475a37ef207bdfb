package mutant

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// watching is the part of [Writing] that is about watches.
type watching struct {
	// Since returns the changes after a resourceVersion; ok is false when it is too old
	// to know them.
	Since func(version int64) (events []Event, ok bool)
	// Translate says what a watch is told of a change, where selected says what it is
	// about; "" is nothing.
	Translate func(selected func(Object) bool, e Event) (eventType string, o Object)
	// Tell begins a watch. What it returns sees every line, and says what is told
	// instead and whether the watch goes on.
	Tell func(r *http.Request) func(Line) (told []Line, more bool)
	// Expired is what a watch from too old a resourceVersion is told.
	Expired func(w http.ResponseWriter, r *http.Request) []Line
	// Lasts is how long a watch lasts that asks for a number of seconds.
	Lasts func(seconds int) time.Duration
	Flush func(w http.ResponseWriter)
}

// Line is one line of a watch; Object is JSON.
type Line struct{ Type, Object string }

func (l Line) text() string {
	return `{"type":"` + l.Type + `","object":` + l.Object + "}\n"
}

// longest is how long a watch lasts that does not say.
const longest = time.Hour

func (s *Server) newWatching() watching {
	return watching{
		Since: func(version int64) ([]Event, bool) {
			w := s.Writing
			if version < w.oldest {
				return nil, false
			}
			for i, e := range w.events {
				if e.Revision > version {
					return w.events[i:], true
				}
			}
			return nil, true
		},
		Translate: translate,
		Tell: func(*http.Request) func(Line) ([]Line, bool) {
			return func(l Line) ([]Line, bool) { return []Line{l}, true }
		},
		Expired: func(http.ResponseWriter, *http.Request) []Line {
			_, body := Failure{Code: http.StatusGone, Reason: "Expired", Message: "too old resource version"}.status()
			return []Line{{"ERROR", body[:len(body)-1]}}
		},
		Lasts: func(seconds int) time.Duration { return time.Duration(seconds) * time.Second },
		Flush: func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
	}
}

// translate lets an object begin where it is first selected, and end where it last
// was: as it was then, with the resourceVersion of the change.
func translate(selected func(Object) bool, e Event) (string, Object) {
	was, is := e.Before.Body != "" && selected(e.Before), e.Type != "DELETED" && selected(e.After)
	switch {
	case was && is:
		return "MODIFIED", e.After
	case is:
		return "ADDED", e.After
	case was:
		last := e.Before.tree()
		metadata(last)["resourceVersion"] = strconv.FormatInt(e.Revision, 10)
		return "DELETED", object(last)
	}
	return "", Object{}
}

// watch answers a watch. While it waits, others are answered.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, namespace string) {
	q := r.URL.Query()
	s.Query(namespace, q)
	sel, err := s.selection(q)
	version, verr := strconv.ParseInt(q.Get("resourceVersion"), 10, 64)
	if err == nil {
		err = verr
	}
	if err != nil {
		s.fail(w, r, Failure{Code: http.StatusBadRequest, Reason: "BadRequest", Message: err.Error()})
		return
	}
	lasts := longest
	if seconds, err := strconv.Atoi(q.Get("timeoutSeconds")); err == nil {
		lasts = s.Writing.Lasts(seconds)
	}
	end := time.NewTimer(lasts)
	defer end.Stop()
	selected := func(o Object) bool { return s.InNamespace(namespace, o) && s.selected(sel, o) }

	tell := s.Writing.Tell(r)
	s.Headers(w.Header(), r, http.StatusOK)
	for {
		events, ok := s.Writing.Since(version)
		if !ok {
			send(w, s.Writing.Expired(w, r))
			return
		}
		told, more := s.told(tell, selected, events)
		if len(events) > 0 {
			version = max(version, events[len(events)-1].Revision)
		}
		changed := s.Writing.changed
		s.mu.Unlock()
		send(w, told)
		s.Writing.Flush(w)
		if more {
			select {
			case <-changed:
			case <-end.C:
				more = false
			case <-r.Context().Done():
				more = false
			}
		}
		s.mu.Lock()
		if !more {
			return
		}
	}
}

// told is what a watch is told of changes, and whether it goes on.
func (s *Server) told(tell func(Line) ([]Line, bool), selected func(Object) bool, events []Event) (told []Line, more bool) {
	for _, e := range events {
		eventType, o := s.Writing.Translate(selected, e)
		if eventType == "" {
			continue
		}
		lines, more := tell(Line{eventType, o.Body})
		told = append(told, lines...)
		if !more {
			return told, false
		}
	}
	return told, true
}

func send(w io.Writer, lines []Line) {
	for _, l := range lines {
		_, _ = io.WriteString(w, l.text())
	}
}
