package command

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of JUnit's XML that CI systems read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a test case for each object and for each thing that could
// not be read.
func (r *validation) writeJUnit(w io.Writer) error {
	suite := junitSuite{
		Name: fmt.Sprintf("vmikit validate, profile %s", r.Profile), Tests: len(r.Objects) + len(r.Errors),
		Failures: r.Summary.Invalid, Errors: r.Summary.Unreadable, Skipped: r.Summary.Skipped,
	}
	for _, o := range r.Objects {
		suite.Cases = append(suite.Cases, junitCaseOf(o))
	}
	for _, e := range r.Errors {
		suite.Cases = append(suite.Cases, junitCase{
			Class: e.File, Name: "read", File: e.File, Error: &junitMessage{Message: e.Message, Text: e.String()},
		})
	}
	all := junitSuites{
		Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped, Suites: []junitSuite{suite},
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitCaseOf(o validatedObject) junitCase {
	c := junitCase{Class: o.File, Name: fmt.Sprintf("%s, line %d", objectName(o.Kind, o.APIVersion, o.Namespace, o.Name), o.Line), File: o.File}
	switch o.Result {
	case resultSkipped:
		c.Skipped = &junitMessage{Message: "not a VirtualMachineInstance"}
	case resultInvalid:
		c.Failure = &junitMessage{Message: count(len(o.Violations), "violation"), Text: issueLines(o.File, o.Violations)}
	}
	if len(o.Drift) > 0 {
		c.Output = "issues that the given document alone has:\n" + issueLines(o.File, o.Drift)
	}
	return c
}

func issueLines(file string, issues []foundIssue) string {
	var b strings.Builder
	for _, i := range issues {
		b.WriteString(printable(issueLine(file, i.Line, i.Issue)) + "\n")
	}
	return b.String()
}
