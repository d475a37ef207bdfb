package store

import (
	"errors"
	"fmt"
	"strings"
)

// The syntax of label keys and values, with the messages of
// k8s.io/apimachinery, since clients know them. The patterns in the messages
// are never run; the checks are loops over bytes.

const (
	maxLabelName   = 63
	maxLabelPrefix = 253

	nameSyntax = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	keySyntax   = "a valid label key " + nameSyntax + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	valueSyntax = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	prefixSyntax = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

// checkLabelKey returns nil for a qualified name.
func checkLabelKey(key string) error {
	problems := LabelKeyProblems(key)
	if len(problems) == 0 {
		return nil
	}
	// No field is named: the key of a parsed selector is not one.
	return invalidValue("<nil>", key, strings.Join(problems, "; "))
}

// LabelKeyProblems returns what keeps a text from being the key of a label, or any
// other qualified name, in the words of k8s.io/apimachinery; nil when nothing does.
func LabelKeyProblems(key string) []string {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		name = key
	} else if strings.Contains(name, "/") {
		return []string{keySyntax}
	}
	var problems []string
	if prefixed && prefix == "" {
		problems = append(problems, "prefix part must be non-empty")
	} else if prefixed {
		if len(prefix) > maxLabelPrefix {
			problems = append(problems, fmt.Sprintf("prefix part must be no more than %d bytes", maxLabelPrefix))
		}
		if !isDNSSubdomain(prefix) {
			problems = append(problems, "prefix part "+prefixSyntax)
		}
	}
	if name == "" {
		problems = append(problems, "name part must be non-empty")
	} else if len(name) > maxLabelName {
		problems = append(problems, fmt.Sprintf("name part must be no more than %d bytes", maxLabelName))
	}
	if !isLabelName(name) {
		problems = append(problems, "name part "+nameSyntax)
	}
	return problems
}

// LabelValueProblem returns what keeps a text from being the value of a label, "" when
// nothing does.
func LabelValueProblem(value string) string {
	var problems []string
	if len(value) > maxLabelName {
		problems = append(problems, fmt.Sprintf("must be no more than %d bytes", maxLabelName))
	}
	if value != "" && !isLabelName(value) {
		problems = append(problems, valueSyntax)
	}
	return strings.Join(problems, "; ")
}

// isLabelName reports whether s has the characters of a label's name or
// value, in the right places; it does not look at the length.
func isLabelName(s string) bool {
	if s == "" || !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isDNSSubdomain(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
		for i := range len(part) {
			if c := part[i]; !isLowerAlphanumeric(c) && c != '-' {
				return false
			}
		}
	}
	return true
}

func isLowerAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

func isAlphanumeric(c byte) bool {
	return isLowerAlphanumeric(c) || 'A' <= c && c <= 'Z'
}

func invalidValue(field, value, problem string) error {
	return fmt.Errorf("%s: Invalid value: %q: %s", field, value, problem)
}

// maxFieldErrors bounds an answer: each error repeats the rule, and a selector
// of 100 KB can break it 50,000 times.
const maxFieldErrors = 8

// fieldErrors collects what is wrong with the values of one requirement.
type fieldErrors []error

func (e fieldErrors) full() bool {
	return len(e) >= maxFieldErrors
}

func (e *fieldErrors) add(field, value, problem string) {
	*e = append(*e, invalidValue(field, value, problem))
}

func (e fieldErrors) err() error {
	switch len(e) {
	case 0:
		return nil
	case 1:
		return e[0]
	}
	messages := make([]string, len(e))
	for i, err := range e {
		messages[i] = err.Error()
	}
	return errors.New("[" + strings.Join(messages, ", ") + "]")
}
