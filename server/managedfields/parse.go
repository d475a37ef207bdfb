package managedfields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of objects, as encoding/json bounds it.
const maxDepth = 10000

// parser reads JSON in a fraction of the time that encoding/json takes to make
// maps of it: both objects of every write are read.
type parser struct {
	s  string
	at int
	// members and items are of what is being read, of the innermost object or
	// list last. What is complete moves into the space, of which many take one
	// piece together.
	members, memberSpace []member
	items, itemSpace     []value
}

// take moves the end of a stack, from a place on, into the space.
func take[T any](stack, space *[]T, from int) []T {
	n := len(*stack) - from
	if cap(*space)-len(*space) < n {
		*space = make([]T, 0, max(n, min(2*cap(*space), 64), 8))
	}
	start := len(*space)
	*space = append(*space, (*stack)[from:]...)
	*stack = (*stack)[:from]
	return (*space)[start : start+n : start+n]
}

// parse reads one JSON value. Of members with the same name the last one counts.
func parse(data []byte) (value, error) { return parseString(string(data)) }

func parseString(s string) (value, error) {
	p := &parser{s: s}
	v, err := p.value(1)
	if err != nil {
		return value{}, err
	}
	if p.next(); p.at < len(p.s) {
		return value{}, p.fail("unexpected data after the value")
	}
	return v, nil
}

func (p *parser) fail(what string) error {
	return fmt.Errorf("invalid JSON at byte %d: %s", p.at, what)
}

// next skips space and is the byte behind it, 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

func (p *parser) value(depth int) (value, error) {
	switch c := p.next(); {
	case (c == '{' || c == '[') && depth > maxDepth:
		return value{}, p.fail("nested too deep")
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		s, err := p.string()
		return textValue(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.literal("true", boolean)
	case c == 'f':
		return p.literal("false", boolean)
	case c == 'n':
		return p.literal("null", null)
	case p.at == len(p.s):
		return value{}, p.fail("unexpected end")
	}
	return value{}, p.fail("unexpected character")
}

func (p *parser) literal(word string, k kind) (value, error) {
	if !strings.HasPrefix(p.s[p.at:], word) {
		return value{}, p.fail("unexpected character")
	}
	p.at += len(word)
	v := value{kind: k}
	if k == boolean {
		v.text = word
	}
	return v, nil
}

func (p *parser) object(depth int) (value, error) {
	v := value{kind: object}
	p.at++
	if p.next() == '}' {
		p.at++
		return v, nil
	}
	sorted, start := true, len(p.members)
	for {
		if p.next() != '"' {
			return value{}, p.fail("expected the name of a member")
		}
		name, err := p.string()
		if err != nil {
			return value{}, err
		}
		if p.next() != ':' {
			return value{}, p.fail("expected a colon")
		}
		p.at++
		m, err := p.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		if n := len(p.members); n > start && p.members[n-1].name >= name {
			sorted = false
		}
		p.members = append(p.members, member{name, m})
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			v.members = take(&p.members, &p.memberSpace, start)
			if !sorted {
				v.members = sortMembers(v.members)
			}
			return v, nil
		default:
			return value{}, p.fail("expected a comma or the end of an object")
		}
	}
}

// sortMembers sorts and keeps the last one of each name.
func sortMembers(members []member) []member {
	slices.Reverse(members)
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(members, func(a, b member) bool { return a.name == b.name })
}

func (p *parser) list(depth int) (value, error) {
	v := value{kind: list}
	p.at++
	if p.next() == ']' {
		p.at++
		return v, nil
	}
	start := len(p.items)
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		p.items = append(p.items, item)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			v.items = take(&p.items, &p.itemSpace, start)
			return v, nil
		default:
			return value{}, p.fail("expected a comma or the end of an array")
		}
	}
}

func (p *parser) string() (string, error) {
	start, escaped, ascii := p.at, false, true
	for p.at++; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			quoted := p.s[start:p.at]
			if !escaped && (ascii || utf8.ValidString(quoted)) {
				return quoted[1 : len(quoted)-1], nil
			}
			var s string
			if json.Unmarshal([]byte(quoted), &s) != nil {
				return "", p.fail("invalid escape in a string")
			}
			return s, nil
		case c == '\\':
			escaped = true
			p.at++
		case c < ' ':
			return "", p.fail("control character in a string")
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	p.at = len(p.s)
	return "", p.fail("unexpected end of a string")
}

func (p *parser) number() (value, error) {
	start := p.at
	p.accept("-")
	if !p.accept("0") && !p.digits() {
		return value{}, p.fail("invalid number")
	}
	if p.accept(".") && !p.digits() {
		return value{}, p.fail("invalid number")
	}
	if p.accept("eE") {
		p.accept("+-")
		if !p.digits() {
			return value{}, p.fail("invalid number")
		}
	}
	return value{kind: number, text: p.s[start:p.at]}, nil
}

// accept steps over one of some bytes.
func (p *parser) accept(bytes string) bool {
	if p.at < len(p.s) && strings.IndexByte(bytes, p.s[p.at]) >= 0 {
		p.at++
		return true
	}
	return false
}

func (p *parser) digits() bool {
	start := p.at
	for p.accept("0123456789") {
	}
	return p.at > start
}
