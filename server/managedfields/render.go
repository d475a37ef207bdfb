package managedfields

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// appendJSON writes compact JSON with sorted keys, as a Kubernetes API server
// writes custom resources.
func (v *value) appendJSON(b []byte) []byte {
	switch v.kind {
	case null:
		return append(b, "null"...)
	case text:
		return appendQuoted(b, v.text, false)
	case list:
		b = append(b, '[')
		for i := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.items[i].appendJSON(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, v.members[i].name, false), ':')
			b = v.members[i].value.appendJSON(b)
		}
		return append(b, '}')
	default:
		return append(b, v.text...)
	}
}

// appendQuoted writes a string as encoding/json does, for HTML or not.
func appendQuoted(b []byte, s string, html bool) []byte {
	if isPlain(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(s) // a string is always good
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// isPlain is true for strings that stand between quotes as they are.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c == '"', c == '\\', c == '<', c == '>', c == '&', c >= utf8.RuneSelf:
			return false
		}
	}
	return true
}
