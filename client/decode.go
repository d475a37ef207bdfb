package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// badValue is a value that its Go type cannot hold.
type badValue struct {
	pointer string
	err     error
}

// decodeView fills a typed view from valid JSON and returns the first value that
// does not fit. encoding/json does it at once for nearly every object. In two cases
// the value is taken apart instead, down to where the trouble is: encoding/json
// stops at a time that is none and does not say where that was; and it takes
// {"phase":"Running","Phase":"Failed"} for Failed, where an API server, which
// matches names exactly, sees Running and an unknown field.
//
// Members with the same name are not looked for: no server sends them, and which
// one counts is then left to encoding/json.
func decodeView(raw json.RawMessage, view any) *badValue {
	p := &parts{}
	p.decode(raw, reflect.ValueOf(view).Elem(), "")
	return p.first
}

// parts decodes a value whole where that goes well and member by member where it
// does not. How deep that can go is bounded by the Go types.
type parts struct {
	first *badValue
	count int
}

func (p *parts) report(pointer string, err error) {
	if p.count++; p.count == 1 {
		p.first = &badValue{pointer, err}
	}
}

func (p *parts) decode(raw json.RawMessage, v reflect.Value, pointer string) {
	leaf := isLeaf(v.Type())
	if leaf || !hasCaseVariant(raw, v.Type()) {
		err := json.Unmarshal(raw, v.Addr().Interface())
		if err == nil {
			return
		}
		v.SetZero()
		if leaf {
			p.report(pointer, err)
			return
		}
	}
	if string(raw) == "null" {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.decode(raw, v.Elem(), pointer)
	case reflect.Struct:
		p.decodeStruct(raw, v, pointer)
	case reflect.Map:
		p.decodeMap(raw, v, pointer)
	case reflect.Slice:
		p.decodeSlice(raw, v, pointer)
	}
}

func (p *parts) decodeStruct(raw json.RawMessage, v reflect.Value, pointer string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		p.report(pointer, fmt.Errorf("%s where an object belongs", jsonType(raw)))
		return
	}
	for i := range v.NumField() {
		name := memberName(v.Type().Field(i))
		if member, ok := members[name]; ok {
			p.decode(member, v.Field(i), pointer+"/"+escapePointer(name))
		}
	}
}

// decodeMap leaves out members that do not fit: an empty text is a value, too.
func (p *parts) decodeMap(raw json.RawMessage, v reflect.Value, pointer string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		p.report(pointer, fmt.Errorf("%s where an object belongs", jsonType(raw)))
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(members)))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := reflect.New(v.Type().Elem()).Elem()
		before := p.count
		p.decode(members[name], value, pointer+"/"+escapePointer(name))
		if p.count == before {
			v.SetMapIndex(reflect.ValueOf(name), value)
		}
	}
}

// decodeSlice keeps a place for each element, so that positions agree with Raw.
func (p *parts) decodeSlice(raw json.RawMessage, v reflect.Value, pointer string) {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		p.report(pointer, fmt.Errorf("%s where an array belongs", jsonType(raw)))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
	for i, element := range elements {
		p.decode(element, v.Index(i), pointer+"/"+strconv.Itoa(i))
	}
}

// isLeaf reports whether a type is decoded in one piece: it has a decoding method
// of its own, as time.Time has, or nothing inside that has a declared name.
func isLeaf(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Struct, reflect.Map, reflect.Slice:
		return false
	}
	return true
}

// memberName is the JSON name of a struct field; every generated field has one.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// escapePointer writes a member name as a reference token (RFC 6901, section 3).
func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// jsonType names the type of a JSON value, by its first byte.
func jsonType(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
