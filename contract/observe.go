package contract

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// Observer judges exchanges that others make, where [Run] makes its own: those of
// a proxy, say. It asks nothing, so what nobody asks for it does not see, and it
// says nothing about what is not there. It may be used by several goroutines.
//
// What it remembers of objects and pages is bounded: some ten megabytes.
type Observer struct {
	target     string
	config     *config
	doc, given *openapi.Document
	started    time.Time
	items      *itemCache
	checks     []Check

	mu    sync.Mutex
	found map[string]findings
	seen  map[string]int
	// untold counts what passed by and was not judged, by the reason.
	untold   map[string]int
	requests int
	memory   *memory
	pages    *chains
}

// Observation is one exchange between a client and the target.
type Observation struct {
	Method string
	// URL is what was asked for; its path and query count.
	URL *url.URL
	// RequestHeader and Header have what was sent and answered.
	RequestHeader http.Header
	Status        int
	Header        http.Header
	// Body is the answer's body without any content encoding.
	Body []byte
	// Cut says why Body is not whole though it should be, e.g. that the connection
	// broke; "" when it is whole. It is a fault of the target.
	Cut string
	// Untold says why there is no Body to judge though the target sent one, e.g.
	// that it is too large; "" when there is. Its status and header are judged.
	Untold string
	// Started is when the request was there and Ended when the answer was, read
	// from one clock. Exchanges that overlap are not compared by their order.
	Started, Ended time.Time
}

// Violation is a fault that an exchange showed.
type Violation struct {
	// Check is the one that failed.
	Check Check
	// New says that the observer had not found this fault before.
	New bool
	Finding
}

// Pointer is the place of the fault in the object or body that breaks the
// document, as a JSON pointer; "" for a fault that is in no one place.
func (v Violation) Pointer() string { return v.pointer }

// NewObserver returns an observer of a target. The URL is the base URL of the
// target, for reports. Of the options it knows [WithProfile], [WithEnumUnknownWarn],
// [WithSkip], [WithOnly], [WithKnownFailures] and [WithViolations].
func NewObserver(target string, options ...Option) (*Observer, error) {
	cfg := newConfig()
	for _, option := range options {
		if err := option(cfg); err != nil {
			return nil, err
		}
	}
	base, err := baseURL(target)
	if err != nil {
		return nil, err
	}
	doc, err := openapi.Load(cfg.profile)
	if err != nil {
		return nil, err
	}
	given, err := openapi.Load(openapi.ProfileDocument)
	if err != nil {
		return nil, err
	}
	return &Observer{
		target: base.String(), config: cfg, doc: doc, given: given, started: time.Now(),
		items:  newItemCache(),
		checks: observerChecks(),
		found:  make(map[string]findings),
		seen:   make(map[string]int),
		untold: make(map[string]int),
		memory: newMemory(),
		pages:  newChains(),
	}, nil
}

// observing is what only observers are told.
type observing struct {
	violations func(Violation)
	secrets    []string
}

// WithSecrets keeps texts out of the reports of an [Observer] that no request shows
// it, such as the credential that a proxy adds behind it. Those of the requests that
// it sees are kept out anyway.
func WithSecrets(secrets ...string) Option {
	return func(c *config) error {
		c.secrets = append(c.secrets, secrets...)
		return nil
	}
}

// WithViolations has a function called with every fault that an [Observer] finds,
// from the goroutine that hands in the exchange, so from several at once.
func WithViolations(f func(Violation)) Option {
	return func(c *config) error {
		if f == nil {
			return errors.New("the function that is called with violations is nil")
		}
		c.violations = f
		return nil
	}
}

// Judges reports whether requests like this one are judged: those that the
// document has for machines. Everything else, such as discovery and writes, is
// counted and no more. watch says that the answer is to be a stream of events,
// for [Observer.Watch].
func (o *Observer) Judges(method string, u *url.URL) (judged, watch bool) {
	a := o.ask(method, u, nil)
	return a != nil, a != nil && a.watch
}

