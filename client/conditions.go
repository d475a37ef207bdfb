package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
)

// Condition is what [Client.WaitFor] waits for. Those of this package are [PhaseIs],
// [Ready], [AgentConnected], [ConditionIs] and [Deleted]; one of your own is
//
//	client.Condition{What: "have an address", Met: func(vm *client.VMI) (bool, error) { … }}
type Condition struct {
	// What completes the sentence "wait for the machine to …", for errors.
	What string
	// Met reports whether the condition holds of a machine, which is nil where there
	// is none. An error ends the wait. It is called for each state that is seen, not
	// for each that there was: of two changes in a short time it may see the second.
	Met func(vm *VMI) (bool, error)
}

// FinalPhaseError is a machine that has come to its end, so that what was waited for
// will not be.
type FinalPhaseError struct {
	// Phase is Succeeded or Failed.
	Phase vmi.Phase
}

// Error is one line such as "it has reached Failed, which is final".
func (e *FinalPhaseError) Error() string {
	return fmt.Sprintf("it has reached %s, which is final", e.Phase)
}

// unlessFinal is an error for a machine that will change no more.
func unlessFinal(vm *VMI) error {
	if phase := vm.Phase(); phase == vmi.PhaseSucceeded || phase == vmi.PhaseFailed {
		return &FinalPhaseError{Phase: phase}
	}
	return nil
}

// PhaseIs holds of a machine in one of the phases. In a final phase, Succeeded or
// Failed, which is none of them, the wait ends with a [*FinalPhaseError].
func PhaseIs(phases ...vmi.Phase) Condition {
	names := make([]string, len(phases))
	for i, phase := range phases {
		names[i] = string(phase)
	}
	return Condition{What: "be " + strings.Join(names, " or "), Met: func(vm *VMI) (bool, error) {
		switch {
		case len(phases) == 0:
			return false, errors.New("no phase was given")
		case vm == nil:
			return false, nil
		case slices.Contains(phases, vm.Phase()):
			return true, nil
		}
		return false, unlessFinal(vm)
	}}
}

// Ready holds of a machine whose condition Ready is True. In a final phase, Succeeded
// or Failed, the wait ends with a [*FinalPhaseError].
func Ready() Condition { return whileRunning("be ready", "Ready") }

// AgentConnected holds of a machine whose guest agent talks to KubeVirt, from which
// addresses of its interfaces and the guest's operating system are known. In a final
// phase, Succeeded or Failed, the wait ends with a [*FinalPhaseError].
func AgentConnected() Condition {
	return whileRunning("have its guest agent connected", "AgentConnected")
}

func whileRunning(what, conditionType string) Condition {
	is := ConditionIs(conditionType, vmi.ConditionStatusTrue)
	return Condition{What: what, Met: func(vm *VMI) (bool, error) {
		if met, err := is.Met(vm); met || err != nil || vm == nil {
			return met, err
		}
		return false, unlessFinal(vm)
	}}
}

// ConditionIs holds of a machine that has a condition of the type, such as
// LiveMigratable or Paused, with the status. One that is not listed has no status,
// not Unknown.
func ConditionIs(conditionType string, status vmi.ConditionStatus) Condition {
	return Condition{What: fmt.Sprintf("have condition %s %s", conditionType, status), Met: func(vm *VMI) (bool, error) {
		if vm == nil {
			return false, nil
		}
		// What Go cannot hold elsewhere in the machine is nothing to fail for.
		view, _ := vm.View()
		return slices.ContainsFunc(view.Status.Conditions, func(c vmi.Condition) bool {
			return c.Type == conditionType && c.Status == status
		}), nil
	}}
}

// Deleted holds when there is no such machine. A machine of the same name that is made
// after it does not keep the wait from ending.
func Deleted() Condition {
	return Condition{What: "be deleted", Met: func(vm *VMI) (bool, error) { return vm == nil, nil }}
}
