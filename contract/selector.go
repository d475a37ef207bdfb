package contract

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
)

// maxSelectors is how many selectors a check asks with.
const maxSelectors = 3

var (
	clauseLabelSelector = Clause{581, "description: Label selector to filter resources."}
	clauseFieldSelector = Clause{603, "description: Field selector to filter resources."}
)

func selectorChecks() []Check {
	checks := []Check{
		labelCheck("selector.equals", "KEY=VALUE selects the objects with that label and no others.", one(opEquals, someNotAll),
			"no label is on some objects only"),
		labelCheck("selector.double-equals", "KEY==VALUE means the same as KEY=VALUE.", one(opDoubleEquals, someNotAll),
			"no label is on some objects only"),
		labelCheck("selector.not-equals", "KEY!=VALUE selects the objects with another value and those without the key.", one(opNotEquals, otherValues),
			"no key has two values", requirement{unknownKey, opNotEquals, []string{"x"}}),
		labelCheck("selector.in", "KEY in (A,B) selects the objects whose label has one of the values.", several(opIn, someNotAll),
			"no label is on some objects only"),
		labelCheck("selector.not-in", "KEY notin (A,B) selects the objects with another value and those without the key.", several(opNotIn, otherValues),
			"no key has two values", requirement{unknownKey, opNotIn, []string{"x", "y"}}),
		labelCheck("selector.exists", "KEY selects the objects that have the label, whatever its value.", one(opExists, anyLabel),
			"", requirement{key: unknownKey, op: opExists}),
		labelCheck("selector.not-exists", "!KEY selects the objects that do not have the label.", one(opNotExists, anyLabel),
			"", requirement{key: unknownKey, op: opNotExists}),
	}
	return append(checks,
		Check{
			ID: "selector.and", Clause: clauseLabelSelector, Needs: []Need{needTwoObjects},
			Explain: "A comma between two requirements means that both must be met.",
			run: func(ctx context.Context, r *run) (verdict, error) {
				return r.selectors(ctx, "selector.and", "no two labels cut across each other", nil, conjunctions()...)
			},
		},
		Check{
			ID: "selector.near-miss", Clause: clauseLabelSelector, Needs: []Need{needObject},
			Explain: "Labels are compared as a whole and by case: what only resembles a label does not select the object.",
			run: func(ctx context.Context, r *run) (verdict, error) {
				return r.selectors(ctx, "selector.near-miss", "no label can be missed by a letter", nil, nearMisses()...)
			},
		},
		Check{
			ID: "selector.spelling", Clause: clauseLabelSelector, Needs: []Need{needConventions, needTwoObjects},
			Explain: "White space between the parts of a selector means nothing.",
			run:     spelledOtherwise,
		},
		Check{
			ID: "selector.both", Clause: clauseFieldSelector, Needs: []Need{needTwoObjects},
			Explain: "With a labelSelector and a fieldSelector the objects are selected that meet both.",
			run:     labelAndField,
		},
		Check{
			ID: "selector.field-name", Clause: clauseFieldSelector, Needs: []Need{needTwoObjects},
			Explain: "metadata.name=NAME selects the object of that name.",
			run:     fieldName,
		},
		Check{
			ID: "selector.field-namespace", Clause: clauseFieldSelector, Needs: []Need{needConventions, needAllNamespaces, needTwoInSeveral},
			Explain: "metadata.namespace=NAMESPACE selects the objects of that namespace.",
			run:     fieldNamespace,
		},
	)
}

// conjunctions are the pairs that tell servers apart which read one requirement, the
// first, the last, or one for each key.
func conjunctions() []kind {
	return []kind{
		and(opEquals, opEquals), and(opEquals, opNotEquals), and(opEquals, opNotExists), and(opNotExists, opEquals),
		and(opNotEquals, opEquals), and(opEquals, opIn), and(opNotIn, opExists), sameKey(opNotEquals, opNotEquals), three,
	}
}

// nearMisses are what an operator may take for a label that is there.
func nearMisses() []kind {
	var kinds []kind
	for _, op := range []operator{opEquals, opNotEquals, opIn, opNotIn} {
		for _, almost := range []func(label) label{valueInOtherCase, valueCut, valueLonger, valueEmpty} {
			kinds = append(kinds, nearMiss(op, almost))
		}
	}
	for _, almost := range []func(label) label{keyInOtherCase, keyCut, keyLonger, keyWithoutPrefix, keyWithPrefix} {
		kinds = append(kinds, nearMiss(opEquals, almost))
	}
	return append(kinds, nearMiss(opExists, keyCut), nearMiss(opExists, keyWithoutPrefix), nearMiss(opNotExists, keyInOtherCase))
}

