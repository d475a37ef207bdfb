package contract

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a test case for each check. What
// could not be told is skipped with its outcome and reason as the message;
// warnings are the output of a case that passed.
func (r *Report) WriteJUnit(w io.Writer) error {
	counts := r.Counts()
	suite := junitSuite{
		Name:      "vmikit contract " + r.Target,
		Tests:     len(r.Results),
		Failures:  counts[Fail],
		Errors:    counts[Error],
		Skipped:   counts[Skipped] + counts[NotExercised] + counts[Inconclusive] + counts[Known],
		Time:      fmt.Sprintf("%.3f", r.Duration.Seconds()),
		Timestamp: r.Started.UTC().Format(time.RFC3339),
		Properties: []junitProperty{
			{"profile", string(r.Profile)},
			{"namespace", r.Namespace},
			{"seed", fmt.Sprint(r.Seed)},
			{"requests", fmt.Sprint(r.Requests)},
			{"objects", fmt.Sprint(r.Objects)},
			{"too-little", r.TooLittle()},
		},
	}
	for _, result := range r.Results {
		suite.Cases = append(suite.Cases, junit(result))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junit(result Result) junitCase {
	subject, _, _ := strings.Cut(result.ID, ".")
	c := junitCase{Name: result.ID, Class: "contract." + subject}
	switch result.Outcome {
	case Fail:
		c.Failure = &junitProblem{Message: result.Findings[0].Message, Text: result.text()}
	case Error:
		c.Error = &junitProblem{Message: result.Message, Text: result.text()}
	case Skipped, NotExercised, Inconclusive:
		c.Skipped = &junitProblem{Message: string(result.Outcome) + ": " + result.Message}
	case Known:
		c.Skipped = &junitProblem{Message: string(result.Outcome) + ": " + result.Findings[0].Message, Text: result.text()}
	case Warning:
		c.Out = result.text()
	}
	return c
}

// text is a result as [Report.WriteText] shows it.
func (r Result) text() string {
	var text strings.Builder
	b := bufio.NewWriter(&text)
	writeResult(b, r)
	b.Flush()
	return text.String()
}
