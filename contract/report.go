package contract

import (
	"errors"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// Report is what came of a run.
type Report struct {
	// Target is the base URL.
	Target string
	// Profile is the document that the target was held to.
	Profile openapi.Profile
	// Namespace is the one that the run was limited to, "" for all.
	Namespace string
	// Seed is that of the samples.
	Seed uint64
	// Objects and Namespaces are how many the target showed, Requests how many
	// were sent.
	Objects, Namespaces, Requests int
	// Results has every check once, in the order in which they ran.
	Results []Result
	// Stopped says why the run ended early, "" when it did not.
	Stopped  string
	Started  time.Time
	Duration time.Duration
}

// Exit codes of a run, for commands.
const (
	ExitGood        = 0
	ExitFailures    = 1
	ExitError       = 2 // usage, or the tester's own error
	ExitUnreachable = 3
	ExitTooLittle   = 4 // too little was exercised to say anything
)

// Counts returns how many checks had each outcome.
func (r *Report) Counts() map[Outcome]int {
	counts := make(map[Outcome]int)
	for _, result := range r.Results {
		counts[result.Outcome]++
	}
	return counts
}

// ExitCode returns the exit code for a command: [ExitFailures] when a check
// failed, [ExitError] when the tester did, [ExitTooLittle] when the run ended
// early or no check could tell anything, else [ExitGood]. Warnings are good.
func (r *Report) ExitCode() int {
	counts := r.Counts()
	switch {
	case counts[Fail] > 0:
		return ExitFailures
	case counts[Error] > 0:
		return ExitError
	case r.Stopped != "", counts[Pass]+counts[Warning] == 0:
		return ExitTooLittle
	}
	return ExitGood
}

// ErrorExitCode returns the exit code for an error of [Run].
func ErrorExitCode(err error) int {
	if errors.Is(err, ErrUnreachable) {
		return ExitUnreachable
	}
	return ExitError
}
