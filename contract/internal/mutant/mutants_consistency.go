package mutant

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// consistencyMutants let two answers disagree that show the same thing.
func consistencyMutants() []Mutant {
	const created = `"creationTimestamp":"2026-05-01T08:00:`
	inList := func(render func(Object) string) func(*Server) { return func(s *Server) { s.InList = render } }
	inGet := func(render func(Object) string) func(*Server) { return func(s *Server) { s.InGet = render } }
	// selected changes items of lists that have a selector.
	selected := func(from, to string) func(*Server) {
		return body(func(r *http.Request) bool { return r.URL.Query().Has("labelSelector") }, func(b string) string {
			return strings.ReplaceAll(b, from, to)
		})
	}
	// reading edits every object, differently at each reading.
	reading := func(change func(n int, o Object) Object) func(*Server) {
		return func(s *Server) {
			n := 0
			s.Before = func(*Server) { n++ }
			render := func(o Object) string { return change(n, o).Body }
			s.InList, s.InGet = render, render
		}
	}
	return of(Consistency,
		// list and get
		Mutant{Name: "items-without-status", Fault: inList(func(o Object) string { return withoutStatus(o.Body) })},
		Mutant{Name: "items-without-domain-cpu", Fault: inList(editEach(`"cpu":{"cores":2},`, ``))},
		Mutant{Name: "items-without-labels", Fault: inList(func(o Object) string {
			from := strings.Index(o.Body, `"labels":`)
			return o.Body[:from] + o.Body[from+strings.Index(o.Body[from:], `"name"`):]
		})},
		Mutant{Name: "items-without-uid", Fault: inList(func(o Object) string {
			from := strings.Index(o.Body, `,"uid":"`)
			return o.Body[:from] + o.Body[from+len(`,"uid":"00000000-0000-4000-8000-000000000001"`):]
		})},
		Mutant{Name: "one-item-stale-phase", Fault: inList(only("prod/vm09", `"phase":"Running","phaseTransitionTimestamps"`, `"phase":"Scheduled","phaseTransitionTimestamps"`))},
		Mutant{Name: "one-get-stale-label", Fault: inGet(only("stage/vm10", `"tier":"gold"`, `"tier":"silver"`))},
		Mutant{Name: "one-get-other-uid", Fault: inGet(only("prod/vm03", `"uid":"0`, `"uid":"1`))},
		Mutant{Name: "one-get-other-resource-version", Fault: inGet(only("test/other", `"resourceVersion":"120"`, `"resourceVersion":"119"`))},
		Mutant{Name: "get-other-creation-time", Fault: inGet(editEach(created, `"creationTimestamp":"2026-05-01T10:00:`))},
		Mutant{Name: "get-without-cloud-init-volume", Fault: inGet(func(o Object) string {
			from := strings.Index(o.Body, `,{"cloudInitNoCloud"`)
			return o.Body[:from] + o.Body[from+strings.Index(o.Body[from:], `],"status"`):]
		})},
		Mutant{Name: "get-without-unknown-fields", Fault: inList(editEach(`"nodeName":`, `"qosClass":"Burstable","nodeName":`))},
		Mutant{Name: "get-rounds-large-numbers", Fault: both(
			inList(editEach(`"metadata":{`, `"metadata":{"generation":9007199254740993,`)),
			inGet(editEach(`"metadata":{`, `"metadata":{"generation":9007199254740992,`)))},
		Mutant{Name: "get-fills-in-a-null", Fault: inGet(only("prod/vm11", `"lastProbeTime":null`, `"lastProbeTime":"2026-05-01T08:01:00Z"`))},
		Mutant{Name: "get-disks-other-order", Fault: inGet(editEach(`{"bootOrder":1,"disk":{"bus":"virtio"},"name":"root"},{"cdrom":{"bus":"sata"},"name":"init"}`,
			`{"cdrom":{"bus":"sata"},"name":"init"},{"bootOrder":1,"disk":{"bus":"virtio"},"name":"root"}`))},
		Mutant{Name: "one-listed-not-gettable", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if namespace == "stage" && name == "vm13" {
					return Object{}, false
				}
				return s.FindObject(namespace, name)
			}
		}},
		Mutant{Name: "last-listed-not-gettable", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if o := s.Objects[len(s.Objects)-1]; o.Namespace == namespace && o.Name == name {
					return Object{}, false
				}
				return s.FindObject(namespace, name)
			}
		}},
		Mutant{Name: "one-get-is-its-neighbour", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if namespace == "prod" && name == "vm06" {
					name = "vm07"
				}
				return s.FindObject(namespace, name)
			}
		}},
		Mutant{Name: "one-item-twice", Fault: func(s *Server) {
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				items = slices.DeleteFunc(slices.Clone(items), func(o Object) bool { return !selected(o) })
				if len(items) == len(s.Objects) {
					items = append(items, items[4])
				}
				return s.Page(items, start, limit)
			}
		}},

		// selected and not selected
		Mutant{Name: "selected-items-without-node", Fault: selected(`"nodeName":"node-1",`, ``)},
		Mutant{Name: "selected-items-other-phase", Fault: selected(`"phase":"Running","phaseTransitionTimestamps"`, `"phase":"Unknown","phaseTransitionTimestamps"`)},
		Mutant{Name: "selected-items-other-version", Fault: selected(`"resourceVersion":"11`, `"resourceVersion":"31`)},
		Mutant{Name: "items-by-field-without-spec-volumes", Fault: body(func(r *http.Request) bool { return r.URL.Query().Has("fieldSelector") }, func(b string) string {
			return strings.ReplaceAll(b, `"volumes":[{`, `"volumes":[{"name":"swap","emptyDisk":{"capacity":"1Gi"}},{`)
		})},

		// the first and the second reading
		Mutant{Name: "uid-new-at-each-reading", Fault: reading(func(n int, o Object) Object {
			return o.Edited(`"uid":"00000000`, fmt.Sprintf(`"uid":"%08x`, n))
		})},
		Mutant{Name: "one-uid-of-two", Fault: reading(func(n int, o Object) Object {
			if o.Namespace == "prod" && o.Name == "vm05" && n%2 == 0 {
				return o.Edited(`"uid":"0`, `"uid":"f`)
			}
			return o
		})},
		Mutant{Name: "created-at-each-reading", Fault: reading(func(n int, o Object) Object {
			return o.Edited(created, fmt.Sprintf(`"creationTimestamp":"2026-05-02T%02d:%02d:`, n/60%24, n%60))
		})},
		Mutant{Name: "get-created-at-each-reading", Fault: func(s *Server) {
			n := 0
			s.InGet = func(o Object) string {
				n++
				return o.Edited(created, fmt.Sprintf(`"creationTimestamp":"2026-05-02T%02d:%02d:`, n/60%24, n%60)).Body
			}
		}},
		Mutant{Name: "phase-flaps-under-one-version", Fault: reading(func(n int, o Object) Object {
			if n%2 == 0 && o.Name == "vm11" {
				return o.Edited(`"phase":"Running","phaseTransitionTimestamps"`, `"phase":"Unknown","phaseTransitionTimestamps"`)
			}
			return o
		})},
		Mutant{Name: "node-flaps-under-one-version", Fault: reading(func(n int, o Object) Object {
			return o.Edited(`"nodeName":"node-1"`, fmt.Sprintf(`"nodeName":"node-%d"`, n%3+1))
		})},
		Mutant{Name: "item-version-goes-back", Fault: reading(func(n int, o Object) Object {
			return o.Edited(`"resourceVersion":"`, fmt.Sprintf(`"resourceVersion":"%d`, 900000-n))
		})},
		Mutant{Name: "list-version-goes-back", Fault: func(s *Server) { s.Before = func(s *Server) { s.Revision-- } }},
		Mutant{Name: "list-version-of-two-replicas", Fault: func(s *Server) {
			n := 0
			s.Before = func(s *Server) {
				n++
				s.Revision = int64(1000 + n - n%2*400)
			}
		}},
		Mutant{Name: "list-version-lower-in-every-third", Fault: func(s *Server) {
			third := every(3)
			s.Before = func(s *Server) {
				s.Revision = 1000
				if third(nil) {
					s.Revision = 7
				}
			}
		}},
		Mutant{Name: "every-second-list-lacks-one", Fault: func(s *Server) {
			second := every(2)
			lacks := false
			s.Query = func(string, url.Values) { lacks = second(nil) }
			s.InNamespace = func(namespace string, o Object) bool {
				return (namespace == "" || o.Namespace == namespace) && !(lacks && o.Name == "vm11")
			}
		}},
		Mutant{Name: "every-second-whole-list-lacks-one", Fault: func(s *Server) {
			second := every(2)
			lacks := false
			s.Query = func(namespace string, q url.Values) {
				whole := !q.Has("labelSelector") && !q.Has("fieldSelector") && !q.Has("continue")
				lacks = namespace == "prod" && whole && second(nil)
			}
			s.InNamespace = func(namespace string, o Object) bool {
				return (namespace == "" || o.Namespace == namespace) && !(lacks && o.Name == "vm03")
			}
		}},
		Mutant{Name: "every-second-get-404", Fault: func(s *Server) {
			second := every(2)
			s.Find = func(namespace, name string) (Object, bool) {
				o, ok := s.FindObject(namespace, name)
				return o, ok && !second(nil)
			}
		}},
		Mutant{Name: "order-changes-at-each-list", Fault: func(s *Server) {
			n := 0
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				items = slices.DeleteFunc(slices.Clone(items), func(o Object) bool { return !selected(o) })
				if len(items) > 0 {
					n++
					turn := n % len(items)
					items = append(items[turn:], items[:turn]...)
				}
				return s.Page(items, start, limit)
			}
		}},
		Mutant{Name: "second-reading-304", Fault: func(s *Server) {
			seen := map[string]bool{}
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if key := r.Method + r.URL.String(); code == http.StatusOK {
					if seen[key] {
						w.WriteHeader(http.StatusNotModified)
						return
					}
					seen[key] = true
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "answer-of-the-request-before", Fault: func(s *Server) { // a shared buffer
			var last string
			s.InGet = func(o Object) string {
				if last == "" {
					last = o.Body
				}
				defer func() { last = o.Body }()
				return last
			}
		}},
		Mutant{Name: "cache-key-without-query", Fault: func(s *Server) {
			cache := map[string]string{}
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if isList(r) && code == http.StatusOK {
					if old, has := cache[r.URL.EscapedPath()]; has {
						body = old
					}
					cache[r.URL.EscapedPath()] = body
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "first-object-vanishes-once-it-was-read", Needs: NeedsFixtures, Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				o, ok := s.FindObject(namespace, name)
				if ok && o.Name == "alone" {
					s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), func(o Object) bool { return o.Name == "alone" })
				}
				return o, ok
			}
		}},
	)
}

