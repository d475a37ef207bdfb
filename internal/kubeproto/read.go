package kubeproto

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// decoder reads one body.
type decoder struct {
	items int // of all lists and maps so far
}

// slot is what the wire has for one field. Messages are read when they are
// written, so that no more than one message of each level is held.
type slot struct {
	set    bool
	number uint64   // of integers and booleans
	bytes  []byte   // of text and messages
	joined bool     // bytes are a copy
	items  [][]byte // of lists and maps
}

// read sorts the fields of a message, by their place in its description. Fields
// that are not known are skipped. Of a value that is there more than once the last
// counts; messages are merged (protobuf, "Last One Wins").
func (d *decoder) read(m *message, data []byte) ([]slot, error) {
	slots := make([]slot, len(m.fields))
	for len(data) > 0 {
		number, wireType, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, malformed(n)
		}
		data = data[n:]
		i := m.index(number)
		if i < 0 {
			if n = protowire.ConsumeFieldValue(number, wireType, data); n < 0 {
				return nil, malformed(n)
			}
			data = data[n:]
			continue
		}
		f, s := &m.fields[i], &slots[i]
		if wireType != f.kind.wireType() {
			return nil, within(f.name, fmt.Errorf("has wire type %d, not %d", wireType, f.kind.wireType()))
		}
		var value []byte
		if wireType == protowire.VarintType {
			s.number, n = protowire.ConsumeVarint(data)
		} else {
			value, n = protowire.ConsumeBytes(data)
		}
		if n < 0 {
			return nil, within(f.name, malformed(n))
		}
		data = data[n:]
		if err := d.put(s, f, value); err != nil {
			return nil, within(f.name, err)
		}
	}
	return slots, nil
}

// put adds one occurrence of a field.
func (d *decoder) put(s *slot, f *field, value []byte) error {
	switch {
	case f.kind.repeated():
		if d.items++; d.items > maxItems {
			return fmt.Errorf("there are more than %d items", maxItems)
		}
		s.items = append(s.items, value)
	case !s.set || f.kind != object && f.kind != managed:
		s.bytes = value
	case s.joined:
		s.bytes = append(s.bytes, value...)
	default:
		// One message behind another is the two of them merged.
		s.bytes, s.joined = slices.Concat(s.bytes, value), true
	}
	s.set = true
	return nil
}

var (
	errCutShort = errors.New("is cut short")
	errNoProto  = errors.New("is not written as protobuf is")
)

// malformed turns an error of protowire into one whose text is the same in every
// build.
func malformed(n int) error {
	if errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF) {
		return errCutShort
	}
	return errNoProto
}

// fieldError is an error with the path of the field that it is about.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// within says that an error is about a field, or about what is below it.
func within(name string, err error) error {
	if e, ok := errors.AsType[*fieldError](err); ok {
		return &fieldError{name + "." + e.path, e.err}
	}
	return &fieldError{name, err}
}
