package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// FieldSelector is a parsed field selector: terms that must all hold. The
// zero value has none and matches everything. Make one with
// [ParseFieldSelector].
type FieldSelector struct {
	terms []fieldTerm
}

type fieldTerm struct {
	field string
	not   bool
	value string
}

// ParseFieldSelector reads a field selector as a Kubernetes API server does:
// metadata.name, metadata.namespace and whatever else is given as selectable
// ([Draft].Fields) can be asked for with =, == and !=, terms are joined by
// commas, and a backslash stands before a comma, an equals sign or a backslash
// in a value. Empty terms, and "=" with nothing on either side, say nothing.
// The messages are those of k8s.io/apimachinery.
func ParseFieldSelector(s string, selectable ...string) (FieldSelector, error) {
	parts := splitFieldTerms(s)
	slices.Sort(parts) // the order decides which of several errors is told
	var terms []fieldTerm
	for _, part := range parts {
		if part == "" {
			continue
		}
		term, ok := cutFieldTerm(part)
		if !ok {
			return FieldSelector{}, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, part)
		}
		value, err := unescapeFieldValue(term.value)
		if err != nil {
			return FieldSelector{}, err
		}
		term.value = value
		if term.field != "" || term.value != "" {
			terms = append(terms, term)
		}
	}
	// Only after the whole selector was understood.
	for _, t := range terms {
		if t.field != nameField && t.field != namespaceField && !slices.Contains(selectable, t.field) {
			return FieldSelector{}, fmt.Errorf("field label not supported: %s", t.field)
		}
	}
	return FieldSelector{terms: terms}, nil
}

// Empty reports whether the selector has no terms, so that it matches
// everything.
func (s FieldSelector) Empty() bool {
	return len(s.terms) == 0
}

// Name returns the name that metadata.name must equal, if the selector asks
// for that. A list that does is authorized as one of that name. When it asks
// for two names, this is one of them, the same each time, and nothing matches.
func (s FieldSelector) Name() (string, bool) {
	return s.exact(nameField)
}

// Namespace returns the namespace that metadata.namespace must equal, as Name
// does.
func (s FieldSelector) Namespace() (string, bool) {
	return s.exact(namespaceField)
}

func (s FieldSelector) exact(field string) (string, bool) {
	for _, t := range s.terms {
		if t.field == field && !t.not {
			return t.value, true
		}
	}
	return "", false
}

// Matches reports whether an object is selected. A field that it does not have
// is empty.
func (s FieldSelector) Matches(o *Object) bool {
	for _, t := range s.terms {
		if (o.field(t.field) == t.value) == t.not {
			return false
		}
	}
	return true
}

// String returns the selector in the form that [ParseFieldSelector] reads.
func (s FieldSelector) String() string {
	terms := make([]string, len(s.terms))
	for i, t := range s.terms {
		operator := "="
		if t.not {
			operator = "!="
		}
		terms[i] = t.field + operator + fieldValueEscaper.Replace(t.value)
	}
	return strings.Join(terms, ",")
}

var fieldValueEscaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)

// splitFieldTerms cuts at commas that have no backslash before them.
func splitFieldTerms(s string) []string {
	var terms []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++ // what follows is no separator
		case ',':
			terms = append(terms, s[start:i])
			start = i + 1
		}
	}
	return append(terms, s[start:])
}

// cutFieldTerm splits at the first operator; a field cannot be escaped. The
// value is as written.
func cutFieldTerm(term string) (fieldTerm, bool) {
	field, value, ok := strings.Cut(term, "=")
	if !ok {
		return fieldTerm{}, false
	}
	if field, not := strings.CutSuffix(field, "!"); not {
		return fieldTerm{field: field, not: true, value: value}, true
	}
	return fieldTerm{field: field, value: strings.TrimPrefix(value, "=")}, true
}

func unescapeFieldValue(s string) (string, error) {
	if !strings.ContainsAny(s, `\,=`) {
		return s, nil
	}
	var value strings.Builder
	escaped := false
	for _, c := range s {
		switch {
		case escaped && c != '\\' && c != ',' && c != '=':
			return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \%c`, c)
		case escaped:
			value.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == ',' || c == '=':
			// The number of the character, not the character: so say servers.
			return "", fmt.Errorf("invalid field selector: unescaped character in value: %d", c)
		default:
			value.WriteRune(c)
		}
	}
	if escaped {
		return "", errors.New(`invalid field selector: invalid escape sequence: \`)
	}
	return value.String(), nil
}
