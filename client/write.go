package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/gen/vmiclient"
)

// WriteOptions goes with a write. The zero value asks for nothing special.
type WriteOptions struct {
	// DryRun has the server do all but store the result, which it answers with.
	DryRun bool
	// FieldManager is who makes the change, for the ownership of fields. Without it
	// servers take the front of the User-Agent. [ApplyPatch] needs it.
	FieldManager string
	// FieldValidation is what the server does about fields that it does not know or
	// that are there twice: Strict refuses them with [ErrBadRequest], Warn lets them
	// pass with a warning ([Result]), Ignore without; Warn is the servers' default.
	FieldValidation string
}

func (o WriteOptions) dryRun() *string { return dryRun(o.DryRun) }

func dryRun(dry bool) *string {
	if dry {
		return present("All")
	}
	return nil
}

// Create makes a machine in a namespace and returns it as the server has stored it.
// The object is its JSON as a json.RawMessage, as bytes or as a string, a [VMI], whose
// bytes are sent as they are, a vmi.VirtualMachineInstance or a pointer to one, or any
// value that encoding/json turns into such JSON. apiVersion and kind may be left out,
// and so may metadata.namespace; instead of a name it may have a generateName.
//
// A machine of that name that is there already is an error for which errors.Is(err,
// [ErrAlreadyExists]) holds, and for one that is not valid it is [ErrInvalid].
// metadata.resourceVersion and uid, as an object has them that was read from a
// server, have to be taken out before.
//
// A create whose answer got lost is an error below HTTP and is not repeated, see
// [DefaultRetry]: the machine may exist.
func (c *Client) Create(ctx context.Context, namespace string, object any, opts WriteOptions) (*VMI, error) {
	body, err := Encode(object)
	call := c.call("create vmi " + oneLine(namespace+"/"+nameIn(body), maxNames))
	if err == nil {
		err = checkSegment("namespace", namespace)
	}
	if err != nil {
		return nil, call.wrap(ctx, err)
	}
	params := vmi.CreateNamespacedVirtualMachineInstanceParams{
		DryRun: opts.dryRun(), FieldManager: present(opts.FieldManager), FieldValidation: present(opts.FieldValidation),
	}
	return call.object(ctx, func(record vmiclient.RequestEditorFn) (*http.Response, error) {
		return c.raw.CreateNamespacedVirtualMachineInstanceWithBody(ctx, namespace, &params, mediaTypeJSON, bytes.NewReader(body), record)
	})
}

// nameIn is the name that an object has or begins with, for errors.
func nameIn(object []byte) string {
	var o struct {
		Metadata struct{ Name, GenerateName string }
	}
	_ = json.Unmarshal(object, &o)
	if o.Metadata.Name == "" && o.Metadata.GenerateName != "" {
		return o.Metadata.GenerateName + "*"
	}
	return o.Metadata.Name
}

// Patch changes a machine and returns it as it is afterwards. See [MergePatch],
// [JSONPatch] and [ApplyPatch] for what there is to send, and [Client.Update] for a
// change that is easier made in Go.
func (c *Client) Patch(ctx context.Context, namespace, name string, patch Patch, opts WriteOptions) (*VMI, error) {
	op := "patch vmi "
	if patch.mediaType == mediaTypeApply {
		op = "apply vmi "
	}
	return c.patch(ctx, op, namespace, name, patch, opts)
}

func (c *Client) patch(ctx context.Context, op, namespace, name string, patch Patch, opts WriteOptions) (*VMI, error) {
	call := c.call(op + oneLine(namespace+"/"+name, maxNames))
	params := vmi.PatchNamespacedVirtualMachineInstanceParams{
		DryRun: opts.dryRun(), FieldManager: present(opts.FieldManager), FieldValidation: present(opts.FieldValidation),
	}
	if patch.force {
		params.Force = present("true")
	}
	err := checkNames(namespace, name)
	switch {
	case err != nil:
	case patch.err != nil:
		err = fmt.Errorf("patch: %w", patch.err)
	case patch.mediaType == "":
		err = errors.New("the patch is none; make it with MergePatch, JSONPatch or ApplyPatch")
	case patch.mediaType == mediaTypeApply && opts.FieldManager == "":
		err = errors.New("apply needs a FieldManager")
	}
	if err != nil {
		return nil, call.wrap(ctx, err)
	}
	return call.object(ctx, func(record vmiclient.RequestEditorFn) (*http.Response, error) {
		return c.raw.PatchNamespacedVirtualMachineInstanceWithBody(ctx, namespace, name, &params, patch.mediaType, bytes.NewReader(patch.body), record)
	})
}

