package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// lost names what a machine of this run no longer has of what was sent, "" for
// nothing. The server and its controllers may add to a machine.
func (w *writing) lost(m *machineMeta) string {
	switch {
	case m.labels[labelRun] != w.id:
		return "the label " + labelRun
	case m.annotations[annotationWhy] != why:
		return "the annotation " + annotationWhy
	}
	return lostPart(nowhereSpec(), m.spec, "/spec")
}

// lostPart returns the pointer of the first part of a JSON value that another one does
// not have, "" if it has all. An item of a list may be at any place.
func lostPart(sent, got any, pointer string) string {
	switch s := sent.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return pointer
		}
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if at := lostPart(s[key], g[key], pointer+"/"+escaped(key)); at != "" {
				return at
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		for i, item := range s {
			if len(g) == 1 {
				return lostPart(item, g[0], pointer+"/"+strconv.Itoa(i))
			}
			if !slices.ContainsFunc(g, func(have any) bool { return lostPart(item, have, pointer) == "" }) {
				return pointer + "/" + strconv.Itoa(i)
			}
		}
		return ""
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(string(s), string(g)) {
			return ""
		}
	default:
		switch got.(type) {
		case map[string]any, []any: // cannot be compared
		default:
			if sent == got {
				return ""
			}
		}
	}
	return pointer
}

// raised reports whether a write has raised the generation and changed nothing but
// metadata.
func raised(before, after []byte) bool {
	was, now := generationOf(before), generationOf(after)
	wasGeneration, had := was.generation.(json.Number)
	nowGeneration, has := now.generation.(json.Number)
	return had && has && wasGeneration != nowGeneration && len(differences(was.rest, now.rest)) == 0
}

// machineParts are the generation of a machine and all that is not metadata.
type machineParts struct {
	generation any
	rest       []byte
}

func generationOf(machine []byte) (p machineParts) {
	v, _ := decode(machine)
	object, _ := v.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	p.generation = metadata["generation"]
	delete(object, "metadata")
	p.rest, _ = json.Marshal(object)
	return p
}
