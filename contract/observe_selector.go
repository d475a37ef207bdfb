package contract

import (
	"regexp"
	"slices"
	"strings"
)

// labelIDs are the checks of the operators.
var labelIDs = map[operator]string{
	opEquals: checkLabelEquals, opDoubleEquals: checkLabelDouble, opNotEquals: checkLabelOther,
	opIn: checkLabelIn, opNotIn: checkLabelNotIn, opExists: checkLabelThere, opNotExists: checkLabelNotThere,
}

// selection holds the machines of an answer against the selectors of the request.
// Requirements that are written in another way than Kubernetes documents are for
// the target to refuse or not.
func (s *scene) selection() {
	if s.asked.name != "" {
		return
	}
	requirements := parseSelector(s.asked.once("labelSelector"))
	for _, q := range requirements {
		id := labelIDs[q.op]
		if len(requirements) > 1 {
			id = checkAnd
		}
		s.hold(id, q.String(), func(m *shown) bool { return m.gone || q.matches(m.labels) })
	}
	for _, q := range parseFieldSelector(s.asked.once("fieldSelector")) {
		switch q.key {
		case "metadata.name":
			s.hold(checkFieldName, q.String(), func(m *shown) bool { return q.matches(map[string]string{q.key: m.name}) })
		case "metadata.namespace":
			s.hold(checkFieldHome, q.String(), func(m *shown) bool {
				return !m.namespaced || q.matches(map[string]string{q.key: m.namespace})
			})
		}
	}
}

func (s *scene) hold(id, requirement string, belongs func(*shown) bool) {
	for _, m := range s.shown {
		s.judge.seen[id]++
		if !belongs(m) {
			s.accuse(id, m, messageForeign, "objects that "+requirement+" selects", "one that it does not select")
		}
	}
}

var (
	setRequirement   = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\(([^()]*)\)$`)
	equalRequirement = regexp.MustCompile(`^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$`)
)

// parseSelector reads the requirements of a labelSelector that are written as
// Kubernetes documents them; others are left out. All of a selector must hold, so
// each is judged by itself.
func parseSelector(text string) (requirements []requirement) {
	for _, part := range splitSelector(text) {
		q, ok := parseRequirement(strings.TrimSpace(part))
		if ok && isLabelKey(q.key) && !slices.ContainsFunc(q.values, func(v string) bool { return !isLabelValue(v) }) {
			requirements = append(requirements, q)
		}
	}
	return requirements
}

func parseRequirement(text string) (requirement, bool) {
	if m := setRequirement.FindStringSubmatch(text); m != nil {
		values := strings.Split(m[3], ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		return requirement{m[1], operator(m[2]), values}, true
	}
	if m := equalRequirement.FindStringSubmatch(text); m != nil {
		return requirement{m[1], operator(m[2]), []string{m[3]}}, true
	}
	if key, not := strings.CutPrefix(text, "!"); not {
		return requirement{key: strings.TrimSpace(key), op: opNotExists}, true
	}
	return requirement{key: text, op: opExists}, true
}

// parseFieldSelector reads the requirements of a fieldSelector. One with an escaped
// character is left out.
func parseFieldSelector(text string) (requirements []requirement) {
	for part := range strings.SplitSeq(text, ",") {
		if m := equalRequirement.FindStringSubmatch(strings.TrimSpace(part)); m != nil && !strings.Contains(text, `\`) {
			requirements = append(requirements, requirement{m[1], operator(m[2]), []string{m[3]}})
		}
	}
	return requirements
}

// splitSelector splits at the commas that are in no brackets.
func splitSelector(text string) (parts []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}
