package mutant

import (
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
)

// methodMutants do something for a method that writes, or fail at it, though the
// name asked for does not exist. A server that has no writes says 405; one that
// has says 404 or refuses the body.
func methodMutants() []Mutant {
	probed := func(methods string, answer http.HandlerFunc) func(*Server) {
		return denials(func(r *http.Request) bool { return slices.Contains(strings.Split(methods, " "), r.Method) }, allowed, answer)
	}
	status := func(code int, reason string) http.HandlerFunc {
		_, b := Failure{Code: code, Reason: reason, Message: "no"}.status()
		return text(code, "application/json", b)
	}
	success := text(200, "application/json", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`)
	mutants := of(Method,
		Mutant{Name: "delete-of-nothing-200", Fault: probed("DELETE", success)},
		Mutant{Name: "delete-of-nothing-204", Fault: probed("DELETE", text(204, "", ""))},
		Mutant{Name: "delete-of-nothing-202", Fault: probed("DELETE", text(202, "application/json", "{}"))},
		Mutant{Name: "delete-500", Fault: probed("DELETE", status(500, "InternalError"))},
		Mutant{Name: "put-200", Fault: probed("PUT", success)},
		Mutant{Name: "put-201", Fault: probed("PUT", func(w http.ResponseWriter, r *http.Request) {
			a := ask(r)
			text(201, "application/json", Machine(99, a.namespace, a.name, nil).Body)(w, r)
		})},
		Mutant{Name: "put-500", Fault: probed("PUT", status(500, "InternalError"))},
		Mutant{Name: "patch-of-nothing-200", Fault: probed("PATCH", success)},
		Mutant{Name: "patch-500", Fault: probed("PATCH", status(500, "InternalError"))},
		Mutant{Name: "post-on-a-name-200", Fault: probed("POST", success)},
		Mutant{Name: "post-500", Fault: probed("POST", status(500, "InternalError"))},
		Mutant{Name: "post-stack-trace", Fault: probed("POST", text(500, "text/plain", "Traceback (most recent call last):\n  File \"app.py\", line 40, in dispatch\nNotImplementedError\n"))},
		Mutant{Name: "unknown-method-200", Fault: probed("FOO", success)},
		Mutant{Name: "unknown-method-500", Fault: probed("FOO", status(500, "InternalError"))},
		Mutant{Name: "options-500", Fault: probed("OPTIONS", status(500, "InternalError"))},
		Mutant{Name: "trace-500", Fault: probed("TRACE", status(500, "InternalError"))},
		Mutant{Name: "unknown-method-as-get", Warns: true, Fault: rewritten(func(r *http.Request) {
			if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}, r.Method) {
				r.Method = http.MethodGet
			}
		})},
		Mutant{Name: "every-method-as-get", Warns: true, Fault: rewritten(func(r *http.Request) {
			if r.Method != http.MethodHead {
				r.Method = http.MethodGet
			}
		})},
		Mutant{Name: "trace-echoes-the-request", Fault: probed("TRACE", func(w http.ResponseWriter, r *http.Request) {
			echo, err := httputil.DumpRequest(r, false)
			if err != nil {
				status(500, "InternalError")(w, r)
				return
			}
			text(200, "message/http", string(echo))(w, r)
		})},
		Mutant{Name: "method-500", Fault: probed("DELETE PUT PATCH POST TRACE", status(500, "InternalError"))},
		Mutant{Name: "method-not-implemented-as-html", Fault: probed("DELETE PUT PATCH POST", text(405, "text/html", "<html><body><h1>405 Not Allowed</h1></body></html>"))},
		Mutant{Name: "method-405-code-404", Fault: failed(405, func(b string) (int, string) { return 405, strings.Replace(b, `"code":405`, `"code":404`, 1) })},
		Mutant{Name: "method-405-reason-not-found", Fault: failed(405, func(b string) (int, string) {
			return 405, strings.Replace(b, `"reason":"MethodNotAllowed"`, `"reason":"NotFound"`, 1)
		})},
		Mutant{Name: "delete-needs-no-token", Fault: func(s *Server) {
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodDelete && anonymous(r) && isGet(r) {
						status(404, "NotFound")(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
		}},
	)
	for i := range mutants {
		mutants[i].Needs = NeedsProbeMethods
	}
	return mutants
}

// allowed says whether the right server would go as far as to look at the method.
func allowed(r *http.Request) bool { return ask(r).known && authenticate(authorization(r)) == 0 }
