package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unique"
)

// label is interned: equal labels of all objects are one value, and comparing
// two handles is comparing two pointers.
type label struct {
	key   string
	value string
}

// labelSet has the labels of one object in little memory. Objects come in few
// sets of keys, so these are interned too; a scan then knows where in the
// pairs a key is from the object before, and need not look at strings.
type labelSet struct {
	keys  unique.Handle[string] // ascending, each with a NUL behind it
	pairs []unique.Handle[label]
}

func internLabels(labels map[string]string) (labelSet, error) {
	if len(labels) == 0 {
		return labelSet{}, nil
	}
	s := labelSet{pairs: make([]unique.Handle[label], 0, len(labels))}
	var keys strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if strings.Contains(key, "\x00") {
			return labelSet{}, fmt.Errorf("label %q: a key must not contain NUL", key)
		}
		keys.WriteString(key)
		keys.WriteByte(0)
		s.pairs = append(s.pairs, unique.Make(label{key: key, value: labels[key]}))
	}
	s.keys = unique.Make(keys.String())
	return s, nil
}

// index returns where in the pairs the key is, or -1.
func (s labelSet) index(key string) int {
	if len(s.pairs) == 0 {
		return -1 // and there is no handle of keys
	}
	rest := s.keys.Value()
	for i := range s.pairs {
		var k string
		if k, rest, _ = strings.Cut(rest, "\x00"); k == key {
			return i
		}
	}
	return -1
}

// matcher is a selector that is about to look at many objects, one after the
// other. It agrees with [Selector.Matches] on [Object.Label].
type matcher []term

type term struct {
	*Requirement
	pairs []unique.Handle[label] // the label with each of the values, unless they are many
	keys  unique.Handle[string]  // of the last object with labels
	index int                    // of the requirement's key among those
}

// manyValues is where searching strings is faster than comparing pointers.
const manyValues = 16

func newMatcher(selector Selector) matcher {
	m := make(matcher, len(selector.requirements))
	for i := range m {
		r := &selector.requirements[i]
		m[i].Requirement = r
		if r.Operator != GreaterThan && r.Operator != LessThan && len(r.Values) <= manyValues {
			for _, value := range r.Values {
				m[i].pairs = append(m[i].pairs, unique.Make(label{key: r.Key, value: value}))
			}
		}
	}
	return m
}

func (m matcher) matches(o *Object) bool {
	for i := range m {
		if !m[i].matches(o.labels) {
			return false
		}
	}
	return true
}

func (t *term) matches(labels labelSet) bool {
	i := -1
	if len(labels.pairs) > 0 {
		if labels.keys != t.keys {
			t.keys, t.index = labels.keys, labels.index(t.Key)
		}
		i = t.index
	}
	switch {
	case i < 0:
		return t.met("", false)
	case len(t.pairs) > 0:
		positive := t.Operator != NotEquals && t.Operator != NotIn
		return slices.Contains(t.pairs, labels.pairs[i]) == positive
	case len(t.Values) == 0:
		return t.met("", true) // by being there or not
	default:
		return t.met(labels.pairs[i].Value().value, true)
	}
}
