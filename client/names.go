package client

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// shape is what a Go type knows by name: the members of a struct, or whatever the
// elements of a slice, a map or a pointer know. A type that knows nothing has no shape.
type shape struct {
	members map[string]*shape   // of a struct, by JSON name
	folded  map[string]struct{} // the names in lower case
	longest int                 // name, in bytes
	elem    *shape              // of anything else
}

// shapes are those of the types asked for so far, by reflect.Type.
var shapes sync.Map

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	var s *shape
	switch {
	case isLeaf(t):
	case t.Kind() == reflect.Pointer:
		s = shapeOf(t.Elem())
	case t.Kind() == reflect.Struct:
		s = &shape{members: map[string]*shape{}, folded: map[string]struct{}{}}
		for i := range t.NumField() {
			name := memberName(t.Field(i))
			s.members[name] = shapeOf(t.Field(i).Type)
			s.folded[strings.ToLower(name)] = struct{}{}
			s.longest = max(s.longest, len(name))
		}
	default:
		if elem := shapeOf(t.Elem()); elem != nil {
			s = &shape{elem: elem}
		}
	}
	shapes.Store(t, s)
	return s
}

// mightTake reports whether encoding/json might take a name, given as it stands
// between its quotes, for a member although it is not the same.
func (s *shape) mightTake(name []byte) bool {
	// Outside ASCII two letters, ſ and the Kelvin sign, fold into it. \u may be
	// any letter; the other escapes are none.
	if bytes.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) || bytes.Contains(name, []byte(`\u`)) {
		return true
	}
	if len(name) > s.longest {
		return false
	}
	_, ok := s.folded[string(bytes.ToLower(name))]
	return ok
}

// hasCaseVariant reports whether encoding/json, reading valid JSON into a type,
// might take some member for another whose name differs in case. It adds a tenth to
// a fifth to decoding. encoding/json/v2 matches exactly and has no need of it.
func hasCaseVariant(raw json.RawMessage, t reflect.Type) bool {
	w := walk{text: raw}
	return w.value(shapeOf(t))
}

// walk goes over valid JSON, as deep as shapes know names. Its methods consume what
// they are named for and report whether they met a case variant, with which the
// walk is over.
type walk struct {
	text []byte
	pos  int
}

func (w *walk) value(s *shape) bool {
	switch open := w.next(); {
	case s != nil && open == '{':
		return w.object(s)
	case s != nil && open == '[':
		return w.array(s)
	}
	w.skip()
	return false
}

func (w *walk) object(s *shape) bool {
	for w.pos++; w.next() != '}'; w.comma() {
		name := w.quoted()
		w.next()
		w.pos++ // the colon
		member := s.elem
		if s.members != nil {
			var exact bool
			if member, exact = s.members[string(name)]; !exact && s.mightTake(name) {
				return true
			}
		}
		if w.value(member) {
			return true
		}
	}
	w.pos++
	return false
}

// array also takes one where the type has an object; decoding that fails later.
func (w *walk) array(s *shape) bool {
	for w.pos++; w.next() != ']'; w.comma() {
		if w.value(s.elem) {
			return true
		}
	}
	w.pos++
	return false
}

// skip consumes a value that has no names to look for.
func (w *walk) skip() {
	for depth := 0; ; {
		switch w.next() {
		case '{', '[':
			depth++
			w.pos++
		case '}', ']':
			depth--
			w.pos++
		case ',', ':':
			w.pos++
		case '"':
			w.quoted()
		default: // a number, true, false or null
			for w.pos < len(w.text) && !isDelimiter(w.text[w.pos]) {
				w.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// quoted consumes a string and returns what stands between its quotes.
func (w *walk) quoted() []byte {
	w.pos++
	start := w.pos
	for w.text[w.pos] != '"' {
		if w.text[w.pos] == '\\' {
			w.pos++
		}
		w.pos++
	}
	w.pos++
	return w.text[start : w.pos-1]
}

func (w *walk) comma() {
	if w.next() == ',' {
		w.pos++
	}
}

// next passes over white space and returns the byte behind it without consuming it.
func (w *walk) next() byte {
	for w.pos < len(w.text) {
		switch c := w.text[w.pos]; c {
		case ' ', '\t', '\r', '\n':
			w.pos++
		default:
			return c
		}
	}
	return 0
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
