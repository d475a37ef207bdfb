package contract

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// WriteText writes the report for people: a line for each check, then what is wrong
// and how to see it, the counts, and what came of it all. The grave things come last,
// where a terminal shows them. There are no colours.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s, profile %s, %s, seed %d\n\n", r.Target, r.Profile, r.where(), r.Seed)
	for _, result := range r.Results {
		writeLine(b, result)
	}
	for _, result := range r.detailed() {
		fmt.Fprintln(b)
		writeResult(b, result)
		if line := r.rerun(result.ID); line != "" {
			fmt.Fprintf(b, "    again: %s%s\n", line, whole(result.ID))
		}
	}
	fmt.Fprintf(b, "\n%s\n", r.Summary())
	fmt.Fprintln(b, r.conclusion())
	return b.Flush()
}

// conclusion is what came of it all on one line.
func (r *Report) conclusion() string {
	_, headline, _ := r.verdict()
	why := r.TooLittle()
	switch {
	case why == "":
		return headline
	case strings.Contains(headline, ":"):
		return headline + "; " + why
	}
	return headline + ": " + why
}

// whole says why the command line that runs a check again runs all of them.
func whole(id string) string {
	if slices.Contains(onlookers, subject(id)) {
		return "  # all checks: it judges the answers to the others"
	}
	return ""
}

// detailed returns the results that have findings, failures last.
func (r *Report) detailed() []Result {
	results := slices.DeleteFunc(slices.Clone(r.Results), func(result Result) bool { return len(result.Findings) == 0 })
	gravity := []Outcome{Known, Warning, Error, Fail}
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Compare(slices.Index(gravity, a.Outcome), slices.Index(gravity, b.Outcome))
	})
	return results
}

func (r *Report) where() string {
	if r.Namespace != "" {
		return "namespace " + r.Namespace
	}
	return "all namespaces"
}

// Summary returns the counts on one line.
func (r *Report) Summary() string {
	counts := r.Counts()
	var parts []string
	for _, o := range Outcomes() {
		if n := counts[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return fmt.Sprintf("%s; %s in %s, %s in %s", strings.Join(parts, ", "),
		number(r.Objects, "object"), number(r.Namespaces, "namespace"),
		number(r.Requests, "request"), r.Duration.Round(time.Millisecond))
}

func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// writeLine writes what came of a check, and what is worth knowing of it.
func writeLine(b *bufio.Writer, result Result) {
	outcome := string(result.Outcome)
	if result.Outcome == Fail {
		outcome = "FAIL"
	}
	fmt.Fprintf(b, "%-13s %-25s %s\n", outcome, result.ID, result.Message)
	for _, note := range result.Notes {
		fmt.Fprintf(b, "    note: %s\n", note)
	}
}

// writeResult writes the line of a check and its findings.
func writeResult(b *bufio.Writer, result Result) {
	writeLine(b, result)
	if len(result.Findings) == 0 {
		return
	}
	fmt.Fprintf(b, "    %s\n    %s\n", result.Clause, result.Explain)
	for _, f := range result.Findings {
		writeFinding(b, f)
	}
}

func writeFinding(b *bufio.Writer, f Finding) {
	fmt.Fprintf(b, "  - %s: %s", f.Outcome, f.Message)
	if f.Count > 1 {
		fmt.Fprintf(b, " (%d times)", f.Count)
	}
	fmt.Fprintln(b)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "      %-9s %s\n", name, text)
		}
	}
	line("expected", f.Expected)
	line("got", f.Got)
	for i, d := range f.Diff {
		name := ""
		if i == 0 {
			name = "diff"
		}
		fmt.Fprintf(b, "      %-9s %s %s\n", name, d.Op, d.Text)
	}
	line("objects", strings.Join(f.Objects, ", ")+more(f))
	line("request", f.Curl)
}

// more says that there are objects that a finding does not name.
func more(f Finding) string {
	if len(f.Objects) == maxExamples && f.Count > maxExamples {
		return ", …"
	}
	return ""
}
