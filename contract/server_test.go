package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vmikit/vmikit/contract"
	apart "github.com/vmikit/vmikit/contract/internal/mutant"
)

const (
	goodToken      = "good-token-8f14e45f"
	forbiddenToken = "no-rights-c9f0f895"
)

// server is a small right implementation. Every decision that somebody could get
// wrong is a function, which a mutant replaces.
type server struct {
	mu      sync.Mutex
	objects []object // by namespace and name

	// minimal has the document's two operations and nothing else: no HEAD, no list
	// of all namespaces, no continue, no bodies of errors.
	minimal bool

	authenticate func(authorization string) int // a status code, 0 for welcome
	// open lets anybody make a request, whatever the token.
	open func(r *http.Request) bool
	// path sees the escaped path before it is read.
	path func(escaped string) string
	// query sees the query of a list before it is read.
	query       func(namespace string, q url.Values)
	matchLabel  func(term, map[string]string) bool
	all         func(met []bool) bool
	matchField  func(term, object) bool
	inNamespace func(namespace string, o object) bool
	find        func(namespace, name string) (object, bool)
	// page returns the items from position start, and where the next page starts,
	// -1 for nowhere.
	page func(items []object, start, limit int) ([]object, int)
	// selectThenLimit returns the page of the selected objects.
	selectThenLimit func(items []object, selected func(object) bool, start, limit int) ([]object, int)
	zeroLimit       int // status
	inList, inGet   func(object) string
	envelope        func(items, meta string) string
	status          func(code int, reason string) (int, string)
	// send is the last to see an answer.
	send func(w http.ResponseWriter, r *http.Request, code int, body string)
	// before sees every request before it is answered.
	before func(*server)
}

func newServer(objects []object) *server {
	s := &server{objects: objects, zeroLimit: http.StatusBadRequest}
	s.authenticate = func(authorization string) int {
		switch authorization {
		case "Bearer " + goodToken:
			return 0
		case "Bearer " + forbiddenToken:
			return http.StatusForbidden
		}
		return http.StatusUnauthorized
	}
	s.open = func(*http.Request) bool { return false }
	s.path = func(escaped string) string { return escaped }
	s.query = func(string, url.Values) {}
	s.matchLabel = term.matchLabel
	s.all = func(met []bool) bool { return !slices.Contains(met, false) }
	s.matchField = term.matchField
	s.inNamespace = func(namespace string, o object) bool { return namespace == "" || o.namespace == namespace }
	s.find = s.findObject
	s.page = func(items []object, start, limit int) ([]object, int) {
		start = min(start, len(items))
		if limit < 1 || start+limit >= len(items) {
			return items[start:], -1
		}
		return items[start : start+limit], start + limit
	}
	s.selectThenLimit = func(items []object, selected func(object) bool, start, limit int) ([]object, int) {
		return s.page(slices.DeleteFunc(slices.Clone(items), func(o object) bool { return !selected(o) }), start, limit)
	}
	s.inList = func(o object) string { return o.body }
	s.inGet = s.inList
	s.envelope = func(items, meta string) string {
		return `{"apiVersion":"kubevirt.io/v1","items":[` + items + `],"kind":"VirtualMachineInstanceList","metadata":` + meta + "}\n"
	}
	s.status = func(code int, reason string) (int, string) {
		return code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":%q,"code":%d}`, reason, code)
	}
	s.send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		w.Write([]byte(body))
	}
	s.before = func(*server) {}
	return s
}

// newMinimalServer has nothing but what the document names.
func newMinimalServer(objects []object) *server {
	s := newServer(objects)
	s.minimal = true
	s.envelope = func(items, _ string) string {
		return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","items":[` + items + `]}`
	}
	s.send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
		if code != http.StatusOK {
			w.WriteHeader(code)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(body))
	}
	return s
}

// target starts the server.
func (s *server) target(t *testing.T) contract.Target {
	t.Helper()
	hs := httptest.NewServer(s)
	t.Cleanup(hs.Close)
	target := contract.Target{URL: hs.URL, Token: goodToken, ForbiddenToken: forbiddenToken}
	if s.minimal {
		target.Namespace = "prod"
	}
	return target
}

