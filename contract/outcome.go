package contract

import (
	"slices"
	"strings"
	"time"
)

// Outcome is what came of one check, or how much one finding weighs.
type Outcome string

const (
	// Pass: the target was asked and is right.
	Pass Outcome = "pass"
	// Fail: the target is wrong.
	Fail Outcome = "fail"
	// Warning: usual in Kubernetes or in KubeVirt though the document says
	// otherwise, or something that only prose says.
	Warning Outcome = "warning"
	// NotExercised: the target has nothing by which right and wrong could be told
	// apart, or the requests were used up. Never a pass.
	NotExercised Outcome = "not exercised"
	// Skipped: switched off, or a feature that the profile or the target's
	// description does not claim.
	Skipped Outcome = "skipped"
	// Inconclusive: the target was busy, did not answer in time, or its objects
	// changed too fast.
	Inconclusive Outcome = "inconclusive"
	// Known: wrong, as somebody said beforehand; see [WithKnownFailures].
	Known Outcome = "known failure"
	// Error: the tester could not do its work.
	Error Outcome = "error"
)

// Outcomes returns all outcomes in the order in which reports count them.
func Outcomes() []Outcome {
	return []Outcome{Pass, Fail, Warning, NotExercised, Skipped, Known, Inconclusive, Error}
}

// Result is what came of one check.
type Result struct {
	ID      string
	Clause  Clause
	Explain string
	Outcome Outcome
	// Message says on one line what was seen, or why nothing was.
	Message string
	// Findings are the faults, the grave ones first. Repeats are one finding with
	// a count.
	Findings []Finding
	// Notes are what is worth knowing though it is no fault, a line each.
	Notes []string
	// Requests is how many were sent for the check, Duration how long it took.
	Requests int
	Duration time.Duration
}

// Subject is the first part of the ID.
func (r Result) Subject() string { return subject(r.ID) }

func subject(id string) string {
	first, _, _ := strings.Cut(id, ".")
	return first
}

// Finding is one fault and how to see it again.
type Finding struct {
	// Outcome is Fail, Warning or Known.
	Outcome Outcome
	// Message says what is wrong.
	Message string
	// Expected and Got are what the request should have brought and what it did.
	Expected, Got string
	// Objects are some of the machines concerned, as NAMESPACE/NAME.
	Objects []string
	// Curl is the shortest of the requests that show the fault, as a command line
	// for a shell with the tokens in $TOKEN and $FORBIDDEN_TOKEN.
	Curl string
	// Diff is what was expected and is not there ("-") and what is there instead
	// ("+"), at most 20 lines; empty where Expected and Got say it all.
	Diff []DiffLine
	// Exchange is the one that Curl repeats; nil when no single one shows the fault.
	Exchange *Exchange
	// Count is how many times the fault was seen.
	Count int

	// source is what Exchange is made from.
	source *exchange
	// pointer is where in the body the fault is, "" for everywhere.
	pointer string
}

// DiffLine is one line of a difference.
type DiffLine struct {
	// Op is "-" for what was expected, "+" for what was got.
	Op   string
	Text string
}

// maxDiff is how many lines a difference has.
const maxDiff = 20

// fault is a finding that one exchange shows, nil for none.
func fault(ex *exchange, outcome Outcome, message, expected, got string) Finding {
	f := Finding{Outcome: outcome, Message: message, Expected: expected, Got: got}
	if ex != nil {
		f.Curl, f.source = ex.curl, ex.shown()
	}
	return f
}

// maxExamples is how many of the objects concerned a finding names.
const maxExamples = 5

// findings are grouped by weight and message.
type findings []Finding

// add adds a fault, or counts it when it is there already. Of a fault that was
// seen more than once the shortest request is kept, and what it showed.
func (fs *findings) add(r *redactor, f Finding) {
	f.Count = max(1, f.Count)
	f = r.finding(f)
	for i := range *fs {
		have := &(*fs)[i]
		if have.Outcome != f.Outcome || have.Message != f.Message {
			continue
		}
		have.Count += f.Count
		for _, o := range f.Objects {
			if len(have.Objects) < maxExamples && !slices.Contains(have.Objects, o) {
				have.Objects = append(have.Objects, o)
			}
		}
		if f.Curl != "" && (have.Curl == "" || len(f.Curl) < len(have.Curl)) {
			have.Curl, have.Expected, have.Got = f.Curl, f.Expected, f.Got
			have.Diff, have.Exchange = f.Diff, r.exchange(f.source)
		} else if f.Curl == have.Curl {
			have.diff(f.Diff)
		}
		return
	}
	f.Exchange, f.source = r.exchange(f.source), nil
	*fs = append(*fs, f)
}

// diff adds lines that are not there yet.
func (f *Finding) diff(lines []DiffLine) {
	for _, d := range lines {
		if len(f.Diff) < maxDiff && !slices.Contains(f.Diff, d) {
			f.Diff = append(f.Diff, d)
		}
	}
}

// sorted returns the findings, failures first, else as they came.
func (fs findings) sorted() []Finding {
	sorted := slices.Clone(fs)
	slices.SortStableFunc(sorted, func(a, b Finding) int {
		switch {
		case a.Outcome == b.Outcome:
			return 0
		case a.Outcome == Fail:
			return -1
		}
		return 1
	})
	return sorted
}

// outcome is that of a check with these findings.
func (fs findings) outcome() Outcome {
	worst := Pass
	for _, f := range fs {
		switch {
		case f.Outcome == Fail:
			return Fail
		case f.Outcome == Known, worst == Pass:
			worst = f.Outcome
		}
	}
	return worst
}
