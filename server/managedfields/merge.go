package managedfields

// merge lays what is applied over what is there. Of the two at most one is
// nothing. What has one owner is replaced; from the rest nothing is taken away,
// which is left to prune.
func (t *typ) merge(live, applied *value) value {
	switch {
	case applied == nil:
		return *live
	case live == nil:
		return *applied
	}
	form := formOf(applied, live)
	l, a := live.as(form), applied.as(form)
	switch {
	case form == object && !t.atomicObject() && l.size() > 0:
		return t.mergeMembers(l, a)
	case form == list && t.granularList() && l.size() > 0:
		return t.mergeItems(l, a)
	}
	return *applied
}

func (t *typ) mergeMembers(live, applied *value) value {
	if applied.size() == 0 {
		return *live
	}
	out := value{kind: object, members: make([]member, 0, max(len(live.members), len(applied.members)))}
	l, a := live.members, applied.members
	for len(l) > 0 && len(a) > 0 {
		switch {
		case l[0].name < a[0].name:
			out.members = append(out.members, l[0])
			l = l[1:]
		case l[0].name > a[0].name:
			out.members = append(out.members, a[0])
			a = a[1:]
		default:
			out.members = append(out.members, member{l[0].name, t.field(l[0].name).merge(&l[0].value, &a[0].value)})
			l, a = l[1:], a[1:]
		}
	}
	out.members = append(append(out.members, l...), a...)
	return out
}

// mergeItems merges lists that have owners of their items, into the order that
// structured-merge-diff gives them: what is applied keeps its order, and what is
// only there stays between the same neighbours as far as they keep theirs.
func (t *typ) mergeItems(live, applied *value) value {
	if applied.size() == 0 {
		return *live
	}
	m := merger{t: t, live: live, applied: applied,
		liveGroups: t.groups(live), appliedGroups: t.groups(applied), merged: map[*group]bool{},
		out: value{kind: list, items: make([]value, 0, max(len(live.items), len(applied.items)))}}
	m.merge(t.elements(live), t.elements(applied))
	return m.out
}

type merger struct {
	t                         *typ
	live, applied             *value
	liveGroups, appliedGroups []group
	merged                    map[*group]bool // of what is applied
	out                       value
}

func (m *merger) merge(l, a []element) {
	// shared are the elements of both lists whose turn has not come.
	var shared []*element
	for j := range a {
		if find(m.liveGroups, &a[j]) != nil {
			shared = append(shared, &a[j])
		}
	}
	isNext := func(e *element) bool { return len(shared) > 0 && shared[0].compare(e) == 0 }
	for i, j := 0, 0; i < len(l) || j < len(a); {
		if i < len(l) && j < len(a) && l[i].compare(&a[j]) == 0 {
			m.take(j, &a[j])
			shared = shared[min(1, len(shared)):]
			i++
			j++
			continue
		}
		if i < len(l) {
			g := find(m.appliedGroups, &l[i])
			if g == nil {
				m.out.items = append(m.out.items, m.live.items[i])
				i++
				continue
			}
			if j < len(a) && len(shared) > 0 && !isNext(&l[i]) {
				i++ // its turn comes later, or was before
				continue
			}
			if m.merged[g] {
				i++
			}
		}
		if j < len(a) {
			next := isNext(&a[j])
			m.take(j, &a[j])
			if next {
				shared = shared[1:]
			}
			j++
		}
	}
}

// take merges an item that is applied with the one that is there. Duplicates are
// not merged, they are replaced.
func (m *merger) take(j int, e *element) {
	item := &m.applied.items[j]
	if there := find(m.liveGroups, e); there != nil && len(there.items) == 1 {
		m.out.items = append(m.out.items, m.t.item().merge(there.items[0], item))
	} else {
		m.out.items = append(m.out.items, *item)
	}
	m.merged[find(m.appliedGroups, e)] = true
}
