package server

import (
	"errors"
	"fmt"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/admission"
)

// Admission says what becomes of machines that clients write, beside what the profile
// asks of them.
type Admission int

const (
	// AdmissionNone stores them as they are written, as a cluster does that has the
	// CRD and nothing else: anybody may write a status. This is the default.
	AdmissionNone Admission = iota
	// AdmissionKubeVirt does what KubeVirt's webhooks do, see package
	// [github.com/vmikit/vmikit/server/admission]: defaults, a finalizer and the phase
	// Pending for new machines, no change of a spec, and no status but from KubeVirt's
	// own service accounts (system:serviceaccount:kubevirt:kubevirt-controller for
	// one). Nothing here removes the finalizer, so a machine that is deleted stays until
	// a client does.
	AdmissionKubeVirt
)

// WithAdmission chooses what becomes of machines that clients write. What a [Writer]
// writes is never admitted: it stands for KubeVirt itself.
func WithAdmission(a Admission) Option {
	return func(c *config) error {
		if a != AdmissionNone && a != AdmissionKubeVirt {
			return fmt.Errorf("admission %d: there is no such", a)
		}
		c.admission = a
		return nil
	}
}

// admit is where webhooks stand in a write: behind the managedFields, which is why
// nobody owns what they change, and before the store. It returns the object to store;
// the one that it gets stays as it was, for another try. old is nil for a new object.
func (s *server) admit(x *exchange, name string, old, object map[string]any) (map[string]any, error) {
	if s.admission == AdmissionNone || !x.resource.is(s.machines) {
		return object, nil
	}
	next, err := decodeObject(canonical(object))
	if err != nil {
		return nil, fmt.Errorf("admitted object: %w", err)
	}
	request := admission.Request{User: x.user.Name, Old: old, New: next, Now: s.now(), NewID: s.newID}
	if err := admission.Mutate(request); err != nil {
		return nil, notAdmitted(err)
	}
	if err := s.judgeRules(x, name, s.doc.ValidateObject(canonical(next))); err != nil {
		return nil, err
	}
	if err := admission.Validate(request); err != nil {
		return nil, notAdmitted(err)
	}
	return next, nil
}

// notAdmitted is a refusal as it goes to the wire: the Status is the webhook's own, so
// its details do not say which object it is about.
func notAdmitted(err error) error {
	refusal, ok := errors.AsType[*admission.Refusal](err)
	if !ok {
		return err
	}
	causes := make([]vmi.StatusCause, len(refusal.Causes))
	for i, c := range refusal.Causes {
		causes[i] = vmi.StatusCause{Reason: c.Reason, Field: c.Field, Message: c.Message}
	}
	return failure(refusal.Code, refusal.Reason, refusal.Error()).details(vmi.StatusDetails{Causes: causes})
}
