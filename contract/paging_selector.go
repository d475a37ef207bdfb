package contract

import (
	"context"
	"maps"
	"net/url"
	"slices"
)

// selection is a query that selects, and what belongs in its answer.
type selection struct {
	query   url.Values
	belongs func(*item) bool
}

// everything is the selection without a query.
var everything = selection{belongs: func(*item) bool { return true }}

func withLabel(l label) selection {
	s := selector{{l.key, opEquals, []string{l.value}}}
	return selection{url.Values{"labelSelector": {s.String()}}, func(it *item) bool { return s.matches(it.labels) }}
}

func withoutName(name string) selection {
	return selection{fieldSelector("metadata.name!=" + name), func(it *item) bool { return it.name != name }}
}

func (s selection) filter(items []*item) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return !s.belongs(it) })
}

// scattered reports whether what is selected of a list is not simply its
// beginning: only then an answer tells which of the two a limit counts.
func (s selection) scattered(items []*item) bool {
	limit := pageOf(len(s.filter(items)))
	return len(s.filter(items[:min(limit, len(items))])) < limit
}

// forgettable reports whether something that is not selected stands after the
// first page of the selection: it shows when later pages forget the selector.
func (s selection) forgettable(items []*item) bool {
	selected := s.filter(items)
	if len(selected) < 2 {
		return false
	}
	rest := items[slices.Index(items, selected[third(len(selected))-1]):]
	return len(s.filter(rest)) < len(rest)
}

// pageOf is the limit for so many objects on one page.
func pageOf(objects int) int { return max(1, min(pageSize, objects)) }

// pageSelector puts a selector and a limit together: on one page, which must have
// everything that is selected, and on several where there are any.
func pageSelector(ctx context.Context, r *run) (verdict, error) {
	var probes []probe
	n := maxSelectors
	for _, sc := range r.scopes() {
		full, err := r.full(ctx, sc)
		if err != nil {
			return verdict{}, err
		}
		var byLabel, byName []selection
		for _, l := range r.someLabels(labelsOf(full.all())) {
			byLabel = append(byLabel, withLabel(l))
		}
		if items := full.items; r.conventions() && len(items) > 0 {
			byName = []selection{withoutName(items[0].name), withoutName(items[len(items)-1].name)}
		}
		for _, group := range [][]selection{byLabel, byName} {
			probes = append(probes, r.selectPages(sc, full, group, n)...)
		}
		n = 1
	}
	if len(probes) == 0 {
		return notExercised("no label selects some objects and leaves out others before them"), nil
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d selectors with a limit", len(probes))
	v.findings = found
	return v, err
}

// selectPages picks n of the selections to ask on one page, and one to follow over
// its pages.
func (r *run) selectPages(sc scope, full *listing, from []selection, n int) []probe {
	rng := r.rand("paging.selector")
	pick := func(n int, telling func(selection) bool) []selection {
		return sample(rng, slices.DeleteFunc(slices.Clone(from), func(s selection) bool { return !telling(s) }), n)
	}
	var probes []probe
	for _, s := range pick(n, func(s selection) bool { return s.scattered(full.items) }) {
		probes = append(probes, r.onOnePage(sc, s))
	}
	if !r.conventions() || r.pagesBroken {
		return probes
	}
	most := r.maxChain()
	for _, s := range pick(1, func(s selection) bool { return s.forgettable(full.items) && len(s.filter(full.items)) <= most*pageSize }) {
		probes = append(probes, r.chain(sc, s, third(len(s.filter(full.all())))))
	}
	return probes
}

// onOnePage asks for as many objects as a selection has.
func (r *run) onOnePage(sc scope, s selection) probe {
	return probe{sc, func(ctx context.Context, full *listing) ([]claim, error) {
		want := s.filter(full.all())
		limit := pageOf(len(want))
		query := limited(limit)
		maps.Copy(query, s.query)
		got, err := r.list(ctx, sc, query, 1)
		if err != nil {
			return nil, err
		}
		// A page that is not full has no rest, whatever its continue says: the
		// limit was used up by objects that are not selected. A full one has one if
		// there are more than a page or objects were added meanwhile.
		claims := onPage(want, got, len(got.items) >= limit)
		if len(claims) > 0 && got.more {
			short, err := r.shortPages(ctx, sc, limit)
			if err != nil {
				return nil, err
			}
			if short {
				got, err = r.list(ctx, sc, query, 0)
				if err != nil {
					return nil, err
				}
				claims = compare(want, got)
			}
		}
		return claims, nil
	}}
}

// shortPages reports whether pages are shorter than their limit without a selector
// too: then it is the target's own limit that they have, which it may.
func (r *run) shortPages(ctx context.Context, sc scope, limit int) (bool, error) {
	plain, err := r.list(ctx, sc, limited(limit), 1)
	if err != nil {
		return false, err
	}
	return plain.more && len(plain.items) < limit, nil
}