var route = regexp.MustCompile(`^/apis/kubevirt\.io/v1(?:/namespaces/([^/]+))?/virtualmachineinstances(?:/([^/]+))?$`)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before(s)
	if code := s.authenticate(r.Header.Get("Authorization")); code != 0 && !s.open(r) {
		s.fail(w, r, code, map[int]string{401: "Unauthorized", 403: "Forbidden"}[code])
		return
	}
	m := route.FindStringSubmatch(s.path(r.URL.EscapedPath()))
	if m == nil || m[1] == "" && (m[2] != "" || s.minimal) {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && (s.minimal || r.Method != http.MethodHead) {
		s.fail(w, r, http.StatusMethodNotAllowed, "MethodNotAllowed")
		return
	}
	namespace, err := url.PathUnescape(m[1])
	name, err2 := url.PathUnescape(m[2])
	if err != nil || err2 != nil {
		s.fail(w, r, http.StatusBadRequest, "BadRequest")
		return
	}
	if m[2] == "" {
		s.list(w, r, namespace)
		return
	}
	o, ok := s.find(namespace, name)
	if !ok {
		s.fail(w, r, http.StatusNotFound, "NotFound")
		return
	}
	s.send(w, r, http.StatusOK, s.inGet(o))
}

func (s *server) fail(w http.ResponseWriter, r *http.Request, code int, reason string) {
	code, body := s.status(code, reason)
	s.send(w, r, code, body)
}

func (s *server) findObject(namespace, name string) (object, bool) {
	for _, o := range s.objects {
		if o.namespace == namespace && o.name == name {
			return o, true
		}
	}
	return object{}, false
}

func (s *server) list(w http.ResponseWriter, r *http.Request, namespace string) {
	q := r.URL.Query()
	s.query(namespace, q)
	limit, start := 0, 0
	if q.Has("limit") {
		var err error
		if limit, err = strconv.Atoi(q.Get("limit")); err != nil {
			s.fail(w, r, http.StatusBadRequest, "BadRequest")
			return
		}
		if limit < 1 && s.zeroLimit != http.StatusOK {
			s.fail(w, r, s.zeroLimit, "BadRequest")
			return
		}
	}
	if text := q.Get("continue"); text != "" && !s.minimal {
		var err error
		if start, err = strconv.Atoi(text); err != nil {
			s.fail(w, r, http.StatusBadRequest, "BadRequest")
			return
		}
	}
	labels, ok := parseSelector(q.Get("labelSelector"))
	fields, ok2 := parseFields(q.Get("fieldSelector"))
	if !ok || !ok2 || slices.ContainsFunc(fields, func(t term) bool { return !t.isField() }) {
		s.fail(w, r, http.StatusBadRequest, "BadRequest")
		return
	}
	selected := func(o object) bool {
		var met []bool
		for _, t := range labels {
			met = append(met, s.matchLabel(t, o.labels))
		}
		if len(met) > 0 && !s.all(met) {
			return false
		}
		return !slices.ContainsFunc(fields, func(t term) bool { return !s.matchField(t, o) })
	}
	items := slices.DeleteFunc(slices.Clone(s.objects), func(o object) bool { return !s.inNamespace(namespace, o) })
	page, next := s.selectThenLimit(items, selected, start, limit)
	meta := map[string]any{"resourceVersion": "1000", "continue": ""}
	if next >= 0 {
		meta["continue"] = strconv.Itoa(next)
		if len(labels)+len(fields) == 0 {
			meta["remainingItemCount"] = max(0, len(items)-next)
		}
	}
	text, _ := json.Marshal(meta)
	bodies := make([]string, len(page))
	for i, o := range page {
		bodies[i] = s.inList(o)
	}
	s.send(w, r, http.StatusOK, s.envelope(strings.Join(bodies, ","), string(text)))
}

// term is one requirement of a selector as the server reads it.
type term struct {
	key, op string
	values  []string
}

// parseSelector reads a selector as strictly as a real server does.
func parseSelector(text string) (terms []term, ok bool) {
	parsed, err := apart.ParseLabels(text)
	for _, t := range parsed {
		terms = append(terms, term{t.Key, t.Op, t.Values})
	}
	return terms, err == nil
}

// parseFields is parseSelector for fields.
func parseFields(text string) (terms []term, ok bool) {
	parsed, err := apart.ParseFields(text)
	for _, t := range parsed {
		terms = append(terms, term{t.Key, t.Op, t.Values})
	}
	return terms, err == nil
}

// isField reports whether a term is about a field that can be selected by.
func (t term) isField() bool {
	return slices.Contains([]string{"metadata.name", "metadata.namespace"}, t.key) && slices.Contains([]string{"=", "==", "!="}, t.op)
}

func (t term) matchLabel(labels map[string]string) bool {
	value, has := labels[t.key]
	in := has && slices.Contains(t.values, value)
	switch t.op {
	case "":
		return has
	case "!":
		return !has
	case "!=", "notin":
		return !in
	}
	return in
}

func (t term) matchField(o object) bool {
	value := map[string]string{"metadata.name": o.name, "metadata.namespace": o.namespace}[t.key]
	return (value == t.values[0]) == (t.op != "!=")
}
