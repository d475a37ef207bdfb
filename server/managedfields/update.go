package managedfields

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Write says who writes, when and by which version of the API.
type Write struct {
	// Manager is the field manager, "unknown" where it is empty.
	Manager string
	// APIVersion is that of the request ("kubevirt.io/v1"), one of the schema's.
	APIVersion string
	// Time is kept in seconds. Only entries whose fields change get it.
	Time time.Time
}

func (w Write) entry(op Operation) entry {
	e := entry{manager: strings.ToValidUTF8(w.Manager, "\ufffd"), operation: op, apiVersion: w.APIVersion}
	if e.manager == "" {
		e.manager = "unknown"
	}
	return e
}

// serverMetadata are the members of metadata that only a server sets.
var serverMetadata = []string{
	"clusterName", "creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "selfLink", "uid",
}

// unowned are the fields that nobody owns.
var unowned = func() set {
	meta := node{element: field("metadata"), member: true}
	for _, name := range serverMetadata {
		meta.children.add(node{element: field(name), member: true})
	}
	return set{
		{element: field("apiVersion"), member: true},
		{element: field("kind"), member: true},
		meta,
	}
}()

// Update returns what metadata.managedFields of an object is when it is written
// as a whole: by POST (live is nil), PUT, JSON patch or merge patch. It is nil
// when the object is to have none: an object that lost its managedFields gets new
// ones when somebody applies, not before.
//
// The manager owns what it adds or changes from now on, and nobody what is gone.
// In a new object managedFields are ignored. In another one they are those of live
// or such as a client wrote in their place; what cannot be read counts as not
// written, and `[{}]` forgets all owners.
//
// They are compact JSON with sorted names. It fails when live or object is no JSON
// object.
func (s *Schema) Update(live, object []byte, w Write) ([]byte, error) {
	before, beforeFields, err := readObject(live)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}
	after, afterFields, err := readObject(object)
	if err != nil {
		return nil, fmt.Errorf("new object: %w", err)
	}
	var es entries
	if live != nil {
		if isReset(afterFields) {
			return nil, nil
		}
		es, err = s.readEntries(afterFields)
		if len(es) == 0 {
			es, err = s.readEntries(beforeFields)
		}
		if len(es) == 0 {
			return nil, nil
		}
	}
	if errors.Is(err, errVersion) || s.root.validate(&before, "", true) != nil || s.root.validate(&after, "", true) != nil {
		// Who changed what cannot be told, so all stays as it is.
		if beforeFields == nil || beforeFields.kind != list || len(beforeFields.items) == 0 {
			return nil, nil
		}
		return beforeFields.appendJSON(nil), nil
	}
	// Versions differ in nothing but their name.
	if version := after.get("apiVersion"); version != nil {
		before = before.with("apiVersion", *version)
	}
	es = s.update(es, &before, &after, w)
	return s.keepTimes(es, beforeFields, &before, &after).json(), nil
}

// update returns the entries after an object was written as a whole.
func (s *Schema) update(es entries, before, after *value, w Write) entries {
	c := s.root.compare(before, after)
	es = s.reconcile(es)
	es.release(c.changed(), id{})
	own := w.entry(OperationUpdate)
	if own.fields = c.added.union(c.modified).difference(unowned); len(own.fields) > 0 {
		own.time = w.Time.Truncate(time.Second)
		if i := es.find(own.id()); i >= 0 {
			own.fields = own.fields.union(es[i].fields)
		}
		es = es.put(own)
	}
	return es.stored().capped().stored()
}

// reconcile returns a copy in which all sets fit the schema.
func (s *Schema) reconcile(es entries) entries {
	es = slices.Clone(es)
	for i := range es {
		es[i].fields = s.root.reconcile(es[i].fields)
	}
	return es
}

// keepTimes returns the entries of live when nothing but times changed, so that
// the write changes nothing.
func (s *Schema) keepTimes(es entries, liveFields *value, before, after *value) entries {
	if live, err := s.readEntries(liveFields); err == nil && es.sameBesidesTimes(live) && before.identical(after) {
		return live
	}
	return es
}
