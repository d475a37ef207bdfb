package contract_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/openapi"
)

// mutant is the right server with one fault.
type mutant struct {
	name  string
	fault func(*server)
	// fails are the checks that are about the fault: each must fail.
	fails []string
	// under is the profile, kubevirt by default. Under document it is the minimal
	// server that has the fault.
	under openapi.Profile
}

// everywhere edits an object wherever it is shown.
func everywhere(name, from, to string) func(*server) {
	return func(s *server) {
		for i, o := range s.objects {
			if o.name == name {
				s.objects[i] = o.edited(from, to)
				return
			}
		}
	}
}

// body changes the text of answers with a status code.
func body(code int, change func(string) string) func(*server) {
	return func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, c int, body string) {
			if c == code {
				body = change(body)
			}
			send(w, r, c, body)
		}
	}
}

// welcome lets one more credential in.
func welcome(accept func(authorization string) bool) func(*server) {
	return func(s *server) {
		authenticate := s.authenticate
		s.authenticate = func(authorization string) int {
			if accept(authorization) {
				return 0
			}
			return authenticate(authorization)
		}
	}
}

// labels replaces how requirements are matched, where the replacement says so.
func labels(wrong func(t term, labels map[string]string) (match, applies bool)) func(*server) {
	return func(s *server) {
		s.matchLabel = func(t term, labels map[string]string) bool {
			if match, applies := wrong(t, labels); applies {
				return match
			}
			return t.matchLabel(labels)
		}
	}
}

// overAll changes the query of the list of all namespaces, laterPages that of
// every page but the first.
func overAll(change func(url.Values)) func(*server) {
	return func(s *server) {
		s.query = func(namespace string, q url.Values) {
			if namespace == "" {
				change(q)
			}
		}
	}
}

func laterPages(change func(url.Values)) func(*server) {
	return func(s *server) {
		s.query = func(_ string, q url.Values) {
			if q.Has("continue") {
				change(q)
			}
		}
	}
}