// headMutants let HEAD disagree with GET.
func headMutants() []Mutant {
	head := func(from, to int) func(*Server) { return code(isHead, from, to) }
	return of(Consistency,
		Mutant{Name: "head-405", Fault: head(http.StatusOK, http.StatusMethodNotAllowed)},
		Mutant{Name: "head-501", Fault: head(http.StatusOK, http.StatusNotImplemented)},
		Mutant{Name: "head-404", Fault: head(http.StatusOK, http.StatusNotFound)},
		Mutant{Name: "head-of-list-404", Fault: code(func(r *http.Request) bool { return isHead(r) && isList(r) }, 200, 404)},
		Mutant{Name: "head-204", Fault: head(http.StatusOK, http.StatusNoContent)},
		Mutant{Name: "head-500", Fault: head(http.StatusOK, http.StatusInternalServerError)},
		Mutant{Name: "head-of-missing-object-200", Fault: head(http.StatusNotFound, http.StatusOK)},
		Mutant{Name: "head-text-html", Fault: header(isHead, http.StatusOK, "Content-Type", "text/html")},
		Mutant{Name: "head-content-length-zero", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if isHead(r) {
					s.Headers(w.Header(), r, code)
					w.Header().Set("Content-Length", "0")
					w.WriteHeader(code)
					return
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "head-content-length-off-by-one", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if isHead(r) && code == http.StatusOK && isGet(r) {
					s.Headers(w.Header(), r, code)
					w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
					w.WriteHeader(code)
					return
				}
				send(w, r, code, body)
			}
		}},
	)
}

