package server

import (
	"cmp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
)

// newEvents are the events that controllers write about objects.
func (s *server) newEvents() *resource {
	selectable := fields("reason", "type", "reportingComponent", "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
		"involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath")
	// The API server takes it from either place.
	selectable["source"] = func(o map[string]any) string {
		return cmp.Or(text(asObject(o["source"]), "component"), text(o, "reportingComponent"))
	}
	return &resource{
		version: "v1",
		discovered: vmi.APIResource{
			Name: "events", SingularName: "event", Namespaced: true, Kind: "Event", Verbs: writeVerbs, ShortNames: []string{"ev"},
		},
		store:         &forgetful{Memory: s.newStore(), now: s.now},
		native:        true,
		unconditional: true,
		createdByPut:  true,
		columns: []column{
			{"Last Seen", "string", "", "The time at which the most recent occurrence of this event was recorded.", 0,
				ageOf("lastTimestamp", "eventTime", "firstTimestamp")},
			{"Type", "string", "", "Type of this event (Normal, Warning), new types could be added in the future.", 0, field("type")},
			{"Reason", "string", "", "This should be a short, machine understandable string that gives the reason for the transition.", 0, field("reason")},
			{"Object", "string", "", "The object that this event is about.", 0, involved},
			{"Message", "string", "", "A human-readable description of the status of this operation.", 0, field("message")},
			{"Source", "string", "", "The component that reported this event.", 1, field("source", "component")},
			{"Count", "string", "", "The number of times this event has occurred.", 1, field("count")},
			nameOfEvent,
		},
		selectable: selectable,
		owners:     managedfields.NewSchema("Event", []string{"v1"}),
		complete:   completeEvent,
	}
}

var nameOfEvent = column{"Name", "string", "name", nameColumn.description, 1, nameColumn.cell}

// involved is the object of an event as kubectl names objects: kind/name.
func involved(_ *server, r *row) any {
	object := asObject(r.whole()["involvedObject"])
	name := strings.ToLower(text(object, "kind"))
	if object["name"] != nil {
		name += "/" + text(object, "name")
	}
	return name
}

// completeEvent holds an event to the namespace of its object, as validation of
// Kubernetes does (pkg/apis/core/validation/events.go). What is in no namespace has its
// events in default.
func completeEvent(event, _ map[string]any) []vmi.StatusCause {
	namespace, of := text(asObject(event["metadata"]), "namespace"), text(asObject(event["involvedObject"]), "namespace")
	if of == namespace || of == "" && (namespace == "default" || namespace == "kube-system") {
		return nil
	}
	return []vmi.StatusCause{invalidField("involvedObject.namespace", quote(of), "does not match event.namespace")}
}

// ListEventForAllNamespaces answers the events of all namespaces.
func (s *server) ListEventForAllNamespaces(c echo.Context, p clusterserver.ListEventForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ListNamespacedEvent answers the events of a namespace.
func (s *server) ListNamespacedEvent(c echo.Context, namespace string, p clusterserver.ListNamespacedEventParams) error {
	return s.list(exchangeOf(c), namespace, listParams(p))
}

// ReadNamespacedEvent answers one of them.
func (s *server) ReadNamespacedEvent(c echo.Context, namespace, name string, p clusterserver.ReadNamespacedEventParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}

// CreateNamespacedEvent stores a new one.
func (s *server) CreateNamespacedEvent(c echo.Context, namespace string, p clusterserver.CreateNamespacedEventParams) error {
	return s.create(exchangeOf(c), namespace, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// ReplaceNamespacedEvent stores a new version of one.
func (s *server) ReplaceNamespacedEvent(c echo.Context, namespace, name string, p clusterserver.ReplaceNamespacedEventParams) error {
	return s.replace(exchangeOf(c), namespace, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// PatchNamespacedEvent changes one.
func (s *server) PatchNamespacedEvent(c echo.Context, namespace, name string, p clusterserver.PatchNamespacedEventParams) error {
	return s.patch(exchangeOf(c), namespace, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject}, p.Force)
}

// DeleteNamespacedEvent deletes one.
func (s *server) DeleteNamespacedEvent(c echo.Context, namespace, name string, p clusterserver.DeleteNamespacedEventParams) error {
	return s.delete(exchangeOf(c), namespace, name, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents})
}

// DeleteCollectionNamespacedEvent deletes what a list shows.
func (s *server) DeleteCollectionNamespacedEvent(c echo.Context, namespace string, p clusterserver.DeleteCollectionNamespacedEventParams) error {
	return s.deleteCollection(exchangeOf(c), namespace, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents}, listParams{
		LabelSelector: p.LabelSelector, FieldSelector: p.FieldSelector, Limit: p.Limit, Continue: p.Continue,
		ResourceVersion: p.ResourceVersion, ResourceVersionMatch: p.ResourceVersionMatch,
	})
}
