package managedfields

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
	// raw is JSON that is ready to be written.
	raw
)

// value is a JSON value.
type value struct {
	kind kind
	// float is set for numbers of field sets, which Kubernetes reads as floats,
	// however they are spelled.
	float bool
	// text is what a string says, and how a number or a boolean is spelled.
	text    string
	items   []value
	members []member // sorted by name, each name once
}

type member struct {
	name  string
	value value
}

func textValue(s string) value { return value{kind: text, text: s} }

// get is the member of an object, nil where there is none.
func (v *value) get(name string) *value {
	if v == nil || v.kind != object {
		return nil
	}
	i, ok := v.find(name)
	if !ok {
		return nil
	}
	return &v.members[i].value
}

func (v *value) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v.members, name, func(m member, name string) int { return strings.Compare(m.name, name) })
}

// getText is the string at a name, "" where there is none.
func (v *value) getText(name string) string {
	if m := v.get(name); m != nil && m.kind == text {
		return m.text
	}
	return ""
}

// with returns the object with another value for a name; what is no object becomes
// one. Like without, it leaves v as it is.
func (v value) with(name string, to value) value {
	if v.kind != object {
		v = value{kind: object}
	}
	i, ok := v.find(name)
	if ok {
		v.members = slices.Clone(v.members)
		v.members[i].value = to
	} else {
		v.members = slices.Insert(slices.Clone(v.members), i, member{name, to})
	}
	return v
}

func (v value) without(name string) value {
	if i, ok := v.find(name); ok {
		v.members = slices.Concat(v.members[:i], v.members[i+1:])
	}
	return v
}

// as is v where it has the form of k, and nothing otherwise.
func (v *value) as(k kind) *value {
	if v == nil || v.kind != k {
		return nil
	}
	return v
}

// size is the number of items or members.
func (v *value) size() int {
	if v == nil {
		return 0
	}
	return len(v.items) + len(v.members)
}

// equal is true for the same JSON. Numbers count by what they are: 1 equals 1.0.
func (v *value) equal(w *value) bool { return v.same(w, compareNumbers) }

// identical is true for the same JSON with the same spelling of numbers.
func (v *value) identical(w *value) bool {
	return v.same(w, func(v, w *value) int { return strings.Compare(v.text, w.text) })
}

func (v *value) same(w *value, numbers func(v, w *value) int) bool {
	if v.kind != w.kind || len(v.items) != len(w.items) || len(v.members) != len(w.members) {
		return false
	}
	if v.kind == number && v.text != w.text {
		return numbers(v, w) == 0
	}
	for i := range v.items {
		if !v.items[i].same(&w.items[i], numbers) {
			return false
		}
	}
	for i := range v.members {
		if v.members[i].name != w.members[i].name || !v.members[i].value.same(&w.members[i].value, numbers) {
			return false
		}
	}
	return v.text == w.text
}

// rank orders values of different forms as field sets do.
var rank = [...]int{number: 0, text: 1, boolean: 2, list: 3, object: 4, null: 5}

func (v *value) compare(w *value) int {
	if v.kind != w.kind {
		return rank[v.kind] - rank[w.kind]
	}
	switch v.kind {
	case number:
		return compareNumbers(v, w)
	case list:
		return slices.CompareFunc(v.items, w.items, func(a, b value) int { return a.compare(&b) })
	case object:
		return compareMembers(v.members, w.members)
	default:
		return strings.Compare(v.text, w.text)
	}
}

func compareMembers(v, w []member) int {
	return slices.CompareFunc(v, w, func(a, b member) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return a.value.compare(&b.value)
	})
}

// compareNumbers compares as Kubernetes does: integers of 64 bits exactly, all
// others as floats.
func compareNumbers(v, w *value) int {
	i, iok := v.integer()
	j, jok := w.integer()
	if iok && jok {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(v.number(), w.number())
}

func (v *value) integer() (int64, bool) {
	if v.float {
		return 0, false
	}
	i, err := strconv.ParseInt(v.text, 10, 64)
	return i, err == nil
}

func (v *value) number() float64 {
	if i, ok := v.integer(); ok {
		return float64(i)
	}
	f, _ := strconv.ParseFloat(v.text, 64) // beyond the range it is infinite
	return f
}
