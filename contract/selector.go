package contract

import (
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
		labelCheck("selector.not-equals", "KEY!=VALUE selects the objects with another value and those without the key.", one(opNotEquals, keyAndOthers),
			"no key is missing on some objects and has two values on others"),
		labelCheck("selector.in", "KEY in (A,B) selects the objects whose label has one of the values.", several(opIn, someNotAll),
			"no label is on some objects only"),
		labelCheck("selector.not-in", "KEY notin (A,B) selects the objects with another value and those without the key.", several(opNotIn, keyAndOthers),
			"no key is missing on some objects and has two values on others"),
		labelCheck("selector.exists", "KEY selects the objects that have the label, whatever its value.", one(opExists, keySomewhere),
			"every label key is on every object"),
		labelCheck("selector.not-exists", "!KEY selects the objects that do not have the label.", one(opNotExists, keySomewhere),
			"every label key is on every object"),
	}
	return append(checks,
		Check{
			ID: "selector.and", Clause: clauseLabelSelector, Needs: []Need{needTwoObjects},
			Explain: "A comma between two requirements means that both must be met.",
			run: func(ctx context.Context, r *run) (verdict, error) {
				return r.selectors(ctx, "selector.and", "no two labels cut across each other", and(opEquals), and(opNotEquals), and(opNotExists))
			},
		},
		Check{
			ID: "selector.near-miss", Clause: clauseLabelSelector, Needs: []Need{needObject},
			Explain: "Labels are compared as a whole and by case: what only resembles a label does not select the object.",
			run: func(ctx context.Context, r *run) (verdict, error) {
				return r.selectors(ctx, "selector.near-miss", "no label can be missed by a letter",
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

func labelCheck(id, explain string, candidates kind, lack string) Check {
	return Check{
		ID: id, Clause: clauseLabelSelector, Needs: []Need{needTwoObjects}, Explain: explain,
		run: func(ctx context.Context, r *run) (verdict, error) {
			return r.selectors(ctx, id, lack, candidates)
		},
	}
}

// selectors asks with the candidates of each kind that tell most, in the primary
// namespace and, with the very best, over all namespaces. lack says what the
// target does not have when none of them tells enough.
func (r *run) selectors(ctx context.Context, id, lack string, kinds ...kind) (verdict, error) {
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
		labels := labelsOf(items)
		for _, k := range kinds {
			for _, c := range r.best(id, k(items, labels), n) {
				enough = enough || c.enough
				probes = append(probes, selecting(r, sc, c.selector))
			}
		}
		n = 1
	}
	if len(probes) == 0 {
		return notExercised("no object has a label that a selector can be made of"), nil
	}
	found, err := r.relate(ctx, probes)
	if err == nil && len(found) == 0 && !enough {
		return notExercised("%s", lack), nil
	}
	v := passed("%d selectors", len(probes))
	v.findings = found
	return v, err
}

// scopes are where relations are looked at: the primary namespace, and all of
// them where that is more.
func (r *run) scopes() []scope {
	scopes := []scope{r.primary, r.widest}
	if len(r.namespaces) < 2 {
		return scopes[:1]
	}
	return slices.Compact(scopes)
}

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
