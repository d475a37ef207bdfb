package kubeproto

import "google.golang.org/protobuf/encoding/protowire"

// message describes one protobuf message by its fields, in the order in which
// Kubernetes' JSON has them.
type message struct {
	fields []field
}

// field is one field of a message, on the wire and in JSON.
type field struct {
	number protowire.Number
	name   string // in JSON
	kind   kind
	when   when
	of     *message // of an object, or of each of objects
}

// kind is what a field holds.
type kind int

const (
	text      kind = iota // string
	integer               // int64
	integer32             // int32
	boolean               // bool
	timestamp             // meta/v1 Time: whole seconds
	microTime             // meta/v1 MicroTime: microseconds
	managed               // meta/v1 FieldsV1: JSON within a message
	object                // a message
	texts                 // a list of strings
	objects               // a list of messages
	textMap               // a map from string to string
)

// wireType is how the kind stands on the wire.
func (k kind) wireType() protowire.Type {
	switch k {
	case integer, integer32, boolean:
		return protowire.VarintType
	}
	return protowire.BytesType
}

// repeated says that each occurrence of the field is one more item.
func (k kind) repeated() bool { return k == texts || k == objects || k == textMap }

// when says when a field is in the JSON, which follows from its type and tag in Go.
type when int

const (
	// filled: not the zero value of its type (omitempty of a value).
	filled when = iota
	// present: on the wire, be it zero (omitempty of a pointer).
	present
	// always: whatever it is (no omitempty, or that of a struct).
	always
)

// index returns the place of a field number, -1 for one that is not known.
func (m *message) index(number protowire.Number) int {
	for i := range m.fields {
		if m.fields[i].number == number {
			return i
		}
	}
	return -1
}
