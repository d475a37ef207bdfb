package contract

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// oddLimit is a limit that is no integer from 1 on, or has no value at all.
type oddLimit struct {
	text string
	// whole says that it may be answered with the whole list: the document sets no
	// upper bound, and an empty value may be none.
	whole bool
	// usual says that Kubernetes answers it with the whole list, which
	// paging.limit-zero tells.
	usual bool
}

var oddLimitsAsked = []oddLimit{
	{text: "-1", usual: true},
	{text: "abc"},
	{text: "1.5"},
	{text: "9223372036854775808", whole: true}, // 2^63
	{text: "", whole: true},
}

// oddLimits asks the smallest namespace, since the answer may have everything.
func oddLimits(ctx context.Context, r *run) (verdict, error) {
	v := passed("%d limits", len(oddLimitsAsked))
	var probes []probe
	for _, l := range oddLimitsAsked {
		probes = append(probes, probe{r.least(), func(ctx context.Context, full *listing) ([]claim, error) {
			req := r.listRequest(r.least(), url.Values{"limit": {l.text}})
			req.refusable = true
			ex, err := r.provoke(ctx, &v, req)
			if err != nil || ex == nil || refused(ex.status) {
				return nil, err
			}
			f := fault(ex, Fail, "a limit that is no integer from 1 on is answered", "status 400", fmt.Sprintf("status %d to limit=%s", ex.status, l.text))
			got, ok := onePage(ex, r.least())
			switch {
			case !l.whole && !(l.usual && r.conventions()):
				v.add(r, f)
				return nil, nil
			case !ok:
				return nil, errUnreadable
			case l.text != "" && !l.usual && r.conventions():
				f.Outcome, f.Message = Warning, "a limit beyond 64 bits is answered; Kubernetes refuses it"
				v.add(r, f)
				if got.more {
					f.Outcome, f.Message = Fail, "a limit beyond 64 bits is taken for another number"
					v.add(r, f)
				}
			case l.text == "" && r.conventions():
				f.Outcome, f.Message = Warning, "an empty limit is taken for none; Kubernetes refuses it"
				v.add(r, f)
			}
			return onPage(full.all(), got, got.more), nil
		}})
	}
	// What is an integer is answered, however large (int32 is a common mistake).
	large := limited(math.MaxInt32 + 1)
	probes = append(probes, probe{r.least(), func(ctx context.Context, full *listing) ([]claim, error) {
		got, err := r.list(ctx, r.least(), large, 1)
		if err != nil {
			return nil, err
		}
		return onPage(full.all(), got, got.more), nil
	}})
	found, err := r.relate(ctx, probes)
	v.findings = append(v.findings, found...)
	return v, err
}

// onePage reads an answer as a list, without the pages that follow.
func onePage(ex *exchange, sc scope) (*listing, bool) {
	body, ok := ex.split()
	if ex.status != http.StatusOK || !ok || ex.unread != "" {
		return nil, false
	}
	l := &listing{status: ex.status, byKey: make(map[string]*item), first: ex.shown(), more: body.cont != ""}
	l.add(body, sc)
	return l, true
}

// repeatedParameters gives parameters twice, with values of which both, either one
// and none lead to different answers.
func repeatedParameters(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	var probes []probe
	if !r.pagesBroken {
		limits := url.Values{"limit": {"1", strconv.Itoa(min(pageSize, len(full.byKey)+1))}}
		probes = append(probes, probe{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
			got, err := r.list(ctx, r.primary, limits, 1)
			if err != nil {
				return nil, err
			}
			return lenient(got, append(onPage(full.all(), got, true), tooLong(got, 1)...)), nil
		}})
	}
	if l, ok := rarest(full); ok {
		first := selector{{l.key, opEquals, []string{l.value}}}
		usual := url.Values{"labelSelector": {first.String()}}
		query := url.Values{"labelSelector": {first.String(), selector{{key: l.key, op: opNotExists}}.String()}}
		probes = append(probes, probe{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
			want := first.filter(full.all())
			got, err := r.expect(ctx, r.primary, query, len(want))
			if err != nil {
				return nil, err
			}
			return r.news(ctx, r.primary, usual, want, lenient(got, compare(want, got)))
		}})
	}
	if len(probes) == 0 {
		return notExercised("no object has a label that a selector can be made of, and limits are broken by themselves"), nil
	}
	found, err := r.relate(ctx, probes)
	v := passed("%s", number(len(probes), "parameter"))
	v.findings = found
	return v, err
}

// lenient makes claims of a refused list warnings: a refusal misleads nobody.
func lenient(got *listing, claims []claim) []claim {
	if refused(got.status) {
		for i := range claims {
			claims[i].Outcome, claims[i].Message = Warning, "a repeated parameter is refused; Kubernetes takes the first"
		}
	}
	return claims
}

// rarest is the label that the fewest objects of a list have.
func rarest(full *listing) (rare label, ok bool) {
	for _, l := range labelsOf(full.all()) {
		if !ok || l.with < rare.with {
			rare, ok = l, true
		}
	}
	return rare, ok
}

// unknownParameters adds parameters that nobody knows, and selectors with their
// names in another case, which would leave nothing of the list.
func unknownParameters(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.least())
	if err != nil {
		return verdict{}, err
	}
	v := passed("2 requests")
	for _, it := range sample(r.rand("edge.unknown-parameter"), full.all(), 1) {
		req := r.readRequest(it.namespace, it.name, withToken)
		req.query = url.Values{"vmikitContract": {"1"}}
		if err := r.getUnusually(ctx, &v, req, it); err != nil {
			return v, err
		}
	}
	found, err := r.relate(ctx, []probe{r.everythingWith(url.Values{
		"vmikitContract": {"1"}, "LabelSelector": {unknownKey}, "fieldselector": {"metadata.name=" + r.nobody()},
	})})
	v.findings = append(v.findings, found...)
	return v, err
}

