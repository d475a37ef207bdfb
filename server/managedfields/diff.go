package managedfields

import "slices"

// comparison is how a new object differs from an old one. No path is in two of
// its sets.
type comparison struct {
	added, modified, removed set
}

// changed is every path in it.
func (c *comparison) changed() set { return c.added.union(c.modified).union(c.removed) }

// compare finds the difference of two objects.
func (t *typ) compare(old, new *value) comparison {
	var c comparison
	c.descend(t, old, new)
	return c
}

// child compares two values at an element, of which one may be nothing.
func (c *comparison) child(e element, t *typ, old, new *value) {
	var below comparison
	self := below.descend(t, old, new)
	c.added.add(node{e, self == &below.added, below.added})
	c.modified.add(node{e, self == &below.modified, below.modified})
	c.removed.add(node{e, self == &below.removed, below.removed})
}

// descend compares two values of which at least one is there, adds what differs
// below them and returns the set that the place itself belongs to, nil for none.
func (c *comparison) descend(t *typ, old, new *value) *set {
	oldForm, newForm := formOf(old, new), formOf(new, old)
	self := c.form(t, oldForm, old, new)
	if newForm != oldForm {
		// What was in one form goes, what is in another comes.
		if s := c.form(t, newForm, old, new); s != nil {
			self = s
		}
	}
	switch {
	case old == nil:
		return &c.added
	case new == nil:
		return &c.removed
	}
	return self
}

// formOf is the form that v is looked at in: list, object, or null for all that
// has nothing in it. What is not there and null take the form of the other side.
func formOf(v, other *value) kind {
	if v == nil || v.kind == null && other != nil {
		v = other
	}
	if v.kind == list || v.kind == object {
		return v.kind
	}
	return null
}

// form compares in one form and returns the set that the place belongs to when it
// is a leaf.
func (c *comparison) form(t *typ, form kind, old, new *value) *set {
	o, n := old.as(form), new.as(form)
	switch {
	case form == object && !t.atomicObject() && o.size()+n.size() > 0:
		c.members(t, o, n)
	case form == list && t.granularList() && o.size()+n.size() > 0:
		c.items(t, o, n)
	case old == nil:
		return &c.added
	case new == nil:
		return &c.removed
	case !old.equal(new):
		return &c.modified
	}
	return nil
}

func (c *comparison) members(t *typ, old, new *value) {
	var o, n []member
	if old != nil {
		o = old.members
	}
	if new != nil {
		n = new.members
	}
	for len(o) > 0 || len(n) > 0 {
		var name string
		var ov, nv *value
		fromOld := len(n) == 0 || len(o) > 0 && o[0].name <= n[0].name
		fromNew := len(o) == 0 || len(n) > 0 && n[0].name <= o[0].name
		if fromOld {
			name, ov, o = o[0].name, &o[0].value, o[1:]
		}
		if fromNew {
			name, nv, n = n[0].name, &n[0].value, n[1:]
		}
		c.child(field(name), t.field(name), ov, nv)
	}
}

// items compares lists that have owners of their items. Duplicates are not
// compared one by one, they have one owner together.
func (c *comparison) items(t *typ, old, new *value) {
	o, n := t.groups(old), t.groups(new)
	for len(o) > 0 || len(n) > 0 {
		order := 0
		switch {
		case len(o) == 0:
			order = 1
		case len(n) == 0:
			order = -1
		default:
			order = o[0].element.compare(&n[0].element)
		}
		var og, ng group
		if order >= 0 {
			ng, n = n[0], n[1:]
			og.element = ng.element
		}
		if order <= 0 {
			og, o = o[0], o[1:]
		}
		c.group(t, &og, &ng)
	}
}

// group compares the items of one element, which the old group names.
func (c *comparison) group(t *typ, old, new *group) {
	var o, n *value // what is compared one by one
	if len(old.items) == 1 {
		o = old.items[0]
	}
	if len(new.items) == 1 {
		n = new.items[0]
	}
	if o != nil || n != nil {
		c.child(old.element, t.item(), o, n)
	}
	self := node{element: old.element, member: true}
	switch wasMany, isMany := len(old.items) > 1, len(new.items) > 1; {
	case wasMany && !isMany:
		c.removed.add(self)
	case !wasMany && isMany:
		c.added.add(self)
	case wasMany && !slices.EqualFunc(old.items, new.items, (*value).equal):
		c.modified.add(self)
	}
}
