package command

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
)

// validator judges objects of files.
type validator struct {
	strict bool
	doc    *openapi.Document
	given  *openapi.Document // nil when doc is it
}

func newValidator(p openapi.Profile, strict bool) (*validator, error) {
	doc, err := openapi.Load(p)
	if err != nil {
		return nil, err
	}
	given, err := documentOf(p)
	if err != nil {
		return nil, err
	}
	return &validator{strict: strict, doc: doc, given: given}, nil
}

// Results of an object.
const (
	resultValid   = "valid"
	resultInvalid = "invalid"
	resultSkipped = "skipped"
)

// validation is the report of vmikit validate. The names of its JSON are API.
type validation struct {
	// Schema names the form of this report; another one has another name.
	Schema  string            `json:"schema"`
	Profile openapi.Profile   `json:"profile"`
	Strict  bool              `json:"strict"`
	Summary validationSummary `json:"summary"`
	Objects []validatedObject `json:"objects"`
	Errors  []unreadable      `json:"errors"`

	// lines are the objects and errors as text, in the order in which they were read.
	lines []string
}

const validationSchema = "vmikit.validate/v1"

type validationSummary struct {
	// Objects is the number of VirtualMachineInstances, Invalid how many of them
	// break a rule.
	Objects    int `json:"objects"`
	Invalid    int `json:"invalid"`
	Violations int `json:"violations"`
	// Drift is the number of issues that only the given document has.
	Drift      int `json:"drift"`
	Skipped    int `json:"skipped"`
	Unreadable int `json:"unreadable"`
}

type validatedObject struct {
	File       string       `json:"file"`
	Line       int          `json:"line"`
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Namespace  string       `json:"namespace,omitempty"`
	Name       string       `json:"name,omitempty"`
	Result     string       `json:"result"`
	Violations []foundIssue `json:"violations"`
	Drift      []foundIssue `json:"drift"`
}

type foundIssue struct {
	Line int `json:"line"`
	openapi.Issue
}

type unreadable struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// validate judges everything that the paths lead to. The error is that of the context.
func (v *validator) validate(ctx context.Context, paths []string, stdin io.Reader) (*validation, error) {
	report := &validation{
		Schema: validationSchema, Profile: v.doc.Profile(), Strict: v.strict,
		Objects: []validatedObject{}, Errors: []unreadable{},
	}
	for object, err := range readAhead(ctx, manifest.Walk(paths, stdin)) {
		if errors.Is(err, errInterrupted) {
			return nil, err
		}
		if err != nil {
			report.addError(err)
			continue
		}
		report.add(v.judge(object))
	}
	return report, nil
}

// judge validates one object.
func (v *validator) judge(o *manifest.Object) validatedObject {
	out := validatedObject{
		File: o.File, Line: o.Line, APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
		Result: resultSkipped, Violations: []foundIssue{}, Drift: []foundIssue{},
	}
	if !isMachine(o) {
		return out
	}
	out.Result = resultValid
	var options []openapi.ObjectOption
	if v.strict {
		options = append(options, openapi.Strict())
	}
	issues := v.doc.ValidateObject(o.JSON, options...)
	if len(issues) > 0 {
		out.Result, out.Violations = resultInvalid, found(o, issues)
	}
	if v.given != nil {
		out.Drift = found(o, onlyIn(v.given.ValidateObject(o.JSON), issues))
	}
	return out
}

// onlyIn returns the issues that the others do not have, by place and rule.
func onlyIn(issues, others openapi.Issues) openapi.Issues {
	type fault struct{ pointer, rule string }
	known := make(map[fault]bool, len(others))
	for _, i := range others {
		known[fault{i.Pointer, i.Rule}] = true
	}
	return slices.DeleteFunc(issues, func(i openapi.Issue) bool { return known[fault{i.Pointer, i.Rule}] })
}

func found(o *manifest.Object, issues openapi.Issues) []foundIssue {
	lines := linesOf(o, issues)
	out := make([]foundIssue, len(issues))
	for i, issue := range issues {
		out[i] = foundIssue{Line: lines[i], Issue: issue}
	}
	return out
}

func (r *validation) add(o validatedObject) {
	r.Objects = append(r.Objects, o)
	r.lines = append(r.lines, o.lines()...)
	if o.Result == resultSkipped {
		r.Summary.Skipped++
		return
	}
	r.Summary.Objects++
	r.Summary.Violations += len(o.Violations)
	r.Summary.Drift += len(o.Drift)
	if o.Result == resultInvalid {
		r.Summary.Invalid++
	}
}

func (r *validation) addError(err error) {
	entry := unreadable{Message: err.Error()}
	if e, ok := errors.AsType[*manifest.Error](err); ok {
		entry = unreadable{File: e.File, Line: e.Line, Message: e.Err.Error()}
	}
	r.Errors = append(r.Errors, entry)
	r.lines = append(r.lines, entry.String())
	r.Summary.Unreadable++
}

// exitCode is that of the command. What could not be read may hide violations,
// so it weighs more.
func (r *validation) exitCode() int {
	switch {
	case r.Summary.Unreadable > 0:
		return exitUnreadable
	case r.Summary.Violations > 0:
		return exitViolations
	}
	return exitOK
}
