package mutant

import (
	"net/http"
	"strconv"
	"strings"
)

// lines says what is told instead of each line of a watch, the nth of its kind.
func lines(how func(n int, l Line) []Line) func(*Server) {
	return linesOf(anything, how)
}

// linesOf does so in some watches.
func linesOf(which func(*http.Request) bool, how func(n int, l Line) []Line) func(*Server) {
	return func(s *Server) {
		s.Writing.Tell = func(r *http.Request) func(Line) ([]Line, bool) {
			n, wrong := 0, which(r)
			return func(l Line) ([]Line, bool) {
				if n++; wrong {
					return how(n, l), true
				}
				return []Line{l}, true
			}
		}
	}
}

// leaveOut tells nothing of some lines.
func leaveOut(what func(n int, l Line) bool) func(int, Line) []Line {
	return func(n int, l Line) []Line {
		if what(n, l) {
			return nil
		}
		return []Line{l}
	}
}

// retell edits the objects of events of one type, "" for all.
func retell(eventType string, edit func(Tree)) func(int, Line) []Line {
	return func(_ int, l Line) []Line {
		if eventType == "" || l.Type == eventType {
			t := Object{Body: l.Object}.tree()
			edit(t)
			l.Object = object(t).Body
		}
		return []Line{l}
	}
}

// retype gives events of one type another.
func retype(from, to string) func(int, Line) []Line {
	return func(_ int, l Line) []Line {
		if l.Type == from {
			l.Type = to
		}
		return []Line{l}
	}
}

// ending ends every watch when it has told so much.
func ending(after int) func(*Server) {
	return func(s *Server) {
		s.Writing.Tell = func(*http.Request) func(Line) ([]Line, bool) {
			n := 0
			return func(l Line) ([]Line, bool) {
				n++
				return []Line{l}, n < after
			}
		}
	}
}

// among lets somebody else write to other machines meanwhile, which is no fault. Some
// faults show only then.
func among(fault func(*Server)) func(*Server) {
	return func(s *Server) {
		fault(s)
		n := 0
		s.Before = func(s *Server) {
			n++
			s.Touch("stage", "vm10", "touched", strconv.Itoa(n))
			s.Touch("prod", "vm03", "touched", strconv.Itoa(n))
		}
	}
}

// What watches ask for.
func byName(r *http.Request) bool  { return r.URL.Query().Has("fieldSelector") }
func isWatch(r *http.Request) bool { return r.URL.Query().Has("watch") }

// isReplay says that a watch asks for all that has happened since the machine was made.
func isReplay(r *http.Request) bool {
	q := r.URL.Query()
	return q.Has("watch") && !q.Has("labelSelector") && !q.Has("fieldSelector")
}

// requery changes the query of watches.
func requery(change func(q map[string][]string)) func(*Server) {
	return rewritten(func(r *http.Request) {
		if q := r.URL.Query(); q.Has("watch") {
			change(q)
			r.URL.RawQuery = q.Encode()
		}
	})
}

// translated changes what a watch with a selector is told of an update, where it is
// right to tell an event of this type.
func translated(right string, change func(e Event, o Object) (string, Object)) func(*Server) {
	return func(s *Server) {
		translate := s.Writing.Translate
		s.Writing.Translate = func(selected func(Object) bool, e Event) (string, Object) {
			eventType, o := translate(selected, e)
			if e.Type == "MODIFIED" && eventType == right {
				return change(e, o)
			}
			return eventType, o
		}
	}
}

// expired changes what a watch from too old a resourceVersion is told.
func expired(lines ...Line) func(*Server) {
	return func(s *Server) { s.Writing.Expired = func(http.ResponseWriter, *http.Request) []Line { return lines } }
}

// failure is a Status in an event.
func failure(code int, reason string) string {
	_, body := Failure{Code: code, Reason: reason, Message: "no"}.status()
	return strings.TrimSpace(body)
}

var bookmark = Line{"BOOKMARK", `{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{"resourceVersion":"1"}}`}
