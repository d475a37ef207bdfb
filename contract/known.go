package contract

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// KnownFailure is a failure that is known and is not to fail a run.
type KnownFailure struct {
	// ID is that of the check.
	ID string
	// Message is a part of the message of the findings that are meant; "" is all
	// findings of the check.
	Message string
	// Line is where it stands in its file, 0 for nowhere.
	Line int
}

// maxKnownLine bounds one line of a file of known failures, in bytes.
const maxKnownLine = 64 << 10

// ParseKnownFailures reads known failures: on each line the ID of a check and, when
// not all of its findings are meant, a part of their message. What stands behind
// a # is a comment, empty lines are nothing:
//
//	# our gateway, until the ticket is done
//	paging.limit-zero
//	schema.object  /spec/evictionStrategy breaks enum   # External is ours
//
// The error names the line of an ID that no check has.
func ParseKnownFailures(r io.Reader) ([]KnownFailure, error) {
	var known []KnownFailure
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxKnownLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // as editors on Windows write it
		}
		if i := strings.Index(line, "#"); i == 0 || i > 0 && strings.ContainsAny(line[i-1:i], " \t") {
			line = line[:i]
		}
		id, message, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")), " ")
		if id == "" {
			continue
		}
		k := KnownFailure{ID: id, Message: strings.TrimSpace(message), Line: n}
		if err := k.check(); err != nil {
			return nil, err
		}
		known = append(known, k)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return known, nil
}

// check refuses an ID that no check has.
func (k KnownFailure) check() error {
	checks := everyCheck()
	if slices.ContainsFunc(checks, func(c Check) bool { return c.ID == k.ID }) {
		return nil
	}
	where, hint := "", ""
	if k.Line > 0 {
		where = fmt.Sprintf("line %d: ", k.Line)
	}
	if same := slices.DeleteFunc(checks, func(c Check) bool { return c.Subject() != subject(k.ID) }); len(same) > 0 {
		ids := make([]string, len(same))
		for i, c := range same {
			ids[i] = c.ID
		}
		hint = "; there is " + strings.Join(ids, ", ")
	}
	return fmt.Errorf("%sno check %s%s", where, printable(fmt.Sprintf("%.80q", k.ID)), hint)
}

// WithKnownFailures takes failures for what they are known to be, with the outcome
// [Known]. One that the run does not find, though its check told something,
// fails: it is time to take it out.
func WithKnownFailures(known ...KnownFailure) Option {
	return func(c *config) error {
		c.known = append(c.known, known...)
		for _, k := range known {
			if err := k.check(); err != nil {
				return err
			}
		}
		return nil
	}
}

// markKnown gives what is known its outcome.
func markKnown(known []KnownFailure, results []Result) {
	used := make([]bool, len(known))
	for r := range results {
		result := &results[r]
		for f := range result.Findings {
			finding := &result.Findings[f]
			for i, k := range known {
				if k.ID == result.ID && finding.Outcome == Fail && strings.Contains(finding.Message, k.Message) {
					used[i], finding.Outcome = true, Known
				} else if k.ID == result.ID && finding.Outcome == Known && strings.Contains(finding.Message, k.Message) {
					used[i] = true
				}
			}
		}
		if result.Outcome == Fail {
			result.Outcome = findings(result.Findings).outcome()
		}
	}
	for i, k := range known {
		at := slices.IndexFunc(results, func(r Result) bool { return r.ID == k.ID })
		if used[i] || at < 0 {
			continue
		}
		results[at].unused(k)
	}
}

// unused says that a known failure was not found.
func (r *Result) unused(k KnownFailure) {
	what := "the known failure"
	if k.Message != "" {
		what += " " + fmt.Sprintf("%.200q", k.Message)
	}
	if k.Line > 0 {
		what += fmt.Sprintf(" of line %d", k.Line)
	}
	switch r.Outcome {
	case Pass, Warning, Fail, Known:
		r.Outcome = Fail
		r.Findings = slices.Insert(r.Findings, 0, Finding{
			Outcome: Fail, Message: printable(what) + " is not found any more", Expected: "a failure", Got: "none; take it out of the known failures", Count: 1,
		})
	default:
		r.Notes = append(r.Notes, printable(what)+" could not be told")
	}
}
