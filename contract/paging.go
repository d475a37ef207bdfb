package contract

import (
	"context"
	"fmt"
	"maps"
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
			Explain: "The limit counts the objects that the selector selects, not those that it looks at, and a selector holds on every page.",
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
	var v verdict
	var probes []probe
	for _, sc := range r.scopes() {
		full, err := r.full(ctx, sc)
		if err != nil {
			return v, err
		}
		limits := []int{third(len(full.byKey))}
		if sc == r.primary {
			limits = limitsFor(len(full.byKey))
			v.message = fmt.Sprintf("limits %s of %d objects", joined(limits), len(full.byKey))
		}
		for _, limit := range limits {
			probes = append(probes, probe{sc, func(ctx context.Context, full *listing) ([]claim, error) {
				got, err := r.list(ctx, sc, limited(limit), 1)
				if err != nil {
					return nil, err
				}
				return append(onPage(full.all(), got, got.more || len(got.items) >= limit), tooLong(got, limit)...), nil
			}})
		}
	}
	found, err := r.relate(ctx, probes)
	v.findings = found
	return v, err
}

// limitsFor are the limits that tell most about a list of n objects, without
// asking for more than a page at once.
func limitsFor(n int) []int {
	limits := []int{1, third(n), n - 1, n, n + 1}
	if n > pageSize {
		limits = []int{1, third(n), pageSize - 1, pageSize}
	}
	limits = slices.DeleteFunc(limits, func(l int) bool { return l < 1 })
	slices.Sort(limits)
	return slices.Compact(limits)
}

// third is the limit that makes three pages of n objects, so that those after the
// first have several objects and one of them is in the middle.
func third(n int) int { return max(1, min(pageSize, (n+2)/3)) }

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
				Got:      fmt.Sprintf("%d objects", size), Curl: got.curl(), source: got.first,
			}}}
		}
	}
	return nil
}

// pages follows continue to the end, with limits that few requests are enough for.
func pages(ctx context.Context, r *run) (verdict, error) {
	var v verdict
	var probes []probe
	budget := r.maxChain()
	for _, sc := range r.scopes() {
		full, err := r.full(ctx, sc)
		if err != nil {
			return v, err
		}
		n := len(full.byKey)
		fewest := (n + budget - 1) / budget
		limits := []int{max(third(n), fewest)}
		if sc == r.primary {
			limits = slices.DeleteFunc(limitsFor(n), func(limit int) bool { return limit < fewest || limit == pageSize && n > pageSize })
			if len(limits) == 0 || limits[0] != 1 {
				limits = slices.Compact(append([]int{max(2, fewest)}, limits...))
			}
			v.message = fmt.Sprintf("pages of %s joined to %d objects", joined(limits), n)
		}
		for _, limit := range limits {
			probes = append(probes, r.chain(sc, everything, limit))
		}
	}
	found, err := r.relate(ctx, probes)
	r.pagesBroken = found.outcome() == Fail
	v.findings = found
	return v, err
}

// maxChain is how many pages one chain may have.
func (r *run) maxChain() int { return max(4, min(r.config.maxRequests/20, r.caller.left()/4)) }

// chain follows the pages of a selection and compares them with the items of the
// full list that belong in it. The query must not select a namespace by field:
// a real API server forgets that between the pages.
func (r *run) chain(sc scope, s selection, limit int) probe {
	query := limited(limit)
	maps.Copy(query, s.query)
	return probe{sc, func(ctx context.Context, full *listing) ([]claim, error) {
		got, err := r.list(ctx, sc, query, 0)
		if err != nil {
			return nil, err
		}
		if got.status == http.StatusGone {
			return nil, fmt.Errorf("%w: a continue token had expired", errUnstable)
		}
		claims := compare(s.filter(full.all()), got)
		for i := range claims {
			// What comes or goes before a position shifts all that is after it.
			claims[i].fragile = len(got.sizes) > 1
		}
		if got.endless {
			claims = append(claims, claim{Finding: Finding{
				Message:  "the pages do not end",
				Expected: "an empty continue on the last page",
				Got:      fmt.Sprintf("%d pages, the last ones with nothing new", len(got.sizes)), Curl: got.curl(), source: got.first,
			}})
		}
		return slices.Concat(claims, tooLong(got, limit), miscounted(got), older(got)), nil
	}}
}

// older claims a page that shows an older state than the first one. A chain of pages
// shows one state, or goes on with a newer one.
func older(got *listing) []claim {
	for _, version := range got.versions {
		if earlier(version, got.resourceVersion) {
			return []claim{{Finding: fault(got.first, Fail, "the resourceVersion goes back from page to page", "at least "+got.resourceVersion, version)}}
		}
	}
	return nil
}

// miscounted claims the first page of a chain whose remainingItemCount is not the
// number of objects that followed. It is an estimate by its own description, so
// this is a warning; a server that says nothing is right.
func miscounted(got *listing) []claim {
	if got.endless || got.status != http.StatusOK {
		return nil
	}
	var after int64
	for _, size := range got.sizes {
		after += int64(size)
	}
	for i, said := range got.remaining {
		after -= int64(got.sizes[i])
		if said != nil && *said < 0 {
			return []claim{{Finding: fault(got.first, Fail, "remainingItemCount is negative", "a number of objects", strconv.FormatInt(*said, 10))}}
		}
		if said != nil && *said != after {
			return []claim{{fragile: true, Finding: Finding{
				Outcome:  Warning,
				Message:  "remainingItemCount is not the number of objects on the pages that follow",
				Expected: strconv.FormatInt(after, 10), Got: strconv.FormatInt(*said, 10), Curl: got.curl(), source: got.first,
			}}}
		}
	}
	return nil
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
	if ex.status == http.StatusOK && r.conventions() {
		return limitZeroTaken(ctx, r, ex)
	}
	f := fault(ex, Fail, "a limit of 0 is not refused", "status 400", fmt.Sprintf("status %d", ex.status))
	v := passed("answered with status %d", ex.status)
	v.add(r, f)
	return v, nil
}

// limitZeroTaken judges a limit of 0 that is answered: it means no limit then.
func limitZeroTaken(ctx context.Context, r *run, ex *exchange) (verdict, error) {
	v := passed("answered with status %d", ex.status)
	v.add(r, fault(ex, Warning, "a limit of 0 is not refused", "status 400", fmt.Sprintf("status %d", ex.status)))
	found, err := r.relate(ctx, []probe{{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
		got, err := r.list(ctx, r.primary, limited(0), 1)
		if err != nil {
			return nil, err
		}
		return compare(full.all(), got), nil
	}}})
	v.findings = append(v.findings, found...)
	return v, err
}
