package mutant

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Tokens of the two users: one may read everything, the other nothing.
const (
	GoodToken      = "good-token-8f14e45f"
	ForbiddenToken = "no-rights-c9f0f895"
)

// Server is a small right implementation of reading. Every decision that somebody
// could get wrong is a function, which a mutant replaces. It answers one request
// at a time, so the functions need no locks; nothing may be replaced once it
// serves.
type Server struct {
	mu      sync.Mutex
	handler http.Handler

	// Objects are what is served, by namespace and name. Before may change them.
	Objects []Object
	// Revision is the resourceVersion of lists.
	Revision int64
	// Minimal has the document's two operations and nothing else: no HEAD, no list
	// of all namespaces, no continue, no bodies of errors.
	Minimal bool

	Authenticate func(authorization string) int // a status code, 0 for welcome
	// Open lets anybody make a request, whatever the token.
	Open func(r *http.Request) bool
	// Route reads an escaped path. Without a name it is a list, without a namespace
	// the list of all.
	Route func(escaped string) (namespace, name string, ok bool)
	// Query sees the query of a list before it is read.
	Query                    func(namespace string, q url.Values)
	ParseLabels, ParseFields func(text string) ([]Term, error)
	MatchLabel               func(Term, map[string]string) bool
	All                      func(met []bool) bool
	MatchField               func(Term, Object) bool
	InNamespace              func(namespace string, o Object) bool
	Find                     func(namespace, name string) (Object, bool)
	ParseLimit               func(text string) (int64, error)
	ZeroLimit                int // status of a limit below 1; with 200 it is no limit
	// Token and Start write and read the position in a continue token.
	Token func(next int) string
	Start func(token string) (int, error)
	// Page returns the items from position start, and where the next page starts,
	// -1 for nowhere. A limit of 0 is none.
	Page func(items []Object, start, limit int) ([]Object, int)
	// SelectThenLimit returns the page of the selected objects.
	SelectThenLimit func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int)
	InList, InGet   func(Object) string
	// Meta sees the metadata of a list before it is written.
	Meta     func(namespace string, q url.Values, meta map[string]any)
	Envelope func(items, meta string) string
	Status   func(Failure) (int, string)
	// Headers sets the headers of an answer.
	Headers func(h http.Header, r *http.Request, code int)
	// Send is the last to see an answer.
	Send func(w http.ResponseWriter, r *http.Request, code int, body string)
	// Before sees every request before it is answered.
	Before func(*Server)
	// Writing is what a server of [NewWriting] has beyond reading, nil in the others.
	Writing *Writing
}

// Failure is an answer that has no object. Name is that of the object asked for,
// if it was one.
type Failure struct {
	Code            int
	Reason, Message string
	Name            string
	resource        bool // it is about a machine or a list of them
}

const resource = "virtualmachineinstances"

// New makes a server that has everything Kubernetes has for reading, watches,
// tables and YAML apart.
func New(objects []Object) *Server {
	s := &Server{Objects: objects, Revision: 1000, ZeroLimit: http.StatusBadRequest}
	s.handler = http.HandlerFunc(s.serve)
	s.Authenticate = authenticate
	s.Open = func(*http.Request) bool { return false }
	s.Route = route
	s.Query = func(string, url.Values) {}
	s.ParseLabels, s.ParseFields = ParseLabels, ParseFields
	s.MatchLabel, s.MatchField = Term.MatchLabel, Term.MatchField
	s.All = func(met []bool) bool { return !slices.Contains(met, false) }
	s.InNamespace = func(namespace string, o Object) bool { return namespace == "" || o.Namespace == namespace }
	s.Find = s.FindObject
	s.ParseLimit = func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
	s.Token, s.Start = s.encodeToken, decodeToken
	s.Page = page
	s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
		return s.Page(slices.DeleteFunc(slices.Clone(items), func(o Object) bool { return !selected(o) }), start, limit)
	}
	s.InList = func(o Object) string { return o.Body }
	s.InGet = s.InList
	s.Meta = func(string, url.Values, map[string]any) {}
	s.Envelope = func(items, meta string) string {
		return `{"apiVersion":"kubevirt.io/v1","items":[` + items + `],"kind":"VirtualMachineInstanceList","metadata":` + meta + "}\n"
	}
	s.Status = Failure.status
	s.Headers = func(h http.Header, _ *http.Request, _ int) {
		h.Set("Cache-Control", "no-cache, private")
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
	}
	s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
		s.Headers(w.Header(), r, code)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
	s.Before = func(*Server) {}
	return s
}

// NewMinimal makes a server that has nothing but what the document names.
func NewMinimal(objects []Object) *Server {
	s := New(objects)
	s.Minimal = true
	s.Envelope = func(items, _ string) string {
		return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","items":[` + items + `]}`
	}
	s.Status = func(f Failure) (int, string) { return f.Code, "" }
	s.Headers = func(h http.Header, _ *http.Request, code int) {
		if code == http.StatusOK {
			h.Set("Content-Type", "application/json")
		}
	}
	return s
}

