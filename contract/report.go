package contract

import (
	"errors"
	"fmt"
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

	// err is that of [Run].
	err error
	// narrowed says that the caller chose the checks.
	narrowed bool
	// exercised is the share of checks that must tell something, 0 for the default.
	exercised float64
	// flags are those of the command that make such a run.
	flags []string
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

// ExitCode returns the exit code for a command: that of [ErrorExitCode] when
// [Run] returned an error, [ExitFailures] when a check failed, [ExitError] when
// the tester did, [ExitTooLittle] for what [Report.TooLittle] says, else
// [ExitGood]. Warnings are good.
func (r *Report) ExitCode() int {
	counts := r.Counts()
	switch {
	case r.err != nil:
		return ErrorExitCode(r.err)
	case counts[Fail] > 0:
		return ExitFailures
	case counts[Error] > 0:
		return ExitError
	case r.TooLittle() != "":
		return ExitTooLittle
	}
	return ExitGood
}

// TooLittle says on one line why a report without a failure is no proof, "" when
// it is one: the run ended early, the target showed no object at all, or fewer
// checks told something (pass, fail, warning) than wanted to and could not (not
// exercised, inconclusive). Skipped checks count for neither, nor do those that
// only ever warn or count: prose and service. Of checks that were
// chosen with [WithOnly] one that told something is enough.
func (r *Report) TooLittle() string {
	told, untold, needed := 0, 0, ""
	for _, result := range r.Results {
		if result.Subject() == subjectProse || result.Subject() == subjectService {
			continue
		}
		switch result.Outcome {
		case NotExercised, Inconclusive:
			untold++
		case Pass, Fail, Warning, Known:
			told++
		case Skipped:
			if needed == "" && result.Message != notAskedFor && result.Message != switchedOff {
				needed = fmt.Sprintf("; %s: %s", result.ID, result.Message)
			}
		}
	}
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.Stopped != "":
		return "the run ended early: " + r.Stopped
	case r.Objects == 0:
		return "the target shows no object"
	case told+untold == 0:
		return "every check that was chosen was skipped" + needed
	case told == 0 || r.exercised == 0 && !r.narrowed && told < untold:
		return fmt.Sprintf("%s told something, %d could not", number(told, "check"), untold)
	case float64(told) < r.exercised*float64(told+untold):
		return fmt.Sprintf("%s told something, %d could not; %.4g%% is required", number(told, "check"), untold, 100*r.exercised)
	}
	return ""
}

// ErrorExitCode returns the exit code for an error of [Run].
func ErrorExitCode(err error) int {
	if errors.Is(err, ErrUnreachable) {
		return ExitUnreachable
	}
	return ExitError
}
