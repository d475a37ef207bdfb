package server

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// strategicMerge is a change by a strategic merge patch, which Kubernetes has for its
// own kinds. Of the objects that are here, such a patch is a merge patch, but for the
// two lists of metadata whose items are merged; of the directives that it may have,
// only the order of a list is understood, by leaving it as it is.
func strategicMerge(raw []byte) (change, error) {
	patch, err := decodeObject(raw)
	if err != nil {
		return nil, badRequest("error decoding patch: " + err.Error())
	}
	if err := plainDirectives(patch); err != nil {
		return nil, err
	}
	meta := asObject(patch["metadata"])
	finalizers, mergesFinalizers := meta["finalizers"].([]any)
	owners, mergesOwners := meta["ownerReferences"].([]any)
	if !mergesFinalizers && !mergesOwners {
		raw = canonical(patch)
		return func(object []byte) ([]byte, error) { return jsonpatch.MergePatch(object, raw) }, nil
	}
	return func(object []byte) ([]byte, error) {
		old, err := decodeObject(object)
		if err != nil {
			return nil, err
		}
		was := asObject(old["metadata"])
		merged, next := maps.Clone(patch), maps.Clone(meta)
		merged["metadata"] = next
		if mergesFinalizers {
			next["finalizers"] = mergeList(was["finalizers"], finalizers, func(a, b any) bool { return reflect.DeepEqual(a, b) })
		}
		if mergesOwners {
			next["ownerReferences"] = mergeList(was["ownerReferences"], owners, func(a, b any) bool {
				return text(asObject(a), "uid") == text(asObject(b), "uid")
			})
		}
		return jsonpatch.MergePatch(object, canonical(merged))
	}, nil
}

// mergeList is a list with the items of another one, each in the place of the one that
// is the same.
func mergeList(list any, items []any, same func(a, b any) bool) []any {
	is, _ := list.([]any)
	merged := slices.Clone(is)
	for _, item := range items {
		if i := slices.IndexFunc(merged, func(o any) bool { return same(o, item) }); i >= 0 {
			merged[i] = item
			continue
		}
		merged = append(merged, item)
	}
	return merged
}

// plainDirectives takes the order of lists out of a patch, and refuses what would mean
// more.
func plainDirectives(v any) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := plainDirectives(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, value := range v {
			switch {
			case strings.HasPrefix(name, "$setElementOrder/"):
				delete(v, name)
			case strings.HasPrefix(name, "$"):
				return badRequest(fmt.Sprintf("error decoding patch: the directive %s of strategic merge patches is not supported here", shown(name)))
			default:
				if err := plainDirectives(value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
