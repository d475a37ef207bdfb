package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// This file is the one way from an error to the wire: nothing else knows which
// HTTP status an error is.

// statusError is an error that says itself what goes to the wire.
type statusError struct {
	status vmi.Status
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s (%d %s)", e.status.Message, e.status.Code, e.status.Reason)
}

// errNoSuchPath is answered as text, as a Kubernetes API server does for a path
// or a resource that it does not know.
var errNoSuchPath = errors.New("404 page not found")

func failure(code int, reason, message string) *statusError {
	return &statusError{status: vmi.Status{
		APIVersion: "v1", Kind: "Status", Status: vmi.StatusStatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	}}
}

// details adds what the failure is about.
func (e *statusError) details(d vmi.StatusDetails) *statusError {
	e.status.Details = d
	return e
}

func badRequest(message string) *statusError {
	return failure(http.StatusBadRequest, "BadRequest", message)
}

func unauthorized() *statusError {
	return failure(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
}

// forbidden is worded as by a Kubernetes API server's authorization filter. The
// reason, if there is one, says what is wrong with the policy.
func forbidden(user string, i *requestInfo, reason string) *statusError {
	if reason != "" {
		reason = ": " + reason
	}
	if !i.isResource() {
		return failure(http.StatusForbidden, "Forbidden",
			fmt.Sprintf("forbidden: User %q cannot %s path %q%s", user, i.Verb, i.Path, reason))
	}
	resource := i.Resource
	if i.Subresource != "" {
		resource += "/" + i.Subresource
	}
	what := fmt.Sprintf("User %q cannot %s resource %q in API group %q", user, i.Verb, resource, i.Group)
	if i.Namespace != "" {
		what += fmt.Sprintf(" in the namespace %q", i.Namespace)
	} else {
		what += " at the cluster scope"
	}
	about, name := qualified(i.Resource, i.Group), i.objectName()
	if name != "" {
		about += fmt.Sprintf(" %q", name)
	}
	return failure(http.StatusForbidden, "Forbidden", about+" is forbidden: "+what+reason).
		details(vmi.StatusDetails{Name: name, Group: i.Group, Kind: i.Resource})
}

func qualified(resource, group string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}

func notFound(group, resource, name string) *statusError {
	return failure(http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", qualified(resource, group), name)).
		details(vmi.StatusDetails{Name: name, Group: group, Kind: resource})
}

// methodNotAllowed has an empty verb for methods that Kubernetes has none for, as
// recorded: " is not supported on resources of kind …".
func methodNotAllowed(i *requestInfo) *statusError {
	return failure(http.StatusMethodNotAllowed, "MethodNotAllowed",
		fmt.Sprintf("%s is not supported on resources of kind %q", i.Verb, qualified(i.Resource, i.Group))).
		details(vmi.StatusDetails{Group: i.Group, Kind: i.Resource})
}

// notAcceptable names what could have been answered.
func notAcceptable(accepted ...string) *statusError {
	return failure(http.StatusNotAcceptable, "NotAcceptable",
		"only the following media types are accepted: "+strings.Join(accepted, ", "))
}

func entityTooLarge(limit int64) *statusError {
	return failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
		fmt.Sprintf("Request entity too large: limit is %d", limit))
}

// invalidOptions collects what contradicts itself in the parameters of a request,
// which Kubernetes calls ListOptions, CreateOptions and so on.
func invalidOptions(kind string, causes []vmi.StatusCause) *statusError {
	return failure(http.StatusUnprocessableEntity, "Invalid", kind+`.meta.k8s.io "" is invalid: `+joinCauses(causes)).
		details(vmi.StatusDetails{Group: "meta.k8s.io", Kind: kind, Causes: causes})
}

// badParameters says which parameters break the document. A number that is none
// is worded as by a Kubernetes API server, which does not name the parameter; the
// causes do.
func badParameters(issues openapi.Issues, query url.Values) *statusError {
	causes := make([]vmi.StatusCause, len(issues))
	texts := make([]string, len(issues))
	for i, is := range issues {
		name := is.Pointer[strings.LastIndexByte(is.Pointer, '/')+1:]
		texts[i] = fmt.Sprintf("%s: Invalid value: %s: %s (%s)", name, is.Value, is.Message, is.Rule)
		if is.Rule == "type" {
			var num *strconv.NumError
			if _, err := strconv.ParseInt(query.Get(name), 10, 64); errors.As(err, &num) {
				texts[i] = fmt.Sprintf("strconv.ParseInt: parsing %s: %v", quote(num.Num), num.Err)
			}
		}
		causes[i] = vmi.StatusCause{Reason: "FieldValueInvalid", Field: name, Message: is.Message + " (" + is.Rule + ")"}
	}
	return badRequest(strings.Join(texts, "; ")).details(vmi.StatusDetails{Causes: causes})
}

const (
	tooOldContinue = "The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
	tooOldRevision = "The resourceVersion for the provided list is too old."
)

// expired is the answer to a page or a revision that is no longer held. With a
// token of the next page the client may go on, without the promise of one state.
func expired(token string) *statusError {
	e := failure(http.StatusGone, "Expired", tooOldRevision)
	if token != "" {
		e.status.Message = tooOldContinue
		e.status.Metadata.Continue = token
	}
	return e
}

func futureRevision(f *store.FutureRevisionError) *statusError {
	return failure(http.StatusGatewayTimeout, "Timeout",
		fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", f.Requested, f.Current)).
		details(vmi.StatusDetails{
			Causes:            []vmi.StatusCause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}},
			RetryAfterSeconds: 1,
		})
}