// Wrap puts a handler around everything that is there so far.
func (s *Server) Wrap(around func(http.Handler) http.Handler) { s.handler = around(s.handler) }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler.ServeHTTP(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Before(s)
	namespace, name, known := s.Route(r.URL.EscapedPath())
	if s.Minimal && namespace == "" {
		known = false
	}
	if code := s.Authenticate(r.Header.Get("Authorization")); code != 0 && !s.Open(r) {
		s.fail(w, r, denied(code, r, namespace, name, known))
		return
	}
	if !known {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if s.Writing != nil && s.writes(w, r, namespace, name) {
		return
	}
	if r.Method != http.MethodGet && (s.Minimal || r.Method != http.MethodHead) {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, r, Failure{Code: http.StatusMethodNotAllowed, Reason: "MethodNotAllowed", resource: true,
			Message: "the server does not allow this method on the requested resource", Name: name})
		return
	}
	if name == "" {
		s.list(w, r, namespace)
		return
	}
	o, ok := s.Find(namespace, name)
	if !ok {
		s.fail(w, r, Failure{Code: http.StatusNotFound, Reason: "NotFound", resource: true,
			Message: fmt.Sprintf("%s.kubevirt.io %q not found", resource, name), Name: name})
		return
	}
	s.Send(w, r, http.StatusOK, s.InGet(o))
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, f Failure) {
	if f.Code == http.StatusUnauthorized && !s.Minimal {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	code, body := s.Status(f)
	s.Send(w, r, code, body)
}

// FindObject returns the object of exactly this name.
func (s *Server) FindObject(namespace, name string) (Object, bool) {
	i := slices.IndexFunc(s.Objects, func(o Object) bool { return o.Namespace == namespace && o.Name == name })
	if i < 0 {
		return Object{}, false
	}
	return s.Objects[i], true
}

// authenticate takes the scheme in any case (RFC 9110, section 11.1), the token
// as it is.
func authenticate(authorization string) int {
	scheme, token, _ := strings.Cut(authorization, " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return http.StatusUnauthorized
	case token == GoodToken:
		return 0
	case token == ForbiddenToken:
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

// denied says the same whether there is such an object or not.
func denied(code int, r *http.Request, namespace, name string, known bool) Failure {
	f := Failure{Code: code, Reason: "Unauthorized", Message: "Unauthorized"}
	if code != http.StatusForbidden {
		return f
	}
	f.Reason, f.resource = "Forbidden", known
	if !known {
		f.Message = fmt.Sprintf("forbidden: User \"nobody\" cannot get path %q", r.URL.Path)
		return f
	}
	verb, where := "list", "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	what := resource + ".kubevirt.io"
	if name != "" {
		f.Name, verb, what = name, "get", fmt.Sprintf("%s %q", what, name)
	}
	f.Message = fmt.Sprintf(`%s is forbidden: User "nobody" cannot %s resource %q in API group "kubevirt.io" %s`, what, verb, resource, where)
	return f
}

// route splits before it decodes, and decodes once.
func route(escaped string) (namespace, name string, ok bool) {
	parts := strings.Split(escaped, "/")
	for i, p := range parts {
		var err error
		if parts[i], err = url.PathUnescape(p); err != nil || i > 0 && p == "" {
			return "", "", false
		}
	}
	if len(parts) < 5 || !slices.Equal(parts[:4], []string{"", "apis", "kubevirt.io", "v1"}) {
		return "", "", false
	}
	switch parts = parts[4:]; {
	case len(parts) == 1 && parts[0] == resource:
		return "", "", true
	case len(parts) == 3 && parts[0] == "namespaces" && parts[2] == resource:
		return parts[1], "", true
	case len(parts) == 4 && parts[0] == "namespaces" && parts[2] == resource:
		return parts[1], parts[3], true
	}
	return "", "", false
}

// status is the failure as meta/v1 Status. Names are quoted in it: that is safe
// in JSON that no browser takes for HTML.
func (f Failure) status() (int, string) {
	type details struct {
		Name  string `json:"name,omitempty"`
		Group string `json:"group"`
		Kind  string `json:"kind"`
	}
	body := struct {
		Kind       string   `json:"kind"`
		APIVersion string   `json:"apiVersion"`
		Metadata   struct{} `json:"metadata"`
		Status     string   `json:"status"`
		Message    string   `json:"message"`
		Reason     string   `json:"reason"`
		Details    *details `json:"details,omitempty"`
		Code       int      `json:"code"`
	}{Kind: "Status", APIVersion: "v1", Status: "Failure", Message: f.Message, Reason: f.Reason, Code: f.Code}
	if f.resource {
		body.Details = &details{f.Name, "kubevirt.io", resource}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return f.Code, string(text) + "\n"
}
