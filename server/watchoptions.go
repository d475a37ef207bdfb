package server

import (
	"fmt"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

// watchOptions are the parameters of a watch, read and found consistent.
type watchOptions struct {
	namespace string
	labels    store.Selector
	fields    store.FieldSelector
	// revision is the state that the client has, 0 for none in particular.
	revision int64
	// initial asks for what there is before what changes.
	initial bool
	// initialEnd asks for a bookmark where what there is ends.
	initialEnd bool
	bookmarks  bool
	timeout    time.Duration // 0 is the server's own
}

// readWatchOptions checks the parameters in the order of a Kubernetes API server,
// whose messages these are. limit means nothing to a watch.
func readWatchOptions(r *resource, namespace string, p listParams) (*watchOptions, error) {
	if causes := watchContradictions(p); len(causes) > 0 {
		return nil, invalidOptions("ListOptions", causes)
	}
	o := &watchOptions{namespace: namespace, bookmarks: isTrue(p.AllowWatchBookmarks)}
	var err error
	if o.labels, err = store.ParseSelector(value(p.LabelSelector)); err != nil {
		return nil, badRequest(err.Error())
	}
	if o.fields, err = store.ParseFieldSelector(value(p.FieldSelector), r.selectableFields()...); err != nil {
		return nil, badRequest(err.Error())
	}
	if o.revision, err = parseRevision(value(p.ResourceVersion)); err != nil {
		return nil, badRequest(err.Error())
	}
	o.initial = o.revision == 0
	if p.SendInitialEvents != nil {
		o.initial = isTrue(p.SendInitialEvents)
	}
	o.initialEnd = o.initial && o.bookmarks // also where nobody has asked for the former by its name
	if seconds := value(p.TimeoutSeconds); seconds > 0 && seconds < int64(maxWatch/time.Second) {
		o.timeout = time.Duration(seconds) * time.Second
	}
	return o, nil
}

// watchContradictions are the rules of meta.k8s.io ListOptions for watches.
func watchContradictions(p listParams) []vmi.StatusCause {
	var causes []vmi.StatusCause
	forbid := func(why string) {
		causes = append(causes, vmi.StatusCause{Reason: "FieldValueForbidden", Message: "Forbidden: " + why, Field: "resourceVersionMatch"})
	}
	const only = "NotOlderThan"
	match := value(p.ResourceVersionMatch)
	if p.SendInitialEvents != nil && match != only {
		forbid("sendInitialEvents requires setting resourceVersionMatch to " + only)
	}
	if match != "" && p.SendInitialEvents == nil {
		forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	}
	if match != "" && match != only {
		causes = append(causes, vmi.StatusCause{
			Reason: "FieldValueNotSupported", Field: "resourceVersionMatch",
			Message: fmt.Sprintf("Unsupported value: %q: supported values: %q", match, only),
		})
	}
	if value(p.Continue) != "" {
		forbid("resourceVersionMatch is forbidden when continue is provided")
	}
	return causes
}
