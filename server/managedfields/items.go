package managedfields

import (
	"errors"
	"fmt"
	"slices"
)

// What is wrong with an item that cannot be told, in Kubernetes' words.
var (
	errNullInMap   = errors.New("associative list with keys may not have a null element")
	errNoObject    = errors.New("associative list with keys may not have non-map elements")
	errObjectInSet = errors.New("associative list without keys has an element that's a map type")
	errListInSet   = errors.New("not supported: associative list with lists as elements")
	errNullInSet   = errors.New("associative list without keys has an element that's an explicit null")
)

// itemElement tells an item of a list with owners of its items.
func (t *typ) itemElement(item *value) (element, error) {
	if t.set {
		switch item.kind {
		case object:
			return element{}, errObjectInSet
		case list:
			return element{}, errListInSet
		case null:
			return element{}, errNullInSet
		}
		return element{kind: valueElement, key: []member{{value: *item}}}, nil
	}
	switch item.kind {
	case null:
		return element{}, errNullInMap
	case object:
	default:
		return element{}, errNoObject
	}
	e := element{kind: keyElement}
	for _, name := range t.keys {
		// An item without one of several keys is another one than with it.
		if v := item.get(name); v != nil {
			e.key = append(e.key, member{name, *v})
		}
	}
	if len(e.key) == 0 {
		return element{}, fmt.Errorf("associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", t.keys)
	}
	return e, nil
}

// elements are the elements of all items of a valid list, in their order.
func (t *typ) elements(v *value) []element {
	es := make([]element, len(v.items))
	for i := range v.items {
		es[i], _ = t.itemElement(&v.items[i])
	}
	return es
}

// group is the items of a list that have the same element: one, unless there are
// duplicates.
type group struct {
	element element
	items   []*value
}

// groups sorts the items of a list by their elements. Items that cannot be told
// are left out; validate finds them.
func (t *typ) groups(v *value) []group {
	if v == nil {
		return nil
	}
	groups := make([]group, 0, len(v.items))
	for i := range v.items {
		if e, err := t.itemElement(&v.items[i]); err == nil {
			groups = append(groups, group{e, []*value{&v.items[i]}})
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return a.element.compare(&b.element) })
	out := groups[:0]
	for _, g := range groups {
		if last := len(out) - 1; last >= 0 && out[last].element.compare(&g.element) == 0 {
			out[last].items = append(out[last].items, g.items...)
		} else {
			out = append(out, g)
		}
	}
	return out
}

// find returns the group of an element, nil where there is none.
func find(groups []group, e *element) *group {
	i, ok := slices.BinarySearchFunc(groups, e, func(g group, e *element) int { return g.element.compare(e) })
	if !ok {
		return nil
	}
	return &groups[i]
}

// validate tells what is wrong with lists that have owners of their items.
func (t *typ) validate(v *value, path string, duplicates bool) []TypeIssue {
	if t == nil {
		return nil
	}
	var issues []TypeIssue
	switch v.kind {
	case object:
		for i := range v.members {
			m := &v.members[i]
			if below := t.field(m.name); below != nil {
				issues = append(issues, below.validate(&m.value, path+"."+m.name, duplicates)...)
			}
		}
	case list:
		return t.validateItems(v, path, duplicates)
	}
	return issues
}

func (t *typ) validateItems(v *value, path string, duplicates bool) []TypeIssue {
	var issues []TypeIssue
	var groups []group
	if t.granularList() && !duplicates {
		groups = t.groups(v)
	}
	for i := range v.items {
		e := element{kind: indexElement, index: i}
		if t.granularList() {
			var err error
			if e, err = t.itemElement(&v.items[i]); err != nil {
				return append(issues, TypeIssue{path, fmt.Sprintf("element %d: %v", i, err)})
			}
			if g := find(groups, &e); g != nil && g.items[0] != &v.items[i] {
				issues = append(issues, TypeIssue{path, "duplicate entries for key " + e.String()})
			}
		}
		if t.items != nil {
			issues = append(issues, t.items.validate(&v.items[i], path+e.String(), duplicates)...)
		}
	}
	return issues
}