// unknownKey is a label key that no object has: what selects objects without a
// key selects all of them by it. It needs no fleet in which some lack a key.
const unknownKey = "vmikit-contract-nosuch"

// labelCheck asks with labels that are there and with requirements of the
// unknown key, which must leave no objects or all of them.
func labelCheck(id, explain string, candidates kind, lack string, unknown ...requirement) Check {
	return Check{
		ID: id, Clause: clauseLabelSelector, Needs: []Need{needTwoObjects}, Explain: explain,
		run: func(ctx context.Context, r *run) (verdict, error) {
			var extra []probe
			for _, q := range unknown {
				extra = append(extra, selecting(r, r.least(), selector{q}))
			}
			// Labels without a value are rare, so all namespaces are looked through.
			all := r.latest[r.widest].all()
			for _, c := range r.best(id+" empty", ofEmpty(candidates)(all, r.someLabels(labelsOf(all))), 1) {
				extra = append(extra, selecting(r, r.widest, c.selector))
			}
			return r.selectors(ctx, id, lack, extra, candidates)
		},
	}
}

// selectors asks with the candidates of each kind that tell most, in the primary
// namespace and, with some of those, over all namespaces; then the extra probes.
// lack says what the target does not have when no candidate tells enough.
func (r *run) selectors(ctx context.Context, id, lack string, extra []probe, kinds ...kind) (verdict, error) {
	enough := false
	var probes []probe
	n := max(1, maxSelectors-len(kinds)+1)
	for _, sc := range r.scopes() {
		full, err := r.full(ctx, sc)
		if err != nil {
			return verdict{}, err
		}
		items := full.all()
		labels := r.someLabels(labelsOf(items))
		var some []candidate
		for _, k := range kinds {
			some = append(some, r.best(id, k(items, labels), n)...)
		}
		if sc != r.primary {
			some = r.best(id, some, maxSelectors-1)
		}
		for _, c := range some {
			enough = enough || c.enough
			probes = append(probes, selecting(r, sc, c.selector))
		}
	}
	if len(probes) == 0 {
		lack = "no object has a label that a selector can be made of"
	}
	probes = append(probes, extra...)
	found, err := r.relate(ctx, probes)
	if err == nil && len(found) == 0 && !enough {
		return notExercised("%s", lack), nil
	}
	v := passed("%d selectors", len(probes))
	v.findings = found
	return v, err
}

// scopes are where relations are looked at: the primary namespace, and all of
// them where the run is over all. That list has a path of its own, so it is
// looked at though there be one namespace only.
func (r *run) scopes() []scope { return slices.Compact([]scope{r.primary, r.widest}) }

// least is the namespace with the fewest objects, for requests whose answer has
// everything.
func (r *run) least() scope { return scope(cmp.Or(r.smallest, string(r.primary))) }

// selecting asks with a labelSelector and compares with the filtered full list.
func selecting(r *run, sc scope, s selector) probe {
	query := url.Values{"labelSelector": {s.String()}}
	return r.filtering(sc, query, func(it *item) bool { return s.matches(it.labels) })
}

// filtering asks a list with a query and compares it with the items of the full
// list that belong in it. Of more than a page the first is looked at: so many
// requests as all pages take are better spent on other questions.
func (r *run) filtering(sc scope, query url.Values, belongs func(*item) bool) probe {
	return probe{scope: sc, ask: func(ctx context.Context, full *listing) ([]claim, error) {
		want := slices.DeleteFunc(full.all(), func(it *item) bool { return !belongs(it) })
		if len(want) > pageSize && r.conventions() {
			got, err := r.list(ctx, sc, r.paged(query), 1)
			if err != nil {
				return nil, err
			}
			return onPage(want, got, len(got.items) >= pageSize), nil
		}
		got, err := r.expect(ctx, sc, query, len(want))
		if err != nil {
			return nil, err
		}
		return compare(want, got), nil
	}}
}

