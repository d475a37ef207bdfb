package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v2"
)

// maxValues bounds the memory of decoding, which the YAML engine spends by the
// value: up to 400 bytes each, for a text of two.
const maxValues = 1_000_000

// conversion is one YAML document as JSON.
type conversion struct {
	json     []byte // nil for a document without content
	trailing error  // what is wrong with the text behind the document
}

// convert turns a document into JSON. Its errors are of type *Error where they
// concern a line, without a file.
func (s *yamlSource) convert() (conversion, error) {
	if len(s.text) > maxObjectBytes {
		return conversion{}, tooLarge("a YAML document that is no List of block style items", maxObjectBytes)
	}
	if s.valuesAtMost() > maxValues {
		return conversion{}, fmt.Errorf("%w: a YAML document may have %d values", errTooLarge, maxValues)
	}
	var root ordered
	trailing, err := decodeFirst(s.text, &root)
	if err != nil {
		return conversion{}, s.locate(err)
	}
	c := conversion{}
	if trailing != nil {
		c.trailing = s.locate(trailing)
	}
	// Ordered mappings lose what is merged into them, so the values come from
	// a second decoding, as sigs.k8s.io/yaml has them.
	p := printer{limit: max(8*len(s.text), maxObjectBytes)}
	if s.mayMerge() {
		var merged any
		if _, err := decodeFirst(s.text, &merged); err != nil {
			return conversion{}, s.locate(err)
		}
		err = p.printAs(merged, root.value, 0)
	} else {
		err = p.print(root.value, 0)
	}
	if err != nil {
		return conversion{}, s.locate(err)
	}
	if root.value != nil {
		c.json = p.out
	}
	return c, nil
}

// valuesAtMost is a cheap upper bound of the values in the text, but for
// dashes and question marks in a row, which the engine limits by their depth.
func (s *yamlSource) valuesAtMost() int {
	n := 0
	for _, c := range s.text {
		if c == ',' || c == '\n' || c == '\r' || c == '[' || c == '{' {
			n++
		}
	}
	return n
}

// mayMerge reports whether the document may have a merge key: a plain <<, or
// a quoted one with a tag, which may be spelled with escapes.
func (s *yamlSource) mayMerge() bool {
	return bytes.Contains(s.text, []byte("<<")) ||
		bytes.IndexByte(s.text, '!') >= 0 && bytes.IndexByte(s.text, '\\') >= 0 ||
		bytes.IndexByte(s.text, 0) >= 0 // UTF-16
}

// decodeFirst decodes the first document of a text and says what is wrong with
// the text behind it: nil if there is none.
func decodeFirst(text []byte, out any) (trailing, err error) {
	defer func() {
		if v := recover(); v != nil {
			// The engine panics on its own mistakes, whatever they are.
			trailing, err = nil, fmt.Errorf("the yaml decoder failed: %T", v)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(out); err != nil {
		if err == io.EOF { // the engine returns it unwrapped
			return nil, nil
		}
		return nil, err
	}
	var more any
	switch err := d.Decode(&more); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return &trailingError{err}, nil
	default:
		return &trailingError{}, nil
	}
}

// ordered is a YAML value whose mappings are of type yaml.MapSlice, which
// keeps order and duplicates. The engine has to be told so at the root of a
// document; below a MapSlice it keeps to it.
type ordered struct{ value any }

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered) UnmarshalYAML(unmarshal func(any) error) error {
	// The sequence comes first: a MapSlice is a slice and would take one.
	var sequence []ordered
	err := unmarshal(&sequence)
	if err == nil {
		if sequence == nil {
			return nil // NULL; the engine looks out for null and ~ only before it comes here
		}
		values := make([]any, len(sequence))
		for i, element := range sequence {
			values[i] = element.value
		}
		o.value = values
		return nil
	}
	if !isTypeError(err) {
		return err
	}
	var mapping yaml.MapSlice
	if err = unmarshal(&mapping); err == nil {
		o.value = mapping
		return nil
	}
	if !isTypeError(err) {
		return err
	}
	return unmarshal(&o.value)
}

// isTypeError reports whether a node was of another kind than was tried.
func isTypeError(err error) bool {
	_, ok := errors.AsType[*yaml.TypeError](err)
	return ok
}
