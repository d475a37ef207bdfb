package server

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// maxRounds is how often an object is judged anew for members that it has lost. Once
// is enough for all but what has more of them than issues are told.
const maxRounds = 3

// withoutNulls drops the members of an object that are null where the document has no
// null, and returns what is still to be said of it, which inspect says anew. To a
// Kubernetes API server they are not there: Go leaves such fields of its own kinds alone,
// and of a custom resource they are pruned before it is validated. In an array a null
// stays, and so it does where the document has one.
func withoutNulls(object map[string]any, issues openapi.Issues, inspect func() openapi.Issues) openapi.Issues {
	for range maxRounds {
		if !slices.ContainsFunc(issues, func(i openapi.Issue) bool { return !ofFields(i) }) {
			return issues
		}
		dropped := false
		for _, issue := range issues {
			dropped = dropMember(object, issue.Pointer, isNull) || dropped
		}
		issues = inspect() // also of what the metadata has lost before
		if !dropped {
			return issues
		}
	}
	return issues
}

// withoutOtherCases drops the members of an object whose names differ by case alone from
// those that the document has there, and reports whether there were any. To a Kubernetes
// API server they are unknown, and go; kept, they would be read by clients in Go as what
// they are not.
func withoutOtherCases(object map[string]any, issues openapi.Issues) (dropped bool) {
	for _, issue := range issues {
		if issue.Rule == openapi.RuleJSONKeyCase {
			dropped = dropMember(object, issue.Pointer, func(any) bool { return true }) || dropped
		}
	}
	return dropped
}

func isNull(v any) bool { return v == nil }

// dropMember drops the member at a JSON pointer if it is to go.
func dropMember(object map[string]any, pointer string, goes func(any) bool) bool {
	var at any = object
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		switch v := at.(type) {
		case map[string]any:
			token = unescapeStep.Replace(token)
			member, there := v[token]
			if there && i == len(tokens)-1 && goes(member) {
				delete(v, token)
				return true
			}
			at = member
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(v) {
				return false
			}
			at = v[n]
		default:
			return false
		}
	}
	return false
}

// metaWithoutNulls drops the members of the metadata that are null, also where the
// document has one, and makes labels and annotations that are null empty, as a Kubernetes
// API server reads them. It reports whether there were any.
func metaWithoutNulls(object map[string]any) (changed bool) {
	meta := asObject(object["metadata"])
	before := len(meta)
	maps.DeleteFunc(meta, func(_ string, v any) bool { return v == nil })
	changed = len(meta) < before
	for _, name := range []string{"labels", "annotations"} {
		texts := asObject(meta[name])
		for key, v := range texts {
			if v == nil {
				texts[key], changed = "", true
			}
		}
	}
	return changed
}
