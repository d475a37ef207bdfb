package contract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// run is one run over a target.
type run struct {
	target Target
	config *config
	caller *caller
	judge  *judge

	// namespaces are those that have objects, or the one that was named.
	namespaces []string
	// primary is the namespace with the most objects: there is the most to tell.
	primary scope
	// smallest is the namespace with the fewest objects.
	smallest string
	// widest is the scope that has all objects of the run.
	widest scope
	// latest has the newest full list of each scope.
	latest map[scope]*listing
	// pagesBroken says that pages have a fault without a selector already: the same
	// fault with one is no news.
	pagesBroken bool
	// leftOut has the objects that changed while the present check looked at them.
	leftOut  map[string]bool
	progress Progress
	fixtures []known
	repeats  repeats
	// writing is what the checks of writes share, nil when nothing may be written.
	writing *writing
}

func newRun(target Target, base *url.URL, cfg *config, j *judge) *run {
	c := newCaller(target, base, cfg)
	j.redact = c.redact
	r := &run{
		target: target, config: cfg, caller: c, judge: j,
		widest: scope(target.Namespace), latest: make(map[scope]*listing),
		repeats:  newRepeats(c.redact),
		progress: Progress{MaxRequests: cfg.maxRequests},
	}
	r.writing = newWriting(r)
	return r
}

// report runs the checks. The report goes as far as the run came, whatever the
// error.
func (r *run) report(ctx context.Context) (*Report, error) {
	report := &Report{
		Target:    r.caller.redact.clean(r.caller.base.String()),
		Profile:   r.config.profile,
		Namespace: r.target.Namespace,
		Seed:      r.config.seed,
		Started:   time.Now(),
		narrowed:  len(r.config.only) > 0,
		exercised: r.config.exercised,
		flags:     r.flags(),
	}
	report.err = r.results(ctx, report)
	if report.err != nil {
		report.Results = append(report.Results, Result{
			ID: "run.end", Outcome: Error, Message: report.err.Error(),
		})
	}
	report.Objects = len(r.latest[r.widest].keys())
	report.Namespaces = len(r.namespaces)
	report.Requests = r.caller.sent
	report.Stopped = r.caller.stopped
	report.Duration = time.Since(report.Started)
	return report, report.err
}

func (r *run) results(ctx context.Context, report *Report) error {
	defer r.tidy(ctx, report)
	if err := r.discover(ctx); err != nil {
		return err
	}
	checks := Checks()
	for i, c := range checks {
		r.progress.Check, r.progress.Done, r.progress.Checks = c.ID, i, len(checks)
		r.tell()
		sent, started := r.caller.sent, time.Now()
		result, err := r.result(ctx, c)
		if err != nil {
			return err
		}
		result.Requests, result.Duration = r.caller.sent-sent, time.Since(started)
		if result.Outcome == Fail {
			r.progress.Failures++
		}
		report.Results = append(report.Results, result)
	}
	r.progress.Check, r.progress.Done = "", len(checks)
	r.tell()
	markKnown(r.config.known, report.Results)
	return nil
}

// tell passes on how far the run is.
func (r *run) tell() {
	r.progress.Requests = r.caller.sent
	if r.config.progress != nil {
		r.config.progress(r.progress)
	}
}

