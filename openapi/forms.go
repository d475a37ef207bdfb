package openapi

import (
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

// formSchemas are the schemas of the forms that are one whole body, and the same for
// all kinds.
var formSchemas = map[Form]string{
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
