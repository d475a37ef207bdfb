package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
)

// watcher is one range over a watch.
type watcher struct {
	client    *Client
	namespace string
	opts      WatchOptions
	yield     func(Event, error) bool

	// revision is where the watch goes on.
	revision string
	// known is nil for a watch that began at a revision.
	known known
	// reached is set once the server has answered as it should.
	reached bool
	// failures counts those in a row, and is 0 again once there is progress.
	failures int
}

// run goes on until there is an error that ends the range.
func (w *watcher) run(ctx context.Context) error {
	if err := w.check(); err != nil {
		return w.call().wrap(ctx, err)
	}
	if w.opts.ResourceVersion == "" {
		w.known = known{}
		if err := w.list(ctx); err != nil {
			return err
		}
	}
	for {
		err := w.follow(ctx)
		if errors.Is(err, ErrGone) && w.known != nil {
			if err = w.pause(ctx, err); err == nil {
				err = w.list(ctx)
			}
		} else {
			err = w.survive(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

func (w *watcher) check() error {
	if w.opts.ResourceVersion == "0" {
		return errors.New(`resourceVersion "0" is no state to go on from`)
	}
	if w.namespace == "" {
		return nil
	}
	return checkSegment("namespace", w.namespace)
}

func (w *watcher) call() *call { return w.client.call(watchOp(w.namespace)) }

// survive waits after a failure that the watch goes on after, and returns any other.
func (w *watcher) survive(ctx context.Context, err error) error {
	if err == nil {
		err = errEnded
	}
	switch {
	case errors.Is(err, errLoopEnded):
		return err
	case !w.reached:
		return w.begin(ctx, err)
	case !mends(err):
		return err
	}
	return w.pause(ctx, err)
}

// begin lets the client's policy say whether a watch that has not begun yet is to try
// again. A list has asked it already.
func (w *watcher) begin(ctx context.Context, err error) error {
	if w.known != nil || ctx.Err() != nil {
		return err
	}
	w.failures++
	wait, again := w.client.cfg.retry(Attempt{Number: w.failures, Method: http.MethodGet, Err: err})
	if !again {
		return err
	}
	if !sleep(ctx, wait, wait.duration()) {
		return w.call().ended(ctx, err)
	}
	return nil
}

// errEnded is that of a server that has ended a watch, as each does after a while.
var errEnded = errors.New("the server has ended the watch")

// pause waits before the next request, and returns the error of a context that has
// ended before or meanwhile.
func (w *watcher) pause(ctx context.Context, err error) error {
	wait := watchBackoff(w.failures)
	w.failures++
	if refused, ok := errors.AsType[*Error](err); ok {
		wait += min(refused.RetryAfter, maxRetryAfter)
	}
	if ctx.Err() == nil {
		if err != errEnded || w.failures > 1 {
			w.tell(ctx, err, wait)
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
		}
	}
	return w.call().wrap(ctx, context.Cause(ctx))
}

// tell tells of a failure that the watch survives, to the program and its log.
func (w *watcher) tell(ctx context.Context, err error, wait time.Duration) {
	if w.opts.OnRetry != nil {
		w.opts.OnRetry(err, wait)
	}
	if logger := w.client.cfg.logger; logger != nil {
		logger.LogAttrs(ctx, slog.LevelWarn, "trying again", slog.Int("attempt", w.failures),
			slog.Duration("wait", wait), slog.String("error", err.Error()))
	}
}

// mends reports whether it may be over when the same is asked again: all that happens
// below HTTP and is not the doing of the program, and statuses that speak of the server
// and not of the request.
func mends(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return !isOwn(err)
	}
	switch refused.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return refused.Status >= 500 && refused.Status != http.StatusNotImplemented
}

// list brings what is known to a newer state and tells what is different. It begins
// anew where it fails in the middle, since what it has told is known by then.
func (w *watcher) list(ctx context.Context) error {
	for {
		err := w.listOnce(ctx)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrGone) && w.reached: // the state of its pages
			err = w.pause(ctx, err)
		default:
			err = w.survive(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

func (w *watcher) listOnce(ctx context.Context) error {
	opts := ListOptions{LabelSelector: w.opts.LabelSelector, FieldSelector: w.opts.FieldSelector, Limit: DefaultPageSize}
	pass := w.known.begin()
	revision := ""
	for {
		page, err := w.client.List(ctx, w.namespace, opts)
		if err != nil {
			return err
		}
		w.reached = true
		if revision == "" {
			revision = page.ResourceVersion
		}
		if err := w.checkPage(page, revision, opts.Continue); err != nil {
			return err
		}
		for _, vm := range page.Items {
			for _, e := range pass.see(vm) {
				if !w.yield(e, nil) {
					return errLoopEnded
				}
			}
		}
		if page.Continue == "" {
			break
		}
		opts.Continue = page.Continue
	}
	for _, e := range pass.missing() {
		if !w.yield(e, nil) {
			return errLoopEnded
		}
	}
	w.revision = revision
	if !w.yield(Event{Type: EventSynced, ResourceVersion: revision, FromList: true}, nil) {
		return errLoopEnded
	}
	return nil
}

// checkPage refuses a page of a list that a watch cannot go on from. From no revision or
// "0" servers watch from where they like, and what was deleted before that is lost; what
// has no name cannot be told from another.
func (w *watcher) checkPage(page *List, revision, token string) error {
	what := ""
	switch {
	case revision == "" || revision == "0":
		what = fmt.Sprintf("answer has the resourceVersion %q, which is no state to go on from", revision)
	case slices.ContainsFunc(page.Items, func(vm *VMI) bool { return vm.Name() == "" }):
		what = "answer has an item without a name"
	case page.Continue != "" && page.Continue == token:
		what = errSamePage.Error()
	default:
		return nil
	}
	return &Error{Op: listOp(w.namespace), Method: http.MethodGet, Status: http.StatusOK, Message: what}
}

// follow reads one answer to a watch until it ends, which is nil, or fails.
func (w *watcher) follow(ctx context.Context) error {
	s, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	w.reached = true
	for {
		e, err := s.next()
		if err != nil || e == nil {
			if s.lasted() {
				w.failures = 0
			}
			return err
		}
		if err := w.take(s, e); err != nil {
			return err
		}
	}
}

// take acts upon an event of the server.
func (w *watcher) take(s *stream, e *wireEvent) error {
	if e.Type == string(vmi.WatchEventTypeERROR) {
		return s.failure(e.Object)
	}
	vm := &VMI{Raw: e.Object}
	if jsonType(vm.Raw) != "object" {
		return s.wrong("an event has " + jsonType(vm.Raw) + " where an object belongs")
	}
	revision := vm.ResourceVersion()
	switch kind := vm.kind(); {
	case kind != "" && kind != kindVMI:
		return s.wrong("an event has a " + oneLine(kind, 80) + " where a " + kindVMI + " belongs")
	case revision == "":
		return s.wrong("an event has no resourceVersion")
	case vm.Name() == "" && e.Type != string(vmi.WatchEventTypeBOOKMARK):
		return s.wrong("an event has no name")
	}
	w.failures = 0
	var events []Event
	switch vmi.WatchEventType(e.Type) {
	case vmi.WatchEventTypeBOOKMARK:
	case vmi.WatchEventTypeADDED:
		events = w.known.put(vm, EventAdded)
	case vmi.WatchEventTypeMODIFIED:
		events = w.known.put(vm, EventModified)
	case vmi.WatchEventTypeDELETED:
		events = w.known.remove(vm)
	default:
		return s.wrong("an event has the unknown type " + oneLine(e.Type, 80))
	}
	w.revision = revision
	for _, e := range events {
		if !w.yield(e, nil) {
			return errLoopEnded
		}
	}
	return nil
}
