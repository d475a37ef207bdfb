package managedfields

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// set is a set of field paths as a tree: a path is in the set when the node of
// its last element is a member. Nodes are sorted, none is without a member in or
// below it, and a set is never changed once it is made.
type set []node

type node struct {
	element  element
	member   bool
	children set
}

// add appends a node that is in its place behind all others, unless it is empty.
func (s *set) add(n node) {
	if n.member || len(n.children) > 0 {
		*s = append(*s, n)
	}
}

// get is the node of an element, nil where there is none.
func (s set) get(e *element) *node {
	i, ok := slices.BinarySearchFunc(s, e, func(n node, e *element) int { return n.element.compare(e) })
	if !ok {
		return nil
	}
	return &s[i]
}

// zip calls f with the nodes of both sets, by pairs where both have one.
func zip(s, t set, f func(a, b *node)) {
	for len(s) > 0 && len(t) > 0 {
		switch c := s[0].element.compare(&t[0].element); {
		case c < 0:
			f(&s[0], nil)
			s = s[1:]
		case c > 0:
			f(nil, &t[0])
			t = t[1:]
		default:
			f(&s[0], &t[0])
			s, t = s[1:], t[1:]
		}
	}
	for i := range s {
		f(&s[i], nil)
	}
	for i := range t {
		f(nil, &t[i])
	}
}

func (s set) union(t set) set {
	if len(s) == 0 {
		return t
	}
	if len(t) == 0 {
		return s
	}
	out := make(set, 0, max(len(s), len(t)))
	zip(s, t, func(a, b *node) {
		switch {
		case b == nil:
			out.add(*a)
		case a == nil:
			out.add(*b)
		default:
			out.add(node{a.element, a.member || b.member, a.children.union(b.children)})
		}
	})
	return out
}

func (s set) intersection(t set) set {
	var out set
	zip(s, t, func(a, b *node) {
		if a != nil && b != nil {
			out.add(node{a.element, a.member && b.member, a.children.intersection(b.children)})
		}
	})
	return out
}

// difference has what is in s and not in t. What is below a path of t stays.
func (s set) difference(t set) set {
	if len(s) == 0 || len(t) == 0 {
		return s
	}
	var out set
	zip(s, t, func(a, b *node) {
		switch {
		case a == nil:
		case b == nil:
			out.add(*a)
		default:
			out.add(node{a.element, a.member && !b.member, a.children.difference(b.children)})
		}
	})
	return out
}

func (s set) equal(t set) bool {
	return slices.EqualFunc(s, t, func(a, b node) bool {
		return a.member == b.member && a.element.compare(&b.element) == 0 && a.children.equal(b.children)
	})
}

// withParents has the fields that have others below them as well.
func (s set) withParents() set {
	out := slices.Clone(s)
	for i := range out {
		if n := &out[i]; len(n.children) > 0 {
			n.member = n.member || n.element.kind == fieldElement
			n.children = n.children.withParents()
		}
	}
	return out
}

// paths calls f for each path in the set, spelled and ordered as in messages: of
// one place first the paths that end there.
func (s set) paths(prefix string, f func(path string)) {
	for i := range s {
		if s[i].member {
			f(prefix + s[i].element.String())
		}
	}
	for i := range s {
		if len(s[i].children) > 0 {
			s[i].children.paths(prefix+s[i].element.String(), f)
		}
	}
}

// readSet reads fieldsV1 (k8s.io/apimachinery, pkg/apis/meta/v1, FieldsV1). Null
// and an object without members are the empty set.
func readSet(v *value) (set, error) {
	if v == nil {
		return nil, nil
	}
	s, _, err := readNodes(v)
	return s, err
}

// readNodes returns what is below a path, and whether the path itself is in the
// set: it is where it says so or nothing is below it.
func readNodes(v *value) (set, bool, error) {
	if v.kind == null {
		return nil, true, nil
	}
	if v.kind != object {
		return nil, false, fmt.Errorf("a field is %s, not an object", v)
	}
	s := make(set, 0, len(v.members))
	member, sorted := false, true
	for i := range v.members {
		m := &v.members[i]
		if m.name == "." {
			member = true
			continue
		}
		e, err := readElement(m.name)
		if errors.Is(err, errUnknownElement) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		n := node{element: e}
		if n.children, n.member, err = readNodes(&m.value); err != nil {
			return nil, false, err
		}
		if len(s) > 0 && s[len(s)-1].element.compare(&e) >= 0 {
			sorted = false
		}
		s = append(s, n)
	}
	if !sorted {
		s = sortNodes(s)
	}
	return s, member || len(s) == 0, nil
}

// sortNodes sorts and joins nodes of the same element, as of v:1 and v:1.0.
func sortNodes(nodes set) set {
	slices.SortStableFunc(nodes, func(a, b node) int { return a.element.compare(&b.element) })
	out := nodes[:0]
	for _, n := range nodes {
		if last := len(out) - 1; last >= 0 && out[last].element.compare(&n.element) == 0 {
			out[last].member = out[last].member || n.member
			out[last].children = out[last].children.union(n.children)
		} else {
			out = append(out, n)
		}
	}
	return out
}

// appendJSON writes the set as fieldsV1, with the names of members sorted.
func (s set) appendJSON(b []byte) []byte { return s.appendNodes(b, false) }

// appendNodes writes what is below a path, and whether the path itself is in the
// set.
func (s set) appendNodes(b []byte, self bool) []byte {
	b = append(b, '{')
	if self {
		b = append(b, `".":{}`...)
	}
	if !slices.ContainsFunc(s, func(n node) bool { return n.element.kind != fieldElement }) {
		for i := range s {
			if i > 0 || self {
				b = append(b, ',')
			}
			b = append(appendField(b, s[i].element.name), ':')
			b = s[i].children.appendNodes(b, s[i].member && len(s[i].children) > 0)
		}
		return append(b, '}')
	}
	type named struct {
		name string
		node *node
	}
	nodes := make([]named, len(s))
	sorted := true
	for i := range s {
		nodes[i] = named{s[i].element.fieldsV1(), &s[i]}
		sorted = sorted && (i == 0 || nodes[i-1].name < nodes[i].name)
	}
	if !sorted {
		slices.SortFunc(nodes, func(a, b named) int { return strings.Compare(a.name, b.name) })
	}
	for i, n := range nodes {
		if i > 0 || self {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, n.name, false), ':')
		b = n.node.children.appendNodes(b, n.node.member && len(n.node.children) > 0)
	}
	return append(b, '}')
}

// appendField writes the name of a member for a field, the common case.
func appendField(b []byte, name string) []byte {
	if !isPlain(name) {
		return appendQuoted(b, "f:"+name, false)
	}
	b = append(append(b, `"f:`...), name...)
	return append(b, '"')
}
