package openapi

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// rule is one schema, ready to judge values.
type rule struct {
	schema *openapi3.Schema // for the keywords, which kin-openapi enforces
	shape  *shape           // for what is enforced while the text is read
}

// shape is what the reader of JSON texts has to know about a schema.
type shape struct {
	members map[string]member // the declared properties
	folded  map[string]string // their names without case, to the names
	values  *shape            // of a map: what each value is
	items   *shape            // of an array
	integer bool
	// field is where KubeVirt's definition of the resource begins, in the
	// shape of a VirtualMachineInstance.
	field *field
}

type member struct {
	name  string
	shape *shape
}

// ruleSet compiles the schemas of one document, each once.
type ruleSet struct {
	doc    *openapi3.T
	shapes map[*openapi3.Schema]*shape
}

func newRuleSet(doc *openapi3.T) *ruleSet {
	return &ruleSet{doc: doc, shapes: make(map[*openapi3.Schema]*shape)}
}

// component returns the rule of a schema under components, nil when there is
// none of that name.
func (rs *ruleSet) component(name string) (*rule, error) {
	ref := rs.doc.Components.Schemas[name]
	if ref == nil {
		return nil, nil
	}
	return rs.rule(ref.Value)
}

func (rs *ruleSet) rule(schema *openapi3.Schema) (*rule, error) {
	s, err := rs.shape(schema)
	if err != nil {
		return nil, err
	}
	return &rule{schema: schema, shape: s}, nil
}

func (rs *ruleSet) shape(schema *openapi3.Schema) (*shape, error) {
	if s, ok := rs.shapes[schema]; ok {
		return s, nil
	}
	if len(schema.AllOf)+len(schema.AnyOf)+len(schema.OneOf) > 0 || schema.Not != nil {
		// The reader follows one schema beside each value. None of the documents
		// combines schemas; should one begin to, this must not pass unseen.
		return nil, errors.New("schemas that are combined (allOf, anyOf, oneOf, not) are not supported")
	}
	s := &shape{integer: schema.Type.Is(openapi3.TypeInteger)}
	rs.shapes[schema] = s
	if len(schema.Properties) > 0 {
		s.members = make(map[string]member, len(schema.Properties))
		s.folded = make(map[string]string, len(schema.Properties))
	}
	for name, ref := range schema.Properties {
		sub, err := rs.shape(ref.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.members[name] = member{name: name, shape: sub}
		s.folded[fold(name)] = name
	}
	if ref := schema.AdditionalProperties.Schema; ref != nil {
		sub, err := rs.shape(ref.Value)
		if err != nil {
			return nil, err
		}
		s.values = sub
	}
	if schema.Items != nil {
		sub, err := rs.shape(schema.Items.Value)
		if err != nil {
			return nil, err
		}
		s.items = sub
	}
	return s, nil
}

// beginField returns the field that goes with a value of the shape: the shape's
// own where KubeVirt's definition begins, the one reached so far elsewhere.
func (s *shape) beginField(reached *field) *field {
	if s != nil && s.field != nil {
		return s.field
	}
	return reached
}

// key returns the declared name that a raw key spells, without copying it.
func (s *shape) key(raw []byte) (string, bool) {
	if s == nil || len(raw) < 2 {
		return "", false
	}
	m, ok := s.members[string(raw[1:len(raw)-1])]
	return m.name, ok
}

// child returns the shape of the value under a key, nil when nothing is known.
func (s *shape) child(key string) *shape {
	if s == nil {
		return nil
	}
	if m, ok := s.members[key]; ok {
		return m.shape
	}
	return s.values
}

// item returns the shape of an item of an array, nil when nothing is known.
func (s *shape) item() *shape {
	if s == nil {
		return nil
	}
	return s.items
}

// fold returns the name without its case, as encoding/json compares the names
// of struct fields: the letters of one Unicode orbit (k, K and the Kelvin sign)
// are one letter.
func fold(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for _, r := range name {
		if r < utf8.RuneSelf {
			if 'a' <= r && r <= 'z' {
				r -= 'a' - 'A'
			}
			b.WriteRune(r)
			continue
		}
		smallest := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			smallest = min(smallest, next)
		}
		b.WriteRune(smallest)
	}
	return b.String()
}
