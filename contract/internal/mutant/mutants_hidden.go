package mutant

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// fixtureMutants are wrong everywhere in the same way, so that only who knows what
// was stored can tell.
func fixtureMutants() []Mutant {
	unlisted := func(hidden func(Object) bool) func(*Server) {
		return func(s *Server) {
			s.InNamespace = func(namespace string, o Object) bool {
				return (namespace == "" || o.Namespace == namespace) && !hidden(o)
			}
		}
	}
	lost := func(hidden func(Object) bool) func(*Server) {
		return func(s *Server) { s.Objects = slices.DeleteFunc(s.Objects, hidden) }
	}
	is := func(namespace, name string) func(Object) bool {
		return func(o Object) bool { return o.Namespace == namespace && o.Name == name }
	}
	mutants := of(Fixtures,
		Mutant{Name: "hidden-item-in-no-list", Fault: unlisted(is("prod", "vm06"))},
		Mutant{Name: "hidden-item-the-last", Fault: unlisted(is("test", "other"))},
		Mutant{Name: "hidden-items-without-labels", Fault: unlisted(func(o Object) bool { return len(o.Labels) == 0 })},
		Mutant{Name: "hidden-items-with-a-prefixed-label", Fault: unlisted(func(o Object) bool { _, has := o.Labels["kubevirt.io/os"]; return has })},
		Mutant{Name: "hidden-namespace", Fault: unlisted(func(o Object) bool { return o.Namespace == "test" })},
		Mutant{Name: "lost-item", Fault: lost(is("stage", "vm12"))},
		Mutant{Name: "lost-first-item", Fault: lost(is("prod", "vm00"))},
		Mutant{Name: "lost-items-of-a-name-used-twice", Fault: lost(is("stage", "vm11"))},
		Mutant{Name: "stored-without-a-label", Fault: change("prod/vm01", func(o Object) Object {
			o = o.Edited(`,"tier":"gold"`, ``)
			delete(o.Labels, "tier")
			return o
		})},
		Mutant{Name: "stored-labels-in-lower-case", Fault: change("prod/vm03", func(o Object) Object {
			o = o.Edited(`"Fedora"`, `"fedora"`)
			o.Labels["kubevirt.io/os"] = "fedora"
			return o
		})},
		Mutant{Name: "stored-with-other-memory", Fault: edit("stage/vm10", `"guest":"1Gi"`, `"guest":"2Gi"`)},
		Mutant{Name: "stored-without-second-volume", Fault: change("prod/vm10", func(o Object) Object {
			return o.Edited(`,{"cdrom":{"bus":"sata"},"name":"init"}`, ``).
				Edited(`,{"cloudInitNoCloud":{"userData":"#cloud-config\npassword: `+CloudInitSecret+`\n"},"name":"init"}`, ``)
		})},
	)
	for i := range mutants {
		mutants[i].Needs = NeedsFixtures
	}
	return mutants
}

// Slow is how long the slow answers of latency mutants take; the others take less
// than a millisecond.
const Slow = 250 * time.Millisecond

// latencyMutants are slow, or fail, now and then.
func latencyMutants() []Mutant {
	slow := func(when func(*http.Request) bool) func(*Server) {
		return func(s *Server) {
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if when(r) {
						select {
						case <-time.After(Slow):
						case <-r.Context().Done():
						}
					}
					next.ServeHTTP(w, r)
				})
			})
		}
	}
	status := func(code int, reason string) http.HandlerFunc {
		_, b := Failure{Code: code, Reason: reason, Message: "no"}.status()
		return text(code, "application/json", b)
	}
	mutants := of(Latency,
		Mutant{Name: "slow-every-fifteenth", Fault: slow(every(15))},
		Mutant{Name: "slow-get-of-one-object", Fault: slow(func(r *http.Request) bool { return ask(r) == asked{"prod", "vm02", true} })},
		Mutant{Name: "slow-list-with-selector-notin", Fault: slow(func(r *http.Request) bool {
			return strings.Contains(r.URL.Query().Get("labelSelector"), "notin")
		})},
		Mutant{Name: "slow-404", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if code == http.StatusNotFound {
					select {
					case <-time.After(Slow):
					case <-r.Context().Done():
					}
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "flaky-503-every-eleventh", Fault: instead(every(11), status(503, "ServiceUnavailable"))},
		Mutant{Name: "flaky-500-every-seventh", Fault: instead(every(7), status(500, "InternalError"))},
		Mutant{Name: "flaky-502-as-html", Fault: instead(every(13), text(502, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>"))},
		Mutant{Name: "flaky-504-as-text", Fault: instead(every(17), text(504, "text/plain", "upstream request timeout"))},
		// Not before the first byte: most clients repeat such a GET and tell nobody.
		Mutant{Name: "flaky-connection-closed", Fault: instead(every(19), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4096")
			text(200, "application/json", `{"apiVersion":"kubevirt.io/v1",`)(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})},
	)
	for i := range mutants {
		mutants[i].Warns = true
	}
	return mutants
}
