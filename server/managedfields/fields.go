package managedfields

import "slices"

// fieldsOf is the set of the fields that an object sets.
func (t *typ) fieldsOf(v *value) set {
	s, _ := t.fieldsBelow(v)
	return s
}

// fieldsBelow returns what is below a place, and whether the place itself is in
// the set.
func (t *typ) fieldsBelow(v *value) (set, bool) {
	var s set
	switch {
	case v.kind == object && !t.atomicObject() && len(v.members) > 0:
		for i := range v.members {
			m := &v.members[i]
			below, self := t.field(m.name).fieldsBelow(&m.value)
			s.add(node{field(m.name), self, below})
		}
		return s, false
	case v.kind == list && t.granularList():
		for _, g := range t.groups(v) {
			n := node{element: g.element, member: true}
			if len(g.items) == 1 {
				n.children, _ = t.item().fieldsBelow(g.items[0])
			}
			s.add(n)
		}
		return s, false
	}
	return nil, true
}

// reconcile returns a set as it is after a schema gave one owner to what had
// several: who owned a part owns the whole.
func (t *typ) reconcile(s set) set {
	out, _ := t.reconciled(s)
	return out
}

// reconciled says whether the set is another one then, which is rare.
func (t *typ) reconciled(s set) (out set, changed bool) {
	out = s
	for i := range s {
		n := s[i]
		if len(n.children) == 0 {
			continue
		}
		below, other := t.child(&n.element), true
		// A set does not say what is a list, but items are no fields, and behind them.
		items := n.children[len(n.children)-1].element.kind != fieldElement
		if below.atomicObject() || items && !below.granularList() {
			n = node{element: n.element, member: true}
		} else {
			n.children, other = below.reconciled(n.children)
		}
		if other {
			if !changed {
				out, changed = slices.Clone(s), true
			}
			out[i] = n
		}
	}
	return out, changed
}