// namespaceMutants mix namespaces up.
func namespaceMutants() []Mutant {
	inside := func(in func(namespace string, o Object) bool) func(*Server) {
		return func(s *Server) { s.InNamespace = in }
	}
	is := func(namespace string, o Object) bool { return namespace == "" || o.Namespace == namespace }
	return of(Namespace,
		Mutant{Name: "namespace-ignored", Fault: inside(func(string, Object) bool { return true })},
		Mutant{Name: "namespace-by-prefix", Fault: inside(func(namespace string, o Object) bool { return strings.HasPrefix(o.Namespace, namespace) })},
		Mutant{Name: "namespace-by-substring", Fault: inside(func(namespace string, o Object) bool { return strings.Contains(o.Namespace, namespace) })},
		Mutant{Name: "namespace-any-case", Fault: inside(func(namespace string, o Object) bool {
			return namespace == "" || strings.EqualFold(o.Namespace, namespace)
		})},
		Mutant{Name: "namespace-shows-one-of-another", Fault: inside(func(namespace string, o Object) bool {
			return is(namespace, o) || namespace == "stage" && o.Name == "alone"
		})},
		Mutant{Name: "namespace-star-is-everything", Fault: inside(func(namespace string, o Object) bool { return is(namespace, o) || namespace == "*" })},
		Mutant{Name: "unknown-namespace-is-everything", Fault: func(s *Server) {
			s.InNamespace = func(namespace string, o Object) bool {
				return is(namespace, o) || !s.hasNamespace(namespace)
			}
		}},
		Mutant{Name: "unknown-namespace-is-the-default-one", Fault: func(s *Server) {
			s.InNamespace = func(namespace string, o Object) bool {
				return is(namespace, o) || !s.hasNamespace(namespace) && o.Namespace == "test"
			}
		}},
		Mutant{Name: "unknown-namespace-500", Fault: answer(isList, func(code int, b string) (int, string) {
			if code != 200 || !strings.Contains(b, `"items":[]`) {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "no"}.status()
		})},
		Mutant{Name: "namespace-ignored-with-selector", Fault: func(s *Server) {
			selects := false
			s.Query = func(_ string, q url.Values) { selects = len(q["labelSelector"]) > 0 }
			s.InNamespace = func(namespace string, o Object) bool { return selects || is(namespace, o) }
		}},
		Mutant{Name: "namespace-ignored-with-field-selector", Fault: func(s *Server) {
			selects := false
			s.Query = func(_ string, q url.Values) { selects = len(q["fieldSelector"]) > 0 }
			s.InNamespace = func(namespace string, o Object) bool { return selects || is(namespace, o) }
		}},
		Mutant{Name: "namespace-misses-its-last", Fault: inside(func(namespace string, o Object) bool {
			return is(namespace, o) && !(namespace == "prod" && o.Name == "vm11")
		})},
		Mutant{Name: "get-from-any-namespace", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if o, ok := s.FindObject(namespace, name); ok {
					return o, true
				}
				i := slices.IndexFunc(s.Objects, func(o Object) bool { return o.Name == name })
				if i < 0 {
					return Object{}, false
				}
				return s.Objects[i], true
			}
		}},
		Mutant{Name: "get-first-of-that-name", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if _, ok := s.FindObject(namespace, name); !ok {
					return Object{}, false
				}
				return s.Objects[slices.IndexFunc(s.Objects, func(o Object) bool { return o.Name == name })], true
			}
		}},
		Mutant{Name: "get-namespace-by-prefix", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				i := slices.IndexFunc(s.Objects, func(o Object) bool { return o.Name == name && strings.HasPrefix(o.Namespace, namespace) })
				if i < 0 {
					return Object{}, false
				}
				return s.Objects[i], true
			}
		}},
		Mutant{Name: "get-namespace-any-case", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) { return s.FindObject(strings.ToLower(namespace), name) }
		}},
		Mutant{Name: "get-missing-namespace-is-the-first", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if !s.hasNamespace(namespace) {
					namespace = s.Objects[0].Namespace
				}
				return s.FindObject(namespace, name)
			}
		}},
		Mutant{Name: "one-item-says-another-namespace", Fault: edit("stage/vm14", `"namespace":"stage"`, `"namespace":"prod"`)},
		Mutant{Name: "items-without-namespace", Fault: body(func(r *http.Request) bool { return isList(r) && !isAll(r) }, func(b string) string {
			for _, namespace := range []string{"prod", "stage", "test"} {
				b = strings.ReplaceAll(b, `"namespace":"`+namespace+`",`, "")
			}
			return b
		})},

		// the list of all namespaces
		Mutant{Name: "all-lacks-a-namespace", Needs: NeedsFixtures, Fault: inside(func(namespace string, o Object) bool {
			return is(namespace, o) && !(namespace == "" && o.Namespace == "test")
		})},
		Mutant{Name: "all-is-the-first-namespace", Needs: NeedsFixtures, Fault: inside(func(namespace string, o Object) bool {
			return o.Namespace == namespace || namespace == "" && o.Namespace == "prod"
		})},
		Mutant{Name: "all-lacks-one", Fault: inside(func(namespace string, o Object) bool {
			return is(namespace, o) && !(namespace == "" && o.Name == "vm08")
		})},
		Mutant{Name: "all-one-of-each-name", Fault: func(s *Server) { // merged by name
			s.InNamespace = func(namespace string, o Object) bool {
				if namespace != "" {
					return o.Namespace == namespace
				}
				return s.Objects[slices.IndexFunc(s.Objects, func(p Object) bool { return p.Name == o.Name })].Namespace == o.Namespace
			}
		}},
		Mutant{Name: "all-shows-one-that-is-gone", Fault: func(s *Server) {
			s.Objects = append(s.Objects, Machine(77, "test", "zombie", map[string]string{"app": "web"}))
			s.InNamespace = func(namespace string, o Object) bool {
				return is(namespace, o) && (namespace == "" || o.Name != "zombie")
			}
			s.Find = func(namespace, name string) (Object, bool) {
				if name == "zombie" {
					return Object{}, false
				}
				return s.FindObject(namespace, name)
			}
		}},
		Mutant{Name: "all-items-without-namespace", Fault: body(isAll, func(b string) string {
			for _, namespace := range []string{"prod", "stage", "test"} {
				b = strings.ReplaceAll(b, `"namespace":"`+namespace+`",`, "")
			}
			return b
		})},
		Mutant{Name: "all-twice", Fault: func(s *Server) { // two clusters behind one address, both the same
			var namespace string
			s.Query = func(ns string, _ url.Values) { namespace = ns }
			right := s.SelectThenLimit
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				if namespace == "" {
					items = slices.Concat(items, items)
				}
				return right(items, selected, start, limit)
			}
		}},
		Mutant{Name: "all-names-with-their-namespace", Fault: body(isAll, func(b string) string {
			for _, o := range Fleet() {
				b = strings.ReplaceAll(b, fmt.Sprintf(`"name":%q,"namespace":%q`, o.Name, o.Namespace), fmt.Sprintf(`"name":"%s-%s","namespace":%q`, o.Namespace, o.Name, o.Namespace))
			}
			return b
		})},
		Mutant{Name: "all-items-other-version", Fault: body(isAll, func(b string) string { return strings.ReplaceAll(b, `"resourceVersion":"11`, `"resourceVersion":"51`) })},
	)
}
