package openapi

import (
	"strconv"
	"strings"
)

// step is one step of a JSON pointer: a key of an object, or an index of an array.
type step struct {
	key   string
	index int // counts when it is not negative
}

func keyStep(key string) step { return step{key: key, index: -1} }

func (s step) token() string {
	if s.index >= 0 {
		return strconv.Itoa(s.index)
	}
	return s.key
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// pointer writes the steps as a JSON pointer. A very long one is cut: keys can
// be as long as the text that they come from, and each issue has its own pointer.
// It also ends at cloud-init data, which is meant to be a string; where somebody
// wrote an object, its keys are part of what must not be repeated.
func pointer(path []step) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		token := s.token()
		if b.Len()+len(token) > maxPointer {
			b.WriteString("…")
			break
		}
		escapeToken.WriteString(&b, token)
		if s.index < 0 && cloudInitData(s.key) {
			break
		}
	}
	return b.String()
}
