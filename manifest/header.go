package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tolerant lets pass what a validator reports better.
var tolerant = []jsontext.Options{
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
}

// span is a part of a text.
type span struct{ start, end int }

// header is what identifies an object. Of members named twice the last counts,
// as for an API server.
type header struct {
	apiVersion, kind, namespace, name string

	kindOf jsontext.Kind // the type of kind, 0 when absent
	typed  bool          // has apiVersion or kind
	items  *list
}

// list is an array of a JSON text, or the null that empty Lists of typed
// clients have.
type list struct {
	span
	null bool
}

// readHeader reads the header of a JSON value, which is valid by grammar.
func readHeader(value []byte) (header, error) {
	var h header
	d := jsontext.NewDecoder(bytes.NewBuffer(value), tolerant...)
	if kind := d.PeekKind(); kind != '{' {
		return h, fmt.Errorf("%s is not a Kubernetes object", describe(kind))
	}
	for m, v := range members(d) {
		switch m.name {
		case "apiVersion":
			h.apiVersion, h.typed = text(v), true
		case "kind":
			h.kind, h.kindOf, h.typed = text(v), v.Kind(), true
		case "metadata":
			h.namespace, h.name = readMetadata(v)
		case "items":
			h.items = nil
			if kind := v.Kind(); kind == '[' || kind == 'n' {
				end := int(d.InputOffset())
				h.items = &list{span{end - len(v), end}, kind == 'n'}
			}
		}
	}
	return h, nil
}

func readMetadata(metadata jsontext.Value) (namespace, name string) {
	if metadata.Kind() != '{' {
		return "", ""
	}
	for m, value := range members(jsontext.NewDecoder(bytes.NewBuffer(metadata), tolerant...)) {
		switch m.name {
		case "namespace":
			namespace = text(value)
		case "name":
			name = text(value)
		}
	}
	return namespace, name
}

// member is a member of an object: its name, and where that ends.
type member struct {
	name string
	end  int
}

// members walks the object that d is about to read. A value is valid until the
// next step.
func members(d *jsontext.Decoder) iter.Seq2[member, jsontext.Value] {
	return func(yield func(member, jsontext.Value) bool) {
		if _, err := d.ReadToken(); err != nil {
			return
		}
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return
			}
			m := member{name.String(), int(d.InputOffset())}
			value, err := d.ReadValue()
			if err != nil || !yield(m, value) {
				return
			}
		}
	}
}

// each gives the places of the items in the value that the list is in.
func (l *list) each(value []byte) iter.Seq2[int, span] {
	return func(yield func(int, span) bool) {
		if l.null {
			return
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(value[l.start:l.end]), tolerant...)
		if _, err := d.ReadToken(); err != nil {
			return
		}
		for i := 0; d.PeekKind() != ']'; i++ {
			item, err := d.ReadValue()
			end := l.start + int(d.InputOffset())
			if err != nil || !yield(i, span{end - len(item), end}) {
				return
			}
		}
	}
}

// isList reports whether the kind is that of a List: List or FooList.
func (h header) isList() bool { return strings.HasSuffix(h.kind, "List") }

// inherit gives an item of a typed list that says nothing about its type the
// type its list says, and reports whether that was needed. API servers leave
// apiVersion and kind out of the items of built-in types.
func (h header) inherit(list header) (header, bool) {
	kind := strings.TrimSuffix(list.kind, "List")
	if h.typed || kind == "" {
		return h, false
	}
	return header{apiVersion: list.apiVersion, kind: kind}, true
}

// prepend puts apiVersion and kind before the members of an object.
func (h header) prepend(object []byte) []byte {
	out := append(make([]byte, 0, len(object)+len(h.apiVersion)+len(h.kind)+32), `{"apiVersion":`...)
	out = appendString(out, h.apiVersion)
	out = append(out, `,"kind":`...)
	out = appendString(out, h.kind)
	rest := bytes.TrimLeft(object[1:], whiteSpace)
	if rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, object[1:]...)
}

// noKind says why an object has no kind.
func (h header) noKind() error {
	switch h.kindOf {
	case 0:
		return errors.New("not a Kubernetes object: it has no kind")
	case '"':
		return errors.New("not a Kubernetes object: its kind is empty")
	}
	return fmt.Errorf("not a Kubernetes object: its kind is %s, not a string", describe(h.kindOf))
}

// text is the value of a JSON string, and empty for other types.
func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	unquoted, _ := jsontext.AppendUnquote(nil, value) // complains about invalid UTF-8, which it replaces
	return string(unquoted)
}

// describe names a JSON type in a sentence.
func describe(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}
