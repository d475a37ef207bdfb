package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// The names that Kubernetes has for objects and namespaces (RFC 1123).
var (
	dns1123Subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	dns1123Label     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

const (
	oldVersionName = "v1alpha3"
	oldAPIVersion  = group + "/" + oldVersionName
	apiVersion     = group + "/" + version
)

// incoming is a valid object on its way into the store.
type incoming struct {
	key    store.Key
	object map[string]any
	meta   map[string]any // of object
}

// read takes a valid object apart.
func (w *Writer) read(data []byte) (*incoming, error) {
	object, err := w.valid(data)
	if err != nil {
		return nil, err
	}
	meta, _ := object["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	key := keyOf(object)
	if issues := append(checkKey(key), checkLabels(meta)...); len(issues) > 0 {
		return nil, &InvalidError{Key: key, Issues: issues}
	}
	meta["namespace"] = key.Namespace
	return &incoming{key, object, meta}, nil
}

// valid returns the members of a valid object, without the nulls that a write over HTTP
// would lose. v1alpha3 is rewritten first: the document knows v1 alone.
func (w *Writer) valid(data []byte) (map[string]any, error) {
	issues := w.doc.ValidateObject(data)
	var object map[string]any
	if !issues.Has("json-syntax") {
		// What the validator could read is JSON.
		v, _ := readTree(data)
		object = asObject(v)
	}
	if object["apiVersion"] == oldAPIVersion && object["kind"] == kind {
		object["apiVersion"] = apiVersion
		issues = slices.DeleteFunc(issues, func(i openapi.Issue) bool { return i.Pointer == "/apiVersion" && i.Rule == "enum" })
	}
	if bytes.Contains(data, []byte("null")) {
		issues = w.forgetNulls(object, issues)
	}
	key := keyOf(object)
	if w.enumUnknown == EnumWarn {
		issues = w.soften(key, issues)
	}
	if len(issues) > 0 {
		return nil, &InvalidError{Key: key, Issues: issues}
	}
	return object, nil
}

// forgetNulls drops nulls as a write over HTTP does. What issues say of fields that
// are there twice stays: the object does not show them any more.
func (w *Writer) forgetNulls(object map[string]any, issues openapi.Issues) openapi.Issues {
	metaWithoutNulls(object)
	fields := slices.DeleteFunc(slices.Clone(issues), func(i openapi.Issue) bool { return !ofFields(i) })
	others := slices.DeleteFunc(issues, ofFields)
	inspect := func() openapi.Issues { return slices.DeleteFunc(w.doc.ValidateObject(canonical(object)), ofFields) }
	return append(fields, withoutNulls(object, others, inspect)...)
}

// keyOf is the key that the object says, as far as it does.
func keyOf(object map[string]any) store.Key {
	meta, _ := object["metadata"].(map[string]any)
	return store.Key{Namespace: cmp.Or(text(meta, "namespace"), "default"), Name: text(meta, "name")}
}

// soften takes values outside a closed list and tells of them. What the object is
// stays closed.
func (w *Writer) soften(key store.Key, issues openapi.Issues) openapi.Issues {
	return slices.DeleteFunc(issues, func(i openapi.Issue) bool {
		if i.Rule != "enum" || i.Pointer == "/apiVersion" || i.Pointer == "/kind" {
			return false
		}
		w.warn(key, i)
		return true
	})
}

func text(m map[string]any, member string) string {
	s, _ := m[member].(string)
	return s
}

func checkKey(k store.Key) openapi.Issues {
	var issues openapi.Issues
	if k.Name == "" {
		return openapi.Issues{{Pointer: "/metadata/name", Rule: "required", Message: "is required"}}
	}
	if len(k.Name) > 253 || !dns1123Subdomain.MatchString(k.Name) {
		issues = append(issues, openapi.Issue{Pointer: "/metadata/name", Rule: openapi.RuleStoredName, Value: quote(k.Name),
			Message: "must be a DNS subdomain: lower case letters, digits, - and ., at most 253, letters or digits at both ends"})
	}
	if len(k.Namespace) > 63 || !dns1123Label.MatchString(k.Namespace) {
		issues = append(issues, openapi.Issue{Pointer: "/metadata/namespace", Rule: openapi.RuleStoredName, Value: quote(k.Namespace),
			Message: "must be a DNS label: lower case letters, digits and -, at most 63, letters or digits at both ends"})
	}
	return issues
}

// checkLabels refuses what no selector could ever name and a store cannot index.
func checkLabels(meta map[string]any) openapi.Issues {
	var issues openapi.Issues
	labels, _ := meta["labels"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if strings.ContainsRune(name, 0) {
			issues = append(issues, openapi.Issue{Pointer: "/metadata/labels", Rule: openapi.RuleStoredLabel, Value: quote(name), Message: "must not have NUL in the name of a label"})
		}
	}
	return issues
}

func quote(s string) string {
	if r := []rune(s); len(r) > 70 {
		s = string(r[:70]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// complete returns the metadata with what only a server can give, or what the
// predecessor has of it.
func (w *Writer) complete(in *incoming, old *store.Object) (map[string]any, error) {
	meta := maps.Clone(in.meta)
	inherited := map[string]any{"generation": json.Number("0")}
	var was map[string]any
	if old != nil {
		var err error
		if was, err = decodeObject(old.JSON); err != nil {
			return nil, fmt.Errorf("stored object %s: %w", old.Key, err)
		}
		inherited = asObject(was["metadata"])
	}
	if text(meta, "uid") == "" {
		if meta["uid"] = inherited["uid"]; text(meta, "uid") == "" {
			meta["uid"] = w.newID()
		}
	}
	if text(meta, "creationTimestamp") == "" {
		if meta["creationTimestamp"] = inherited["creationTimestamp"]; text(meta, "creationTimestamp") == "" {
			meta["creationTimestamp"] = w.now().UTC().Format(time.RFC3339)
		}
	}
	if _, ok := meta["generation"]; !ok {
		meta["generation"] = inherited["generation"]
		if !sameBeside(in.object, was) {
			raiseGeneration(meta)
		}
	}
	meta["resourceVersion"] = ""
	return meta, nil
}

// render writes the object with sorted keys, as a Kubernetes API server does for
// custom resources, and finds the place of its revision.
func (in *incoming) render(meta map[string]any) (store.Draft, error) {
	d := store.Draft{Key: in.key}
	labels, _ := meta["labels"].(map[string]any)
	if len(labels) > 0 {
		d.Labels = make(map[string]string, len(labels))
		for k, v := range labels {
			d.Labels[k], _ = v.(string)
		}
	}
	var err error
	d.JSON, err = appendMembersBy(make([]byte, 0, draftRoom), in.object, func(to []byte, name string, v any) ([]byte, error) {
		if name != "metadata" {
			return appendTree(to, v)
		}
		return appendMembersBy(to, meta, func(to []byte, name string, v any) ([]byte, error) {
			to, err := appendTree(to, v)
			if name == "resourceVersion" {
				d.RevisionAt = len(to) - 1
			}
			return to, err
		})
	})
	return d, err
}

// draftRoom is enough for most machines. The store keeps a copy without what is left
// of it.
const draftRoom = 8 << 10