// Observe judges one exchange and returns the faults that it shows, nil for none.
// The events of a watch are for [Observer.Watch].
func (o *Observer) Observe(ob Observation) []Violation {
	a := o.ask(ob.Method, ob.URL, ob.RequestHeader)
	if why := unjudged(a, ob); why != "" {
		o.pass(why)
		return nil
	}
	s := o.scene(a, ob)
	switch {
	case ob.Untold != "":
		s.untold = ob.Untold
		s.judge.seen[checkStatusCode]++
		s.judge.file(s.ex, "", s.judge.doc.ValidateResponse(openapi.Response{Operation: a.op, Status: ob.Status, Header: ob.Header, Head: true}))
	case a.form(ob) == formForeign:
		s.untold = "answers in a form other than JSON, which the client asked for"
	default:
		s.see()
	}
	return o.take(s)
}

// take makes what an exchange showed part of the report.
func (o *Observer) take(s *scene) []Violation {
	o.mu.Lock()
	o.remember(s)
	for id, n := range s.judge.seen {
		o.seen[id] += n
	}
	if s.untold != "" {
		o.untold[s.untold]++
	}
	if s.counts {
		o.requests++
	}
	var violations []Violation
	for _, c := range o.checks {
		if ok, _ := o.config.chosen(c.ID); !ok {
			continue
		}
		for _, f := range s.judge.found[c.ID].sorted() {
			if f.Outcome == Fail && o.known(c.ID, f.Message) {
				f.Outcome = Known
			}
			fs := o.found[c.ID]
			fresh := fs.merge(f)
			o.found[c.ID] = fs
			violations = append(violations, Violation{Check: c, New: fresh, Finding: f})
		}
	}
	o.mu.Unlock()
	if o.config.violations != nil {
		for _, v := range violations {
			o.config.violations(v)
		}
	}
	return violations
}

func (o *Observer) known(id, message string) bool {
	return slices.ContainsFunc(o.config.known, func(k KnownFailure) bool { return k.ID == id && strings.Contains(message, k.Message) })
}

// pass counts an exchange that is not judged.
func (o *Observer) pass(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests++
	o.untold[why]++
}

// unjudged says why an exchange is not judged at all, "" when it is. What is busy
// or broken in front of the target is no answer of it, as in [Run].
func unjudged(a *asked, ob Observation) string {
	switch {
	case a == nil && ob.Status >= http.StatusInternalServerError:
		return "requests that the document does not have for machines, answered with status " + strconv.Itoa(ob.Status)
	case a == nil:
		return "requests that the document does not have for machines"
	case busy(ob.Status):
		return "requests that were answered with status " + strconv.Itoa(ob.Status)
	case ob.Status == http.StatusSwitchingProtocols, ob.RequestHeader.Get("Upgrade") != "":
		return "upgraded connections"
	}
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "If-Match", "Range"} {
		if ob.RequestHeader.Get(name) != "" {
			return "conditional and partial requests"
		}
	}
	return ""
}

// Report returns what was found until now. Its exit code is that of a run that was
// limited to some checks: one that told something is enough, and an observer that
// saw no object told too little.
func (o *Observer) Report() *Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	report := &Report{
		Target: printable(o.target), Profile: o.config.profile, Seed: o.config.seed,
		Objects: o.memory.objects(), Namespaces: len(o.memory.namespaces), Requests: o.requests,
		Started: o.started, Duration: time.Since(o.started),
		narrowed: true, exercised: o.config.exercised,
	}
	for _, c := range o.checks {
		result := Result{ID: c.ID, Clause: c.Clause, Explain: c.Explain}
		ok, why := o.config.chosen(c.ID)
		switch n := o.seen[c.ID]; {
		case !ok:
			result.Outcome, result.Message = Skipped, why
		case n == 0:
			result.Outcome, result.Message = NotExercised, "nothing of the kind was seen"
		default:
			result.Findings = o.found[c.ID].sorted()
			result.Outcome, result.Message = findings(result.Findings).outcome(), number(n, "time")+" looked at"
		}
		report.Results = append(report.Results, result)
	}
	report.Results = append(report.Results, o.passedBy())
	markKnown(o.config.known, report.Results)
	return report
}

// passedBy is the result that says what was not judged.
func (o *Observer) passedBy() Result {
	c := passedByCheck()
	result := Result{ID: c.ID, Clause: c.Clause, Explain: c.Explain, Outcome: Pass}
	sum := 0
	for _, why := range slices.Sorted(maps.Keys(o.untold)) {
		sum += o.untold[why]
		result.Notes = append(result.Notes, why+": "+strconv.Itoa(o.untold[why]))
	}
	result.Message = number(sum, "exchange") + " not judged"
	return result
}
