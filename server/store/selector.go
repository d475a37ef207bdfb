package store

import (
	"slices"
	"strconv"
	"strings"
)

// Selector is a parsed label selector: requirements that must all be met. The
// zero value has none and matches everything. Make one with [ParseSelector].
type Selector struct {
	requirements []Requirement // ordered by key
}

// Requirement is one term of a [Selector].
type Requirement struct {
	// Key of the label that the requirement is about.
	Key string
	// Operator between the label and the values.
	Operator Operator
	// Values in ascending order without duplicates: one for all operators but
	// In and NotIn, which have one or more, and Exists and DoesNotExist, which
	// have none. They must not be modified.
	Values []string

	number int64 // the value of GreaterThan and LessThan
}

// Operator says how a label and the values of a requirement relate. The
// strings are those of k8s.io/apimachinery/pkg/selection.
type Operator string

// The operators as they are written: k=v, k==v, k!=v, k in (v,w),
// k notin (v,w), k, !k, k>1, k<1.
const (
	Equals       Operator = "="
	DoubleEquals Operator = "=="
	NotEquals    Operator = "!="
	In           Operator = "in"
	NotIn        Operator = "notin"
	Exists       Operator = "exists"
	DoesNotExist Operator = "!"
	GreaterThan  Operator = "gt"
	LessThan     Operator = "lt"
)

// Empty reports whether the selector has no requirements, so that it matches
// everything.
func (s Selector) Empty() bool {
	return len(s.requirements) == 0
}

// Requirements returns the requirements, ordered by key.
func (s Selector) Requirements() []Requirement {
	return slices.Clone(s.requirements)
}

// Matches reports whether labels meet all requirements. The function looks a
// label up by its key; [Object.Label] is one.
func (s Selector) Matches(label func(key string) (value string, ok bool)) bool {
	for i := range s.requirements {
		r := &s.requirements[i]
		if !r.met(label(r.Key)) {
			return false
		}
	}
	return true
}

// String returns the selector in the form that [ParseSelector] reads.
func (s Selector) String() string {
	terms := make([]string, len(s.requirements))
	for i, r := range s.requirements {
		terms[i] = r.String()
	}
	return strings.Join(terms, ",")
}

// met judges the value of the label with the requirement's key.
func (r *Requirement) met(value string, ok bool) bool {
	switch r.Operator {
	case Equals, DoubleEquals, In:
		return ok && r.hasValue(value)
	case NotEquals, NotIn: // an object without the label has none of the values
		return !ok || !r.hasValue(value)
	case Exists:
		return ok
	case DoesNotExist:
		return !ok
	case GreaterThan, LessThan:
		if !ok {
			return false
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return false // a label that is no integer is neither above nor below one
		}
		if r.Operator == GreaterThan {
			return n > r.number
		}
		return n < r.number
	}
	return false
}

func (r *Requirement) hasValue(value string) bool {
	if len(r.Values) == 1 {
		return r.Values[0] == value
	}
	_, ok := slices.BinarySearch(r.Values, value)
	return ok
}

// String returns the requirement in the form that [ParseSelector] reads.
func (r Requirement) String() string {
	values := strings.Join(r.Values, ",")
	switch r.Operator {
	case Exists:
		return r.Key
	case DoesNotExist:
		return "!" + r.Key
	case In, NotIn:
		return r.Key + " " + string(r.Operator) + " (" + values + ")"
	case GreaterThan:
		return r.Key + ">" + values
	case LessThan:
		return r.Key + "<" + values
	default:
		return r.Key + string(r.Operator) + values
	}
}
