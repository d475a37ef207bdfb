package managedfields

// prune takes out of merged what the manager applied last and does not apply now,
// unless somebody else owns it. owned is what all own, the manager included, in
// the order in which it comes back: Kubernetes goes version by version, and what
// one version left of an item of a list is all that the next finds.
func (t *typ) prune(merged value, last set, owned []set) value {
	if len(last) == 0 {
		return merged
	}
	last = last.withParents()
	all := t.fieldsOf(&merged).withParents()
	pruned := t.remove(merged, last)
	// Back comes what somebody owns …
	for _, fields := range owned {
		pruned = t.remove(merged, all.difference(t.fieldsOf(&pruned).withParents().union(fields.withParents())))
	}
	// … and what was not the manager's to take away.
	gone := all.difference(t.fieldsOf(&pruned).withParents())
	return t.remove(merged, gone.intersection(last))
}

// remove returns v without what is in the set. What has nothing left in it is
// null, unless it is in the set itself.
func (t *typ) remove(v value, s set) value {
	if len(s) == 0 {
		return v
	}
	switch {
	case v.kind == object && !t.atomicObject():
		out := value{kind: object}
		for _, m := range v.members {
			e := field(m.name)
			if n := s.get(&e); n != nil {
				if n.member {
					continue
				}
				m.value = t.field(m.name).remove(m.value, n.children)
			}
			out.members = append(out.members, m)
		}
		if len(out.members) > 0 {
			return out
		}
		return value{}
	case v.kind == list && t.granularList():
		out := value{kind: list}
		for _, item := range v.items {
			e, _ := t.itemElement(&item)
			if n := s.get(&e); n != nil {
				if n.member {
					continue
				}
				item = t.item().remove(item, n.children)
			}
			out.items = append(out.items, item)
		}
		if len(out.items) > 0 {
			return out
		}
		return value{}
	case v.kind == list || v.kind == object:
		return value{}
	}
	return v
}
