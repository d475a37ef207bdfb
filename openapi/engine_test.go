package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// These tests prove that no rule is lost between the OpenAPI 3.1 documents and
// the copy that the package enforces: what JSON Schema 2020-12 refuses by the
// document as it stands, the package refuses as well.

// document31 returns a profile's document as OpenAPI 3.1. References are put in
// place, since with a reference in a schema kin-openapi does not use the JSON
// Schema 2020-12 engine even when it is asked to.
func document31(t *testing.T, p openapi.Profile) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Source(p))
	require.NoError(t, err)
	require.True(t, doc.IsOpenAPI31OrLater())
	require.NoError(t, doc.Validate(context.Background()), "the document is no valid OpenAPI 3.1")
	for _, ref := range doc.Components.Schemas {
		inline(ref)
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				for _, media := range response.Value.Content {
					inline(media.Schema)
				}
			}
		}
	}
	return doc
}

func inline(ref *openapi3.SchemaRef) {
	if ref == nil {
		return
	}
	ref.Ref = ""
	for _, sub := range ref.Value.Properties {
		inline(sub)
	}
	inline(ref.Value.Items)
	inline(ref.Value.AdditionalProperties.Schema)
}

// refusedBy2020 returns the indexes of the texts that the JSON Schema 2020-12
// engine refuses by the schema. They are judged as one array, because the engine
// compiles the schema on every call.
func refusedBy2020(t *testing.T, schema *openapi3.Schema, texts []string) map[int]bool {
	t.Helper()
	values := make([]any, len(texts))
	for i, text := range texts {
		require.NoError(t, json.Unmarshal([]byte(text), &values[i]), text)
	}
	all := openapi3.NewArraySchema()
	all.Items = openapi3.NewSchemaRef("", schema)
	uuid := openapi3.NewRegexpFormatValidator(`^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$`)
	err := all.VisitJSON(values, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors(),
		openapi3.WithStringFormatValidator("uuid", uuid))
	refused := make(map[int]bool)
	if err == nil {
		return refused
	}
	// The engine has one error for the array, which names all places in its text.
	for _, match := range refusedPlace.FindAllStringSubmatch(err.Error(), -1) {
		i, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		refused[i] = true
	}
	require.NotEmpty(t, refused, "%v", err)
	return refused
}

var refusedPlace = regexp.MustCompile(`at '/(\d+)[/']`)

func TestBothEnginesAgreeOnTheCorpus(t *testing.T) {
	objects := corpusJSON(t)
	files := slices.Sorted(maps.Keys(objects))
	for _, p := range openapi.Profiles() {
		var texts []string
		for _, file := range files {
			texts = append(texts, string(objects[file]))
		}
		refused := refusedBy2020(t, document31(t, p).Components.Schemas["VirtualMachineInstance"].Value, texts)
		for i, file := range files {
			assert.Equal(t, refused[i], len(load(t, p).ValidateObject(objects[file])) > 0, "%s by %s", file, p)
		}
	}
}

func TestDocumentsHaveNoKeywordThatIsNotEnforced(t *testing.T) {
	enforced := []string{
		"type", "enum", "pattern", "format", "minimum", "maximum", "required",
		"properties", "additionalProperties", "items", "description",
	}
	formats := []string{"", "date-time", "uuid", "int32", "int64"}
	for _, p := range openapi.Profiles() {
		doc, err := openapi3.NewLoader().LoadFromData(openapi.Source(p))
		require.NoError(t, err)
		require.NoError(t, doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
			text, err := json.Marshal(ref.Value)
			require.NoError(t, err)
			var keywords map[string]any
			require.NoError(t, json.Unmarshal(text, &keywords))
			for keyword := range keywords {
				assert.Contains(t, enforced, keyword, "%s: %s", p, pointer)
			}
			assert.Contains(t, formats, ref.Value.Format, "%s: %s", p, pointer)
			return nil
		}))
	}
}

// bad is a value that breaks one keyword of a schema.
type bad struct {
	pointer string
	rules   []string // one of which must be told
	text    string
	// passes2020 says that JSON Schema 2020-12 in kin-openapi lets it pass: it
	// turns the number into an int64 before it compares, which wraps.
	passes2020 bool
}

// fault is a bad value for one place, not yet put there.
type fault struct {
	path  []string
	rules []string
	value any
	// passes2020 is that of bad.
	passes2020 bool
	// missing takes a member away instead.
	missing string
}

// badValues returns a bad value for every keyword of a schema and of all that
// it contains.
func badValues(t *testing.T, root *openapi3.Schema) []bad {
	t.Helper()
	var all []bad
	for _, f := range faults(t, root, nil) {
		text, err := json.Marshal(place(root, f.path, f))
		require.NoError(t, err)
		path := f.path
		if f.missing != "" {
			path = append(slices.Clone(path), f.missing)
		}
		var pointer strings.Builder
		for _, token := range path {
			pointer.WriteString("/" + token)
		}
		all = append(all, bad{pointer.String(), f.rules, string(text), f.passes2020})
	}
	return all
}

