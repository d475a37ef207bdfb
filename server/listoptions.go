package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

// listOptions are the parameters of a list, read and found consistent.
type listOptions struct {
	store.ListOptions
	// atLeast is a revision that must have been reached; 0 for none.
	atLeast int64
	// continued is the token that the request came with.
	continued *continueToken
}

// listParams are the parameters of both list operations.
type listParams = vmi.ListNamespacedVirtualMachineInstanceParams

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// isTrue is how Kubernetes reads a boolean parameter: anything but false and 0.
func isTrue(p *string) bool {
	return p != nil && *p != "0" && !strings.EqualFold(*p, "false")
}

// readListOptions checks the parameters in the order of a Kubernetes API server,
// whose messages these are.
func readListOptions(r *resource, namespace string, p listParams) (*listOptions, error) {
	if causes := contradictions(p); len(causes) > 0 {
		return nil, invalidOptions("ListOptions", causes)
	}
	o := &listOptions{ListOptions: store.ListOptions{Namespace: namespace, Limit: value(p.Limit)}}
	var err error
	if o.Labels, err = store.ParseSelector(value(p.LabelSelector)); err != nil {
		return nil, badRequest(err.Error())
	}
	if o.Fields, err = store.ParseFieldSelector(value(p.FieldSelector), r.selectableFields()...); err != nil {
		return nil, badRequest(err.Error())
	}
	if _, ok := o.Fields.Namespace(); ok && !r.discovered.Namespaced {
		return nil, badRequest("field label not supported: metadata.namespace")
	}
	revision, err := parseRevision(value(p.ResourceVersion))
	if err != nil {
		return nil, badRequest("invalid resource version: " + err.Error())
	}
	if token := value(p.Continue); token != "" {
		return o, o.goOn(token, revision)
	}
	match := value(p.ResourceVersionMatch)
	// Without a match a limit asks for the very state, as it did before there were any.
	if match == "Exact" || match == "" && o.Limit > 0 && revision > 0 {
		o.Revision = revision
	} else {
		o.atLeast = revision
	}
	return o, nil
}

// goOn takes the place of a continue token.
func (o *listOptions) goOn(token string, revision int64) error {
	t, err := decodeContinue(token)
	if err != nil {
		return err
	}
	if revision != 0 {
		return badRequest("specifying resource version is not allowed when using continue")
	}
	o.continued = &t
	o.Start = t.position(o.Namespace)
	if t.Revision != anyRevision {
		o.Revision = t.Revision
	}
	return nil
}

// contradictions are the rules of meta.k8s.io ListOptions.
func contradictions(p listParams) []vmi.StatusCause {
	var causes []vmi.StatusCause
	forbid := func(field, why string) {
		causes = append(causes, vmi.StatusCause{Reason: "FieldValueForbidden", Message: "Forbidden: " + why, Field: field})
	}
	if match := value(p.ResourceVersionMatch); match != "" {
		if value(p.ResourceVersion) == "" {
			forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
		}
		if value(p.Continue) != "" {
			forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
		}
		switch {
		case match != "Exact" && match != "NotOlderThan":
			causes = append(causes, vmi.StatusCause{
				Reason: "FieldValueNotSupported", Field: "resourceVersionMatch",
				Message: fmt.Sprintf(`Unsupported value: %q: supported values: "Exact", "NotOlderThan", ""`, match),
			})
		case match == "Exact" && value(p.ResourceVersion) == "0":
			forbid("resourceVersionMatch", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	}
	if p.SendInitialEvents != nil {
		forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	return causes
}

// parseRevision reads a resourceVersion; "" and 0 are any.
func parseRevision(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", s, err)
	}
	return int64(v), nil
}
