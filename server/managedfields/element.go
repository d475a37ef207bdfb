package managedfields

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// elementKind orders elements of different kinds as sets of fields do.
type elementKind uint8

const (
	fieldElement elementKind = iota // a member of an object
	keyElement                      // an item of a list, by the members that tell it
	valueElement                    // an item of a set
	indexElement                    // an item of a list, by its place
)

// element is one step of a field path.
type element struct {
	kind elementKind
	name string // of a field
	// key has the members that tell an item, sorted by name; of a value it is
	// one without a name.
	key   []member
	index int
}

func field(name string) element { return element{kind: fieldElement, name: name} }

func (e *element) compare(f *element) int {
	if e.kind != f.kind {
		return int(e.kind) - int(f.kind)
	}
	switch e.kind {
	case fieldElement:
		return strings.Compare(e.name, f.name)
	case indexElement:
		return cmp.Compare(e.index, f.index)
	default:
		return compareMembers(e.key, f.key)
	}
}

// String spells the element as Kubernetes does in messages.
func (e *element) String() string {
	switch e.kind {
	case fieldElement:
		return "." + e.name
	case keyElement:
		parts := make([]string, len(e.key))
		for i := range e.key {
			parts[i] = e.key[i].name + "=" + e.key[i].value.String()
		}
		return "[" + strings.Join(parts, ",") + "]"
	case valueElement:
		return "[=" + e.key[0].value.String() + "]"
	default:
		return "[" + strconv.Itoa(e.index) + "]"
	}
}

// String spells a value as Kubernetes does in field paths.
func (v *value) String() string {
	switch v.kind {
	case null:
		return "null"
	case text:
		return strconv.Quote(v.text)
	case number:
		if i, ok := v.integer(); ok {
			return strconv.FormatInt(i, 10)
		}
		return fmt.Sprint(v.number())
	case list:
		parts := make([]string, len(v.items))
		for i := range v.items {
			parts[i] = v.items[i].String()
		}
		return "[" + strings.Join(parts, ",") + "]"
	case object:
		var b strings.Builder
		for i := range v.members {
			b.WriteString(v.members[i].name + "=" + v.members[i].value.String())
		}
		return b.String()
	default:
		return v.text
	}
}

// fieldsV1 is the element as the name of a member in fieldsV1.
func (e *element) fieldsV1() string {
	switch e.kind {
	case fieldElement:
		return "f:" + e.name
	case keyElement:
		b := []byte("k:{")
		for i := range e.key {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, e.key[i].name, false), ':')
			b = e.key[i].value.appendKey(b)
		}
		return string(append(b, '}'))
	case valueElement:
		return string(e.key[0].value.appendKey([]byte("v:")))
	default:
		return "i:" + strconv.Itoa(e.index)
	}
}

// appendKey writes a value as Kubernetes does in the names of fieldsV1: strings
// escaped for HTML, numbers as floats unless they are integers.
func (v *value) appendKey(b []byte) []byte {
	switch v.kind {
	case text:
		return appendQuoted(b, v.text, true)
	case number:
		if i, ok := v.integer(); ok {
			return strconv.AppendInt(b, i, 10)
		}
		f, format := v.number(), byte('f')
		if f != 0 && (max(f, -f) < 1e-6 || max(f, -f) >= 1e21) {
			format = 'e'
		}
		return strconv.AppendFloat(b, f, format, -1, 64)
	case list:
		b = append(b, '[')
		for i := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.items[i].appendKey(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, v.members[i].name, true), ':')
			b = v.members[i].value.appendKey(b)
		}
		return append(b, '}')
	default:
		return v.appendJSON(b)
	}
}

// errUnknownElement is for kinds of elements that a later Kubernetes may have.
var errUnknownElement = errors.New("unknown kind of path element")

// readElement reads the name of a member of fieldsV1.
func readElement(s string) (element, error) {
	if len(s) < 2 || s[1] != ':' {
		return element{}, fmt.Errorf("path element %q has no colon after its kind", s)
	}
	rest := s[2:]
	switch s[0] {
	case 'f':
		return field(rest), nil
	case 'v', 'k':
		v, err := parseString(rest)
		if err != nil {
			return element{}, fmt.Errorf("path element %q: %w", s, err)
		}
		v.readAsFloat()
		if s[0] == 'v' {
			return element{kind: valueElement, key: []member{{value: v}}}, nil
		}
		if v.kind != object && v.kind != null {
			return element{}, fmt.Errorf("path element %q: the key is no object", s)
		}
		return element{kind: keyElement, key: v.members}, nil
	case 'i':
		i, err := strconv.Atoi(rest)
		if err != nil {
			return element{}, fmt.Errorf("path element %q: %w", s, err)
		}
		return element{kind: indexElement, index: i}, nil
	}
	return element{}, errUnknownElement
}

// readAsFloat marks all numbers in v as Kubernetes reads them in field sets.
func (v *value) readAsFloat() {
	v.float = v.kind == number
	for i := range v.items {
		v.items[i].readAsFloat()
	}
	for i := range v.members {
		v.members[i].value.readAsFloat()
	}
}
