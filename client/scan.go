package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// head is where the members of a machine stand that nearly every program looks at.
// They are found on the way by the one look that every byte needs, so that a program
// that reads nothing else never pays for the typed view.
type head struct {
	kind, name, namespace, uid, resourceVersion, phase, nodeName span
}

// span is a part of a text, empty for none.
type span struct{ from, to int }

// space is what JSON takes for white space.
const space = " \t\r\n"

// maxDepth is how deep JSON may be nested: as deep as encoding/json takes it.
const maxDepth = 10_000

var (
	// errShort is that the text ends before its value does.
	errShort  = errors.New("the text ends in the middle of a value")
	errSyntax = errors.New("invalid JSON")
	errDeep   = errors.New("nested too deeply")
)

// scanWhole looks over a text that has to be one JSON value and nothing else.
func scanWhole(text []byte) (head, error) {
	var found head
	n, err := scanValue(text, true, &found)
	rest := bytes.TrimLeft(text[n:], space)
	switch {
	case err == errSyntax:
		return head{}, invalidCharacter(text, n)
	case err == nil && len(rest) > 0:
		return head{}, invalidCharacter(rest, 0)
	case err != nil:
		return head{}, err
	}
	return found, nil
}

func invalidCharacter(text []byte, at int) error {
	return fmt.Errorf("invalid character %q", rune(text[at]))
}

// scanValue returns the length of the JSON value that a text begins with, or where it
// goes wrong. It takes what encoding/json takes. A number is known to end only by what
// follows it, unless the text is all there is.
func scanValue(text []byte, all bool, to *head) (int, error) {
	s := scanner{text: text, all: all, head: to}
	inside := nowhere
	if to != nil {
		*to = head{}
		inside = inMachine
	}
	if err := s.value(inside, 1); err != nil {
		return s.at, err
	}
	return s.at, nil
}

// place is what a scanner is in, as far as there is something to find.
type place int

const (
	nowhere place = iota
	inMachine
	inMetadata
	inStatus
)

type scanner struct {
	text []byte
	at   int
	all  bool
	head *head
}

// next is the byte after white space, 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// ends is the error for a text that does not go on as it should.
func (s *scanner) ends() error {
	if s.at >= len(s.text) {
		return errShort
	}
	return errSyntax
}

func (s *scanner) value(in place, depth int) error {
	switch c := s.next(); {
	case c == '"':
		return s.quoted()
	case c == '{' || c == '[':
		if depth > maxDepth {
			return errDeep
		}
		if c == '{' {
			return s.object(in, depth)
		}
		return s.array(depth)
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.ends()
}

func (s *scanner) word(w string) error {
	for i := range len(w) {
		if s.at >= len(s.text) || s.text[s.at] != w[i] {
			return s.ends()
		}
		s.at++
	}
	return nil
}

func (s *scanner) object(in place, depth int) error {
	s.at++
	if s.next() == '}' {
		s.at++
		return nil
	}
	for {
		if s.next() != '"' {
			return s.ends()
		}
		begin := s.at
		if err := s.quoted(); err != nil {
			return err
		}
		below, found := nowhere, (*span)(nil)
		if in != nowhere {
			below, found = s.head.member(in, s.text[begin:s.at])
		}
		if s.next() != ':' {
			return s.ends()
		}
		s.at++
		if s.next(); found != nil {
			found.from = s.at
		}
		if err := s.value(below, depth+1); err != nil {
			return err
		}
		if found != nil {
			found.to = s.at
		}
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return nil
		default:
			return s.ends()
		}
	}
}

// member says what a member of a place is a place of, or where to note it.
func (h *head) member(in place, quoted []byte) (place, *span) {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(quoted))
	}
	switch in {
	case inMachine:
		switch string(name) {
		case "kind":
			return nowhere, &h.kind
		case "metadata": // of two the last counts, whole
			h.name, h.namespace, h.uid, h.resourceVersion = span{}, span{}, span{}, span{}
			return inMetadata, nil
		case "status":
			h.phase, h.nodeName = span{}, span{}
			return inStatus, nil
		}
	case inMetadata:
		switch string(name) {
		case "name":
			return nowhere, &h.name
		case "namespace":
			return nowhere, &h.namespace
		case "uid":
			return nowhere, &h.uid
		case "resourceVersion":
			return nowhere, &h.resourceVersion
		}
	case inStatus:
		switch string(name) {
		case "phase":
			return nowhere, &h.phase
		case "nodeName":
			return nowhere, &h.nodeName
		}
	}
	return nowhere, nil
}

func (s *scanner) array(depth int) error {
	s.at++
	if s.next() == ']' {
		s.at++
		return nil
	}
	for {
		if err := s.value(nowhere, depth+1); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.at++
		case ']':
			s.at++
			return nil
		default:
			return s.ends()
		}
	}
}

// quoted passes over a string.
func (s *scanner) quoted() error {
	text := s.text
	for at := s.at + 1; at < len(text); at++ {
		if !special[text[at]] {
			continue
		}
		switch text[at] {
		case '"':
			s.at = at + 1
			return nil
		case '\\':
			s.at = at + 1
			if err := s.escape(); err != nil {
				return err
			}
			at = s.at
		default:
			s.at = at
			return errSyntax
		}
	}
	s.at = len(text)
	return errShort
}

// special are the bytes that do not just stand for themselves in a string.
var special = func() (is [256]bool) {
	for c := range byte(' ') {
		is[c] = true
	}
	is['"'], is['\\'] = true, true
	return is
}()

// escape passes over what follows a backslash, but for its last byte.
func (s *scanner) escape() error {
	if s.at >= len(s.text) {
		return errShort
	}
	switch s.text[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
	default:
		return errSyntax
	}
	for range 4 {
		s.at++
		if s.at >= len(s.text) {
			return errShort
		}
		c := s.text[s.at]
		if letter := c | 0x20; (c < '0' || c > '9') && (letter < 'a' || letter > 'f') {
			return errSyntax
		}
	}
	return nil
}

func (s *scanner) number() error {
	if s.text[s.at] == '-' {
		s.at++
	}
	switch {
	case s.at >= len(s.text):
		return errShort
	case s.text[s.at] == '0':
		s.at++
	case s.digits() == 0:
		return s.ends()
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return s.ends()
		}
	}
	if s.at < len(s.text) && s.text[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if s.digits() == 0 {
			return s.ends()
		}
	}
	if s.at >= len(s.text) && !s.all {
		return errShort
	}
	return nil
}

// digits passes over digits and says how many.
func (s *scanner) digits() int {
	begin := s.at
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at - begin
}

// in is the string that stands at a span of a text, empty when there is none.
func (p span) in(text []byte) string {
	if p.to-p.from < 2 || p.to > len(text) || text[p.from] != '"' {
		return ""
	}
	quoted := text[p.from:p.to]
	return unquote(quoted)
}

// unquote is the text of a string, which encoding/json decodes where it is not plain.
func unquote(quoted []byte) string {
	for _, c := range quoted {
		if c == '\\' || c >= utf8.RuneSelf {
			var s string
			_ = json.Unmarshal(quoted, &s) // it is a string
			return s
		}
	}
	return string(quoted[1 : len(quoted)-1])
}
