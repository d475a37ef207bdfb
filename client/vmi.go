package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/vmikit/vmikit/gen/vmi"
)

// VMI is a VirtualMachineInstance as a server sent it. What it holds beyond Raw is
// found when it is asked for: name, phase and the like by one look over the bytes,
// the typed view of everything by [VMI.View].
//
// A VMI is used by pointer and is safe for reading by several goroutines at once.
// Programs that need one without a server, in tests for instance, make it with [NewVMI].
type VMI struct {
	// Raw is the whole object, byte for byte from its opening to its closing brace,
	// in memory of its own. It is for reading: what was found in it once is not
	// looked for again.
	Raw json.RawMessage

	index int // in a list

	looked sync.Once
	head   head
	broken error // Raw is no JSON

	viewed sync.Once
	view   *vmi.VirtualMachineInstance
	bad    *ItemError
}

// NewVMI makes a VMI of a copy of an object's JSON. It fails when raw is not one
// JSON object; what is in the object is for [VMI.View] to judge.
func NewVMI(raw []byte) (*VMI, error) {
	vm := &VMI{Raw: bytes.Clone(bytes.Trim(raw, space))}
	if err := vm.check(); err != nil {
		return nil, fmt.Errorf("new vmi: %w", err)
	}
	return vm, nil
}

// newVMI makes a VMI of valid JSON, which it keeps.
func newVMI(raw json.RawMessage, found head) *VMI {
	vm := &VMI{Raw: raw, head: found}
	vm.looked.Do(func() {})
	return vm
}

// check looks at Raw and fails when it is no object.
func (v *VMI) check() error {
	if v.look(); v.broken != nil {
		return v.broken
	}
	if begin := bytes.TrimLeft(v.Raw, space); len(begin) == 0 || begin[0] != '{' {
		return fmt.Errorf("%s where an object belongs", jsonType(begin))
	}
	return nil
}

func (v *VMI) look() *head {
	v.looked.Do(func() { v.head, v.broken = scanWhole(v.Raw) })
	return &v.head
}

func (v *VMI) kind() string { return v.look().kind.in(v.Raw) }

// Name is the machine's metadata.name. Like its siblings it is empty where the object
// has no such member, or has something there that is no string.
func (v *VMI) Name() string { return v.look().name.in(v.Raw) }

// Namespace is the machine's metadata.namespace.
func (v *VMI) Namespace() string { return v.look().namespace.in(v.Raw) }

// UID is the machine's metadata.uid, which no other machine ever has, not even a
// later one of the same name.
func (v *VMI) UID() string { return v.look().uid.in(v.Raw) }

// ResourceVersion is the machine's metadata.resourceVersion, which changes whenever
// the machine does.
func (v *VMI) ResourceVersion() string { return v.look().resourceVersion.in(v.Raw) }

// Phase is the machine's status.phase.
func (v *VMI) Phase() vmi.Phase { return vmi.Phase(v.look().phase.in(v.Raw)) }

// NodeName is the machine's status.nodeName, the node it runs on.
func (v *VMI) NodeName() string { return v.look().nodeName.in(v.Raw) }

// View is the typed view of the machine: the fields that the OpenAPI document names,
// which are about half of a real object's. Member names are matched exactly, as the
// API server matches them; of members with the same name the last one counts.
//
// It is decoded by the first call; every call returns the same pointer, so a change
// made through it is seen by all who hold the VMI, and not by Raw.
//
// The error is an [*ItemError], for a value that its Go type cannot hold. The view is
// there all the same and lacks nothing else.
func (v *VMI) View() (*vmi.VirtualMachineInstance, error) {
	v.viewed.Do(func() {
		v.view = new(vmi.VirtualMachineInstance)
		bad := &badValue{err: v.check()}
		if bad.err == nil {
			bad = decodeView(v.Raw, v.view)
		}
		if bad != nil {
			v.bad = &ItemError{
				Index: v.index, Namespace: v.Namespace(), Name: v.Name(),
				Pointer: bad.pointer, Raw: v.Raw, Err: bad.err,
			}
		}
	})
	if v.bad != nil {
		return v.view, v.bad
	}
	return v.view, nil
}

// MarshalJSON returns Raw, so that no field is lost when an object is stored or
// printed; changes that were made to the typed view are not in it. Without Raw it is
// null.
func (v *VMI) MarshalJSON() ([]byte, error) {
	if v == nil || len(v.Raw) == 0 {
		return []byte("null"), nil
	}
	return v.Raw, nil
}

// UnmarshalJSON does what [NewVMI] does. As encoding/json has it, null changes nothing.
func (v *VMI) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	*v = VMI{Raw: bytes.Clone(bytes.Trim(data, space))}
	return v.check()
}
