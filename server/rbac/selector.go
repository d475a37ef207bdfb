package rbac

import (
	"slices"
	"strings"
)

// selector is a LabelSelector: all its requirements must hold. Without any it
// selects everything.
type selector []requirement

type requirement struct {
	key      string
	operator string
	values   []string
}

func (s selector) matches(labels map[string]string) bool {
	return !slices.ContainsFunc(s, func(q requirement) bool { return !q.matches(labels) })
}

func (q *requirement) matches(labels map[string]string) bool {
	value, has := labels[q.key]
	switch q.operator {
	case "In":
		return has && slices.Contains(q.values, value)
	case "NotIn": // also without the label, as everywhere in Kubernetes
		return !has || !slices.Contains(q.values, value)
	case "Exists":
		return has
	default: // DoesNotExist
		return !has
	}
}

func readSelector(r *reader, o object) selector {
	r.only(o, "matchLabels", "matchExpressions")
	var out selector
	labels := r.textMap(o, "matchLabels")
	for key, value := range labels {
		out = append(out, requirement{key: key, operator: "In", values: []string{value}})
	}
	slices.SortFunc(out, func(a, b requirement) int { return strings.Compare(a.key, b.key) })
	for _, q := range out {
		checkRequirement(r, o.at("matchLabels"), q)
	}
	for _, item := range r.objects(o, "matchExpressions") {
		r.only(item, "key", "operator", "values")
		q := requirement{key: r.text(item, "key"), operator: r.text(item, "operator"), values: r.texts(item, "values")}
		checkRequirement(r, item.path, q)
		out = append(out, q)
	}
	return out
}

// checkRequirement refuses keys and values that no label can have: with NotIn
// and DoesNotExist such a selector would select everything.
func checkRequirement(r *reader, path string, q requirement) {
	if !isLabelKey(q.key) {
		r.fail(path, "%s is not a label key", quote(q.key))
	}
	for _, v := range q.values {
		if v != "" && !isLabelName(v) {
			r.fail(path, "%s is not a label value", quote(v))
		}
	}
	switch q.operator {
	case "In", "NotIn":
		if len(q.values) == 0 {
			r.fail(path+".values", "must have at least one value with %s", q.operator)
		}
	case "Exists", "DoesNotExist":
		if len(q.values) > 0 {
			r.fail(path+".values", "must be empty with %s", q.operator)
		}
	default:
		r.fail(path+".operator", "%s is not supported, only In, NotIn, Exists and DoesNotExist", quote(q.operator))
	}
}

// isLabelKey accepts name and prefix/name, where the prefix is a DNS subdomain.
func isLabelKey(s string) bool {
	prefix, name, ok := strings.Cut(s, "/")
	if !ok {
		return isLabelName(s)
	}
	return isDNSSubdomain(prefix) && isLabelName(name)
}

// isLabelName accepts 1 to 63 letters, digits, "-", "_" and ".", with a letter
// or digit at both ends.
func isLabelName(s string) bool {
	return isWord(s, 63, func(c byte) bool { return c == '-' || c == '_' || c == '.' || isUpper(c) || isLowerOrDigit(c) }) &&
		s[0] != '-' && s[0] != '_' && s[0] != '.' && !strings.ContainsAny(s[len(s)-1:], "-_.")
}

// isDNSSubdomain accepts what RFC 1123 calls a subdomain, lower case, up to
// 253 characters.
func isDNSSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isWord(label, 253, func(c byte) bool { return c == '-' || isLowerOrDigit(c) }) ||
			label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// isDNSLabel accepts what RFC 1123 calls a label, lower case.
func isDNSLabel(s string) bool {
	return len(s) <= 63 && !strings.Contains(s, ".") && isDNSSubdomain(s)
}

func isWord(s string, most int, allowed func(byte) bool) bool {
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

func isLowerOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
func isUpper(c byte) bool        { return 'A' <= c && c <= 'Z' }
