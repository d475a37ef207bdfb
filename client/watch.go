package client

import (
	"context"
	"errors"
	"iter"
	"time"
)

// WatchOptions narrows a watch. The zero value asks for everything.
type WatchOptions struct {
	// LabelSelector and FieldSelector are those of [ListOptions]. A machine that
	// begins to be selected is an EventAdded, one that no longer is an EventDeleted.
	LabelSelector string
	FieldSelector string
	// ResourceVersion begins the watch after a state that the caller has already:
	// that of a [List], or of an [Event]. Nothing is listed then. Without it the watch
	// begins with a list; "0" is refused, as what it means is not exact.
	ResourceVersion string
	// OnRetry, where it is not nil, is told of each failure that the watch survives,
	// before it waits; for a metric. [WithLogger] has them logged. It is called on the
	// goroutine that ranges.
	OnRetry func(err error, wait time.Duration)
}

// EventType says what became of a machine, in the eyes of a watch.
type EventType string

const (
	// EventAdded: the machine is there, and was not known before.
	EventAdded EventType = "Added"
	// EventModified: it has changed.
	EventModified EventType = "Modified"
	// EventDeleted: it is gone, or no longer selected.
	EventDeleted EventType = "Deleted"
	// EventSynced: every machine that there was at Event.ResourceVersion has been told.
	// It comes after the list that a watch begins with, and after each list that was
	// needed later on, and is about no machine.
	EventSynced EventType = "Synced"
)

// Event is one step of a watch.
type Event struct {
	Type EventType
	// VMI is the machine as it is now, or as it was last with EventDeleted. It is nil
	// with EventSynced, and with an EventDeleted that has FromList set.
	VMI *VMI
	// Namespace, Name and UID are the machine's, also where VMI is nil.
	Namespace, Name, UID string
	// ResourceVersion is where a watch goes on after this event. It is empty in the
	// middle of a list, before EventSynced.
	ResourceVersion string
	// FromList says that the event was not watched but found by comparing a list
	// with what was known. More than one change may be behind it, and the last state
	// of a machine that is deleted was not seen. A machine that was deleted and made
	// again meanwhile is an EventDeleted and an EventAdded.
	FromList bool
}

// Watch ranges over the changes of the machines of a namespace, or of all namespaces
// when it is empty. Each range over the result starts anew, and makes requests while
// it ranges; nothing runs beside it.
//
// It begins with what there is: an [EventAdded] for each machine, then [EventSynced].
// Then it follows. A connection that is lost, a server that ends the watch, is overloaded
// (429) or fails (5xx) do not end the range; the watch goes on from where it was,
// after a wait that grows from 50 milliseconds to half a minute, at random so that
// not all clients come at once, and not before Retry-After. Every change is seen once
// and in order.
//
// When the server has forgotten the changes since then (410, as an answer or as an
// event), the machines are listed again, and what is different is told with
// Event.FromList set, then EventSynced. For this the watch keeps
// namespace, name, uid and resourceVersion of each machine, about 200 bytes. With
// WatchOptions.ResourceVersion it does not know what there was and ends with an error
// for which errors.Is(err, [ErrGone]) holds.
//
// The range ends with an error, or when the loop is left. The end of ctx is such an
// error, and so is what no waiting mends: an [*Error] of another status, such as 401,
// 403 or 404, an answer that is no watch, or an error of a limiter. Before the server
// has answered for the first time every failure ends it after which the policy of
// [WithRetry] does not try again. With an error the Event is zero.
//
// A loop that is slow makes the server wait. Kubernetes ends a watch that does so for
// long, and the range goes on as above.
func (c *Client) Watch(ctx context.Context, namespace string, opts WatchOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := &watcher{client: c, namespace: namespace, opts: opts, yield: yield, revision: opts.ResourceVersion}
		if err := w.run(ctx); !errors.Is(err, errLoopEnded) {
			yield(Event{}, err)
		}
	}
}

// errLoopEnded is how a watch learns that the loop over it has broken off.
var errLoopEnded = errors.New("the loop has ended")

func watchOp(namespace string) string {
	if namespace == "" {
		return "watch vmis in all namespaces"
	}
	return "watch vmis in " + oneLine(namespace, maxNames)
}
