package admission

import (
	"slices"
	"time"
)

// Request is a write on its way into the store. The functions of this package change
// New and nothing else of it.
type Request struct {
	// User is the name of who writes.
	User string
	// Old is the object as it is, nil for a creation.
	Old map[string]any
	// New is the object as it is meant to be.
	New map[string]any
	// Now is the time of the first phase of a new machine.
	Now time.Time
	// NewID makes the firmware's UUID of a new machine without one.
	NewID func() string
}

// The names of KubeVirt's webhooks for VirtualMachineInstances
// (pkg/virt-operator/resource/generate/components/webhooks.go).
const (
	mutator         = "virtualmachineinstances-mutator.kubevirt.io"
	createValidator = "virtualmachineinstances-create-validator.kubevirt.io"
	updateValidator = "virtualmachineinstances-update-validator.kubevirt.io"
)

// Mutate completes a new machine: defaults of its spec, the finalizer, the phase
// Pending. Of a changed one it puts the status back unless KubeVirt itself writes. It
// fails with a [*Refusal].
func Mutate(r Request) error {
	if err := readable(r.New); err != nil {
		return err
	}
	switch {
	case r.Old == nil:
		complete(r)
	case !r.byKubeVirt() && !sameStatus(r.New["status"], r.Old["status"]):
		restoreStatus(r.New, r.Old)
	}
	return nil
}

// Validate refuses what may not be created or changed, with a [*Refusal]. It is meant
// to see what [Mutate] has left.
func Validate(r Request) error {
	if r.Old != nil {
		return refused(updateValidator, updateCauses(r))
	}
	return refused(createValidator, createCauses(r))
}

// kubeVirtUsers are the service accounts of KubeVirt that write machines
// (pkg/virt-api/webhooks/serviceaccounts.go).
var kubeVirtUsers = []string{
	"system:serviceaccount:kubevirt:kubevirt-apiserver",
	"system:serviceaccount:kubevirt:kubevirt-controller",
	"system:serviceaccount:kubevirt:kubevirt-handler",
	"system:serviceaccount:kubevirt:kubevirt-synchronization-controller",
}

func (r Request) byKubeVirt() bool { return slices.Contains(kubeVirtUsers, r.User) }

// restoreStatus puts the status of the old object into the new one.
func restoreStatus(object, old map[string]any) {
	delete(object, "status")
	if status, ok := old["status"]; ok {
		object["status"] = clone(status)
	}
}
