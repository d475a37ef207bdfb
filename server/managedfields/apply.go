package managedfields

import (
	"errors"
	"fmt"
	"time"
)

// beforeFirstApply is the manager of what was there before anybody applied to an
// object without managedFields.
const beforeFirstApply = "before-first-apply"

// Apply returns the object that live becomes when a manager applies another one,
// with its metadata.managedFields and with sorted members. live is nil when there
// is no such object yet.
//
// The manager owns what it applies, together with whoever has the same value for
// it. What it applied before and does not apply now is taken out, unless somebody
// else owns it. When nothing in the object changes it is live, but for
// managedFields.
//
// What only a server may set (uid, resourceVersion, creation time and so on) is as
// applied has it, for the server to judge, and as in live where applied says null
// or nothing. managedFields of live that cannot be read count as none; no server
// writes such.
//
// It fails with [Conflicts] when a field that another manager owns has another
// value, unless force is set, which takes the field from the other; with a
// [*BadRequestError] when applied is no object of the schema's kind and the version
// of the request, or has managedFields; and with a [*TypeError] when the items of a
// list in applied cannot be told apart.
func (s *Schema) Apply(live, applied []byte, w Write, force bool) ([]byte, error) {
	patch, err := s.readApplied(applied, w.APIVersion)
	if err != nil {
		return nil, err
	}
	before, liveFields, err := readObject(live)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}
	// Versions differ in nothing but their name.
	before = before.with("apiVersion", textValue(w.APIVersion)).with("kind", textValue(s.kind))
	if issues := s.root.validate(&before, "", true); issues != nil {
		return nil, &TypeError{describe("live object", &before), issues}
	}
	es, err := s.readEntries(liveFields)
	if err != nil || len(es) == 0 {
		es = s.update(nil, &value{kind: object}, &before, Write{beforeFirstApply, w.APIVersion, w.Time})
	}
	after, es, err := s.applyBy(w, es, &before, &patch, force)
	if err != nil {
		return nil, err
	}
	if es = s.keepTimes(es, liveFields, &before, &after); len(es) > 0 {
		meta := after.get("metadata")
		if meta == nil {
			meta = &value{}
		}
		after = after.with("metadata", meta.with("managedFields", value{kind: raw, text: string(es.json())}))
	}
	return after.appendJSON(nil), nil
}

// apply merges, prunes and finds conflicts. When nothing changes, the object is
// before itself and no time changes.
func (s *Schema) apply(w Write, es entries, before, patch *value, force bool) (value, entries, error) {
	es = s.reconcile(es)
	own := w.entry(OperationApply)
	var last entry
	if i := es.find(own.id()); i >= 0 {
		last = es[i]
	}
	own.fields, own.time = s.root.fieldsOf(patch), last.time
	es = es.put(own)
	after := s.root.prune(s.root.merge(before, patch), last.fields, es.byVersion(last.apiVersion))
	c := s.root.compare(before, &after)
	if !force {
		if conflicts := es.conflicts(c.added.union(c.modified), own.id()); len(conflicts) > 0 {
			return value{}, nil, conflicts
		}
	}
	es.release(c.changed(), own.id())
	own.fields = own.fields.difference(unowned)
	if before.equal(&after) {
		after = *before
	} else {
		own.time = w.Time.Truncate(time.Second)
	}
	return after, es.put(own).stored(), nil
}

var errNoObjectJSON = errors.New("not a JSON object")

// readObject returns an object without metadata.managedFields, and those. No data
// is an object without members.
func readObject(data []byte) (value, *value, error) {
	if data == nil {
		return value{kind: object}, nil, nil
	}
	v, err := parse(data)
	if err != nil {
		return value{}, nil, err
	}
	if v.kind != object {
		return value{}, nil, errNoObjectJSON
	}
	meta := v.get("metadata")
	fields := meta.get("managedFields")
	if fields != nil {
		v = v.with("metadata", meta.without("managedFields"))
	}
	return v, fields, nil
}

// readApplied reads what is applied, without what a client says null of and only a
// server sets.
func (s *Schema) readApplied(data []byte, apiVersion string) (value, error) {
	v, err := parse(data)
	if err != nil {
		return value{}, &BadRequestError{"error decoding patch: " + err.Error()}
	}
	if v.kind != object && v.kind != null {
		return value{}, &BadRequestError{"error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
			jsonNames[v.kind] + " into Go value of type map[string]interface {}"}
	}
	if v.getText("apiVersion") != apiVersion || v.getText("kind") != s.kind {
		return value{}, &BadRequestError{"invalid object type: " + groupVersionKind(&v)}
	}
	if meta := v.get("metadata"); meta != nil {
		if meta.kind != object && meta.kind != null {
			return value{}, &TypeError{describe("patch object", &v), []TypeIssue{{".metadata", "expected map, got " + meta.String()}}}
		}
		own := *meta
		for _, name := range serverMetadata {
			if m := own.get(name); m != nil && m.kind == null {
				own = own.without(name)
			}
		}
		if own.get("managedFields") != nil {
			return value{}, &BadRequestError{"metadata.managedFields must be nil"}
		}
		v = v.with("metadata", own)
	}
	if issues := s.root.validate(&v, "", false); issues != nil {
		return value{}, &TypeError{describe("patch object", &v), issues}
	}
	return v, nil
}

// jsonNames are what encoding/json calls values that are no objects.
var jsonNames = map[kind]string{boolean: "bool", number: "number", text: "string", list: "array"}
