package openapi

import (
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// Names of the schemas that the forms have in the documents.
const (
	schemaItem        = "VirtualMachineInstance"
	schemaStatus      = "Status"
	schemaObjectMeta  = "ObjectMeta"
	schemaWatchEvent  = "WatchEvent"
	schemaPartialItem = "PartialObjectMetadata"
)

// formSchemas are the schemas of the forms that are one whole body.
var formSchemas = map[Form]string{
	FormItem:              schemaItem,
	FormList:              "VirtualMachineInstanceList",
	FormTable:             "Table",
	FormPartialObject:     schemaPartialItem,
	FormPartialObjectList: "PartialObjectMetadataList",
	FormStatus:            schemaStatus,
}

// eventForms are the forms of the object in a watch event.
var eventForms = map[Form]Form{
	FormWatchEvent:              FormItem,
	FormWatchEventTable:         FormTable,
	FormWatchEventPartialObject: FormPartialObject,
}

// Types of watch events (meta/v1 WatchEvent).
const (
	eventBookmark = "BOOKMARK"
	eventError    = "ERROR"
)

// compileForms compiles what the document knows of the forms.
func (d *Document) compileForms(rs *ruleSet) error {
	d.forms = make(map[Form]*rule)
	for form, name := range formSchemas {
		r, err := rs.component(name)
		if err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
		if r != nil {
			d.forms[form] = r
		}
	}
	d.object = d.forms[FormItem]
	if d.object == nil {
		return fmt.Errorf("no schema %s", schemaItem)
	}
	d.object.shape.field = kubevirtFields()
	d.conventions = d.forms[FormStatus] != nil
	if table := d.forms[FormTable]; table != nil {
		// A row has the object whole or reduced to its metadata. Both are read as
		// the whole one, which has every field of the other.
		row := table.shape.members["rows"].shape.items
		row.members["object"] = member{name: "object", shape: d.object.shape}
	}
	return d.compileEvents(rs)
}

// compileEvents makes one schema for each type of event and form of its object:
// the document's WatchEvent, whose type is that one and whose object is what the
// type says.
func (d *Document) compileEvents(rs *ruleSet) error {
	declared := rs.doc.Components.Schemas[schemaWatchEvent]
	if declared == nil {
		return nil
	}
	d.events = make(map[Form]map[string]*rule)
	for form, objectForm := range eventForms {
		d.events[form] = make(map[string]*rule)
		for _, value := range declared.Value.Properties["type"].Value.Enum {
			eventType, ok := value.(string)
			if !ok {
				return fmt.Errorf("schema %s: type %v is no string", schemaWatchEvent, value)
			}
			object := d.forms[objectForm].schema
			switch eventType {
			case eventError:
				object = d.forms[FormStatus].schema
			case eventBookmark:
				object = bookmarkSchema(object, rs.doc.Components.Schemas[schemaObjectMeta].Value)
			}
			r, err := rs.rule(eventSchema(declared.Value, eventType, object))
			if err != nil {
				return fmt.Errorf("schema %s: %w", schemaWatchEvent, err)
			}
			d.events[form][eventType] = r
		}
		// An event of no known type is judged by the declared schema, which says so.
		r, err := rs.rule(declared.Value)
		if err != nil {
			return fmt.Errorf("schema %s: %w", schemaWatchEvent, err)
		}
		d.events[form][""] = r
	}
	return nil
}

func eventSchema(declared *openapi3.Schema, eventType string, object *openapi3.Schema) *openapi3.Schema {
	schema := *declared
	schema.Properties = maps.Clone(declared.Properties)
	typed := *declared.Properties["type"].Value
	typed.Enum = []any{eventType}
	schema.Properties["type"] = openapi3.NewSchemaRef("", &typed)
	schema.Properties["object"] = openapi3.NewSchemaRef("", object)
	return &schema
}

// bookmarkSchema is the object of a BOOKMARK event: the kind and version of the
// objects of the watch and a resourceVersion, nothing else (Kubernetes API
// concepts, "Watch bookmarks").
func bookmarkSchema(object, meta *openapi3.Schema) *openapi3.Schema {
	metadata := *meta
	metadata.Required = []string{"resourceVersion"}
	metadata.Properties = maps.Clone(meta.Properties)
	version := *meta.Properties["resourceVersion"].Value
	version.MinLength = 1
	metadata.Properties["resourceVersion"] = openapi3.NewSchemaRef("", &version)

	schema := *object
	schema.Required = []string{"apiVersion", "kind", "metadata"}
	schema.Properties = maps.Clone(object.Properties)
	schema.Properties["metadata"] = openapi3.NewSchemaRef("", &metadata)
	return &schema
}

// unnamed returns what is broken where an object that a server answers with has
// no name. A missing name inside metadata is for the document to tell.
func unnamed(path []step, object any) []broken {
	fields, ok := object.(map[string]any)
	if !ok {
		return nil
	}
	metadata, given := fields["metadata"]
	if given {
		meta, ok := metadata.(map[string]any)
		if !ok {
			return nil
		}
		if name, given := meta["name"]; !given || name != "" {
			return nil
		}
	}
	return []broken{{
		path:    append(slices.Clone(path), keyStep("metadata"), keyStep("name")),
		keyword: RuleObjectName,
		text:    "must be there, as objects of a server have names",
	}}
}

// unnamedItems is unnamed for every item of a list.
func unnamedItems(list any) []broken {
	fields, ok := list.(map[string]any)
	if !ok {
		return nil
	}
	items, ok := fields["items"].([]any)
	if !ok {
		return nil
	}
	var found []broken
	for i, item := range items {
		if len(found) > maxIssues {
			break
		}
		found = append(found, unnamed([]step{keyStep("items"), {index: i}}, item)...)
	}
	return found
}

// wrongRows judges the objects in the rows of a Table by their kind, since the
// document leaves open which of the two forms they have.
func (d *Document) wrongRows(path []step, table any) []broken {
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
		r := d.forms[FormPartialObject]
		if object["kind"] == schemaItem {
			r = d.object
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