func emptyParameters(ctx context.Context, r *run) (verdict, error) {
	v := passed("1 request")
	var err error
	v.findings, err = r.relate(ctx, []probe{r.everythingWith(url.Values{"labelSelector": {""}, "fieldSelector": {""}, "continue": {""}})})
	return v, err
}

// everythingWith asks the smallest namespace with a query that selects everything.
func (r *run) everythingWith(query url.Values) probe {
	return probe{r.least(), func(ctx context.Context, full *listing) ([]claim, error) {
		want := full.all()
		if len(want) > pageSize {
			got, err := r.list(ctx, r.least(), r.paged(query), 1)
			if err != nil {
				return nil, err
			}
			return onPage(want, got, len(got.items) >= pageSize), nil
		}
		got, err := r.expect(ctx, r.least(), query, len(want))
		if err != nil {
			return nil, err
		}
		return r.news(ctx, r.least(), nil, want, compare(want, got))
	}}
}

// selectorSyntax asks with selectors that have a slip in them.
func selectorSyntax(ctx context.Context, r *run) (verdict, error) {
	key, value := "app", "web"
	if full, err := r.full(ctx, r.least()); err != nil {
		return verdict{}, err
	} else if l, ok := rarest(full); ok && l.value != "" {
		key, value = l.key, l.value
	}
	slips := []url.Values{
		{"labelSelector": {key + " in (" + value}},
		{"labelSelector": {key + " in " + value}},
		{"labelSelector": {key + "===" + value}},
		{"labelSelector": {"=" + value}},
		{"labelSelector": {key + "!=" + value + ","}},
		{"labelSelector": {"-" + key + "!=" + value}},
		{"labelSelector": {url.QueryEscape(key + "!=" + value)}},
		{"labelSelector": {key + "!=" + value + "é"}},
		fieldSelector("metadata.name"),
		fieldSelector("spec.vmikitContract!=1"),
	}
	v := passed("%d selectors", len(slips))
	for _, query := range slips {
		req := r.listRequest(r.least(), query)
		req.refusable = true
		ex, err := r.provoke(ctx, &v, req)
		if err != nil {
			return v, err
		}
		if ex == nil || ex.status == http.StatusBadRequest {
			continue
		}
		if refused(ex.status) {
			f := fault(ex, Warning, "a selector that cannot be read is refused with another status than 400", "status 400", fmt.Sprintf("status %d", ex.status))
			if ex.status == http.StatusNotFound {
				f.Outcome = Fail // as if there were no list
			}
			v.add(r, f)
			continue
		}
		f := fault(ex, Fail, "a selector that cannot be read is not refused", "status 400", fmt.Sprintf("status %d", ex.status))
		if got, ok := onePage(ex, r.least()); ok {
			f.Got += " with " + number(len(got.items), "object")
		}
		v.add(r, f)
	}
	return v, nil
}

// longSelector is how long, in bytes, a selector is that is hard to bear.
const longSelector = 8000

// long is a selector of many parts, and a short one that selects the same.
type long struct{ selector, short selector }

// longSelectors asks with selectors whose last part decides.
func longSelectors(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.least())
	if err != nil {
		return verdict{}, err
	}
	var terms selector
	for n := 0; n*(len(unknownKey)+len("-000!=x,")) < longSelector; n++ {
		terms = append(terms, requirement{fmt.Sprintf("%s-%03d", unknownKey, n), opNotEquals, []string{"x"}})
	}
	last := requirement{key: unknownKey, op: opExists}
	asked := []long{{append(terms, last), selector{terms[0], last}}}
	if l, ok := rarest(full); ok && l.value != "" {
		const other = "vmikit-contract-nobody"
		values := append(slices.Repeat([]string{other}, longSelector/len(other)), l.value)
		asked = append(asked, long{selector{{l.key, opIn, values}}, selector{{l.key, opIn, []string{other, l.value}}}})
	}
	v := passed("%s", number(len(asked), "selector"))
	var probes []probe
	for _, s := range asked {
		probes = append(probes, probe{r.least(), func(ctx context.Context, full *listing) ([]claim, error) {
			req := r.listRequest(r.least(), url.Values{"labelSelector": {s.selector.String()}})
			ex, err := r.provoke(ctx, &v, req)
			if err != nil || ex == nil || refused(ex.status) {
				return nil, err
			}
			got, ok := onePage(ex, r.least())
			switch {
			case !ok && ex.status == http.StatusOK:
				return nil, errUnreadable
			case !ok:
				v.add(r, fault(ex, Fail, "a long selector is neither answered nor refused", "a list, or status 400, 414 or 431", fmt.Sprintf("status %d", ex.status)))
				return nil, nil
			}
			want := s.short.filter(full.all())
			return r.news(ctx, r.least(), url.Values{"labelSelector": {s.short.String()}}, want, compare(want, got))
		}})
	}
	found, err := r.relate(ctx, probes)
	v.findings = append(v.findings, found...)
	return v, err
}

func garbageContinue(ctx context.Context, r *run) (verdict, error) {
	v := passed("1 token")
	req := r.listRequest(r.least(), url.Values{"limit": {"1"}, "continue": {"vmikit-contract-nosuch"}})
	req.refusable = true
	ex, err := r.provoke(ctx, &v, req)
	if err != nil || ex == nil || refused(ex.status) {
		return v, err
	}
	f := fault(ex, Fail, "a continue token that nobody gave out is not refused", "status 400", fmt.Sprintf("status %d", ex.status))
	v.add(r, f)
	return v, nil
}
