package contract

import (
	"cmp"
	"context"
	"net/url"
	"slices"
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
				return r.selectors(ctx, "selector.and", "no two labels cut across each other", nil, and(opEquals), and(opNotEquals), and(opNotExists))
			},
		},
		Check{
			ID: "selector.near-miss", Clause: clauseLabelSelector, Needs: []Need{needObject},
			Explain: "Labels are compared as a whole and by case: what only resembles a label does not select the object.",
			run: func(ctx context.Context, r *run) (verdict, error) {
				return r.selectors(ctx, "selector.near-miss", "no label can be missed by a letter", nil,
					nearMiss(valueInOtherCase), nearMiss(valueCut), nearMiss(keyInOtherCase), nearMiss(keyCut))
			},
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
			return r.selectors(ctx, id, lack, extra, candidates)
		},
	}
}

// selectors asks with the candidates of each kind that tell most, in the primary
// namespace and, with the very best, over all namespaces; then the extra probes.
// lack says what the target does not have when no candidate tells enough.
func (r *run) selectors(ctx context.Context, id, lack string, extra []probe, kinds ...kind) (verdict, error) {
	enough := false
	var probes []probe
	n := maxSelectors
	if len(kinds) > 1 {
		n--
	}
	for _, sc := range r.scopes() {
		full, err := r.full(ctx, sc)
		if err != nil {
			return verdict{}, err
		}
		items := full.all()
		labels := r.someLabels(labelsOf(items))
		for _, k := range kinds {
			for _, c := range r.best(id, k(items, labels), n) {
				enough = enough || c.enough
				probes = append(probes, selecting(r, sc, c.selector))
			}
		}
		n = 1
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
// list that belong in it.
func (r *run) filtering(sc scope, query url.Values, belongs func(*item) bool) probe {
	return probe{scope: sc, ask: func(ctx context.Context, full *listing) ([]claim, error) {
		want := slices.DeleteFunc(full.all(), func(it *item) bool { return !belongs(it) })
		got, err := r.expect(ctx, sc, query, len(want))
		if err != nil {
			return nil, err
		}
		return compare(want, got), nil
	}}
}

func fieldName(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	var probes []probe
	for _, it := range sample(r.rand("selector.field-name"), full.all(), 2) {
		named := func(other *item) bool { return other.name == it.name }
		probes = append(probes, r.filtering(r.primary, fieldSelector("metadata.name="+it.name), named))
	}
	probes = append(probes, r.filtering(r.primary, fieldSelector("metadata.name="+r.nobody()), func(*item) bool { return false }))
	if r.conventions() {
		it := full.all()[0]
		probes = append(probes,
			r.filtering(r.primary, fieldSelector("metadata.name=="+it.name), func(other *item) bool { return other.name == it.name }),
			r.filtering(r.primary, fieldSelector("metadata.name!="+it.name), func(other *item) bool { return other.name != it.name }))
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d selectors", len(probes))
	v.findings = found
	return v, err
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