func faults(t *testing.T, s *openapi3.Schema, path []string) []fault {
	t.Helper()
	var all []fault
	add := func(value any, rules ...string) {
		all = append(all, fault{path: slices.Clone(path), rules: rules, value: value})
	}
	if s.Type != nil {
		wrong := any("text")
		if s.Type.Includes("string") {
			wrong = true
		}
		add(wrong, "type", "enum")
		if !s.Type.IncludesNull() {
			add(nil, "type", "enum")
		}
	}
	if len(s.Enum) > 0 {
		add("no such value", "enum")
	}
	if s.Pattern != "" {
		add("no such text", "pattern")
	}
	if s.Min != nil {
		add(*s.Min-1, "minimum")
	}
	if s.Max != nil {
		add(*s.Max+1, "maximum")
	}
	switch s.Format {
	case "":
	case "date-time", "uuid":
		add("no such thing", "format")
	case "int32":
		add(int64(1)<<31, "format")
	case "int64":
		add(json.Number("9223372036854775808"), "format", "json-integer-range")
		all[len(all)-1].passes2020 = true
	default:
		t.Errorf("format %s has no bad value", s.Format)
	}
	for _, name := range s.Required {
		all = append(all, fault{path: slices.Clone(path), rules: []string{"required"}, missing: name})
	}
	below := func(token string, ref *openapi3.SchemaRef) {
		if ref != nil {
			all = append(all, faults(t, ref.Value, append(slices.Clone(path), token))...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below(name, s.Properties[name])
	}
	below("0", s.Items)
	below("anything", s.AdditionalProperties.Schema)
	return all
}

// place returns a valid value of the schema, but for the fault at the path.
func place(s *openapi3.Schema, path []string, f fault) any {
	if len(path) == 0 && f.missing == "" {
		return f.value
	}
	value := sample(s)
	if len(path) == 0 {
		delete(value.(map[string]any), f.missing)
		return value
	}
	if s.Items != nil {
		return []any{place(s.Items.Value, path[1:], f)}
	}
	object := value.(map[string]any)
	ref := s.Properties[path[0]]
	if ref == nil {
		ref = s.AdditionalProperties.Schema
	}
	object[path[0]] = place(ref.Value, path[1:], f)
	return object
}

// sample returns a valid value of a schema, with no more than it requires.
func sample(s *openapi3.Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == nil:
		return nil
	case s.Type.Includes("object"):
		object := make(map[string]any)
		for _, name := range s.Required {
			object[name] = sample(s.Properties[name].Value)
		}
		return object
	case s.Type.Includes("array"):
		return []any{}
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("integer"):
		return 1
	case s.Format == "date-time":
		return "2026-02-03T04:05:06Z"
	case s.Format == "uuid":
		return "5d307ca9-b3ef-428c-8861-06e72d69f223"
	case s.Pattern != "":
		return "02:00:5e:00:00:01"
	}
	return "text"
}

// TestEveryKeywordIsEnforced generates, for every answer of every operation, a
// bad value for each keyword of its schema, and has it judged by the package and
// by JSON Schema 2020-12.
func TestEveryKeywordIsEnforced(t *testing.T) {
	for _, p := range openapi.Profiles() {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			doc, d := document31(t, p), load(t, p)
			judged := make(map[*openapi3.Schema]bool)
			for _, item := range doc.Paths.Map() {
				for _, op := range item.Operations() {
					for code, response := range op.Responses.Map() {
						for name, media := range response.Value.Content {
							if !strings.HasPrefix(name, "application/json") || judged[media.Schema.Value] {
								continue
							}
							judged[media.Schema.Value] = true
							status, err := strconv.Atoi(code)
							require.NoError(t, err)
							answer := openapi.Response{
								Operation: d.Operation(op.OperationID), Status: status, Header: http.Header{"Content-Type": {name}}}
							enforces(t, d, answer, media.Schema.Value)
						}
					}
				}
			}
			require.NotEmpty(t, judged)
		})
	}
}

func enforces(t *testing.T, d *openapi.Document, answer openapi.Response, schema *openapi3.Schema) {
	t.Helper()
	all := badValues(t, schema)
	require.NotEmpty(t, all)
	good, err := json.Marshal(sample(schema))
	require.NoError(t, err)
	texts := []string{string(good)}
	for _, b := range all {
		texts = append(texts, b.text)
	}
	refused := refusedBy2020(t, schema, texts)
	assert.False(t, refused[0], "JSON Schema 2020-12 refuses %s", good)
	where := fmt.Sprintf("%s %d %s", answer.Operation.ID(), answer.Status, answer.Header.Get("Content-Type"))
	for i, b := range all {
		assert.Equal(t, !b.passes2020, refused[i+1], "%s: JSON Schema 2020-12 on %s, which breaks %v at %s", where, b.text, b.rules, b.pointer)
		answer.Body = []byte(b.text)
		told := slices.ContainsFunc(d.ValidateResponse(answer), func(i openapi.Issue) bool {
			return i.Pointer == b.pointer && slices.Contains(b.rules, i.Rule)
		})
		assert.True(t, told, "%s: %s breaks %v at %s, which is not told: %v", where, b.text, b.rules, b.pointer, d.ValidateResponse(answer))
	}
}

func TestEveryKeywordOfParametersIsEnforced(t *testing.T) {
	for _, p := range openapi.Profiles() {
		for _, item := range document31(t, p).Paths.Map() {
			for _, o := range item.Operations() {
				op := load(t, p).Operation(o.OperationID)
				for _, ref := range o.Parameters {
					parameter := ref.Value
					bad := make(map[string]string) // text -> rule
					if s := parameter.Schema.Value; s.Type.Is("integer") {
						bad["text"] = "type"
						if s.Min != nil {
							bad[fmt.Sprint(*s.Min-1)] = "minimum"
						}
						require.Nil(t, s.Max)
					} else {
						require.True(t, s.Type.Is("string"))
						require.Empty(t, s.Enum)
						require.Empty(t, s.Pattern)
					}
					for text, rule := range bad {
						issues := op.ValidateRequest(openapi.Request{Query: url.Values{parameter.Name: {text}}})
						assert.Contains(t, lines(issues), "/query/"+parameter.Name+" "+rule, "%s %s", p, op.ID())
					}
				}
			}
		}
	}
}
