package manifest

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// readDocument reads the text of one YAML document, which it does not keep.
func (r *reader) readDocument(text []byte, line int) {
	if len(text) == 0 {
		return
	}
	if list, ok := splitList(text); ok && !r.wholeLists && r.readList(text, line, list) {
		return
	}
	r.readWhole(text, line, 0)
}

// readWhole decodes a document in one piece, and skips the first items if it
// is a List.
func (r *reader) readWhole(text []byte, line, skip int) {
	source := &yamlSource{text: slices.Clone(text), line: line}
	first := source.firstLine()
	c, err := source.convert()
	if err != nil {
		r.failAt(err, first)
		return
	}
	r.emitConverted(c, place{line: first, source: source, skip: skip})
}

// emitConverted yields what a document was converted to.
func (r *reader) emitConverted(c conversion, at place) {
	if c.json != nil {
		r.emit(c.json, at)
	}
	if c.trailing != nil {
		r.failAt(c.trailing, at.line)
	}
}

// failAt yields an error at its own line, or at another if it has none.
func (r *reader) failAt(err error, line int) {
	if located, ok := errors.AsType[*Error](err); ok {
		err = located.Err
		if located.Line > 0 {
			line = located.Line
		}
	}
	r.fail(line, err)
}

// readList reads a List item by item, so that it needs the memory of one item
// and LineOf has only that to read. It returns false, having yielded nothing,
// if the document must be decoded whole.
//
// An item that can be read alone is the same item in its place: of what comes
// before an item, the scanner of the YAML engine heeds the indentation, open
// quotes and brackets, and anchors. Items are cut at the indentation of their
// dashes. A quote or bracket that is open at a cut makes the piece before it
// unreadable; an alias to an anchor of an earlier piece makes its own piece
// unreadable. From such a piece on, the items come from decoding the whole.
func (r *reader) readList(text []byte, line int, list yamlList) bool {
	h, ok := readEnvelope(list)
	if !ok {
		return false
	}
	for i, piece := range list.items {
		item := &yamlSource{
			text: slices.Clone(text[piece.start:piece.end]),
			line: line + piece.line,
		}
		c, err := item.convert()
		value, single := singleItem(c.json)
		switch {
		case err == nil && single && c.trailing == nil:
			at := place{line: item.line, source: item, root: "/0"}
			r.emitItem(c.json[value.start:value.end], at, h, 1)
		case len(text) <= maxObjectBytes:
			r.readWhole(text, line, i)
			return true
		case err != nil:
			r.failAt(err, item.line)
			return true
		default:
			r.fail(item.line, tooLarge("a List whose items cannot be told apart", maxObjectBytes))
			return true
		}
		if r.done {
			return true
		}
	}
	return true
}

// readEnvelope reads what is around the items, and reports whether that is a
// List whose only items are the ones cut out.
func readEnvelope(list yamlList) (header, bool) {
	before := yamlSource{text: list.before}
	if c, err := before.convert(); err != nil || c.trailing != nil {
		return header{}, false
	}
	envelope := yamlSource{text: slices.Concat(list.before, list.after)}
	c, err := envelope.convert()
	if err != nil || c.trailing != nil || c.json == nil || envelope.mayMerge() {
		return header{}, false
	}
	h, err := readHeader(c.json)
	if err != nil || !h.isList() || h.items == nil || !h.items.null {
		return header{}, false
	}
	named := 0
	for m := range members(jsontext.NewDecoder(bytes.NewBuffer(c.json), tolerant...)) {
		if m.name == "items" {
			named++
		}
	}
	return h, named == 1
}

// singleItem is the place of the only item of a JSON array.
func singleItem(array []byte) (item span, ok bool) {
	if len(array) == 0 || array[0] != '[' {
		return span{}, false
	}
	items := list{span: span{0, len(array)}}
	for i, at := range items.each(array) {
		item, ok = at, i == 0
	}
	return item, ok
}
