package contract

import (
	"slices"
	"strings"
)

// operator is how a requirement compares a label.
type operator string

const (
	opEquals       operator = "="
	opDoubleEquals operator = "=="
	opNotEquals    operator = "!="
	opIn           operator = "in"
	opNotIn        operator = "notin"
	opExists       operator = "exists"
	opNotExists    operator = "!"
)

// requirement is one part of a labelSelector, as the checks build them. Nothing
// is ever parsed here: what a requirement means and how it is written come from
// the same value.
type requirement struct {
	key    string
	op     operator
	values []string
}

// String returns the requirement as a request has it.
func (q requirement) String() string {
	switch q.op {
	case opIn, opNotIn:
		return q.key + " " + string(q.op) + " (" + strings.Join(q.values, ",") + ")"
	case opExists:
		return q.key
	case opNotExists:
		return "!" + q.key
	}
	return q.key + string(q.op) + q.values[0]
}

// matches reports whether labels meet the requirement. An object without the key
// meets != and notin (Kubernetes, "Labels and Selectors").
func (q requirement) matches(labels map[string]string) bool {
	value, has := labels[q.key]
	switch q.op {
	case opExists:
		return has
	case opNotExists:
		return !has
	case opNotEquals, opNotIn:
		return !has || !slices.Contains(q.values, value)
	}
	return has && slices.Contains(q.values, value)
}

// selector is requirements of which all must be met.
type selector []requirement

func (s selector) String() string {
	parts := make([]string, len(s))
	for i, q := range s {
		parts[i] = q.String()
	}
	return strings.Join(parts, ",")
}

func (s selector) matches(labels map[string]string) bool {
	for _, q := range s {
		if !q.matches(labels) {
			return false
		}
	}
	return true
}

// filter returns the items that match.
func (s selector) filter(items []*item) []*item {
	var out []*item
	for _, it := range items {
		if s.matches(it.labels) {
			out = append(out, it)
		}
	}
	return out
}

// isLabelKey and isLabelValue report whether a selector can be written with a
// label (Kubernetes, "Labels and Selectors"). Others are left alone: a target
// that refuses them is right.
func isLabelKey(s string) bool {
	if prefix, name, ok := strings.Cut(s, "/"); ok {
		return len(prefix) <= 253 && between(prefix, isLower, "-.") && isLabelName(name)
	}
	return isLabelName(s)
}

func isLabelValue(s string) bool { return s == "" || isLabelName(s) }

func isLabelName(s string) bool {
	return len(s) <= 63 && between(s, func(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }, "-_.")
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// between reports whether s begins and ends with an outer character, and has only
// those and the inner ones between them.
func between(s string, outer func(byte) bool, inner string) bool {
	if s == "" || !outer(s[0]) || !outer(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !outer(s[i]) && strings.IndexByte(inner, s[i]) < 0 {
			return false
		}
	}
	return true
}

// label is a key with a value that some objects have.
type label struct {
	key, value string
	// with, other and without count the objects that have the value, have the key
	// with another value, and do not have the key.
	with, other, without int
}

// labelsOf returns the labels of items that a selector can be written with, in
// order.
func labelsOf(items []*item) []label {
	type pair struct{ key, value string }
	values := make(map[pair]int)
	keys := make(map[string]int)
	for _, it := range items {
		for k, v := range it.labels {
			if isLabelKey(k) && isLabelValue(v) {
				values[pair{k, v}]++
			}
			keys[k]++
		}
	}
	labels := make([]label, 0, len(values))
	for p, n := range values {
		labels = append(labels, label{p.key, p.value, n, keys[p.key] - n, len(items) - keys[p.key]})
	}
	slices.SortFunc(labels, func(a, b label) int {
		if c := strings.Compare(a.key, b.key); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	return labels
}
