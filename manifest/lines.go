package manifest

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// splitPointer gives the tokens of a JSON pointer.
func splitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		tokens[i] = pointerEscapes.Replace(token)
	}
	return tokens
}

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// newlinesBefore counts the line feeds of a JSON text before the value that
// the tokens lead to.
func newlinesBefore(value []byte, tokens []string) int {
	start, end, name := 0, len(value), 0
	for _, token := range tokens {
		at, nameAt, ok := child(value[start:end], token)
		if !ok {
			break
		}
		start, end, name = start+at.start, start+at.end, start+nameAt
	}
	return bytes.Count(value[:name], newline)
}

// child finds a member or an element of a JSON value, and where its name ends
// or the element begins.
func child(value []byte, token string) (at span, name int, ok bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(value), tolerant...)
	switch d.PeekKind() {
	case '{':
		for m, v := range members(d) {
			if m.name == token {
				end := int(d.InputOffset())
				at, name, ok = span{end - len(v), end}, m.end, true
			}
		}
	case '[':
		elements := list{span: span{0, len(value)}}
		for i, element := range elements.each(value) {
			if strconv.Itoa(i) == token {
				return element, element.start, true
			}
		}
	}
	return at, name, ok
}