// discover lists what there is. Its error is that of [Run].
func (r *run) discover(ctx context.Context) error {
	all, err := r.relist(ctx, r.widest)
	switch {
	case errors.Is(err, errNoAnswer):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errBusy):
		// Nothing can be told of a target that has no time for the first list.
		if r.caller.stopped == "" {
			first := r.listRequest(r.widest, r.paged(nil))
			r.caller.stopped = fmt.Sprintf("%v, asked %d times for %s", err, maxTries, r.caller.redact.curl(first, r.caller.url(first)))
		}
		all = &listing{}
	case err != nil:
		all = &listing{} // the checks say what is wrong
	}
	switch all.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint := "; give it a credential that may read machines"
		if all.status == http.StatusForbidden && r.target.Namespace == "" {
			hint += ", or name a namespace (-n) if this one may in one only"
		}
		return fmt.Errorf("%w: status %d%s", ErrRefused, all.status, hint)
	case http.StatusBadRequest:
		if speaksTLS(all.first) {
			return fmt.Errorf("%w: it speaks TLS there, so its URL begins with https://", ErrUnreachable)
		}
	case http.StatusNotFound:
		return fmt.Errorf("%w: the list path is answered with status 404: KubeVirt is not installed there, or the base URL is another", ErrUnreachable)
	}
	r.latest[r.widest] = all
	if r.target.Namespace != "" {
		r.namespaces, r.primary = []string{r.target.Namespace}, r.widest
		return nil
	}
	count := make(map[string]int)
	for _, it := range all.byKey {
		count[it.namespace]++
	}
	delete(count, "")
	r.namespaces = slices.Sorted(maps.Keys(count))
	r.primary = "default"
	if len(r.namespaces) > 0 {
		fewer := func(a, b string) int { return cmp.Compare(count[a], count[b]) }
		r.primary, r.smallest = scope(slices.MaxFunc(r.namespaces, fewer)), slices.MinFunc(r.namespaces, fewer)
		if _, err := r.full(ctx, r.primary); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// result runs one check. The error is that of the context.
func (r *run) result(ctx context.Context, c Check) (Result, error) {
	result := Result{ID: c.ID, Clause: c.Clause, Explain: c.Explain}
	if ok, why := r.config.chosen(c.ID); !ok {
		result.Outcome, result.Message = Skipped, why
		return result, nil
	}
	for _, need := range c.Needs {
		if outcome, why := need.unmet(r); outcome != "" {
			result.Outcome, result.Message = outcome, why
			return result, nil
		}
	}
	r.leftOut = make(map[string]bool)
	v, err := c.run(ctx, r)
	if ctx.Err() != nil {
		return result, ctx.Err()
	}
	result.Findings, result.Notes = v.findings.sorted(), v.notes
	result.Outcome, result.Message = cmp.Or(v.outcome, v.findings.outcome()), v.message
	if n := len(r.leftOut); n > 0 {
		result.Message += fmt.Sprintf("; left out %s that changed meanwhile", number(n, "object"))
	}
	if err == nil {
		return result, nil
	}
	result.Message = err.Error()
	if fault, ok := errors.AsType[*faultError](err); ok {
		v.add(r, fault.finding)
		result.Findings, result.Outcome = v.findings.sorted(), Fail
	}
	if result.Outcome == Fail {
		return result, nil
	}
	switch {
	case errors.Is(err, errUsedUp), errors.Is(err, errUnreadable):
		result.Outcome = NotExercised
	case errors.Is(err, errStopped):
		result.Outcome, result.Message = Inconclusive, r.caller.stopped
	case errors.Is(err, errBusy), errors.Is(err, errNoAnswer), errors.Is(err, errUnstable):
		result.Outcome = Inconclusive
	default:
		result.Outcome = Error
	}
	return result, nil
}

// ask sends a request and lets the judge see the answer. Nothing else sends any.
func (r *run) ask(ctx context.Context, req request) (*exchange, error) {
	ex, err := r.caller.do(ctx, req)
	r.tell()
	if err != nil {
		return nil, err
	}
	r.judge.see(ex)
	r.judge.seeEncoding(ex)
	r.repeats.get(ex)
	return ex, nil
}

// read asks for one machine.
func (r *run) read(ctx context.Context, namespace, name string, as credential) (*exchange, error) {
	return r.ask(ctx, r.readRequest(namespace, name, as))
}

func (r *run) readRequest(namespace, name string, as credential) request {
	return request{
		op:         r.judge.doc.Operation(opRead),
		form:       openapi.FormItem,
		path:       machines(namespace) + "/" + url.PathEscape(name),
		credential: as,
	}
}

// scope is where a list looks: a namespace, or "" for all of them.
type scope string

func (r *run) listRequest(sc scope, query url.Values) request {
	req := request{op: r.judge.doc.Operation(opList), form: openapi.FormList, path: machines(string(sc)), query: query}
	if sc == "" {
		req.op = r.judge.doc.Operation(opListAll)
	}
	return req
}

func machines(namespace string) string {
	if namespace == "" {
		return "/apis/kubevirt.io/v1/virtualmachineinstances"
	}
	return "/apis/kubevirt.io/v1/namespaces/" + url.PathEscape(namespace) + "/virtualmachineinstances"
}

// nobody is a name that no object and no namespace has.
func (r *run) nobody() string { return fmt.Sprintf("vmikit-contract-nosuch-%x", r.config.seed) }

// rand returns the random numbers of one purpose: they do not depend on what
// other checks did.
func (r *run) rand(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(r.config.seed, h.Sum64()))
}

// sample returns at most n of the values, in their order.
func sample[T any](rng *rand.Rand, values []T, n int) []T {
	if len(values) <= n {
		return values
	}
	picked := rng.Perm(len(values))[:n]
	slices.Sort(picked)
	out := make([]T, 0, n)
	for _, i := range picked {
		out = append(out, values[i])
	}
	return out
}