// object makes the call and reads its answer as a machine.
func (c *call) object(ctx context.Context, send func(vmiclient.RequestEditorFn) (*http.Response, error)) (*VMI, error) {
	var vm *VMI
	err := c.do(ctx, send, func(body *answer) (err error) {
		vm, err = body.object()
		return err
	})
	if err != nil {
		return nil, err
	}
	return vm, nil
}

// Propagation is what becomes of objects that a deleted one owns.
type Propagation string

const (
	PropagateBackground Propagation = "Background" // deleted after it
	PropagateForeground Propagation = "Foreground" // deleted before it
	PropagateOrphan     Propagation = "Orphan"     // kept
)

// DeleteOptions goes with a deletion. The zero value leaves all to the server.
type DeleteOptions struct {
	// UID and ResourceVersion are what the machine has to have, or it is left alone
	// and the error is [ErrConflict]. UID makes sure that a later machine of the same
	// name is not meant.
	UID, ResourceVersion string
	// GracePeriodSeconds is how long the machine may take to shut down, 0 for not at
	// all, nil for what it says itself.
	GracePeriodSeconds *int64
	// Propagation is empty for the server's default.
	Propagation Propagation
	// DryRun has the server do all but delete.
	DryRun bool
}

// Delete deletes a machine. Where it has finalizers, as all have on a cluster with
// KubeVirt, success means that it will be gone once they are taken away.
// A machine that does not exist is an error for which errors.Is(err, [ErrNotFound])
// holds.
func (c *Client) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) error {
	call := c.call("delete vmi " + oneLine(namespace+"/"+name, maxNames))
	if err := checkNames(namespace, name); err != nil {
		return call.wrap(ctx, err)
	}
	body, err := json.Marshal(opts.body())
	if err != nil {
		return call.wrap(ctx, err)
	}
	params := vmi.DeleteNamespacedVirtualMachineInstanceParams{}
	return call.do(ctx, func(record vmiclient.RequestEditorFn) (*http.Response, error) {
		return c.raw.DeleteNamespacedVirtualMachineInstanceWithBody(ctx, namespace, name, &params, mediaTypeJSON, bytes.NewReader(body), record)
	}, readDeleted)
}

// body is everything, as servers read the parameters only of a request without one.
// vmi.DeleteOptions has no way to say a grace period of 0.
func (o DeleteOptions) body() map[string]any {
	body := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	preconditions := map[string]string{}
	if o.UID != "" {
		preconditions["uid"] = o.UID
	}
	if o.ResourceVersion != "" {
		preconditions["resourceVersion"] = o.ResourceVersion
	}
	if len(preconditions) > 0 {
		body["preconditions"] = preconditions
	}
	if o.GracePeriodSeconds != nil {
		body["gracePeriodSeconds"] = *o.GracePeriodSeconds
	}
	if o.Propagation != "" {
		body["propagationPolicy"] = o.Propagation
	}
	if o.DryRun {
		body["dryRun"] = []string{"All"}
	}
	return body
}

// readDeleted accepts what servers answer to a deletion: a Status that says Success,
// or the machine, when it is to be gone later. A page of some proxy is neither.
func readDeleted(body *answer) error {
	raw, found, err := body.whole()
	if err != nil {
		return err
	}
	status, ok := parseStatus(raw)
	switch {
	case !ok:
		return checkKind(raw, found)
	case status.Status == vmi.StatusStatusFailure:
		return wrongKind(status.Kind, kindVMI, status.Message)
	}
	return nil
}
