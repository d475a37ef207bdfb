package contract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/vmikit/vmikit/openapi"
)

const checkFuzz = "fuzz.requests"

const (
	// maxFailures is how many failing requests are made small and told of, and as
	// many that are worth a warning.
	maxFailures = 5
	// maxShrinks is how many smaller requests are tried for each, and
	// maxSlowShrinks how many when every failure costs some seconds.
	maxShrinks     = 40
	maxSlowShrinks = 8
)

// fuzzing is what [WithFuzz] sets.
type fuzzing struct{ fuzz int }

// WithFuzz also asks n requests that are generated from the document: bounds of
// its numbers and members of its lists and what is just outside of them, odd
// spellings, selectors of many forms, right and wrong ones, and several of these
// together. Which ones follows from the seed ([WithSeed]) and the objects that
// are there. The default is 0, none.
//
// They are beside the requests of [WithMaxRequests]. When objects change or
// something fails, up to as many again are sent to tell the one from the other,
// and 400 to make the requests that fail small.
func WithFuzz(n int) Option {
	return func(c *config) error {
		if n < 0 {
			return fmt.Errorf("the number of generated requests must not be negative, got %d", n)
		}
		c.fuzz = n
		return nil
	}
}

var needFuzz = Need{"generated requests", func(r *run) (Outcome, string) {
	return unless(r.config.fuzz > 0, Skipped, "not asked for (--fuzz N)")
}}

func fuzzChecks() []Check {
	return []Check{{
		ID: checkFuzz, Clause: Clause{30, "parameters:"}, Needs: []Need{needFuzz, needNames},
		Explain: "Requests that nobody thought of are refused when they break the document or the grammar of selectors, and else answered with exactly what they ask for.",
		run:     fuzz,
	}}
}

// fuzzer generates requests, judges what is answered and makes small what fails.
type fuzzer struct {
	*run
	fleet    fleet
	cards    []card
	failures []failure
	// besides counts the failures that are not looked into, untold the requests
	// that nothing can be said of because too much changed.
	besides, untold int
	// unanswered has the requests that the target did not answer, or was too busy
	// for, while it answered others.
	unanswered []string
}

// failure is a request that is answered wrongly, made small.
type failure struct {
	number   int
	small    generated
	findings findings
	// count is how many requests failed that have in them what fails here.
	count int
}

func fuzz(ctx context.Context, r *run) (verdict, error) {
	done := r.allow(2*r.config.fuzz + 400)
	defer done()
	known, err := r.fleet(ctx)
	if err != nil {
		return verdict{}, err
	}
	f := &fuzzer{run: r, fleet: known}
	f.cards = f.deck()
	asked := 0
	for asked < r.config.fuzz && err == nil {
		asked++
		err = f.request(ctx, asked)
	}
	v := passed("%s generated", number(asked, "request"))
	f.tellOf(&v, asked)
	return v, err
}

// allow lets a run send so many requests more, until done is called.
func (r *run) allow(n int) (done func()) {
	before, sent := r.caller.max, r.caller.sent
	r.caller.max = sent + n
	r.progress.MaxRequests += n
	return func() {
		r.caller.max = before + r.caller.sent - sent
		r.progress.MaxRequests = r.caller.max
	}
}

// request asks one generated request. The error says that no more can be asked.
func (f *fuzzer) request(ctx context.Context, number int) error {
	g := f.draw(number)
	found, err := f.relate(ctx, []probe{f.probe(g)})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(found) > 0:
		return f.fail(ctx, number, g, found)
	case errors.Is(err, errUnstable):
		f.untold++
	case errors.Is(err, errBusy), errors.Is(err, errNoAnswer):
		// A target that answers something plain meanwhile is well enough to go on.
		f.unanswered = append(f.unanswered, f.caller.redact.clean(fmt.Sprintf("request %d: %s: %s", number, err, f.curlOf(g))))
		return f.breathe(ctx)
	case errors.Is(err, errUnreadable): // the schema checks say why
	case err != nil:
		return err
	}
	return nil
}

func (f *fuzzer) curlOf(g generated) string {
	req := f.requestOf(g)
	return f.caller.redact.curl(req, f.caller.url(req))
}

