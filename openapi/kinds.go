package openapi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// kind is what the document knows of the objects of one kind: the forms that answers
// with them have, and the events of their watches.
type kind struct {
	name   string
	forms  map[Form]*rule // a form that the document does not know has no rule
	events map[Form]map[string]*rule
}

// compileKinds compiles every kind of objects that the document has.
func (d *Document) compileKinds(rs *ruleSet) error {
	d.kinds = make(map[string]*kind)
	schemas := rs.doc.Components.Schemas
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if name != schemaItem && !saysKind(schemas[name].Value, name) {
			continue
		}
		k, err := compileKind(rs, name)
		if err != nil {
			return err
		}
		d.kinds[name] = k
	}
	machine := d.kinds[schemaItem]
	if machine == nil {
		return fmt.Errorf("no schema %s", schemaItem)
	}
	d.object = machine.forms[FormItem]
	d.object.shape.field = kubevirtFields()
	d.conventions = machine.forms[FormStatus] != nil
	return nil
}

// saysKind reports whether values of a schema are objects that say that they are of
// the kind.
func saysKind(s *openapi3.Schema, kind string) bool {
	says := s.Properties["kind"]
	return s.Properties["metadata"] != nil && says != nil && slices.Equal(says.Value.Enum, []any{kind})
}

// kind returns a kind by its name, "" being VirtualMachineInstance.
func (d *Document) kind(name string) (*kind, Issues) {
	if name == "" {
		name = schemaItem
	}
	if k := d.kinds[name]; k != nil {
		return k, nil
	}
	return nil, Issues{{Rule: RuleUnjudged, Value: quoteText("", name), Message: "the document has no objects of this kind"}}
}

// form returns the form of which a rule is, FormDeclared for none.
func (k *kind) form(by *rule) Form {
	for form, r := range k.forms {
		if r.schema == by.schema {
			return form
		}
	}
	return FormDeclared
}

func compileKind(rs *ruleSet, name string) (*kind, error) {
	k := &kind{name: name, forms: make(map[Form]*rule)}
	names := maps.Clone(formSchemas)
	names[FormItem], names[FormList] = name, name+"List"
	for form, schema := range names {
		r, err := rs.component(schema)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", schema, err)
		}
		if r != nil {
			k.forms[form] = r
		}
	}
	if table := k.forms[FormTable]; table != nil {
		// A row has the object whole or reduced to its metadata. Both are read as
		// the whole one, which has every field of the other.
		k.forms[FormTable] = &rule{schema: table.schema, shape: withRows(table.shape, k.forms[FormItem].shape)}
	}
	return k, k.compileEvents(rs)
}

// withRows is the shape of a table whose rows have objects of a shape.
func withRows(table, object *shape) *shape {
	row := table.members["rows"].shape.items.with("object", object)
	rows := *table.members["rows"].shape
	rows.items = row
	return table.with("rows", &rows)
}

// with is the shape with another one for a member.
func (s *shape) with(name string, of *shape) *shape {
	c := *s
	c.members = maps.Clone(s.members)
	c.members[name] = member{name: name, shape: of}
	return &c
}

// compileEvents makes one schema for each type of event and form of its object:
// the document's WatchEvent, whose type is that one and whose object is what the
// type says.
func (k *kind) compileEvents(rs *ruleSet) error {
	declared := rs.doc.Components.Schemas[schemaWatchEvent]
	if declared == nil {
		return nil
	}
	k.events = make(map[Form]map[string]*rule)
	for form, objectForm := range eventForms {
		k.events[form] = make(map[string]*rule)
		for _, value := range declared.Value.Properties["type"].Value.Enum {
			eventType, ok := value.(string)
			if !ok {
				return fmt.Errorf("schema %s: type %v is no string", schemaWatchEvent, value)
			}
			r, err := k.compileEvent(rs, declared.Value, eventType, k.forms[objectForm])
			if err != nil {
				return fmt.Errorf("schema %s: %w", schemaWatchEvent, err)
			}
			k.events[form][eventType] = r
		}
		// An event of no known type is judged by the declared schema, which says so.
		r, err := rs.rule(declared.Value)
		if err != nil {
			return fmt.Errorf("schema %s: %w", schemaWatchEvent, err)
		}
		k.events[form][""] = r
	}
	return nil
}

func (k *kind) compileEvent(rs *ruleSet, declared *openapi3.Schema, eventType string, object *rule) (*rule, error) {
	switch eventType {
	case eventError:
		object = k.forms[FormStatus]
	case eventBookmark:
		var err error
		if object, err = rs.rule(bookmarkSchema(object.schema, rs.doc.Components.Schemas[schemaObjectMeta].Value)); err != nil {
			return nil, err
		}
	}
	r, err := rs.rule(eventSchema(declared, eventType, object.schema))
	if err != nil {
		return nil, err
	}
	r.shape = r.shape.with("object", object.shape)
	return r, nil
}

// wrongRows judges the objects in the rows of a Table by their kind, since the
// document leaves open which of the two forms they have.
func (k *kind) wrongRows(path []step, table any) []broken {
	fields, ok := table.(map[string]any)
	if !ok {
		return nil
	}
	rows, ok := fields["rows"].([]any)
	if !ok {
		return nil
	}
	var found []broken
	for i, row := range rows {
		if len(found) > maxIssues {
			break
		}
		fields, ok := row.(map[string]any)
		if !ok {
			continue
		}
		object, ok := fields["object"].(map[string]any)
		if !ok {
			continue
		}
		r := k.forms[FormPartialObject]
		if object["kind"] == k.name {
			r = k.forms[FormItem]
		}
		at := append(slices.Clone(path), keyStep("rows"), step{index: i}, keyStep("object"))
		for _, b := range visit(r.schema, object) {
			b.path = append(slices.Clone(at), b.path...)
			found = append(found, b)
		}
		found = append(found, unnamed(at, object)...)
	}
	return found
}
