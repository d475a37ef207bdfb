package managedfields

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// BadRequestError refuses what is applied as a whole.
type BadRequestError struct {
	// Message is worded as a Kubernetes API server words it in a 400.
	Message string
}

func (e *BadRequestError) Error() string { return e.Message }

// TypeError refuses an object with lists whose items cannot be told apart. A
// Kubernetes API server answers 500, with this message.
type TypeError struct {
	// Object says which: "patch object (vms/a; kubevirt.io/v1, Kind=VirtualMachineInstance)".
	Object string
	Issues []TypeIssue // at least one
}

// TypeIssue is one thing in an object that has no place in its schema.
type TypeIssue struct {
	Field   string // ".spec.resourceClaims"
	Message string
}

// Error has more than one line when there is more than one issue.
func (e *TypeError) Error() string {
	lines := make([]string, len(e.Issues))
	for i, issue := range e.Issues {
		lines[i] = issue.Field + ": " + issue.Message
	}
	what := lines[0]
	if len(lines) > 1 {
		what = "errors:\n  " + strings.Join(lines, "\n  ")
	}
	return "failed to create typed " + e.Object + ": " + what
}

func describe(what string, v *value) string {
	meta := v.get("metadata")
	return fmt.Sprintf("%s (%s/%s; %s)", what, meta.getText("namespace"), meta.getText("name"), groupVersionKind(v))
}

// groupVersionKind is spelled as in messages of Kubernetes.
func groupVersionKind(v *value) string {
	group, version, ok := strings.Cut(v.getText("apiVersion"), "/")
	switch {
	case !ok:
		group, version = "", group
	case strings.Contains(version, "/"):
		group, version = "", ""
	}
	return group + "/" + version + ", Kind=" + v.getText("kind")
}

// Conflict is a field that another manager owns and that is applied with another
// value.
type Conflict struct {
	// Field is its path as Kubernetes spells it: `.spec.resourceClaims[name="a"].request`.
	Field string
	// The other manager, and how, by which version and through which subresource
	// it came to own the field.
	Manager     string
	Operation   Operation
	APIVersion  string
	Subresource string
	// Time is when the manager's fields changed last, zero when it is not known.
	Time time.Time
}

// Message is the message of this conflict's cause in the Status of a Kubernetes
// API server: `conflict with "kubectl-edit" using kubevirt.io/v1`.
func (c Conflict) Message() string { return "conflict with " + c.by() }

func (c Conflict) by() string {
	s := fmt.Sprintf("%q", c.Manager)
	if c.Subresource != "" {
		s += fmt.Sprintf(" with subresource %q", c.Subresource)
	}
	if c.Operation == OperationUpdate {
		s += " using " + c.APIVersion
	}
	return s
}

func (c Conflict) id() id {
	e := entry{manager: c.Manager, operation: c.Operation, apiVersion: c.APIVersion, subresource: c.Subresource}
	return e.id()
}

// Conflicts are all the fields that keep an object from being applied, those of
// one manager together.
type Conflicts []Conflict

// Error is the message of the Status of a Kubernetes API server (409, reason
// Conflict). With more than one conflict it has more than one line.
func (cs Conflicts) Error() string {
	if len(cs) == 1 {
		return "Apply failed with 1 conflict: " + cs[0].Message() + ": " + cs[0].Field
	}
	var lines []string
	for i, c := range cs {
		if i == 0 || cs[i-1].id() != c.id() {
			lines = append(lines, "conflicts with "+c.by()+":")
		}
		lines = append(lines, "- "+c.Field)
	}
	return fmt.Sprintf("Apply failed with %d conflicts: %s", len(cs), strings.Join(lines, "\n"))
}

// conflicts are what changed and others own.
func (es entries) conflicts(changed set, but id) Conflicts {
	var cs Conflicts
	for _, e := range es {
		if e.id() == but {
			continue
		}
		e.fields.intersection(changed).paths("", func(path string) {
			cs = append(cs, Conflict{path, e.manager, e.operation, e.apiVersion, e.subresource, e.time})
		})
	}
	slices.SortStableFunc(cs, func(a, b Conflict) int { return a.id().compare(b.id()) })
	return cs
}
