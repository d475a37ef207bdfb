package openapi

import "slices"

// judge returns the issues of a text that must be one JSON value of the rule. A
// nil rule asks for JSON alone. check, if given, looks at the tree for what no
// keyword says.
func judge(data []byte, r *rule, strict bool, check func(tree any) []broken) Issues {
	to := new(collector)
	var s *shape
	if r != nil {
		s = r.shape
	}
	tree, ok := readTree(data, s, strict, to)
	if !ok {
		return to.issues()
	}
	var found []broken
	if check != nil {
		found = check(tree)
	}
	if r != nil {
		if len(data) > largeText && !fits(r.schema, tree) {
			budget := maxIssues + 1
			tree = trim(r.schema, tree, &budget)
		}
		found = append(visit(r.schema, tree), found...)
	}
	if len(found) > 0 {
		locate(data, found, to)
	}
	return to.issues()
}

// locate adds what the keywords say to the collector, with the place and the
// text of each value. The tree has neither; only a text with issues is read again.
func locate(data []byte, found []broken, to *collector) {
	if room := maxIssues - len(to.found); len(found) > room {
		to.dropped = true
		found = found[:room]
	}
	root := new(place)
	places := make([]*place, len(found))
	for i, b := range found {
		at := root
		for _, s := range b.path {
			at = at.under(s.token())
		}
		places[i] = at
	}
	root.find(data)
	for i, b := range found {
		at := places[i]
		if b.keyword == "format" && reported(to, at.offset, RuleJSONIntegerRange) {
			continue
		}
		to.add(at.offset, Issue{
			Pointer: pointer(b.path),
			Rule:    b.keyword,
			Value:   showValue(b.path, at.raw),
			Message: b.message(),
		})
	}
}

func reported(to *collector, offset int64, rule string) bool {
	return slices.ContainsFunc(to.found, func(l located) bool { return l.offset == offset && l.Rule == rule })
}
