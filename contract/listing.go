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

// pageSize is how a full list is asked for where there are pages, so that no
// answer is a burden for the target.
const pageSize = 500

// maxBarrenPages is how many pages in a row may bring nothing new before a chain
// of pages counts as endless.
const maxBarrenPages = 2

// listing is a list with all its pages.
type listing struct {
	// status is that of the last page.
	status int
	// items are in the order in which they came, repeats included.
	items []*item
	byKey map[string]*item
	// nameless counts the items that have no name, which are not in items.
	nameless int
	// sizes are the number of items of each page, those without a name included,
	// and remaining what each says of how many follow, nil for nothing.
	sizes     []int
	remaining []*int64
	// endless says that pages kept coming without anything new on them. Those
	// pages are not in items.
	endless bool
	// more says that there are more pages than were wanted.
	more bool
	// resourceVersion is that of the first page.
	resourceVersion string
	// versions are those of the pages after it.
	versions []string
	// first is the exchange of the first page, as reports show it.
	first *exchange
}

func (l *listing) curl() string {
	if l.first == nil {
		return ""
	}
	return l.first.curl
}

func (l *listing) keys() []string {
	if l == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.byKey))
}

// all returns the machines, each once, by name.
func (l *listing) all() []*item {
	var items []*item
	for _, key := range l.keys() {
		items = append(items, l.byKey[key])
	}
	return items
}

// list asks for a list and follows it to its end, or over so many pages when
// pages is not 0. Its error is errUnreadable for what is no list; any status is
// a listing.
func (r *run) list(ctx context.Context, sc scope, query url.Values, pages int) (*listing, error) {
	l := &listing{byKey: make(map[string]*item)}
	query = maps.Clone(query)
	if query == nil {
		query = make(url.Values)
	}
	barren, known := 0, 0
	for {
		ex, err := r.ask(ctx, r.listRequest(sc, query))
		if err != nil {
			return nil, err
		}
		if l.first == nil {
			l.first = ex.shown()
		}
		l.status = ex.status
		if ex.status != http.StatusOK {
			return l, nil
		}
		body, ok := ex.split()
		if !ok || ex.unread != "" {
			return nil, errUnreadable
		}
		if len(l.sizes) == 0 && query.Get("continue") == "" {
			r.repeats.version(sc, body.resourceVersion, l.first)
		}
		fresh := l.add(body, sc)
		switch {
		case body.cont == "" || !r.conventions():
			return l, nil
		case pages > 0 && len(l.sizes) == pages:
			l.more = true
			return l, nil
		case fresh:
			barren, known = 0, len(l.items)
		default:
			if barren++; barren == maxBarrenPages {
				l.endless = true
				l.items = l.items[:known]
				return l, nil
			}
		}
		query.Set("continue", body.cont)
	}
}

// add adds a page and reports whether it brought anything new.
func (l *listing) add(body listBody, sc scope) (fresh bool) {
	if len(l.sizes) == 0 {
		l.resourceVersion = body.resourceVersion
	} else {
		l.versions = append(l.versions, body.resourceVersion)
	}
	l.sizes = append(l.sizes, len(body.items))
	l.remaining = append(l.remaining, body.remaining)
	for _, raw := range body.items {
		it, ok := readItem(raw, string(sc))
		if !ok {
			l.nameless++
			continue
		}
		l.items = append(l.items, it)
		if l.byKey[it.key()] == nil {
			l.byKey[it.key()] = it
			fresh = true
		}
	}
	return fresh
}

// full returns the newest full list of a scope, and lists when there is none.
func (r *run) full(ctx context.Context, sc scope) (*listing, error) {
	if l := r.latest[sc]; l != nil {
		return l, nil
	}
	return r.relist(ctx, sc)
}

// relist lists a scope again. What is no list is not kept.
func (r *run) relist(ctx context.Context, sc scope) (*listing, error) {
	l, err := r.list(ctx, sc, r.paged(nil), 0)
	if err != nil {
		return nil, err
	}
	if l.status == http.StatusOK {
		r.latest[sc] = l
		r.repeats.list(sc, l)
	}
	return l, nil
}

// What a list may have wrong.
const (
	messageMissing = "objects are missing"
	messageTwice   = "objects are there twice"
	messageForeign = "objects are there that must not be"
	messageChanged = "objects are not the same as in the full list"
)

// paged asks a query page by page, where there are pages.
func (r *run) paged(query url.Values) url.Values {
	if !r.conventions() {
		return query
	}
	query = maps.Clone(query)
	if query == nil {
		query = make(url.Values)
	}
	query.Set("limit", strconv.Itoa(pageSize))
	return query
}

// expect is list for an answer that should have so many objects: when they are
// many it asks page by page.
func (r *run) expect(ctx context.Context, sc scope, query url.Values, objects int) (*listing, error) {
	if objects > pageSize {
		query = r.paged(query)
	}
	return r.list(ctx, sc, query, 0)
}

// compare holds an answered list against the machines that should be in it.
func compare(want []*item, got *listing) []claim {
	if got.status != http.StatusOK {
		return []claim{{Finding: fault(got.first, Fail, "a request that must be answered is not", "status 200", fmt.Sprintf("status %d", got.status))}}
	}
	var claims []claim
	say := func(object, message, seen string, diff ...DiffLine) {
		f := fault(got.first, Fail, message, number(len(want), "object"), seen)
		f.Diff = diff
		claims = append(claims, claim{object: object, Finding: f})
	}
	count := number(len(got.items), "object")
	wanted := make(map[string]bool, len(want))
	for _, it := range want {
		wanted[it.key()] = true
		answered := got.byKey[it.key()]
		if answered == nil {
			say(it.key(), messageMissing, count, DiffLine{"-", it.key()})
		} else if diff := differences(it.raw, answered.raw); len(diff) > 0 {
			say(it.key(), messageChanged, diff.String(), diff.lines()...)
		}
	}
	seen := make(map[string]bool, len(got.items))
	for _, it := range got.items {
		key := it.key()
		switch {
		case seen[key]:
			say(key, messageTwice, count, DiffLine{"+", key})
		case !wanted[key]:
			say(key, messageForeign, count, DiffLine{"+", key})
		}
		seen[key] = true
	}
	return claims
}
