package contract

import "slices"

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
	// Error: the tester could not do its work.
	Error Outcome = "error"
)

// Outcomes returns all outcomes in the order in which reports count them.
func Outcomes() []Outcome {
	return []Outcome{Pass, Fail, Warning, NotExercised, Skipped, Inconclusive, Error}
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
}

// Finding is one fault and how to see it again.
type Finding struct {
	// Outcome is Fail or Warning.
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
	// Count is how many times the fault was seen.
	Count int
}

// maxExamples is how many of the objects concerned a finding names.
const maxExamples = 5

// findings are grouped by weight and message.
type findings []Finding

// add adds a fault, or counts it when it is there already.
func (fs *findings) add(f Finding) {
	if f.Count == 0 {
		f.Count = 1
	}
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
		}
		return
	}
	*fs = append(*fs, f)
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
		if f.Outcome == Fail {
			return Fail
		}
		worst = Warning
	}
	return worst
}