func isList(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/virtualmachineinstances") }

var mutants = slices.Concat(schemaMutants, selectorMutants, pagingMutants, consistencyMutants, authMutants, errorMutants, bodyMutants, documentMutants,
	edgeMutants, methodMutants, repeatMutants, moreAuthMutants)

var schemaMutants = []mutant{
	{name: "enum", fault: everywhere("vm03", `"phase":"Running"`, `"phase":"Runing"`), fails: []string{"schema.object"}},
	{name: "enum of an interface", fault: everywhere("vm03", `"model":"virtio"`, `"model":"virtoi"`), fails: []string{"schema.object"}},
	{name: "pattern", fault: everywhere("vm03", `"macAddress":"02:`, `"macAddress":"2:`), fails: []string{"schema.object"}},
	{name: "minimum", fault: everywhere("vm03", `"cores":2`, `"cores":0`), fails: []string{"schema.object"}},
	{name: "maximum", fault: everywhere("vm03", `"port":22`, `"port":70000`), fails: []string{"schema.object"}},
	{name: "type", fault: everywhere("vm03", `"guest":"1Gi"`, `"guest":1024`), fails: []string{"schema.object"}},
	{name: "format of a time", fault: everywhere("vm03", `2026-05-01T08:01:00Z`, `2026-02-30T08:01:00Z`), fails: []string{"schema.object"}},
	{name: "missing name of a disk", fault: everywhere("vm03", `"name":"root"`, `"nome":"root"`), fails: []string{"schema.object"}},
	{name: "missing name", fault: func(s *server) {
		s.inList = func(o object) string { return strings.Replace(o.body, `"name":"vm03",`, ``, 1) }
	}, fails: []string{"schema.object"}},
	{name: "kind missing", fault: everywhere("vm03", `"kind":"VirtualMachineInstance",`, ``), fails: []string{"schema.object"}},
	{name: "kind of an item", fault: everywhere("vm03", `"kind":"VirtualMachineInstance"`, `"kind":"VirtualMachine"`), fails: []string{"schema.object"}},
	{name: "kind of the list", fault: body(200, func(b string) string { return strings.Replace(b, `InstanceList"`, `List"`, 1) }), fails: []string{"schema.list"}},
	{name: "null items", fault: func(s *server) {
		envelope := s.envelope
		s.envelope = func(items, meta string) string {
			if items == "" {
				return strings.Replace(envelope("", meta), "[]", "null", 1)
			}
			return envelope(items, meta)
		}
	}, fails: []string{"schema.list"}},
	{name: "a null among the items", fault: func(s *server) {
		envelope := s.envelope
		s.envelope = func(items, meta string) string { return envelope(strings.TrimPrefix(items+",null", ","), meta) }
	}, fails: []string{"schema.object"}},
	{name: "no metadata in the list", fault: func(s *server) {
		s.envelope = func(items, _ string) string {
			return `{"apiVersion":"kubevirt.io/v1","items":[` + items + `],"kind":"VirtualMachineInstanceList"}`
		}
	}, fails: []string{"schema.list", "paging.pages"}},
}

var selectorMutants = []mutant{
	{name: "labelSelector ignored", fault: labels(func(term, map[string]string) (bool, bool) { return true, true }), fails: []string{
		"selector.equals", "selector.double-equals", "selector.not-equals", "selector.in", "selector.not-in", "selector.exists",
		"selector.not-exists", "selector.and", "selector.near-miss", "paging.selector",
	}},
	{name: "= ignored", fault: labels(func(t term, _ map[string]string) (bool, bool) { return true, t.op == "=" }),
		fails: []string{"selector.equals", "selector.near-miss", "selector.and", "paging.selector"}},
	{name: "== unknown", fault: labels(func(t term, _ map[string]string) (bool, bool) { return false, t.op == "==" }), fails: []string{"selector.double-equals"}},
	{name: "!= drops objects without the key", fault: labels(func(t term, l map[string]string) (bool, bool) {
		value, has := l[t.key]
		return has && value != t.values[0], t.op == "!="
	}), fails: []string{"selector.not-equals"}},
	{name: "!= means !key", fault: labels(func(t term, l map[string]string) (bool, bool) {
		_, has := l[t.key]
		return !has, t.op == "!="
	}), fails: []string{"selector.not-equals"}},
	{name: "in knows the first value only", fault: labels(func(t term, l map[string]string) (bool, bool) {
		return t.op == "in" && l[t.key] == t.values[0], t.op == "in"
	}), fails: []string{"selector.in"}},
	{name: "notin drops objects without the key", fault: labels(func(t term, l map[string]string) (bool, bool) {
		value, has := l[t.key]
		return has && !slices.Contains(t.values, value), t.op == "notin"
	}), fails: []string{"selector.not-in"}},
	{name: "key means everything", fault: labels(func(t term, _ map[string]string) (bool, bool) { return true, t.op == "" }), fails: []string{"selector.exists"}},
	{name: "!key means key", fault: labels(func(t term, l map[string]string) (bool, bool) {
		_, has := l[t.key]
		return has, t.op == "!"
	}), fails: []string{"selector.not-exists"}},
	{name: "a comma means or", fault: func(s *server) { s.all = func(met []bool) bool { return slices.Contains(met, true) } }, fails: []string{"selector.and"}},
	{name: "values compared without case", fault: labels(func(t term, l map[string]string) (bool, bool) {
		value, has := l[t.key]
		return has && strings.EqualFold(value, t.values[0]), t.op == "="
	}), fails: []string{"selector.near-miss"}},
	{name: "keys compared without case", fault: labels(func(t term, l map[string]string) (bool, bool) {
		for k, v := range l {
			if strings.EqualFold(k, t.key) && slices.Contains(t.values, v) {
				return true, t.op == "="
			}
		}
		return false, t.op == "="
	}), fails: []string{"selector.near-miss"}},
	{name: "values compared by prefix", fault: labels(func(t term, l map[string]string) (bool, bool) {
		value, has := l[t.key]
		return has && strings.HasPrefix(value, t.values[0]), t.op == "="
	}), fails: []string{"selector.near-miss"}},
	{name: "selectors over all namespaces ignored", fault: func(s *server) {
		next := s.selectThenLimit
		s.selectThenLimit = func(items []object, selected func(object) bool, start, limit int) ([]object, int) {
			if len(items) == len(s.objects) {
				selected = func(object) bool { return true }
			}
			return next(items, selected, start, limit)
		}
	}, fails: []string{"selector.equals", "selector.field-namespace"}},
	{name: "fieldSelector ignored", fault: func(s *server) { s.matchField = func(term, object) bool { return true } },
		fails: []string{"selector.field-name", "selector.field-namespace"}},
	{name: "!= drops objects without a key that nobody has", fault: labels(func(t term, l map[string]string) (bool, bool) {
		return false, t.op == "!=" && strings.Contains(t.key, "nosuch")
	}), fails: []string{"selector.not-equals"}},
	{name: "metadata.namespace ignored", fault: func(s *server) {
		s.matchField = func(t term, o object) bool { return t.key == "metadata.namespace" || t.matchField(o) }
	}, fails: []string{"selector.field-namespace"}},
}

var selectorIDs = []string{
	"selector.equals", "selector.double-equals", "selector.not-equals", "selector.in", "selector.not-in", "selector.exists",
	"selector.not-exists", "selector.and", "selector.near-miss", "paging.selector",
}

var pagingMutants = []mutant{
	{name: "a page loses its last item", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, limit int) ([]object, int) {
			got, next := page(items, start, limit)
			if next >= 0 {
				got = got[:len(got)-1]
			}
			return got, next
		}
	}, fails: []string{"paging.pages"}},
	{name: "the next page begins with the last item", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, limit int) ([]object, int) {
			got, next := page(items, start, limit)
			if limit > 1 && next >= 0 {
				next--
			}
			return got, next
		}
	}, fails: []string{"paging.pages"}},
	{name: "continue ignored", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, _, limit int) ([]object, int) { return page(items, 0, limit) }
	}, fails: []string{"paging.pages"}},
	{name: "pages without end", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, limit int) ([]object, int) {
			got, next := page(items, start, limit)
			if limit > 0 && next < 0 {
				next = 0
			}
			return got, next
		}
	}, fails: []string{"paging.pages"}},
	{name: "empty pages without end", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, limit int) ([]object, int) {
			got, next := page(items, start, limit)
			return got, max(next, start+1)
		}
	}, fails: []string{"paging.pages"}},
	{name: "limit ignored", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, _ int) ([]object, int) { return page(items, start, 0) }
	}, fails: []string{"paging.limit", "paging.pages"}},
	{name: "a page has one more than the limit", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, limit int) ([]object, int) {
			if limit > 0 {
				limit++
			}
			return page(items, start, limit)
		}
	}, fails: []string{"paging.limit", "paging.pages"}},
	{name: "limit before selector", fault: func(s *server) {
		s.selectThenLimit = func(items []object, selected func(object) bool, start, limit int) ([]object, int) {
			page, next := s.page(items, start, limit)
			return slices.DeleteFunc(slices.Clone(page), func(o object) bool { return !selected(o) }), next
		}
	}, fails: []string{"paging.selector"}},
	{name: "limit ignored over all namespaces", fault: overAll(func(q url.Values) { q.Del("limit") }), fails: []string{"paging.limit", "paging.pages"}},
	{name: "continue ignored over all namespaces", fault: overAll(func(q url.Values) { q.Del("continue") }), fails: []string{"paging.pages"}},
	{name: "labelSelector forgotten on later pages", fault: laterPages(func(q url.Values) { q.Del("labelSelector") }), fails: []string{"paging.selector"}},
	{name: "fieldSelector forgotten on later pages", fault: laterPages(func(q url.Values) { q.Del("fieldSelector") }), fails: []string{"paging.selector"}},
	{name: "labelSelector forgotten on later pages over all namespaces", fault: func(s *server) {
		s.query = func(namespace string, q url.Values) {
			if namespace == "" && q.Has("continue") {
				q.Del("labelSelector")
			}
		}
	}, fails: []string{"paging.selector"}},
	{name: "limit forgotten on later pages", fault: laterPages(func(q url.Values) { q.Del("limit") }), fails: []string{"paging.pages"}},
	{name: "a later page shows one item twice for another", fault: func(s *server) {
		page := s.page
		s.page = func(items []object, start, limit int) ([]object, int) {
			got, next := page(items, start, limit)
			if start > 0 && len(got) > 1 {
				got = append(slices.Clone(got[:len(got)-1]), got[0])
			}
			return got, next
		}
	}, fails: []string{"paging.pages"}},
	{name: "limit=0 answered with 500", fault: func(s *server) { s.zeroLimit = http.StatusInternalServerError },
		fails: []string{"paging.limit-zero"}},
}