// spelledOtherwise asks for what the labels that are there select, written in other ways that
// mean the same (Kubernetes, "Labels and Selectors").
func spelledOtherwise(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	items := full.all()
	labels := r.someLabels(labelsOf(items))
	var probes []probe
	ask := func(s selector, text string) {
		probes = append(probes, r.filtering(r.primary, url.Values{"labelSelector": {text}}, func(it *item) bool { return s.matches(it.labels) }))
	}
	telling := func(candidates []candidate) []candidate {
		return r.best("selector.spelling", slices.DeleteFunc(candidates, func(c candidate) bool { return !c.enough }), 1)
	}
	for _, c := range telling(several(opIn, someNotAll)(items, labels)) {
		q := c.selector[0]
		values := slices.Clone(q.values)
		slices.Reverse(values) // the one that objects have stands behind a blank
		ask(c.selector, q.key+" in ("+strings.Join(values, ", ")+")")
		ask(c.selector, " "+q.key+"  in( "+strings.Join(values, " ,")+" ) ")
	}
	for _, c := range telling(and(opEquals, opNotEquals)(items, labels)) {
		a, b := c.selector[0], c.selector[1]
		ask(c.selector, a.key+" = "+a.values[0]+" , "+b.key+" != "+b.values[0])
	}
	if len(probes) == 0 {
		return notExercised("no label is on some objects only"), nil
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d selectors", len(probes))
	v.findings = found
	return v, err
}

// labelAndField selects by a label and a name at once: the name of an object that
// has the label, and that of one that has not.
func labelAndField(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	items := full.all()
	best := r.best("selector.both", one(opEquals, someNotAll)(items, r.someLabels(labelsOf(items))), 1)
	if len(best) == 0 || !best[0].enough {
		return notExercised("no label is on some objects only"), nil
	}
	s := best[0].selector
	var probes []probe
	for _, has := range []bool{true, false} {
		i := slices.IndexFunc(items, func(it *item) bool { return s.matches(it.labels) == has })
		name := items[i].name
		query := fieldSelector("metadata.name=" + name)
		query.Set("labelSelector", s.String())
		probes = append(probes, r.filtering(r.primary, query, func(it *item) bool { return s.matches(it.labels) && it.name == name }))
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d queries", len(probes))
	v.findings = found
	return v, err
}

func fieldName(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	named := func(name string) func(*item) bool { return func(it *item) bool { return it.name == name } }
	nobody := func(*item) bool { return false }
	items := full.all()
	var probes []probe
	ask := func(text string, belongs func(*item) bool) {
		probes = append(probes, r.filtering(r.primary, fieldSelector(text), belongs))
	}
	for _, it := range sample(r.rand("selector.field-name"), items, 2) {
		ask("metadata.name="+it.name, named(it.name))
	}
	ask("metadata.name="+r.nobody(), nobody)
	it := items[0]
	for _, near := range []string{cut(it.name), otherCase(it.name), it.name + "x"} {
		if near != it.name && near != "" {
			ask("metadata.name="+near, named(near))
		}
	}
	if r.conventions() {
		ask("metadata.name=="+it.name, named(it.name))
		ask("metadata.name!="+it.name, func(other *item) bool { return other.name != it.name })
		ask("metadata.namespace="+it.namespace+",metadata.name="+it.name, named(it.name))
		ask("metadata.name!="+it.name+",metadata.name!="+items[1].name, func(other *item) bool { return other.name != it.name && other.name != items[1].name })
		ask("metadata.name="+it.name+",metadata.name="+items[1].name, nobody)
	}
	if r.widest != r.primary {
		name := r.sharedName()
		probes = append(probes, r.filtering(r.widest, fieldSelector("metadata.name="+name), named(name)))
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d selectors", len(probes))
	v.findings = found
	return v, err
}

// sharedName is a name that objects of several namespaces have, or just any.
func (r *run) sharedName() string {
	seen := make(map[string]bool)
	all := r.latest[r.widest].all()
	for _, it := range all {
		if seen[it.name] {
			return it.name
		}
		seen[it.name] = true
	}
	return all[0].name
}

func fieldNamespace(ctx context.Context, r *run) (verdict, error) {
	ns := r.smallest
	probes := []probe{
		// Never page by page: a real API server forgets the namespace between the
		// pages of such a list and the second one is empty.
		{r.widest, func(ctx context.Context, full *listing) ([]claim, error) {
			got, err := r.list(ctx, r.widest, fieldSelector("metadata.namespace="+ns), 0)
			if err != nil {
				return nil, err
			}
			return compare(slices.DeleteFunc(full.all(), func(it *item) bool { return it.namespace != ns }), got), nil
		}},
		r.filtering(r.widest, fieldSelector("metadata.namespace!="+ns), func(it *item) bool { return it.namespace != ns }),
		r.filtering(r.primary, fieldSelector("metadata.namespace="+r.nobody()), func(*item) bool { return false }),
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d selectors", len(probes))
	v.findings = found
	return v, err
}

func fieldSelector(text string) url.Values { return url.Values{"fieldSelector": {text}} }
