package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// place is where a JSON value was written.
type place struct {
	line   int
	source *yamlSource // nil for JSON
	root   string      // the value's pointer in source
	skip   int         // items of a List that were yielded before
}

// maxListDepth is how many Lists may be items of one another. No tool nests
// them; each level means reading the innermost items once more.
const maxListDepth = 8

// emit yields a JSON value, which must be an object with a kind, or the items
// it has as a List.
func (r *reader) emit(value []byte, at place) { r.emitItem(value, at, header{}, 0) }

func (r *reader) emitItem(value []byte, at place, list header, depth int) {
	h, err := readHeader(value)
	switch {
	case err != nil:
		r.fail(at.line, err)
		return
	case h.items != nil && h.isList() && !r.wholeLists:
		if depth == maxListDepth {
			r.fail(at.line, fmt.Errorf("more than %d Lists are nested in one another", maxListDepth))
			return
		}
		r.emitList(value, at, h, depth)
		return
	case len(value) > maxObjectBytes:
		r.fail(at.line, tooLarge("an object", maxObjectBytes))
		return
	}
	json := slices.Clone(value)
	if inherited, ok := h.inherit(list); ok {
		json = inherited.prepend(value)
		h.apiVersion, h.kind = inherited.apiVersion, inherited.kind
	}
	if h.kind == "" {
		r.fail(at.line, h.noKind())
		return
	}
	r.done = !r.yield(&Object{
		File: r.name, Line: at.line,
		APIVersion: h.apiVersion, Kind: h.kind, Namespace: h.namespace, Name: h.name,
		JSON: json, source: at.source, root: at.root,
	}, nil)
}

// emitList yields the items of a List.
func (r *reader) emitList(value []byte, at place, list header, depth int) {
	itemAt := itemPlaces(value, at)
	for i, item := range list.items.each(value) {
		if i < at.skip {
			continue
		}
		r.emitItem(value[item.start:item.end], itemAt(i, item), list, depth+1)
		if r.done {
			return
		}
	}
}

// itemPlaces gives the places of a List's items, which must be asked for in
// their order.
func itemPlaces(value []byte, at place) func(int, span) place {
	if at.source != nil {
		root := at.root + "/items"
		items := at.source.find(splitPointer(root))
		return func(i int, _ span) place {
			return place{
				line:   at.source.elementLine(items, i, at.line),
				source: at.source,
				root:   root + "/" + strconv.Itoa(i),
			}
		}
	}
	line, seen := at.line, 0
	return func(_ int, item span) place {
		line += bytes.Count(value[seen:item.start], newline)
		seen = item.start
		return place{line: line}
	}
}