// breathe asks for something plain. A target in trouble fails at that, too, which
// ends the run in the end; one that does not has a fault with what was asked before.
func (f *fuzzer) breathe(ctx context.Context) error {
	_, err := f.read(ctx, string(f.primary), f.nobody(), withToken)
	return err
}

// fail makes a failing request small, unless it has in it what failed before.
func (f *fuzzer) fail(ctx context.Context, number int, g generated, found findings) error {
	kind := kindOf(found)
	for i := range f.failures {
		if have := &f.failures[i]; kindOf(have.findings) == kind && has(g.features(), have.small.features()) {
			have.count++
			return nil
		}
	}
	if f.enough(found.outcome()) {
		f.besides++
		return nil
	}
	small, smallFound, err := f.shrink(ctx, g, kind)
	if len(smallFound) == 0 {
		small, smallFound = g, found
	}
	for i := range f.failures {
		if have := &f.failures[i]; kindOf(have.findings) == kind && f.curlOf(have.small) == f.curlOf(small) {
			have.count++
			return err
		}
	}
	f.failures = append(f.failures, failure{number, small, smallFound, 1})
	return err
}

// enough reports whether no more failures of that weight are looked into.
func (f *fuzzer) enough(outcome Outcome) bool {
	n := 0
	for _, failed := range f.failures {
		if failed.findings.outcome() == outcome {
			n++
		}
	}
	return n == maxFailures
}

// kindOf names what a request fails by.
func kindOf(found findings) string {
	first := found.sorted()[0]
	return string(first.Outcome) + " " + first.Message
}

func has(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// tellOf puts what came of the requests into a verdict.
func (f *fuzzer) tellOf(v *verdict, asked int) {
	for _, failed := range f.failures {
		for _, finding := range failed.findings.sorted() {
			finding.Message += fmt.Sprintf(" (seed %d, request %d)", f.config.seed, failed.number)
			finding.Count = failed.count
			v.findings = append(v.findings, finding)
		}
	}
	if f.besides > 0 {
		v.notes = append(v.notes, fmt.Sprintf("%s more failed and were not looked into", number(f.besides, "request")))
	}
	if f.untold > 0 {
		v.notes = append(v.notes, fmt.Sprintf("of %s nothing can be said, too much changed meanwhile", number(f.untold, "request")))
	}
	v.notes = append(v.notes, f.unanswered[:min(maxFailures, len(f.unanswered))]...)
	if len(f.failures) == 0 && (len(f.unanswered) > 0 || 2*f.untold > asked) {
		v.outcome = Inconclusive
	}
}

// probe asks a generated request and judges the answer.
func (f *fuzzer) probe(g generated) probe {
	sc := f.widest
	if slices.Contains(f.namespaces, g.namespace) {
		sc = scope(g.namespace)
	}
	return probe{sc, func(ctx context.Context, full *listing) ([]claim, error) {
		ex, err := f.ask(ctx, f.requestOf(g))
		if fault, ok := errors.AsType[*faultError](err); ok {
			return []claim{{Finding: fault.finding}}, f.breathe(ctx)
		}
		if err != nil {
			return nil, err
		}
		if ex.status >= http.StatusInternalServerError {
			if err := f.breathe(ctx); err != nil {
				return nil, err
			}
		}
		return f.judged(g, ex, full), nil
	}}
}

// requestOf returns a generated request as it is sent.
func (f *fuzzer) requestOf(g generated) request {
	var req request
	if g.read {
		req = f.readRequest(g.namespace, g.name, withToken)
	} else {
		req = f.listRequest(scope(g.namespace), nil)
	}
	if g.encoding == encodedWhole {
		req.path = g.wholePath()
	}
	req.rawQuery = g.query()
	req.refusable = f.expectation(g).duty != mustAnswer
	return req
}

// validate returns the rules of the document that a generated request breaks.
func (f *fuzzer) validate(g generated) openapi.Issues {
	path := map[string]string{"namespace": g.namespace, "name": g.name}
	return f.operation(g).ValidateRequest(openapi.Request{Path: path, Query: g.values()})
}

func (f *fuzzer) operation(g generated) *openapi.Operation {
	switch {
	case g.read:
		return f.judge.doc.Operation(opRead)
	case g.namespace == "":
		return f.judge.doc.Operation(opListAll)
	}
	return f.judge.doc.Operation(opList)
}