// toStatus turns any error into what goes to the wire. ours is set when the fault
// is the server's own: the caller logs the error then, since the client is not
// told about it.
func toStatus(err error) (e *statusError, ours bool) {
	var future *store.FutureRevisionError
	var web *echo.HTTPError
	switch {
	case errors.As(err, &e):
		return e, e.status.Code >= 500
	case errors.As(err, &future):
		return futureRevision(future), false
	case errors.Is(err, store.ErrExpired):
		return expired(""), false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return failure(http.StatusGatewayTimeout, "Timeout", "Timeout: request did not complete within the allowed duration"), false
	case errors.As(err, &web) && web.Code == http.StatusMethodNotAllowed:
		return failure(web.Code, "MethodNotAllowed", "the server does not allow this method on the requested resource"), false
	case errors.As(err, &web) && web.Code < 500:
		return failure(web.Code, "BadRequest", fmt.Sprint(web.Message)), false
	}
	return failure(http.StatusInternalServerError, "InternalError", "Internal error occurred"), true
}

// body renders the Status as a Kubernetes API server does: members in this order,
// metadata always there, a line feed at the end.
func (e *statusError) body() []byte {
	s := e.status
	type listMeta struct {
		Continue string `json:"continue,omitempty"`
	}
	out := struct {
		Kind       string             `json:"kind"`
		APIVersion string             `json:"apiVersion"`
		Metadata   listMeta           `json:"metadata"`
		Status     vmi.StatusStatus   `json:"status"`
		Message    string             `json:"message,omitempty"`
		Reason     string             `json:"reason,omitempty"`
		Details    *vmi.StatusDetails `json:"details,omitempty"`
		Code       int32              `json:"code"`
	}{s.Kind, s.APIVersion, listMeta{s.Metadata.Continue}, s.Status, s.Message, s.Reason, nil, s.Code}
	if hasDetails(s) {
		out.Details = &s.Details
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// A struct of strings and numbers always has a JSON form.
	_ = enc.Encode(out)
	return buf.Bytes()
}

// hasDetails: a forbidden path and a patch that does not fit have details without a
// member, a bad request none.
func hasDetails(s vmi.Status) bool {
	d := s.Details
	return s.Reason == "Forbidden" || s.Reason == "Invalid" || d.Name != "" || d.Group != "" || d.Kind != "" || len(d.Causes) > 0 || d.RetryAfterSeconds != 0
}

// header sets what goes with the status.
func (e *statusError) header(h http.Header) {
	if s := e.status.Details.RetryAfterSeconds; s > 0 {
		h.Set("Retry-After", strconv.Itoa(int(s)))
	}
	if e.status.Code == http.StatusForbidden {
		h.Set("X-Content-Type-Options", "nosniff")
	}
}
