package servertest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is one that a client made.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection for
	// machines, and the method in lower case for another path.
	Verb   string
	Method string
	Path   string
	// Query is sorted by name. Parameters that Kubernetes does not have for machines
	// are there without their values, which may be secret; no header is kept.
	Query string
	// Status is that of the answer, 0 as long as there is none, or when the
	// connection was dropped before it.
	Status int
}

// String is as in "GET /apis/kubevirt.io/v1/virtualmachineinstances?limit=500".
func (r Request) String() string {
	text := r.Method + " " + r.Path
	if r.Query != "" {
		text += "?" + r.Query
	}
	return text
}

// maxRequests is how many requests are kept.
const maxRequests = 10_000

// Requests returns what clients have asked so far, or since [Server.Reset], in the
// order in which it came; of more than 10,000 requests the latest 9,000 or more. What the Server's
// own methods do is not among it.
func (s *Server) Requests() []Request {
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	requests := make([]Request, len(s.front.requests))
	for i, r := range s.front.requests {
		requests[i] = *r
	}
	return requests
}

// note keeps a request; f.mu is held.
func (f *front) note(r *http.Request, t target) *Request {
	if len(f.requests) == maxRequests {
		f.requests = slices.Delete(f.requests, 0, maxRequests/10)
	}
	note := &Request{Verb: t.verb, Method: r.Method, Path: r.URL.Path, Query: query(r.URL.Query())}
	f.requests = append(f.requests, note)
	return note
}

// parameters are those that the document has for machines.
var parameters = []string{
	"allowWatchBookmarks", "continue", "dryRun", "fieldManager", "fieldSelector", "fieldValidation", "force",
	"gracePeriodSeconds", "includeObject", "labelSelector", "limit", "orphanDependents", "pretty", "propagationPolicy",
	"resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeout", "timeoutSeconds", "watch",
}

func query(values url.Values) string {
	for name := range values {
		if !slices.Contains(parameters, name) {
			values[name] = []string{""}
		}
	}
	return values.Encode()
}

// target is what a request asks for, as far as faults go by it.
type target struct {
	verb, namespace, name string
	machines              bool // or else some other path
}

const machines = "virtualmachineinstances"

// targetOf reads a request for machines as an API server does: a list that a field
// selector narrows to one name is about that machine.
func targetOf(r *http.Request) target {
	t := target{verb: strings.ToLower(r.Method)}
	_, path, _ := strings.Cut(r.URL.Path, "/apis/kubevirt.io/")
	parts := strings.Split(strings.Trim(path, "/"), "/")[1:] // without the version
	values := r.URL.Query()
	watch := values.Has("watch") && values.Get("watch") != "false" && values.Get("watch") != "0"
	if len(parts) > 0 && parts[0] == "watch" {
		watch, parts = true, parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		t.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) == 0 || parts[0] != machines {
		return target{verb: t.verb}
	}
	t.machines = true
	if len(parts) > 1 {
		t.name = parts[1]
	}
	t.verb = verb(r.Method, t.name != "", watch)
	if t.name == "" {
		for part := range strings.SplitSeq(values.Get("fieldSelector"), ",") {
			field, value, _ := strings.Cut(part, "=")
			if strings.TrimSpace(field) == "metadata.name" {
				t.name = strings.TrimPrefix(strings.TrimSpace(value), "=")
			}
		}
	}
	return t
}

func verb(method string, named, watch bool) string {
	switch {
	case method == http.MethodGet && watch:
		return "watch"
	case method == http.MethodGet && named:
		return "get"
	case method == http.MethodGet:
		return "list"
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodDelete && !named:
		return "deletecollection"
	}
	return strings.ToLower(method)
}
