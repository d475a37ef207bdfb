package openapi

// Form is the shape that an answer was negotiated to have: the same list can be
// asked for as a list, as a table, as metadata alone, or as a watch.
type Form int

const (
	// FormDeclared is whatever the operation declares for the status code and the
	// Content-Type of the answer: discovery, version, health, or simply the object
	// or list of an operation that was asked for plain JSON.
	FormDeclared Form = iota
	// FormItem is one VirtualMachineInstance.
	FormItem
	// FormList is a VirtualMachineInstanceList.
	FormList
	// FormTable is a meta.k8s.io Table, of one object or of a list.
	FormTable
	// FormPartialObject is one object reduced to its metadata.
	FormPartialObject
	// FormPartialObjectList is a list of those.
	FormPartialObjectList
	// FormStatus is a Status, the body of errors and of some successes.
	FormStatus
	// FormWatchEvent is one event (one line) of a watch of objects.
	FormWatchEvent
	// FormWatchEventTable is one event of a watch that was asked for as Table.
	FormWatchEventTable
	// FormWatchEventPartialObject is one event of a watch that was asked for as PartialObjectMetadata.
	FormWatchEventPartialObject
)

var formNames = [...]string{
	"declared", "item", "list", "table", "partial-object", "partial-object-list", "status",
	"watch-event", "watch-event-table", "watch-event-partial-object",
}

// String returns the form's name, e.g. "watch-event-table".
func (f Form) String() string {
	if f < 0 || int(f) >= len(formNames) {
		return "unknown"
	}
	return formNames[f]
}
