package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
)

// WaitFor returns as soon as a condition holds of a machine, with the machine as it is
// then; nil where it holds of there being none. A machine that does not exist is waited
// for, also after it was deleted: a KubeVirt VirtualMachine that restarts makes its
// machine anew.
//
// It reads the machine, and then watches it as [Client.Watch] does, lost connections
// and all. ctx says for how long: there is no other limit. Every error is a
// [*WaitError], which is also the context's error, or that of the condition or of the
// request that failed.
func (c *Client) WaitFor(ctx context.Context, namespace, name string, until Condition) (*VMI, error) {
	w := &wait{until: until}
	err := w.run(ctx, c, namespace, name)
	if err == nil {
		return w.vm, nil
	}
	if end := ctx.Err(); end != nil && errors.Is(err, end) {
		// What was under way says nothing; why it ended does.
		if err = ctx.Err(); !errors.Is(context.Cause(ctx), err) {
			err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
		}
	}
	return nil, &WaitError{Namespace: namespace, Name: name, What: until.What, Phase: w.phase, Exists: w.vm != nil, Err: err}
}

// WaitError is a [Client.WaitFor] that has ended before its condition held.
type WaitError struct {
	Namespace, Name string
	// What was waited for, in the words of the [Condition].
	What string
	// Phase is the last that was seen, empty if none was.
	Phase vmi.Phase
	// Exists says whether there was such a machine, as far as is known.
	Exists bool
	// Err is why it has ended.
	Err error
}

// Error is one line such as "wait for vmi default/web to be Running: last seen
// Scheduling: context deadline exceeded".
func (e *WaitError) Error() string {
	seen := ""
	switch {
	case e.Exists && e.Phase != "":
		seen = "last seen " + oneLine(string(e.Phase), 80)
	case e.Exists:
		seen = "last seen without a phase"
	case e.Phase != "":
		seen = "gone, last seen " + oneLine(string(e.Phase), 80)
	default:
		seen = "not seen"
	}
	return fmt.Sprintf("wait for vmi %s to %s: %s: %v", oneLine(e.Namespace+"/"+e.Name, maxNames), oneLine(e.What, 200), seen, e.Err)
}

// Unwrap is why the wait has ended.
func (e *WaitError) Unwrap() error { return e.Err }

// wait is one call of WaitFor.
type wait struct {
	until Condition
	vm    *VMI // as seen last, nil for none
	phase vmi.Phase
	shown bool // by the watch
}

// met asks the condition about the machine, nil for none.
func (w *wait) met(vm *VMI) (bool, error) {
	if w.vm = vm; vm != nil {
		w.phase = vm.Phase()
	}
	return w.until.Met(vm)
}

func (w *wait) run(ctx context.Context, c *Client, namespace, name string) error {
	if w.until.Met == nil {
		return errors.New("the condition has no function")
	}
	vm, err := c.Get(ctx, namespace, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if done, err := w.met(vm); done || err != nil {
		return err
	}
	opts := WatchOptions{FieldSelector: "metadata.name=" + fieldValue.Replace(name)}
	for e, err := range c.Watch(ctx, namespace, opts) {
		switch {
		case err != nil:
			return err
		case e.Type != EventSynced && e.Name != name:
			continue // from a server that does not know the selector
		}
		if done, err := w.take(e); done || err != nil {
			return err
		}
	}
	return nil // The range ends with an error, or above.
}

// take asks about what an event tells. A machine that was made anew has been gone in
// between, also when nobody saw it.
func (w *wait) take(e Event) (bool, error) {
	if e.Type == EventSynced {
		if w.vm != nil && !w.shown { // It was deleted before the watch began.
			return w.met(nil)
		}
		return false, nil
	}
	w.shown = true
	if e.Type == EventDeleted {
		return w.met(nil)
	}
	if w.vm != nil && w.vm.UID() != e.UID {
		if done, err := w.met(nil); done || err != nil {
			return done, err
		}
	}
	return w.met(e.VMI)
}

// fieldValue escapes what means something in a field selector.
var fieldValue = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)
