package contract

import (
	"context"
	"fmt"
	"slices"

	"github.com/vmikit/vmikit/openapi"
)

// Check is one thing that an implementation must do.
type Check struct {
	// ID names the check: subject, dot, what is asked. It does not change once it
	// is released.
	ID string
	// Clause is what the check stands on.
	Clause Clause
	// Needs are what there must be for the check to tell anything.
	Needs []Need
	// Explain says for people what a failure means.
	Explain string

	run func(context.Context, *run) (verdict, error)
}

// Subject is the first part of the ID, by which checks are grouped.
func (c Check) Subject() string { return subject(c.ID) }

// Clause is the place that a check stands on.
type Clause struct {
	// Line is the line of the given document, 0 for a convention of Kubernetes
	// that every client relies on without the document naming it.
	Line int
	// Text is that line, or the convention.
	Text string
}

// String returns the clause as reports show it.
func (c Clause) String() string {
	if c.Line == 0 {
		return "Kubernetes convention: " + c.Text
	}
	return fmt.Sprintf("document line %d: %s", c.Line, c.Text)
}

// Need is something that a check cannot do without.
type Need struct {
	text  string
	unmet func(*run) (Outcome, string)
}

// String says what is needed.
func (n Need) String() string { return n.text }

var (
	needConventions = Need{"profile kubernetes or kubevirt", func(r *run) (Outcome, string) {
		return unless(r.conventions(), Skipped, "the given document does not speak of it")
	}}
	needCredential = Need{"a token or a client certificate", func(r *run) (Outcome, string) {
		return unless(r.target.Token != "" || r.target.Bare != nil, Skipped, "no token or client certificate was given")
	}}
	needToken = Need{"a token", func(r *run) (Outcome, string) {
		return unless(r.target.Token != "", Skipped, "no token was given")
	}}
	needForbiddenToken = Need{"a token without rights", func(r *run) (Outcome, string) {
		return unless(r.target.ForbiddenToken != "", Skipped, "no token without rights was given")
	}}
	needAllNamespaces = Need{"a run over all namespaces", func(r *run) (Outcome, string) {
		return unless(r.target.Namespace == "", Skipped, "the run is limited to one namespace")
	}}
	needNames = Need{"a name on every object", func(r *run) (Outcome, string) {
		l := r.latest[r.primary]
		return unless(l == nil || l.nameless == 0, NotExercised, "objects without a name cannot be told apart, see schema.object")
	}}
	needAnything = Need{"an object, of whatever namespace", func(r *run) (Outcome, string) {
		return unless(len(r.latest[r.widest].keys()) > 0, NotExercised, "the target shows no object")
	}}
	needObject       = needObjects(1)
	needTwoObjects   = needObjects(2)
	needTwoInSeveral = Need{"objects in two namespaces", func(r *run) (Outcome, string) {
		return unless(len(r.namespaces) >= 2, NotExercised, "the objects are not in two namespaces")
	}}
)

func needObjects(n int) Need {
	text := fmt.Sprintf("%d in one namespace", n)
	if n == 1 {
		text = "an object"
	}
	return Need{text, func(r *run) (Outcome, string) {
		found := len(r.latest[r.primary].keys())
		return unless(found >= n, NotExercised, fmt.Sprintf("the target shows %s in namespace %s, needed is %s", number(found, "object"), r.primary, text))
	}}
}

func unless(met bool, outcome Outcome, why string) (Outcome, string) {
	if met {
		return "", ""
	}
	return outcome, why
}

// verdict is what a check found out.
type verdict struct {
	// outcome is that of the findings unless it is set.
	outcome  Outcome
	message  string
	findings findings
	notes    []string
}

// add adds a fault that one answer showed.
func (v *verdict) add(r *run, f Finding) { v.findings.add(r.caller.redact, f) }

func passed(format string, args ...any) verdict {
	return verdict{message: fmt.Sprintf(format, args...)}
}

func notExercised(format string, args ...any) verdict {
	return verdict{outcome: NotExercised, message: fmt.Sprintf(format, args...)}
}

// Checks returns all checks, in the order in which they run: those that need
// few requests first, so that they are not the ones to go without.
func Checks() []Check {
	return slices.Concat(
		consistencyChecks(), notFoundChecks(), authChecks(), namespaceChecks(), fixtureChecks(),
		pagingChecks(), selectorChecks(), edgeChecks(), methodChecks(), repeatChecks(), fuzzChecks(), writeChecks(), serviceChecks(), proseChecks(), schemaChecks(),
	)
}

// Operation IDs of the documents.
const (
	opList    = "listNamespacedVirtualMachineInstance"
	opRead    = "readNamespacedVirtualMachineInstance"
	opListAll = "listVirtualMachineInstanceForAllNamespaces"
)

// conventions reports whether the target is held to what every Kubernetes API
// has beside the document.
func (r *run) conventions() bool { return r.config.profile != openapi.ProfileDocument }
