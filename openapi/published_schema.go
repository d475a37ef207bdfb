package openapi

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const schemaRefPrefix = "#/components/schemas/"

// Homes of schemas, as Kubernetes names its packages in OpenAPI.
const (
	homeMeta = "io.k8s.apimachinery.pkg.apis.meta.v1."
	homeAPI  = "io.k8s.api."
)

// metaSchemas are the schemas of meta/v1, which all groups share.
var metaSchemas = []string{
	"DeleteOptions", "DeletionResult", "JSONPatchOperation", "ListMeta", schemaObjectMeta, "OwnerReference", schemaPartialItem,
	"PartialObjectMetadataList", "Preconditions", schemaStatus, "StatusCause", "StatusDetails", "Table",
	"TableColumnDefinition", "TableRow", schemaWatchEvent,
}

// homeOf returns where the schemas of a group are: the group's name backwards for
// custom resources, a package of k8s.io/api for Kubernetes' own groups.
func homeOf(group string) string {
	parts := strings.Split(group, "/")
	version := parts[len(parts)-1]
	if len(parts) == 2 {
		return homeAPI + "core." + version + "."
	}
	name := strings.Split(parts[1], ".")
	if strings.HasSuffix(parts[1], ".k8s.io") || len(name) == 1 {
		return homeAPI + name[0] + "." + version + "."
	}
	slices.Reverse(name)
	return strings.Join(name, ".") + "." + version + "."
}

// name returns the dotted name of a schema of the document.
func (p *publisher) name(name string) string {
	if slices.Contains(metaSchemas, name) {
		return homeMeta + name
	}
	return p.home + name
}

// schemaRef copies a schema and what it refers to, with the names and extensions of
// Kubernetes.
func (p *publisher) schemaRef(ref *openapi3.SchemaRef) (*openapi3.SchemaRef, error) {
	if ref == nil {
		return nil, nil
	}
	if ref.Ref == "" {
		schema, err := p.schema(ref.Value)
		return openapi3.NewSchemaRef("", schema), err
	}
	name, ok := strings.CutPrefix(ref.Ref, schemaRefPrefix)
	if !ok {
		return nil, fmt.Errorf("reference %s is to no schema of the document", ref.Ref)
	}
	out := openapi3.NewSchemaRef(schemaRefPrefix+p.name(name), nil)
	if origin := p.origins[name]; origin != nil {
		if origin != ref.Value && !reflect.DeepEqual(origin, ref.Value) {
			return nil, fmt.Errorf("there are two schemas %s", name)
		}
		return out, nil
	}
	p.origins[name] = ref.Value
	schema, err := p.schema(ref.Value)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	if kinds := kindsOf(ref.Value); len(kinds) > 0 {
		schema.Extensions[extensionGVK] = kinds
	}
	p.schemas[p.name(name)] = openapi3.NewSchemaRef("", schema)
	return out, nil
}

func (p *publisher) schema(in *openapi3.Schema) (*openapi3.Schema, error) {
	if len(in.AllOf)+len(in.AnyOf)+len(in.OneOf) > 0 || in.Not != nil {
		return nil, errors.New("schemas that are combined (allOf, anyOf, oneOf, not) are not supported")
	}
	out := *in
	out.Extensions = maps.Clone(in.Extensions)
	if out.Extensions == nil {
		out.Extensions = make(map[string]any)
	}
	var err error
	if out.Items, err = p.schemaRef(in.Items); err != nil {
		return nil, fmt.Errorf("items: %w", err)
	}
	if out.AdditionalProperties.Schema, err = p.schemaRef(in.AdditionalProperties.Schema); err != nil {
		return nil, fmt.Errorf("additionalProperties: %w", err)
	}
	out.Properties = nil
	if len(in.Properties) > 0 {
		out.Properties = make(openapi3.Schemas, len(in.Properties))
	}
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		if out.Properties[name], err = p.schemaRef(in.Properties[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if open(in) {
		out.Extensions[extensionPreserve] = true
	}
	return &out, nil
}

// open says that a value may have fields that the schema does not name, and is no
// map, whose fields have a schema without a name.
func open(s *openapi3.Schema) bool {
	if s.Type != nil && !s.Type.Is(openapi3.TypeObject) {
		return false
	}
	return s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil
}

// content copies the media types of a body or an answer.
func (p *publisher) content(in openapi3.Content) (openapi3.Content, error) {
	if in == nil {
		return nil, nil
	}
	out := make(openapi3.Content, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		media := *in[name]
		var err error
		if media.Schema, err = p.schemaRef(media.Schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = &media
	}
	return out, nil
}

// parameters copies parameters to where they are used.
func (p *publisher) parameters(in openapi3.Parameters) (openapi3.Parameters, error) {
	out := make(openapi3.Parameters, 0, len(in))
	for _, ref := range in {
		parameter := *ref.Value
		var err error
		if parameter.Schema, err = p.schemaRef(parameter.Schema); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", parameter.Name, err)
		}
		out = append(out, &openapi3.ParameterRef{Value: &parameter})
	}
	return out, nil
}

func (p *publisher) requestBody(in *openapi3.RequestBodyRef) (*openapi3.RequestBodyRef, error) {
	if in == nil {
		return nil, nil
	}
	body := *in.Value
	var err error
	body.Content, err = p.content(body.Content)
	return &openapi3.RequestBodyRef{Value: &body}, err
}

// responses copies answers to where they are given.
func (p *publisher) responses(in *openapi3.Responses) (*openapi3.Responses, error) {
	out := openapi3.NewResponsesWithCapacity(in.Len())
	all := in.Map()
	for _, code := range slices.Sorted(maps.Keys(all)) {
		response := *all[code].Value
		var err error
		if response.Content, err = p.content(response.Content); err != nil {
			return nil, fmt.Errorf("answer %s: %w", code, err)
		}
		out.Set(code, &openapi3.ResponseRef{Value: &response})
	}
	return out, nil
}
