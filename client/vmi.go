package client

import (
	"encoding/json"

	"github.com/vmikit/vmikit/gen/vmi"
)

// VMI is a VirtualMachineInstance as a server sent it.
type VMI struct {
	// VirtualMachineInstance is the typed view: the fields that the OpenAPI
	// document names, which are about half of a real object's. Member names
	// are matched exactly, as the API server matches them.
	vmi.VirtualMachineInstance

	// Raw is the whole object, byte for byte from its opening to its closing
	// brace. It is not shared with other objects. Changing the typed view does
	// not change it.
	Raw json.RawMessage
}

// MarshalJSON returns Raw, so that no field is lost when an object is stored or
// printed; changes that were made to the typed view are not in it. Without Raw it
// is the typed view, which can also be had by marshaling the embedded field.
func (v VMI) MarshalJSON() ([]byte, error) {
	if len(v.Raw) > 0 {
		return v.Raw, nil
	}
	return json.Marshal(v.VirtualMachineInstance)
}

// UnmarshalJSON takes an object apart as [Client.Get] does: data becomes Raw, and
// a value that its Go type cannot hold is an [*ItemError] that leaves the rest of
// the typed view in place. As encoding/json has it, null changes nothing.
func (v *VMI) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	// json.Unmarshal hands over valid JSON, other callers may not.
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	decoded, bad := decodeVMI(raw)
	*v = *decoded
	if bad != nil {
		return bad
	}
	return nil
}
