package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Parameter is one declared parameter of an operation, for callers who make
// requests from the document. [Operation.ValidateRequest] judges them.
type Parameter struct {
	Name string
	// In is path, query or header.
	In string
	// Required says that a request must have it.
	Required bool
	Values
}

// Values says by which bounds the text of a value is judged.
type Values struct {
	// Type is string, integer, number or boolean.
	Type string
	// Enum has the only values that are right, nil when there is no such list.
	Enum []string
	// Minimum and Maximum are the bounds of a number, nil when there are none.
	Minimum, Maximum *float64
}

// Parameters returns the parameters that the operation declares, in the order of
// the document. The caller owns them.
func (op *Operation) Parameters() []Parameter {
	all := make([]Parameter, 0, len(op.parameters))
	for _, p := range op.parameters {
		in, _, _ := strings.Cut(p.pointer[1:], "/")
		all = append(all, Parameter{Name: p.name, In: in, Required: p.required, Values: valuesOf(p.schema)})
	}
	return all
}

// Field is a single value in a VirtualMachineInstance.
type Field struct {
	// Path is how a fieldSelector names it, e.g. status.phase.
	Path string
	Values
}

// Fields returns the single values that the document declares in a
// VirtualMachineInstance, by path: neither objects nor arrays, nor what stands in
// an array. The caller owns them.
func (d *Document) Fields() []Field {
	return appendFields(nil, d.object.schema, "", nil)
}

// appendFields adds those of an object. Schemas that stand in themselves are not
// followed again.
func appendFields(fields []Field, object *openapi3.Schema, prefix string, inside []*openapi3.Schema) []Field {
	if slices.Contains(inside, object) {
		return fields
	}
	inside = append(slices.Clone(inside), object)
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		schema := object.Properties[name].Value
		switch {
		case schema.Type.Is(openapi3.TypeObject):
			fields = appendFields(fields, schema, prefix+name+".", inside)
		case schema.Type != nil && !schema.Type.Is(openapi3.TypeArray):
			fields = append(fields, Field{prefix + name, valuesOf(schema)})
		}
	}
	return fields
}

func valuesOf(s *openapi3.Schema) Values {
	v := Values{Enum: texts(s.Enum)}
	if types := s.Type.Slice(); len(types) > 0 {
		v.Type = types[0]
	}
	if s.Min != nil {
		v.Minimum = new(*s.Min)
	}
	if s.Max != nil {
		v.Maximum = new(*s.Max)
	}
	return v
}

func texts(enum []any) []string {
	var all []string
	for _, value := range enum {
		if value != nil {
			all = append(all, fmt.Sprint(value))
		}
	}
	return all
}