var consistencyMutants = []mutant{
	{name: "get differs from the list", fault: func(s *server) {
		s.inGet = func(o object) string { return strings.Replace(o.body, `"cores":2`, `"cores":4`, 1) }
	}, fails: []string{"consistency.get"}},
	{name: "get has another label", fault: func(s *server) {
		s.inGet = func(o object) string { return strings.Replace(o.body, `"labels":{`, `"labels":{"more":"yes",`, 1) }
	}, fails: []string{"consistency.get"}},
	{name: "get answers with another object", fault: func(s *server) {
		s.find = func(namespace, name string) (object, bool) {
			_, ok := s.findObject(namespace, name)
			return s.objects[0], ok
		}
	}, fails: []string{"consistency.get"}},
	{name: "listed but not found", fault: func(s *server) {
		s.find = func(namespace, name string) (object, bool) {
			o, ok := s.findObject(namespace, name)
			return o, ok && name != "vm07"
		}
	}, fails: []string{"consistency.get"}},
	{name: "HEAD not allowed", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if r.Method == http.MethodHead {
				code = http.StatusMethodNotAllowed
			}
			send(w, r, code, body)
		}
	}, fails: []string{"consistency.head"}},
	{name: "an object listed twice", fault: func(s *server) {
		s.objects = append(s.objects, s.objects[len(s.objects)-1])
	}, fails: []string{"consistency.list"}},
	{name: "namespaces leak", fault: func(s *server) {
		s.inNamespace = func(string, object) bool { return true }
	}, fails: []string{"namespace.items", "namespace.foreign"}},
	{name: "namespaces by prefix", fault: func(s *server) {
		extra := machine(77, "prod-2", "intruder", map[string]string{"app": "web"})
		s.objects = append(s.objects, extra)
		s.inNamespace = func(namespace string, o object) bool { return strings.HasPrefix(o.namespace, namespace) }
	}, fails: []string{"namespace.items"}},
	{name: "all namespaces leaves one out", fault: func(s *server) {
		s.inNamespace = func(namespace string, o object) bool {
			return namespace == "" && o.name != "vm05" || o.namespace == namespace
		}
	}, fails: []string{"namespace.union"}},
	{name: "listed without a namespace", fault: func(s *server) {
		s.inList = func(o object) string { return strings.Replace(o.body, `"namespace":"`+o.namespace+`",`, "", 1) }
	}, fails: []string{"namespace.items"}},
	{name: "one object listed without a namespace", fault: func(s *server) {
		s.inList = func(o object) string {
			if o.name == "vm03" {
				return strings.Replace(o.body, `"namespace":"prod",`, "", 1)
			}
			return o.body
		}
	}, fails: []string{"namespace.items"}},
	{name: "get ignores the namespace", fault: func(s *server) {
		s.find = func(namespace, name string) (object, bool) {
			if o, ok := s.findObject(namespace, name); ok {
				return o, true
			}
			i := slices.IndexFunc(s.objects, func(o object) bool { return o.name == name })
			if i < 0 {
				return object{}, false
			}
			return s.objects[i], true
		}
	}, fails: []string{"namespace.foreign"}},
}

