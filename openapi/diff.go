package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Effect is what a change does to the values that are valid.
type Effect string

const (
	// EffectAdds describes what was not described before: an operation, a
	// parameter, a status code, a schema, a property.
	EffectAdds Effect = "adds"
	// EffectWidens takes all values that were taken before, and more.
	EffectWidens Effect = "widens"
	// EffectNarrows takes some of the values that were taken before, no others.
	EffectNarrows Effect = "narrows"
	// EffectChanges is everything else.
	EffectChanges Effect = "changes"
)

// Change is one difference between two profiles.
type Change struct {
	// Pointer says where, as a JSON pointer into the documents. A parameter of an
	// operation is told by its place and name (query.limit), not by its index.
	Pointer string `json:"pointer"`
	// Keyword is the keyword of the schema, parameter or operation at Pointer that
	// differs; "" when all of it is new or gone.
	Keyword string `json:"keyword,omitempty"`
	// From and To are the keyword's values as JSON, "" for none.
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Effect Effect `json:"effect"`
}

// String returns the change on one line.
func (c Change) String() string {
	where := c.Pointer
	if c.Keyword != "" {
		where += " " + c.Keyword
	}
	switch {
	case c.From != "" && c.To != "":
		return fmt.Sprintf("%s: %s, %s -> %s", where, c.Effect, c.From, c.To)
	case c.From != "":
		return fmt.Sprintf("%s: %s, without %s", where, c.Effect, c.From)
	case c.To != "":
		return fmt.Sprintf("%s: %s, %s", where, c.Effect, c.To)
	}
	return fmt.Sprintf("%s: %s", where, c.Effect)
}

// Diff returns what the document of profile b has otherwise than that of a,
// keyword by keyword, in the order of the pointers. Descriptions and other
// notes that no value is judged by are left out. A schema that is used by name
// in many places is told once, where it is defined.
func Diff(a, b Profile) ([]Change, error) {
	from, err := generic(a)
	if err != nil {
		return nil, err
	}
	to, err := generic(b)
	if err != nil {
		return nil, err
	}
	d := &differ{from: from, to: to}
	d.schemas("/components/schemas", at(from, "components", "schemas"), at(to, "components", "schemas"))
	d.parameters(at(from, "components", "parameters"), at(to, "components", "parameters"))
	d.paths(at(from, "paths"), at(to, "paths"))
	d.each("/components/securitySchemes", at(from, "components", "securitySchemes"), at(to, "components", "securitySchemes"),
		func(where, key string) {})
	slices.SortStableFunc(d.changes, func(x, y Change) int { return strings.Compare(x.Pointer, y.Pointer) })
	return d.changes, nil
}

// generic returns the document of a profile as plain values.
func generic(p Profile) (object, error) {
	if _, err := ParseProfile(string(p)); err != nil {
		return nil, err
	}
	var root object
	if err := yaml.Unmarshal(source(p), &root); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p, err)
	}
	return root, nil
}

// object is an object of a document. What is absent is a nil object.
type object = map[string]any

// at returns the object that the keys lead to, nil when there is none.
func at(o object, keys ...string) object {
	for _, key := range keys {
		o, _ = o[key].(object)
	}
	return o
}

// differ compares two documents.
type differ struct {
	from, to object
	changes  []Change
	// following are the pairs of references that are being followed.
	following []string
}

func (d *differ) add(pointer, keyword string, from, to any, effect Effect) {
	d.changes = append(d.changes, Change{
		Pointer: pointer, Keyword: keyword, From: jsonText(from), To: jsonText(to), Effect: effect,
	})
}

func jsonText(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(text)
}

// each calls both for every key that the two objects share, and records the
// others as added or gone.
func (d *differ) each(pointer string, a, b object, both func(pointer, key string)) {
	keys := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		where := pointer + "/" + escapeToken.Replace(key)
		_, inA := a[key]
		_, inB := b[key]
		switch {
		case inA && inB:
			both(where, key)
		case inB:
			d.add(where, "", nil, nil, EffectAdds)
		default:
			d.add(where, "", nil, nil, EffectChanges)
		}
	}
}

func (d *differ) schemas(pointer string, a, b object) {
	d.each(pointer, a, b, func(where, key string) { d.schema(where, at(a, key), at(b, key)) })
}

func (d *differ) parameters(a, b object) {
	d.each("/components/parameters", a, b, func(where, key string) { d.parameter(where, at(a, key), at(b, key)) })
}

// parameter compares two parameters of the same name.
func (d *differ) parameter(pointer string, a, b object) {
	switch before, now := a["required"] == true, b["required"] == true; {
	case now && !before:
		d.add(pointer, "required", false, true, EffectNarrows)
	case before && !now:
		d.add(pointer, "required", true, false, EffectWidens)
	}
	d.keyword(pointer, "name", a, b)
	d.keyword(pointer, "in", a, b)
	d.schema(pointer+"/schema", at(a, "schema"), at(b, "schema"))
}

// keyword records a keyword whose meaning is not known here.
func (d *differ) keyword(pointer, keyword string, a, b object) {
	if from, to := jsonText(a[keyword]), jsonText(b[keyword]); from != to {
		d.add(pointer, keyword, a[keyword], b[keyword], EffectChanges)
	}
}

func (d *differ) paths(a, b object) {
	d.each("/paths", a, b, func(where, path string) {
		pathA, pathB := at(a, path), at(b, path)
		d.each(where, pathA, pathB, func(where, method string) {
			d.operation(where, at(pathA, method), at(pathB, method))
		})
	})
}

func (d *differ) operation(pointer string, a, b object) {
	d.keyword(pointer, "operationId", a, b)
	given, now := d.byName(d.from, a), d.byName(d.to, b)
	d.each(pointer+"/parameters", given, now, func(where, key string) {
		d.parameter(where, at(given, key), at(now, key))
	})
	before, after := at(a, "responses"), at(b, "responses")
	d.each(pointer+"/responses", before, after, func(where, code string) {
		contentA := at(d.resolve(d.from, at(before, code)), "content")
		contentB := at(d.resolve(d.to, at(after, code)), "content")
		d.each(where+"/content", contentA, contentB, func(where, media string) {
			d.schema(where+"/schema", at(contentA, media, "schema"), at(contentB, media, "schema"))
		})
	})
}

// byName returns the parameters that an operation declares in place, by place
// and name. Those that it refers to are compared where they are defined.
func (d *differ) byName(root, operation object) object {
	named := make(object)
	list, _ := operation["parameters"].([]any)
	for _, p := range list {
		parameter, _ := p.(object)
		parameter = d.resolve(root, parameter)
		name, _ := parameter["name"].(string)
		in, _ := parameter["in"].(string)
		named[in+"."+name] = parameter
	}
	return named
}

// resolve follows a reference inside the document, once: the documents have none
// to another reference.
func (d *differ) resolve(root, o object) object {
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	return at(root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}
