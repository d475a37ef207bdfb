package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
)

// maxUpdates is how often Update tries. Each conflict means that somebody else got
// through, so it takes many writers to lose that often in a row.
const maxUpdates = 10

// Update reads a machine, lets change work on its typed view, and writes what has
// become different in it, and only that: everything else stays byte for byte what the
// server has, fields that no type names and values that Go cannot hold among them. It
// returns the machine as it is afterwards. When change leaves the view as it was,
// nothing is written.
//
// What is written is a JSON patch that holds for the revision that was read. When
// somebody else was faster, Update reads again and calls change again, with a new
// view, up to ten times with a growing pause at random between them; then the error is
// [ErrConflict]. So change should do nothing but change the view. Its error ends
// Update and is returned, wrapped.
//
// A member that the view leaves out as it is zero is removed, not set to zero: false
// in a bool that is not a pointer, for one. Elements of a list take along what no type
// names when they are moved; they are told apart by name, type or uid where each has
// its own, else by being equal. Metadata.ResourceVersion is Update's own business.
//
// When the connection fails after the patch was sent, the error does not say whether
// it was applied.
func (c *Client) Update(ctx context.Context, namespace, name string, change func(*vmi.VirtualMachineInstance) error, opts WriteOptions) (*VMI, error) {
	op := "update vmi " + oneLine(namespace+"/"+name, maxNames)
	if change == nil {
		return nil, fmt.Errorf("%s: the change has no function", op)
	}
	for tries := 1; ; tries++ {
		vm, err := c.Get(ctx, namespace, name)
		if err != nil {
			return nil, err
		}
		patch, err := changes(vm, change)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		if len(patch) == 0 {
			return vm, nil
		}
		written, err := c.patch(ctx, "update vmi ", namespace, name, JSONPatch(patch), opts)
		if err == nil {
			return written, nil
		}
		if tries == maxUpdates || !c.overtaken(ctx, vm, err) {
			return nil, err
		}
		wait := Wait{Spread: min(10*time.Millisecond<<tries, 200*time.Millisecond)}
		if !sleep(ctx, wait, wait.duration()) {
			return nil, c.call(op).ended(ctx, err)
		}
	}
}

// overtaken reports whether a patch was refused because the machine has changed since
// it was read. Servers do the operations first and look at the revision last, so one
// for an element that is not there any more is reported instead of the conflict.
func (c *Client) overtaken(ctx context.Context, vm *VMI, err error) bool {
	switch {
	case errors.Is(err, ErrConflict):
		return true
	case !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrBadRequest):
		return false
	}
	now, readErr := c.Get(ctx, vm.Namespace(), vm.Name())
	return readErr == nil && now.ResourceVersion() != vm.ResourceVersion()
}

// changes is the patch for what change does to a view of a machine, empty for nothing.
func changes(vm *VMI, change func(*vmi.VirtualMachineInstance) error) ([]operation, error) {
	// The view of vm itself stays as it is, for whoever gets vm.
	own := &VMI{Raw: vm.Raw}
	view, err := own.View()
	if _, partial := errors.AsType[*ItemError](err); err != nil && !partial {
		return nil, err
	}
	before, err := viewTree(view)
	if err != nil {
		return nil, err
	}
	revision := view.Metadata.ResourceVersion
	if err := change(view); err != nil {
		return nil, err
	}
	view.Metadata.ResourceVersion = revision
	after, err := viewTree(view)
	if err != nil {
		return nil, fmt.Errorf("the changed machine is no JSON: %w", err)
	}
	document, err := tree(vm.Raw)
	if err != nil {
		return nil, err
	}
	d := &differ{}
	d.value("", before, after, document, viewType)
	if len(d.ops) == 0 || vm.ResourceVersion() == "" {
		return d.ops, nil
	}
	// A test would say the same, but a test that fails is a 422 and no conflict.
	guard := operation{Op: "replace", Path: "/metadata/resourceVersion", Value: vm.ResourceVersion()}
	return append([]operation{guard}, d.ops...), nil
}

// viewTree is a view as its JSON has it.
func viewTree(view *vmi.VirtualMachineInstance) (any, error) {
	data, err := json.Marshal(view)
	if err != nil {
		return nil, err
	}
	return tree(data)
}