var documentMutants = []mutant{
	{name: "document: enum of KubeVirt", fault: everywhere("vm03", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"External"`), fails: []string{"schema.object"}, under: openapi.ProfileDocument},
	{name: "document: limit=0 answered", fault: func(s *server) { s.zeroLimit = http.StatusOK }, fails: []string{"paging.limit-zero", "edge.limit"}, under: openapi.ProfileDocument},
	{name: "document: limit ignored", fault: func(s *server) {
		s.page = func(items []object, _, _ int) ([]object, int) { return items, -1 }
	}, fails: []string{"paging.limit"}, under: openapi.ProfileDocument},
	{name: "document: limit before selector", fault: func(s *server) {
		s.selectThenLimit = func(items []object, selected func(object) bool, start, limit int) ([]object, int) {
			page, next := s.page(items, start, limit)
			return slices.DeleteFunc(slices.Clone(page), func(o object) bool { return !selected(o) }), next
		}
	}, fails: []string{"paging.selector"}, under: openapi.ProfileDocument},
	{name: "document: labelSelector ignored", fault: labels(func(term, map[string]string) (bool, bool) { return true, true }), fails: selectorIDs, under: openapi.ProfileDocument},
	{name: "document: fieldSelector ignored", fault: func(s *server) { s.matchField = func(term, object) bool { return true } }, fails: []string{"selector.field-name"}, under: openapi.ProfileDocument},
	{name: "document: listed but not found", fault: func(s *server) {
		s.find = func(namespace, name string) (object, bool) {
			o, ok := s.findObject(namespace, name)
			return o, ok && name != "vm07"
		}
	}, fails: []string{"consistency.get"}, under: openapi.ProfileDocument},
	{name: "document: bad token accepted", fault: welcome(func(a string) bool {
		return strings.HasPrefix(a, "Bearer ") && a != "Bearer "+forbiddenToken
	}), fails: []string{"auth.wrong-token"}, under: openapi.ProfileDocument},
	{name: "document: namespaces leak", fault: func(s *server) { s.inNamespace = func(string, object) bool { return true } },
		fails: []string{"namespace.items", "namespace.foreign"}, under: openapi.ProfileDocument},
	{name: "document: text instead of JSON", fault: func(s *server) {
		s.send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(code)
			w.Write([]byte(body))
		}
	}, fails: []string{"schema.content-type"}, under: openapi.ProfileDocument},
}

// Every fault is caught by the checks that are about it.
func TestMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			profile, s := openapi.ProfileKubeVirt, newServer(fleet())
			if m.under == openapi.ProfileDocument {
				profile, s = m.under, newMinimalServer(fleet())
			}
			m.fault(s)
			t.Parallel()
			report := run(t, s.target(t), contract.WithProfile(profile), contract.WithProbeMethods())
			failed := with(report, contract.Fail)
			t.Logf("%-45s %s", m.name, strings.Join(failed, " "))
			assert.Subset(t, failed, m.fails, text(t, report))
			assert.Equal(t, contract.ExitFailures, report.ExitCode())
		})
	}
}

// Every check has a mutant that it catches.
func TestEveryCheckHasAMutant(t *testing.T) {
	caught := make(map[string]bool)
	for _, m := range mutants {
		for _, id := range m.fails {
			caught[id] = true
		}
	}
	for _, id := range catches() {
		caught[id] = true
	}
	for _, c := range contract.Checks() {
		switch {
		case c.ID == "schema.drift": // only ever warns
		case c.Subject() == "prose": // only ever warns, see prose_test.go
		case c.Subject() == "fixture": // needs fixtures, see fixture_test.go
		case c.Subject() == "fuzz": // only when asked for, see generate_test.go
		case c.Subject() == "write": // their mutants are of a real API server: interop/apiserver
		case c.Subject() == "service": // fails beyond a limit that is given, see service_test.go
		default:
			assert.True(t, caught[c.ID], c.ID)
		}
	}
}
