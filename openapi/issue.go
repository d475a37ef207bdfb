package openapi

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Issue is one broken rule.
type Issue struct {
	// Pointer says where, as a JSON pointer (RFC 6901) into the value that was
	// judged; "" is the whole value. For a missing member it is where the member
	// would be. For a parameter of a request it is /query/NAME, /path/NAME or
	// /header/NAME. A pointer of more than 4,096 bytes is cut and ends in "…"; one
	// into cloud-init data ends at its key.
	Pointer string `json:"pointer"`
	// Rule is the keyword of JSON Schema that is broken (enum, pattern, minimum,
	// type, required, format, …) or one of the names that [Rules] lists.
	Rule string `json:"rule"`
	// Value is what was found, as JSON of at most 80 characters. Objects and
	// arrays are told as {…} and […]. It is empty when nothing was found, and for
	// cloud-init data, passwords, tokens and keys, which are never repeated.
	Value string `json:"value,omitempty"`
	// Message says for people what was expected. It never repeats the value.
	Message string `json:"message"`
}

// String returns the issue on one line. Keys and values of the object stand in
// it, so whatever is not printable, line breaks and control characters among it,
// is escaped as in Go.
func (i Issue) String() string {
	var b strings.Builder
	if i.Pointer != "" {
		b.WriteString(i.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(i.Message)
	if i.Value != "" {
		b.WriteString(", got ")
		b.WriteString(i.Value)
	}
	b.WriteString(" (")
	b.WriteString(i.Rule)
	b.WriteString(")")
	return printable(b.String())
}

// printable escapes what is not for a line of a terminal, as strconv.Quote does.
// Quotes and backslashes stay: they stand in patterns and values.
func printable(text string) string {
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		part := text[:n]
		if !strconv.IsPrint(r) || r == utf8.RuneError && n == 1 {
			quoted := strconv.Quote(part)
			part = quoted[1 : len(quoted)-1]
		}
		b.WriteString(part)
		text = text[n:]
	}
	return b.String()
}

// Issues are the broken rules of one value, in the order in which they stand in
// it, then by rule. There are at most 1,000; when there were more, the last one
// has the rule too-many-issues. No issues is nil.
type Issues []Issue

// Err returns the issues as an error, nil when there are none. Converting
// Issues to error by assignment makes a nil slice a non-nil error; use Err.
func (is Issues) Err() error {
	if len(is) == 0 {
		return nil
	}
	return is
}

// Error returns the first issue and how many there are besides.
func (is Issues) Error() string {
	switch len(is) {
	case 0:
		return "no issues"
	case 1:
		return is[0].String()
	}
	return fmt.Sprintf("%s, and %d more", is[0], len(is)-1)
}

// Has reports whether one of the issues has the rule.
func (is Issues) Has(rule string) bool {
	for _, i := range is {
		if i.Rule == rule {
			return true
		}
	}
	return false
}

const (
	maxIssues  = 1000
	maxPointer = 4096
	maxValue   = 80
)
