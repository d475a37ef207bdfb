package contract

import (
	"fmt"
	"slices"
	"strings"
)

// onlookers are the subjects whose checks judge what the other checks ask for.
// Alone they see too little to show a fault again.
var onlookers = []string{"schema", subjectProse, subjectService}

// flagOf has the subject that a flag is for.
var flagOf = map[string]string{"--write": "write", "--fuzz": "fuzz", "--probe-methods": "method", "--seed-dir": "fixture"}

// rerun is the command line that runs a check again, or all of them for "", with
// the tokens in $TOKEN and $FORBIDDEN_TOKEN, what was applied beforehand in
// $MANIFESTS, and without the flags that decide about TLS. It is "" for a report that
// is not of a run.
func (r *Report) rerun(id string) string {
	if len(r.flags) == 0 {
		return ""
	}
	flags := slices.Clone(r.flags)
	if id != "" && !slices.Contains(onlookers, subject(id)) {
		// What the check does not need is left out: nobody who looks into a selector
		// wants to write.
		flags = slices.DeleteFunc(flags, func(flag string) bool {
			name, _, _ := strings.Cut(flag, " ")
			of, optional := flagOf[name]
			return optional && of != subject(id)
		})
		flags = append(flags, "--only "+id)
	}
	return "vmikit contract " + strings.Join(flags, " ")
}

// flags are those of the command that make a run like this one.
func (r *run) flags() []string {
	defaults, c := newConfig(), r.config
	flags := []string{"-s " + word(r.caller.redact.tokens.Replace(r.caller.base.String())), fmt.Sprint("--seed ", c.seed)}
	add := func(given bool, flag string) {
		if given {
			flags = append(flags, flag)
		}
	}
	add(r.target.Namespace != "", "-n "+word(r.target.Namespace))
	add(c.profile != defaults.profile, "--profile "+string(c.profile))
	add(c.enumWarn, "--enum-unknown warn")
	add(c.maxRequests != defaults.maxRequests, fmt.Sprint("--max-requests ", c.maxRequests))
	add(c.probeMethods, "--probe-methods")
	add(c.fuzz > 0, fmt.Sprint("--fuzz ", c.fuzz))
	add(c.writeNamespace != "", "--write "+word(c.writeNamespace))
	add(c.maxLatency > 0, fmt.Sprint("--max-latency ", c.maxLatency))
	add(c.hiccupsGiven, fmt.Sprint("--max-flaky ", c.maxHiccups))
	add(r.target.Fixtures != nil, `--seed-dir "$MANIFESTS"`)
	add(r.target.Token != "", `--token "$TOKEN"`)
	add(r.target.ForbiddenToken != "", `--forbidden-token "$FORBIDDEN_TOKEN"`)
	return flags
}

// word is an argument of a command line, in quotes where a shell would read
// something into it.
func word(text string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:@%+,", c)
	}
	if text != "" && !strings.ContainsFunc(text, func(c rune) bool { return !plain(c) }) {
		return text
	}
	return strings.TrimSpace(quoted("", text))
}
