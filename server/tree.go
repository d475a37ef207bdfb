package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A write takes an object apart, as maps, lists, strings, json.Number, bool and nil,
// and puts it together again, several times each. encoding/json does the same by
// reflection, and three times as slowly; what is rare is left to it.

// maxTreeDepth is how deep a value may be nested: as deep as encoding/json takes it.
const maxTreeDepth = 10_000

var errNotJSON = errors.New("it is not one JSON value")

// readTree reads a text that is one JSON value. Numbers are kept as they are written;
// of members with the same name the last one counts. The strings are parts of one copy
// of the text.
func readTree(data []byte) (any, error) {
	r := &treeReader{text: string(data)}
	v, ok := r.value(1)
	if r.skipSpace(); !ok || r.at < len(r.text) {
		return nil, errNotJSON
	}
	return v, nil
}

// readMembers reads an object that is written as appendTree does, and does not take
// apart those of its members, and of theirs, that leave names by the name of the member
// that they are in, "" for none.
func readMembers(data []byte, leave func(parent, name string) bool) (map[string]any, error) {
	r := &treeReader{text: string(data), leave: leave}
	v, ok := r.value(1)
	members, is := v.(map[string]any)
	if r.skipSpace(); !ok || !is || r.at < len(r.text) {
		return nil, errNoObject
	}
	return members, nil
}

type treeReader struct {
	text string
	at   int
	// leave, if there is one, says which members are not taken apart.
	leave  func(parent, name string) bool
	parent string
}

// skipSpace is the byte behind space, 0 at the end.
func (r *treeReader) skipSpace() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// accept steps over a byte behind space, if it is there.
func (r *treeReader) accept(c byte) bool {
	if r.skipSpace() != c {
		return false
	}
	r.at++
	return true
}

func (r *treeReader) value(depth int) (any, bool) {
	switch c := r.skipSpace(); {
	case (c == '{' || c == '[') && depth > maxTreeDepth:
		return nil, false
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.list(depth)
	case c == '"':
		return r.string()
	case c == 't':
		return true, r.word("true")
	case c == 'f':
		return false, r.word("false")
	case c == 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *treeReader) word(w string) bool {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *treeReader) object(depth int) (any, bool) {
	r.at++
	members := make(map[string]any)
	if r.accept('}') {
		return members, true
	}
	for {
		if r.skipSpace() != '"' {
			return nil, false
		}
		name, ok := r.string()
		if !ok || !r.accept(':') {
			return nil, false
		}
		if depth == 1 {
			r.parent = ""
		}
		if depth <= 2 && r.leave != nil && r.leave(r.parent, name) {
			members[name], ok = r.whole()
		} else {
			if depth == 1 {
				r.parent = name
			}
			members[name], ok = r.value(depth + 1)
		}
		if !ok {
			return nil, false
		}
		if !r.accept(',') {
			return members, r.accept('}')
		}
	}
}

// whole reads a value as it is written, and looks at it only for its end.
func (r *treeReader) whole() (any, bool) {
	r.skipSpace()
	for start, open := r.at, 0; r.at < len(r.text); {
		switch r.text[r.at] {
		case '{', '[':
			open++
		case '}', ']':
			open--
		case '"':
			if !r.skipString() {
				return nil, false
			}
		}
		if open < 0 || open == 0 && r.at+1 < len(r.text) && strings.IndexByte(",}", r.text[r.at+1]) >= 0 {
			r.at++
			return untouched(r.text[start:r.at]), open == 0
		}
		r.at++
	}
	return nil, false
}

// skipString goes to the end of the string that begins here.
func (r *treeReader) skipString() bool {
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			return true
		case '\\':
			r.at++
		}
	}
	return false
}

func (r *treeReader) list(depth int) (any, bool) {
	r.at++
	items := []any{}
	if r.accept(']') {
		return items, true
	}
	for {
		item, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if !r.accept(',') {
			return items, r.accept(']')
		}
	}
}

// string reads a string, which begins here.
func (r *treeReader) string() (string, bool) {
	start, plain := r.at, true
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			quoted := r.text[start:r.at]
			if plain {
				return quoted[1 : len(quoted)-1], true
			}
			var s string
			err := json.Unmarshal([]byte(quoted), &s)
			return s, err == nil
		case c < ' ':
			return "", false
		case c == '\\':
			plain = false
			r.at++
		case c >= utf8.RuneSelf:
			plain = false // Bad UTF-8 is not kept.
		}
	}
	return "", false
}

func (r *treeReader) number() (any, bool) {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.0123456789Ee", r.text[r.at]) >= 0 {
		r.at++
	}
	n := r.text[start:r.at]
	return json.Number(n), isNumber(n)
}

// isNumber reports whether a text is a number in JSON.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	if s = s[whole:]; strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// appendTree writes a value as encoding/json does with SetEscapeHTML(false): compact,
// members in the order of their names.
func appendTree(to []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(to, "null"...), nil
	case map[string]any:
		if v != nil {
			return appendMembers(to, v)
		}
	case []any:
		if v != nil {
			return appendItems(to, v)
		}
	case string:
		if isPlain(v) {
			return append(append(append(to, '"'), v...), '"'), nil
		}
	case untouched:
		return append(to, v...), nil
	case json.Number:
		if isNumber(string(v)) {
			return append(to, v...), nil
		}
	case bool:
		if v {
			return append(to, "true"...), nil
		}
		return append(to, "false"...), nil
	}
	return appendOther(to, v)
}

func appendMembers(to []byte, members map[string]any) ([]byte, error) {
	return appendMembersBy(to, members, func(to []byte, _ string, v any) ([]byte, error) { return appendTree(to, v) })
}

// appendMembersBy lets the value of each member be written by a function.
func appendMembersBy(to []byte, members map[string]any, value func(to []byte, name string, v any) ([]byte, error)) (_ []byte, err error) {
	var room [16]string
	names := room[:0]
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	to = append(to, '{')
	for i, name := range names {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = appendTree(to, name); err != nil {
			return nil, err
		}
		if to, err = value(append(to, ':'), name, members[name]); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func appendItems(to []byte, items []any) (_ []byte, err error) {
	to = append(to, '[')
	for i, item := range items {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = appendTree(to, item); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}

// isPlain reports whether a string is written as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendOther is for strings that need escapes, and for what no text is read as.
func appendOther(to []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(to, bytes.TrimSuffix(buf.Bytes(), lineFeed)...), nil
}

// sameTree reports whether two values are the same, numbers by how they are written.
func sameTree(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameTree)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameTree)
	case nil, string, json.Number, bool, untouched:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}
