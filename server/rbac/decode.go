package rbac

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a manifest. Real ones, managedFields
// included, stay below 20.
const maxDepth = 100

// object is a JSON object of a manifest with the path to it. encoding/json
// into structs will not do for a policy: it takes "Verbs" for "verbs" and the
// last of two equal keys.
type object struct {
	path    string
	members map[string]any // object, []any, string, json.Number, bool, nil
	keys    []string       // in the order of the text, for stable errors
}

func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// fieldError is what is wrong with one field.
type fieldError struct{ field, message string }

func (e *fieldError) Error() string {
	if e.field == "" {
		return e.message
	}
	return e.field + ": " + e.message
}

// parse reads one JSON object. Duplicate keys, trailing data and invalid UTF-8
// are errors.
func parse(data []byte) (object, error) {
	if !utf8.Valid(data) {
		return object{}, &fieldError{message: "not valid UTF-8"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseValue(dec, "", 0)
	if err != nil {
		return object{}, err
	}
	o, ok := v.(object)
	if !ok {
		return object{}, &fieldError{message: "not a JSON object"}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return object{}, &fieldError{message: "more than one JSON value"}
	}
	return o, nil
}

func parseValue(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, &fieldError{message: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	token, err := dec.Token()
	if err != nil {
		return nil, syntaxError(err)
	}
	switch token {
	case json.Delim('{'):
		return parseObject(dec, path, depth)
	case json.Delim('['):
		return parseArray(dec, path, depth)
	default:
		return token, nil
	}
}

func parseObject(dec *json.Decoder, path string, depth int) (any, error) {
	o := object{path: path, members: map[string]any{}}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, syntaxError(err)
		}
		key, _ := token.(string) // the decoder gives an error for any other key
		if _, ok := o.members[key]; ok {
			return nil, &fieldError{o.at(short(key)), "duplicate field"}
		}
		value, err := parseValue(dec, o.at(short(key)), depth+1)
		if err != nil {
			return nil, err
		}
		o.members[key] = value
		o.keys = append(o.keys, key)
	}
	_, err := dec.Token()
	return o, syntaxError(err)
}

func parseArray(dec *json.Decoder, path string, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		value, err := parseValue(dec, fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := dec.Token()
	return list, syntaxError(err)
}

func syntaxError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &fieldError{message: "not valid JSON: ends too early"}
	}
	return &fieldError{message: "not valid JSON: " + err.Error()}
}

// short makes a key or name, which may hold anything, fit for one line: as it
// is when it is harmless, else quoted and cut.
func short(s string) string {
	quoted := quote(s)
	if quoted[1:len(quoted)-1] == s {
		return s
	}
	return quoted
}

// reader takes typed values out of objects. It keeps the first error, so that
// the code that reads an object can be a list of its fields.
type reader struct{ err error }

func (r *reader) fail(field, format string, args ...any) {
	if r.err == nil {
		r.err = &fieldError{field, fmt.Sprintf(format, args...)}
	}
}

// only fails for a field that is not in names.
func (r *reader) only(o object, names ...string) {
	for _, key := range o.keys {
		if !slices.Contains(names, key) {
			r.fail(o.at(short(key)), "unknown field")
		}
	}
}

// text reads a string; an absent one and null are "", as in Kubernetes.
func (r *reader) text(o object, name string) string {
	switch v := o.members[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		r.fail(o.at(name), "must be a string")
		return ""
	}
}

func (r *reader) list(o object, name string) []any {
	switch v := o.members[name].(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		r.fail(o.at(name), "must be a list")
		return nil
	}
}

func (r *reader) texts(o object, name string) []string {
	var out []string
	for i, v := range r.list(o, name) {
		s, ok := v.(string)
		if !ok {
			r.fail(fmt.Sprintf("%s[%d]", o.at(name), i), "must be a string")
		}
		out = append(out, s)
	}
	return out
}

func (r *reader) objects(o object, name string) []object {
	var out []object
	for i, v := range r.list(o, name) {
		item, ok := v.(object)
		if !ok {
			r.fail(fmt.Sprintf("%s[%d]", o.at(name), i), "must be an object")
		}
		out = append(out, item)
	}
	return out
}

// object reads an object; ok tells an absent one and null from {}.
func (r *reader) object(o object, name string) (value object, ok bool) {
	switch v := o.members[name].(type) {
	case nil:
		return object{path: o.at(name)}, false
	case object:
		return v, true
	default:
		r.fail(o.at(name), "must be an object")
		return object{path: o.at(name)}, false
	}
}

func (r *reader) textMap(o object, name string) map[string]string {
	m, _ := r.object(o, name)
	out := make(map[string]string, len(m.keys))
	for _, key := range m.keys {
		s, ok := m.members[key].(string)
		if !ok {
			r.fail(m.at(short(key)), "must be a string")
		}
		out[key] = s
	}
	return out
}
