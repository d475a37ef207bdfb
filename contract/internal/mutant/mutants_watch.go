package mutant

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watchMutants tell a watch something else than what has happened.
func watchMutants() []Mutant {
	return needing(NeedsWrite, of(Watch, slices.Concat(eventMutants(), endMutants(), pastMutants(), choiceMutants())...))
}

// eventMutants are wrong about single changes.
func eventMutants() []Mutant {
	return []Mutant{
		{Name: "watch-loses-every-second-modification", Fault: lines(leaveOut(func(n int, l Line) bool { return l.Type == "MODIFIED" && n%2 == 0 }))},
		{Name: "watch-loses-the-third-event", Fault: lines(leaveOut(func(n int, _ Line) bool { return n == 3 }))},
		{Name: "watch-loses-additions", Fault: lines(leaveOut(func(_ int, l Line) bool { return l.Type == "ADDED" }))},
		{Name: "watch-loses-deletions", Fault: lines(leaveOut(func(_ int, l Line) bool { return l.Type == "DELETED" }))},
		{Name: "watch-tells-twice", Fault: lines(func(n int, l Line) []Line { return slices.Repeat([]Line{l}, 1+n%2) })},
		{Name: "watch-tells-one-late", Fault: func(s *Server) {
			s.Writing.Tell = func(*http.Request) func(Line) ([]Line, bool) {
				var held []Line
				n := 0
				return func(l Line) ([]Line, bool) {
					if n++; n == 2 {
						held = []Line{l}
						return nil, true
					}
					told := append([]Line{l}, held...)
					held = nil
					return told, true
				}
			}
		}},
		{Name: "watch-says-modified-for-added", Fault: lines(retype("ADDED", "MODIFIED"))},
		{Name: "watch-says-added-for-modified", Fault: lines(retype("MODIFIED", "ADDED"))},
		{Name: "watch-says-modified-for-deleted", Fault: lines(retype("DELETED", "MODIFIED"))},
		{Name: "watch-says-changed", Fault: lines(retype("MODIFIED", "CHANGED"))},
		{Name: "watch-says-lower-case", Fault: lines(retype("MODIFIED", "modified"))},
		{Name: "watch-shows-what-was", Fault: lines(retell("MODIFIED", within(func(m Tree) { part(m, "labels")[stepLabel] = "created" })))},
		{Name: "watch-shows-an-old-resource-version", Fault: func(s *Server) {
			s.Writing.Tell = func(*http.Request) func(Line) ([]Line, bool) {
				last := ""
				return func(l Line) ([]Line, bool) {
					told := retell("", within(func(m Tree) {
						was := last
						if last = str(m["resourceVersion"]); was != "" && l.Type == "MODIFIED" {
							m["resourceVersion"] = was
						}
					}))(0, l)
					return told, true
				}
			}
		}},
		{Name: "watch-shows-a-deletion-with-the-resource-version-before", Fault: func(s *Server) {
			s.Writing.Tell = func(*http.Request) func(Line) ([]Line, bool) {
				last := map[string]string{}
				return func(l Line) ([]Line, bool) {
					return retell("", within(func(m Tree) {
						uid := str(m["uid"])
						if l.Type == "DELETED" && last[uid] != "" {
							m["resourceVersion"] = last[uid]
						}
						last[uid] = str(m["resourceVersion"])
					}))(0, l), true
				}
			}
		}},
		{Name: "watch-shows-a-deletion-with-metadata-only", Fault: lines(retell("DELETED", lose("spec")))},
		{Name: "watch-shows-a-deletion-without-labels", Fault: lines(retell("DELETED", lose("metadata", "labels")))},
		{Name: "watch-shows-a-deletion-without-annotations", Fault: lines(retell("DELETED", lose("metadata", "annotations")))},
		{Name: "watch-shows-a-deletion-without-tolerations", Fault: lines(retell("DELETED", lose("spec", "tolerations")))},
		{Name: "watch-shows-a-deletion-as-a-status", Fault: lines(func(_ int, l Line) []Line {
			if l.Type == "DELETED" {
				l.Object = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
			}
			return []Line{l}
		})},
		{Name: "watch-shows-another-namespace", Fault: lines(retell("", within(func(m Tree) { m["namespace"] = "elsewhere" })))},
		{Name: "watch-shows-another-uid", Fault: func(s *Server) {
			n := 0
			lines(retell("", within(func(m Tree) { n++; m["uid"] = otherUID[:24] + strconv.Itoa(100000000000+n) })))(s)
		}},
		{Name: "watch-shows-metadata-only", Fault: lines(retell("", lose("spec")))},
		{Name: "watch-rounds-large-numbers", Fault: lines(retell("", rounds))},
		{Name: "watch-loses-zeros", Fault: lines(retell("", lose("spec", "terminationGracePeriodSeconds")))},
		{Name: "watch-shows-a-list", Fault: lines(func(_ int, l Line) []Line {
			l.Object = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{"resourceVersion":"1001"},"items":[` + l.Object + `]}`
			return []Line{l}
		})},
		{Name: "watch-has-bookmarks-unasked", Fault: lines(func(_ int, l Line) []Line {
			if l.Type == "DELETED" {
				return []Line{bookmark, l}
			}
			return []Line{l}
		})},
		{Name: "watch-ends-with-an-error", Fault: lines(func(_ int, l Line) []Line {
			if l.Type == "DELETED" {
				return []Line{l, {"ERROR", failure(500, "InternalError")}}
			}
			return []Line{l}
		})},
		{Name: "watch-is-indented", Fault: lines(func(_ int, l Line) []Line {
			var b bytes.Buffer
			_ = json.Indent(&b, []byte(l.Object), "", "  ")
			l.Object = b.String()
			return []Line{l}
		})},
		{Name: "watch-is-a-list", Fault: rewritten(func(r *http.Request) {
			q := r.URL.Query()
			q.Del("watch")
			r.URL.RawQuery = q.Encode()
		})},
		{Name: "watch-405", Fault: instead(isWatch, text(405, "application/json", failure(405, "MethodNotAllowed")))},
		{Name: "watch-is-text", Fault: header(isWatch, 200, "Content-Type", "text/plain")},
	}
}

// endMutants tell in time that is not theirs.
func endMutants() []Mutant {
	return []Mutant{
		{Name: "watch-is-not-flushed", Fault: func(s *Server) { s.Writing.Flush = func(http.ResponseWriter) {} }},
		{Name: "watch-is-late", Fault: func(s *Server) {
			flush := s.Writing.Flush
			s.Writing.Flush = func(w http.ResponseWriter) {
				time.Sleep(10 * time.Second)
				flush(w)
			}
		}},
		{Name: "watch-ends-at-once", Fault: func(s *Server) { s.Writing.Lasts = func(int) time.Duration { return 0 }; ending(1)(s) }},
		{Name: "watch-ends-after-two-events", Fault: ending(2)},
		{Name: "watch-tells-only-what-was-before-it", Warns: true, Fault: func(s *Server) { s.Writing.Lasts = func(int) time.Duration { return time.Millisecond } }},
		{Name: "watch-never-ends", Fault: func(s *Server) { s.Writing.Lasts = func(int) time.Duration { return longest } }},
		{Name: "watch-takes-seconds-for-minutes", Fault: func(s *Server) {
			s.Writing.Lasts = func(n int) time.Duration { return time.Duration(n) * time.Minute }
		}},
		{Name: "watch-takes-seconds-for-milliseconds", Warns: true, Fault: func(s *Server) {
			s.Writing.Lasts = func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
		}},
	}
}

// pastMutants are wrong about what was before a watch.
func pastMutants() []Mutant {
	return []Mutant{
		{Name: "watch-begins-now", Fault: requery(func(q map[string][]string) { q["resourceVersion"] = []string{"9999999"} })},
		{Name: "watch-replays-nothing", Fault: func(s *Server) {
			begins := map[int64]int{}
			since := s.Writing.Since
			s.Writing.Since = func(version int64) ([]Event, bool) {
				events, ok := since(version)
				if n, seen := begins[version]; !seen {
					begins[version] = len(s.Writing.events)
				} else if version == 1000 {
					return s.Writing.events[max(n, len(s.Writing.events)-1):], ok
				}
				return events, ok
			}
		}},
		{Name: "watch-replays-the-newest-state-only", Fault: linesOf(isReplay, leaveOut(func(_ int, l Line) bool { return l.Type == "MODIFIED" }))},
		{Name: "watch-replays-no-deletions", Fault: linesOf(isReplay, leaveOut(func(_ int, l Line) bool { return l.Type == "DELETED" }))},
		{Name: "watch-tells-the-first-once-more", Fault: among(requery(func(q map[string][]string) {
			if n, err := strconv.ParseInt(q["resourceVersion"][0], 10, 64); err == nil {
				q["resourceVersion"] = []string{strconv.FormatInt(n-1, 10)}
			}
		}))},
		{Name: "watch-of-too-old-a-version-just-ends", Fault: expired()},
		{Name: "watch-of-too-old-a-version-500", Fault: expired(Line{"ERROR", failure(500, "InternalError")})},
		{Name: "watch-of-too-old-a-version-ends-with-a-bookmark", Fault: expired(bookmark)},
		{Name: "watch-of-too-old-a-version-begins-now", Fault: func(s *Server) {
			since := s.Writing.Since
			s.Writing.Since = func(version int64) ([]Event, bool) {
				events, ok := since(version)
				return events, ok || version > 0
			}
		}},
		{Name: "watch-of-too-old-a-version-404", Fault: func(s *Server) {
			s.Writing.Expired = func(w http.ResponseWriter, r *http.Request) []Line {
				s.fail(w, r, Failure{Code: http.StatusNotFound, Reason: "NotFound", Message: "no"})
				return nil
			}
		}},
	}
}

// choiceMutants tell of what nobody has chosen, or not of what somebody has.
func choiceMutants() []Mutant {
	return []Mutant{
		{Name: "watch-ignores-labels", Fault: requery(func(q map[string][]string) { delete(q, "labelSelector") })},
		{Name: "watch-ignores-the-second-label", Fault: requery(func(q map[string][]string) {
			if all := q["labelSelector"]; len(all) > 0 {
				q["labelSelector"] = []string{strings.Split(all[0], ",")[0]}
			}
		})},
		{Name: "watch-ignores-names", Fault: requery(func(q map[string][]string) { delete(q, "fieldSelector") })},
		{Name: "watch-of-a-name-400", Fault: instead(func(r *http.Request) bool { return isWatch(r) && byName(r) }, text(400, "application/json", failure(400, "BadRequest")))},
		{Name: "watch-of-a-name-loses-deletions", Fault: linesOf(byName, leaveOut(func(_ int, l Line) bool { return l.Type == "DELETED" }))},
		{Name: "watch-of-a-name-loses-modifications", Fault: linesOf(byName, leaveOut(func(_ int, l Line) bool { return l.Type == "MODIFIED" }))},
		{Name: "watch-ignores-the-namespace", Fault: among(func(s *Server) {
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if isWatch(r) {
						r = r.Clone(r.Context())
						r.URL.Path, r.URL.RawPath = "/apis/kubevirt.io/v1/"+resource, ""
					}
					next.ServeHTTP(w, r)
				})
			})
		})},
		{Name: "watch-does-not-tell-what-begins-to-match", Fault: translated("ADDED", func(Event, Object) (string, Object) { return "", Object{} })},
		{Name: "watch-says-modified-for-what-begins-to-match", Fault: translated("ADDED", func(_ Event, o Object) (string, Object) { return "MODIFIED", o })},
		{Name: "watch-does-not-tell-what-no-longer-matches", Fault: translated("DELETED", func(Event, Object) (string, Object) { return "", Object{} })},
		{Name: "watch-says-modified-for-what-no-longer-matches", Fault: translated("DELETED", func(e Event, _ Object) (string, Object) { return "MODIFIED", e.After })},
		{Name: "watch-shows-what-no-longer-matches-with-the-resource-version-before", Fault: translated("DELETED", func(e Event, _ Object) (string, Object) { return "DELETED", e.Before })},
		{Name: "watch-selects-by-the-newest-state", Fault: func(s *Server) {
			right := s.Writing.Translate
			s.Writing.Translate = func(selected func(Object) bool, e Event) (string, Object) {
				eventType, o := right(selected, e)
				for _, later := range slices.Backward(s.Writing.events) {
					if later.After.Name == e.After.Name && later.After.Namespace == e.After.Namespace {
						if !selected(later.After) {
							return "", Object{}
						}
						break
					}
				}
				return eventType, o
			}
		}},
	}
}
