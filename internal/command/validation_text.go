package command

import (
	"bufio"
	"fmt"
	"io"
)

// writeText writes a line for each issue and a summary.
func (r *validation) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, line := range r.lines {
		fmt.Fprintln(out, printable(line))
	}
	fmt.Fprintln(out, r.summary())
	return out.Flush()
}

// lines are what the text report says of an object: nothing when it is valid.
func (o validatedObject) lines() []string {
	var lines []string
	if o.Result == resultSkipped {
		lines = append(lines, fmt.Sprintf("%s:%d: skipped %s", o.File, o.Line, objectName(o.Kind, o.APIVersion, o.Namespace, o.Name)))
	}
	for _, i := range o.Violations {
		lines = append(lines, issueLine(o.File, i.Line, i.Issue))
		if i.Pointer == "/apiVersion" && o.APIVersion == oldAPIVersion {
			lines = append(lines, fmt.Sprintf("%s:%d: note: serve --load would answer it as %s", o.File, i.Line, apiVersion))
		}
	}
	for _, i := range o.Drift {
		lines = append(lines, fmt.Sprintf("%s:%d: note: the given document alone objects: %s", o.File, i.Line, i.Issue))
	}
	return lines
}

// summary is the last line, in the style of 3 violations in 1 of 2 objects, by profile kubevirt.
func (r *validation) summary() string {
	s := r.Summary
	var line string
	switch {
	case s.Objects == 0:
		line = "no VirtualMachineInstance found"
	case s.Violations == 0 && s.Objects == 1:
		line = fmt.Sprintf("1 object is valid by profile %s", r.Profile)
	case s.Violations == 0:
		line = fmt.Sprintf("%d objects are valid by profile %s", s.Objects, r.Profile)
	default:
		line = fmt.Sprintf("%s in %d of %s, by profile %s", count(s.Violations, "violation"), s.Invalid, count(s.Objects, "object"), r.Profile)
	}
	if s.Drift > 0 {
		line += fmt.Sprintf("; %s that the given document alone has", count(s.Drift, "issue"))
	}
	if s.Skipped > 0 {
		line += fmt.Sprintf("; skipped %s of other kinds", count(s.Skipped, "object"))
	}
	if s.Unreadable > 0 {
		line += fmt.Sprintf("; could not read %s", count(s.Unreadable, "place"))
	}
	return line
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *validation) writeJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := writeJSON(out, r); err != nil {
		return err
	}
	return out.Flush()
}

// String is the error as package manifest words it.
func (u unreadable) String() string {
	switch {
	case u.File == "":
		return u.Message
	case u.Line == 0:
		return u.File + ": " + u.Message
	}
	return fmt.Sprintf("%s:%d: %s", u.File, u.Line, u.Message)
}
