package mutant

import (
	"net/http"
	"slices"
	"strings"
)

// Subjects of faults.
const (
	Schema      = "schema"       // types, enums, patterns, bounds, formats, required fields, the list's envelope
	JSON        = "json"         // what a body is before any schema
	ContentType = "content-type" // what a body says it is
	Error       = "error"        // status codes and the bodies of errors
	Selector    = "selector"     // labelSelector and fieldSelector
	Paging      = "paging"       // limit and continue
	Consistency = "consistency"  // get and list, HEAD and GET, the first and the second reading
	Namespace   = "namespace"    // isolation, and the list of all as union
	Prose       = "prose"        // rules that no keyword of the document says
	Auth        = "auth"         // who may read, and what the others learn
	Edge        = "edge"         // names, paths and parameters that nobody sends by accident
	Method      = "method"       // POST, PUT, PATCH, DELETE, TRACE and others
	Fixtures    = "fixtures"     // what is wrong only for who knows what was stored
	Latency     = "latency"      // slow and failing now and then
	Write       = "write"        // create, update, patch and delete
	Watch       = "watch"        // what a watch tells of these
)

// What a tester must be given to be able to notice a fault.
const (
	NeedsFixtures       = "fixtures"        // the objects of Fleet, as they were stored
	NeedsProbeMethods   = "probe-methods"   // leave to send methods that write, to a name that does not exist
	NeedsForbiddenToken = "forbidden token" // ForbiddenToken
	NeedsWrite          = "write"           // leave to write in a namespace
)

// Mutant is one fault in a server that is right otherwise.
type Mutant struct {
	Name    string
	Subject string
	// Profile is that of package openapi by which it is wrong, "" for kubevirt. With
	// "document" the server has nothing that the document does not name.
	Profile string
	Fault   func(*Server)
	// Needs is what the tester must be given, "" for nothing but URL and GoodToken.
	Needs string
	// Warns marks what is worth a warning or a note, not a failure.
	Warns bool
}

// Server is the broken server, with Fleet in it.
func (m Mutant) Server() *Server {
	s := m.Right()
	m.Fault(s)
	return s
}

// Right is the server before it is broken.
func (m Mutant) Right() *Server {
	switch {
	case m.Profile == "document":
		return NewMinimal(Fleet())
	case m.Needs == NeedsWrite:
		return NewWriting(Fleet())
	}
	return New(Fleet())
}

// All returns every mutant. Names are unique.
func All() []Mutant {
	return slices.Concat(
		schemaMutants(), listSchemaMutants(), jsonMutants(), contentTypeMutants(), errorMutants(),
		labelMutants(), fieldMutants(), pagingMutants(), consistencyMutants(), headMutants(), namespaceMutants(),
		proseMutants(), authMutants(), oracleMutants(), pathMutants(), parameterMutants(), methodMutants(),
		fixtureMutants(), latencyMutants(), documentMutants(), writeMutants(), watchMutants(),
	)
}

// of gives the mutants of a table their subject.
func of(subject string, mutants ...Mutant) []Mutant {
	for i := range mutants {
		mutants[i].Subject = subject
	}
	return mutants
}

// --- faults in objects

// change replaces one object, given as namespace/name, in everything that serves it.
func change(object string, edit func(Object) Object) func(*Server) {
	return func(s *Server) {
		i := slices.IndexFunc(s.Objects, func(o Object) bool { return o.Namespace+"/"+o.Name == object })
		s.Objects[i] = edit(s.Objects[i])
	}
}

// edit replaces a text of one object's JSON in everything that serves it.
func edit(object, from, to string) func(*Server) {
	return change(object, func(o Object) Object { return o.Edited(from, to) })
}

// add puts members behind the brace that ends a text of one object's JSON.
func add(object, after, members string) func(*Server) {
	return edit(object, after, after+members+",")
}

