package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/vmikit/vmikit/server/rbac"
	"github.com/vmikit/vmikit/server/store"
)

// requestInfo is what a request asks for, read from its method and path as a
// Kubernetes API server reads them, before any route is looked up: who may do a
// thing is decided from it alone.
type requestInfo struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection
	// for a resource, the method in lower case for any other path. It is empty for
	// a method that Kubernetes has no verb for.
	Verb string
	// Path as it was asked for, percent-encoding undone.
	Path string

	// Resource is empty for a path that names none.
	Group       string
	Version     string
	Namespace   string
	Resource    string
	Name        string
	Subresource string

	// legacyWatch is set for the old form of a watch, /apis/GROUP/VERSION/watch/….
	legacyWatch bool
	// only is the name that a field selector demands of a list: one that can show
	// a single object is authorized as a request for that object.
	only string
}

const (
	group   = "kubevirt.io"
	version = "v1"
	plural  = "virtualmachineinstances"
	kind    = "VirtualMachineInstance"
)

func (i *requestInfo) isResource() bool { return i.Resource != "" }

// route returns the path under which the request is routed: one spelling for all
// that a Kubernetes API server takes as the same (a trailing slash, an empty
// namespace for all of them).
func (i *requestInfo) route(r *resource) string {
	if r == nil {
		if trimmed := strings.TrimRight(i.Path, "/"); trimmed != "" {
			return trimmed
		}
		return i.Path
	}
	if i.legacyWatch {
		return r.path(i.Namespace, "")
	}
	return r.path(i.Namespace, i.Name)
}

// watchQuery is the query by which a list is asked for what the old path of a watch
// asks for.
func (i *requestInfo) watchQuery(q url.Values) string {
	q.Set("watch", "true")
	if i.Name != "" {
		fields := "metadata.name=" + i.Name
		if given := q.Get("fieldSelector"); given != "" {
			fields += "," + given
		}
		q.Set("fieldSelector", fields)
	}
	return q.Encode()
}

// narrow reads the name that a field selector demands of a list.
func (i *requestInfo) narrow(r *resource, selector string) {
	if r == nil || selector == "" || i.Verb != "list" && i.Verb != "watch" && i.Verb != "deletecollection" {
		return
	}
	if fields, err := store.ParseFieldSelector(selector, r.selectableFields()...); err == nil {
		i.only, _ = fields.Name()
	}
}

// newRequestInfo reads a request. watch says that its parameters ask for one.
func newRequestInfo(method, path string, watch bool) requestInfo {
	info := requestInfo{Path: path, Verb: strings.ToLower(method)}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if strings.HasPrefix(path, "//") || len(parts) < 3 {
		return info
	}
	switch parts[0] {
	case "api":
		info.Version, parts = parts[1], parts[2:]
	case "apis":
		if len(parts) < 4 {
			return info
		}
		info.Group, info.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return info
	}
	if parts[0] == "watch" && len(parts) > 1 {
		info.legacyWatch, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		info.Namespace = parts[1]
		// A namespace is an object in itself, with subresources of its own.
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	info.Resource = parts[0]
	if len(parts) > 1 {
		info.Name = parts[1]
	}
	if len(parts) > 2 {
		info.Subresource = parts[2]
	}
	info.Verb = resourceVerb(method, info.Name, info.legacyWatch || watch)
	if info.legacyWatch && info.Verb == "get" {
		info.Verb = "watch"
	}
	return info
}

// attributes are what the request is authorized by.
func (i *requestInfo) attributes(u User) rbac.Attributes {
	a := rbac.Attributes{User: u.Name, Groups: u.Groups, Verb: i.Verb}
	if !i.isResource() {
		a.Path = i.Path
		return a
	}
	a.APIGroup, a.Resource, a.Subresource = i.Group, i.Resource, i.Subresource
	a.Namespace, a.Name = i.Namespace, i.objectName()
	return a
}

// objectName is the one object that the request can touch, "" when it can touch more.
func (i *requestInfo) objectName() string {
	if i.Name != "" {
		return i.Name
	}
	return i.only
}

// resourceVerb is the verb that Kubernetes' authorization has for a method.
func resourceVerb(method, name string, watch bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case name != "":
			return "get"
		case watch:
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return ""
}
