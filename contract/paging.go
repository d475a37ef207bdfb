package contract

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

var clauseLimit = Clause{588, "description: Maximum number of results per page."}

func pagingChecks() []Check {
	return []Check{
		{
			ID: "paging.limit", Clause: clauseLimit, Needs: []Need{needTwoObjects, needNames},
			Explain: "A page has no more objects than the limit, and all of them when they fit.",
			run:     pageLimit,
		}, {
			ID:      "paging.pages",
			Clause:  Clause{0, "metadata.continue leads to the next page; the pages together are the list"},
			Needs:   []Need{needConventions, needTwoObjects, needNames},
			Explain: "Following continue gives every object once and comes to an end.",
			run:     pages,
		}, {
			ID: "paging.selector", Clause: clauseLimit, Needs: []Need{needTwoObjects, needNames},
			Explain: "The limit counts the objects that the selector selects, not those that it looks at.",
			run:     pageSelector,
		}, {
			ID: "paging.limit-zero", Clause: Clause{591, "minimum: 1"},
			Explain: "A limit below 1 is refused. Kubernetes takes it for no limit, so answering it is a warning outside the given document.",
			run:     limitZero,
		},
	}
}

func limited(limit int) url.Values { return url.Values{"limit": {strconv.Itoa(limit)}} }

// pageLimit looks at first pages alone.
func pageLimit(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	n := len(full.byKey)
	var probes []probe
	for _, limit := range limitsFor(n) {
		probes = append(probes, probe{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
			got, err := r.list(ctx, r.primary, limited(limit), 1)
			if err != nil {
				return nil, err
			}
			return append(onPage(full.all(), got, got.more || len(got.items) >= limit), tooLong(got, limit)...), nil
		}})
	}
	found, err := r.relate(ctx, probes)
	v := passed("limits %s of %d objects", joined(limitsFor(n)), n)
	v.findings = found
	return v, err
}

// limitsFor are the limits that tell most about a list of n objects, without
// asking for more than a page at once.
func limitsFor(n int) []int {
	limits := []int{1, n - 1, n, n + 1}
	if n > pageSize {
		limits = []int{1, pageSize - 1, pageSize}
	}
	limits = slices.DeleteFunc(limits, func(l int) bool { return l < 1 })
	slices.Sort(limits)
	return slices.Compact(limits)
}

func joined(limits []int) string {
	text := fmt.Sprint(limits)
	return text[1 : len(text)-1]
}

// onPage is compare for one page. What is missing on it is no fault when the rest
// may be on the next one.
func onPage(want []*item, got *listing, rest bool) []claim {
	claims := compare(want, got)
	if rest {
		claims = slices.DeleteFunc(claims, func(c claim) bool { return c.Message == messageMissing })
	}
	return claims
}

// tooLong claims the pages that have more than the limit. No change of objects
// explains that.
func tooLong(got *listing, limit int) []claim {
	for _, size := range got.sizes {
		if size > limit {
			return []claim{{Finding: Finding{
				Message:  "a page is longer than the limit",
				Expected: fmt.Sprintf("at most %d objects", limit),
				Got:      fmt.Sprintf("%d objects", size), Curl: got.curl,
			}}}
		}
	}
	return nil
}

// pages follows continue to the end, with limits that few requests are enough for.
func pages(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	n := len(full.byKey)
	budget := max(4, min(r.config.maxRequests/8, r.caller.left()/4))
	limits := slices.DeleteFunc(limitsFor(n), func(limit int) bool { return (n+limit-1)/limit > budget })
	if half := (n + budget - 1) / budget; len(limits) == 0 || limits[0] != 1 {
		limits = append([]int{max(2, half)}, limits...)
	}
	var probes []probe
	for _, limit := range limits {
		probes = append(probes, r.chain(limited(limit), limit, func(*item) bool { return true }))
	}
	found, err := r.relate(ctx, probes)
	v := passed("pages of %s joined to %d objects", joined(limits), n)
	v.findings = found
	return v, err
}

// chain follows the pages of a query and compares them with the items of the
// full list that belong in them.
func (r *run) chain(query url.Values, limit int, belongs func(*item) bool) probe {
	return probe{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
		got, err := r.list(ctx, r.primary, query, 0)
		if err != nil {
			return nil, err
		}
		if got.status == http.StatusGone {
			return nil, fmt.Errorf("%w: a continue token had expired", errUnstable)
		}
		want := slices.DeleteFunc(full.all(), func(it *item) bool { return !belongs(it) })
		claims := compare(want, got)
		if got.endless {
			claims = append(claims, claim{Finding: Finding{
				Message:  "the pages do not end",
				Expected: "an empty continue on the last page",
				Got:      fmt.Sprintf("%d pages, the last ones with nothing new", len(got.sizes)), Curl: got.curl,
			}})
		}
		return append(claims, tooLong(got, limit)...), nil
	}}
}

// pageSelector asks for as many objects as a selector selects: they must all be
// on the one page.
func pageSelector(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	items := full.all()
	var telling []candidate
	for _, l := range labelsOf(items) {
		s := selector{{l.key, opEquals, []string{l.value}}}
		// Only a selection that is not simply the beginning of the list tells
		// which of the two the limit counts.
		first := full.items[:min(l.with, len(full.items))]
		if len(s.filter(first)) < l.with {
			telling = append(telling, candidate{selector: s})
		}
	}
	if len(telling) == 0 {
		return notExercised("no label selects some objects and leaves out others before them"), nil
	}
	var probes []probe
	for _, c := range r.best("paging.selector", telling, maxSelectors) {
		probes = append(probes, probe{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
			want := c.selector.filter(full.all())
			limit := max(1, len(want))
			query := limited(limit)
			query.Set("labelSelector", c.selector.String())
			got, err := r.list(ctx, r.primary, query, 1)
			if err != nil {
				return nil, err
			}
			// A page that is not full has no rest, whatever its continue says: the
			// limit was used up by objects that are not selected. A full one has if
			// objects were added meanwhile.
			return onPage(want, got, len(got.items) >= limit), nil
		}})
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d selectors with a limit", len(probes))
	v.findings = found
	return v, err
}

func limitZero(ctx context.Context, r *run) (verdict, error) {
	req := r.listRequest(r.primary, limited(0))
	req.refusable = true
	ex, err := r.ask(ctx, req)
	if err != nil {
		return verdict{}, err
	}
	if refused(ex.status) {
		return passed("refused with status %d", ex.status), nil
	}
	f := Finding{
		Outcome:  Fail,
		Message:  "a limit of 0 is not refused",
		Expected: "status 400", Got: fmt.Sprintf("status %d", ex.status), Curl: ex.curl,
	}
	if ex.status == http.StatusOK && r.conventions() {
		f.Outcome = Warning
	}
	v := passed("answered with status %d", ex.status)
	v.findings.add(f)
	return v, nil
}