// editEach edits a text of every object as one kind of answer shows it.
func editEach(from, to string) func(Object) string {
	return func(o Object) string { return o.Edited(from, to).Body }
}

// only edits a text of one object as one kind of answer shows it.
func only(object, from, to string) func(Object) string {
	return func(o Object) string {
		if o.Namespace+"/"+o.Name != object {
			return o.Body
		}
		return o.Edited(from, to).Body
	}
}

// --- faults in requests and answers

// asked is what a request wants, as the right server reads it.
type asked struct {
	namespace, name string
	known           bool
}

func ask(r *http.Request) asked {
	namespace, name, known := route(r.URL.EscapedPath())
	return asked{namespace, name, known}
}

func (a asked) list() bool { return a.known && a.name == "" }
func (a asked) get() bool  { return a.known && a.name != "" }
func (a asked) all() bool  { return a.list() && a.namespace == "" }

func isList(r *http.Request) bool { return ask(r).list() }
func isGet(r *http.Request) bool  { return ask(r).get() }
func isAll(r *http.Request) bool  { return ask(r).all() }
func isPage(r *http.Request) bool { return r.URL.Query().Has("continue") }
func isHead(r *http.Request) bool { return r.Method == http.MethodHead }
func anything(*http.Request) bool { return true }

// answer changes the code and the body of the answers to some requests.
func answer(when func(*http.Request) bool, change func(code int, body string) (int, string)) func(*Server) {
	return func(s *Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if when(r) {
				code, body = change(code, body)
			}
			send(w, r, code, body)
		}
	}
}

func (s *Server) hasNamespace(namespace string) bool {
	return slices.ContainsFunc(s.Objects, func(o Object) bool { return o.Namespace == namespace })
}

// body changes the bodies of good answers.
func body(when func(*http.Request) bool, change func(string) string) func(*Server) {
	return answer(when, func(code int, body string) (int, string) {
		if code == http.StatusOK {
			body = change(body)
		}
		return code, body
	})
}

// replace replaces a text in the bodies of good answers, where it is there.
func replace(when func(*http.Request) bool, from, to string) func(*Server) {
	return body(when, func(b string) string { return strings.Replace(b, from, to, 1) })
}

// code changes one status code to another and leaves the body.
func code(when func(*http.Request) bool, from, to int) func(*Server) {
	return answer(when, func(code int, body string) (int, string) {
		if code == from {
			code = to
		}
		return code, body
	})
}

// failed changes the code and the body of the answers with one status code.
func failed(from int, change func(body string) (int, string)) func(*Server) {
	return answer(anything, func(code int, body string) (int, string) {
		if code == from {
			return change(body)
		}
		return code, body
	})
}

// header sets a header of the answers with one status code.
func header(when func(*http.Request) bool, status int, key, value string) func(*Server) {
	return func(s *Server) {
		headers := s.Headers
		s.Headers = func(h http.Header, r *http.Request, code int) {
			headers(h, r, code)
			if code == status && when(r) {
				h.Set(key, value)
			}
		}
	}
}

// instead answers some requests by another handler.
func instead(when func(*http.Request) bool, answer http.HandlerFunc) func(*Server) {
	return func(s *Server) {
		s.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if when(r) {
					answer(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
	}
}

// rewritten lets the server see another request than the one that came.
func rewritten(change func(*http.Request)) func(*Server) {
	return func(s *Server) {
		s.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r = r.Clone(r.Context())
				change(r)
				next.ServeHTTP(w, r)
			})
		})
	}
}

// both is for a fault that has two places.
func both(faults ...func(*Server)) func(*Server) {
	return func(s *Server) {
		for _, fault := range faults {
			fault(s)
		}
	}
}

// text is a handler with a fixed answer.
func text(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// every says yes to each n-th request that it is asked about.
func every(n int) func(*http.Request) bool {
	count := 0
	return func(*http.Request) bool {
		count++
		return count%n == 0
	}
}
