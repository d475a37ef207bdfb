package managedfields

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Operation is how a manager came to own fields.
type Operation string

// The operations that Kubernetes knows.
const (
	OperationApply  Operation = "Apply"
	OperationUpdate Operation = "Update"
)

// entry is one of metadata.managedFields.
type entry struct {
	manager     string
	operation   Operation
	apiVersion  string
	subresource string
	time        time.Time // zero where it has none
	fields      set
}

// id tells entries apart. The version does not tell those of appliers.
type id struct {
	Manager     string    `json:"manager,omitempty"`
	Operation   Operation `json:"operation,omitempty"`
	APIVersion  string    `json:"apiVersion,omitempty"`
	Subresource string    `json:"subresource,omitempty"`
}

func (e *entry) id() id {
	i := id{e.manager, e.operation, e.apiVersion, e.subresource}
	if e.operation == OperationApply {
		i.APIVersion = ""
	}
	return i
}

// compare orders as Kubernetes does, which spells ids as JSON.
func (i id) compare(j id) int {
	if i == j {
		return 0
	}
	x, _ := json.Marshal(i) // strings are always good
	y, _ := json.Marshal(j)
	return strings.Compare(string(x), string(y))
}

// seconds is what entries are ordered by.
func (e *entry) seconds() int64 {
	if e.time.IsZero() {
		return 0
	}
	return e.time.Unix()
}

// entries are those of one object, each id once.
type entries []entry

// find is the place of an entry, -1 where there is none.
func (es entries) find(i id) int {
	return slices.IndexFunc(es, func(e entry) bool { return e.id() == i })
}

// put adds an entry, or replaces the one of the same id.
func (es entries) put(e entry) entries {
	if i := es.find(e.id()); i >= 0 {
		es[i] = e
		return es
	}
	return append(es, e)
}

// release takes fields from all entries but one.
func (es entries) release(fields set, but id) {
	for i := range es {
		if es[i].id() != but {
			es[i].fields = es[i].fields.difference(fields)
		}
	}
}

// byVersion is what is owned in each version, one of them first.
func (es entries) byVersion(first string) []set {
	owned := map[string]set{}
	for _, e := range es {
		owned[e.apiVersion] = owned[e.apiVersion].union(e.fields)
	}
	var sets []set
	if fields, ok := owned[first]; ok {
		sets = append(sets, fields)
		delete(owned, first)
	}
	for _, version := range slices.Sorted(maps.Keys(owned)) {
		sets = append(sets, owned[version])
	}
	return sets
}

// stored drops entries without fields and puts the rest in the order in which they
// are stored.
func (es entries) stored() entries {
	es = slices.DeleteFunc(es, func(e entry) bool { return len(e.fields) == 0 })
	slices.SortFunc(es, func(a, b entry) int {
		return cmp.Or(
			strings.Compare(string(a.operation), string(b.operation)),
			cmp.Compare(a.seconds(), b.seconds()),
			strings.Compare(a.manager, b.manager),
			strings.Compare(a.apiVersion, b.apiVersion),
			strings.Compare(a.subresource, b.subresource),
		)
	})
	return es
}

// sameBesidesTimes is true for the same entries in the same order.
func (es entries) sameBesidesTimes(fs entries) bool {
	return slices.EqualFunc(es, fs, func(a, b entry) bool {
		return a.id() == b.id() && a.apiVersion == b.apiVersion && a.fields.equal(b.fields)
	})
}

// errVersion is about an entry of a version that the kind is not served under.
var errVersion = errors.New("unknown apiVersion")

// readEntries reads metadata.managedFields. With errVersion it returns what it
// read all the same.
func (s *Schema) readEntries(v *value) (entries, error) {
	if v == nil || v.kind == null {
		return nil, nil
	}
	if v.kind != list {
		return nil, errors.New("managedFields is no array")
	}
	var es entries
	var unknown error
	for i := range v.items {
		e, err := readEntry(&v.items[i])
		if err != nil {
			return nil, fmt.Errorf("managedFields[%d]: %w", i, err)
		}
		if !slices.Contains(s.apiVersions, e.apiVersion) {
			unknown = fmt.Errorf("managedFields[%d]: %w %q", i, errVersion, e.apiVersion)
		}
		es = es.put(e)
	}
	return es, unknown
}

func readEntry(v *value) (entry, error) {
	texts, err := readEntryTexts(v)
	if err != nil {
		return entry{}, err
	}
	e := entry{manager: texts.manager, operation: Operation(texts.operation), apiVersion: texts.apiVersion, subresource: texts.subresource}
	switch {
	case e.operation != OperationApply && e.operation != OperationUpdate:
		return entry{}, fmt.Errorf("operation %q is neither Apply nor Update", e.operation)
	case e.apiVersion == "":
		return entry{}, errors.New("apiVersion is empty")
	case texts.fieldsType != "FieldsV1":
		return entry{}, fmt.Errorf("fieldsType is %q, not FieldsV1", texts.fieldsType)
	}
	if texts.time != "" {
		if e.time, err = time.Parse(time.RFC3339, texts.time); err != nil {
			return entry{}, fmt.Errorf("time: %w", err)
		}
	}
	if e.fields, err = readSet(v.get("fieldsV1")); err != nil {
		return entry{}, fmt.Errorf("fieldsV1: %w", err)
	}
	return e, nil
}

// entryTexts are the members of an entry that are strings, "" for none.
type entryTexts struct {
	apiVersion, fieldsType, manager, operation, subresource, time string
}

func readEntryTexts(v *value) (entryTexts, error) {
	var texts entryTexts
	if v.kind != object && v.kind != null {
		return texts, errors.New("not an object")
	}
	for i := range v.members {
		m := &v.members[i]
		var to *string
		switch m.name {
		case "apiVersion":
			to = &texts.apiVersion
		case "fieldsType":
			to = &texts.fieldsType
		case "manager":
			to = &texts.manager
		case "operation":
			to = &texts.operation
		case "subresource":
			to = &texts.subresource
		case "time":
			to = &texts.time
		default:
			continue
		}
		if m.value.kind != text && m.value.kind != null {
			return texts, fmt.Errorf("%s is no string", m.name)
		}
		*to = m.value.text
	}
	return texts, nil
}

// isReset is true for what a client writes to have all owners forgotten: one entry
// without anything. An empty list is not it, so that clients that do not know the
// field keep it (Kubernetes documentation, "Clearing managedFields").
func isReset(v *value) bool {
	if v == nil || v.kind != list || len(v.items) != 1 {
		return false
	}
	texts, err := readEntryTexts(&v.items[0])
	fields := v.items[0].get("fieldsV1")
	return err == nil && texts == entryTexts{} && (fields == nil || fields.kind == null)
}

// json is metadata.managedFields, nil where there are no entries.
func (es entries) json() []byte {
	if len(es) == 0 {
		return nil
	}
	b := []byte{'['}
	for i := range es {
		e := &es[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(append(b, `{"apiVersion":`...), e.apiVersion, false)
		b = e.fields.appendJSON(append(b, `,"fieldsType":"FieldsV1","fieldsV1":`...))
		if e.manager != "" {
			b = appendQuoted(append(b, `,"manager":`...), e.manager, false)
		}
		b = appendQuoted(append(b, `,"operation":`...), string(e.operation), false)
		if e.subresource != "" {
			b = appendQuoted(append(b, `,"subresource":`...), e.subresource, false)
		}
		if !e.time.IsZero() {
			b = append(b, `,"time":"`...)
			b = append(e.time.UTC().AppendFormat(b, time.RFC3339), '"')
		}
		b = append(b, '}')
	}
	return append(b, ']')
}
