package store

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Object is one stored version of an object. It is never changed; JSON must
// not be modified, it is shared by everybody who reads this version.
type Object struct {
	Key Key
	// Revision of the write that made this version; metadata.resourceVersion
	// in JSON spells the same number.
	Revision int64
	// JSON is the whole object.
	JSON []byte

	path       string // Key.String(), of which the parts of Key are substrings
	revisionAt int    // offset of the digits of Revision in JSON
	labels     labelSet
	fields     map[string]string
}

// Draft is an object on its way into the store, which has yet to give it a
// revision.
type Draft struct {
	Key Key
	// JSON is the whole object, with an empty "resourceVersion":"" in its
	// metadata. The store copies it.
	JSON []byte
	// RevisionAt is the offset in JSON of the place between those two quotes,
	// where the digits of the revision go.
	RevisionAt int
	// Labels are metadata.labels once more, for selectors. No key has a NUL in
	// it.
	Labels map[string]string
	// Fields are the values that a [FieldSelector] can ask for, beside the key.
	// The store keeps the map.
	Fields map[string]string
}

const revisionMember = `"resourceVersion":"`

// NewObject makes the version of an object that a write at a revision makes.
// Only implementations of [Store] need it. It fails when the draft is not what
// [Draft] says.
func NewObject(d Draft, revision int64) (*Object, error) {
	if !d.Key.valid() {
		return nil, fmt.Errorf("object %q: namespace and name must not be empty or contain a slash or NUL", d.Key)
	}
	if d.RevisionAt < 0 || d.RevisionAt >= len(d.JSON) || d.JSON[d.RevisionAt] != '"' ||
		!bytes.HasSuffix(d.JSON[:d.RevisionAt], []byte(revisionMember)) {
		return nil, fmt.Errorf("object %s: %w", d.Key, errRevisionAt)
	}
	labels, err := internLabels(d.Labels)
	if err != nil {
		return nil, fmt.Errorf("object %s: %w", d.Key, err)
	}
	path := d.Key.String()
	return &Object{
		Key:        Key{Namespace: path[:len(d.Key.Namespace)], Name: path[len(d.Key.Namespace)+1:]},
		Revision:   revision,
		JSON:       spell(d.JSON[:d.RevisionAt], revision, d.JSON[d.RevisionAt:]),
		path:       path,
		revisionAt: d.RevisionAt,
		labels:     labels,
		fields:     d.Fields,
	}, nil
}

var errRevisionAt = errors.New(`the draft's RevisionAt is not inside an empty "resourceVersion":""`)

// WithRevision returns the same state of the object under another revision,
// as it is reported when the object is deleted.
func (o *Object) WithRevision(revision int64) *Object {
	digits := len(strconv.FormatInt(o.Revision, 10))
	c := *o
	c.Revision = revision
	c.JSON = spell(o.JSON[:o.revisionAt], revision, o.JSON[o.revisionAt+digits:])
	return &c
}

// Label returns the value of a label and whether the object has it.
func (o *Object) Label(key string) (string, bool) {
	i := o.labels.index(key)
	if i < 0 {
		return "", false
	}
	return o.labels.pairs[i].Value().value, true
}

// field returns the value of a field that can be selected by.
func (o *Object) field(name string) string {
	switch name {
	case nameField:
		return o.Key.Name
	case namespaceField:
		return o.Key.Namespace
	}
	return o.fields[name]
}

// spell joins head, digits and tail in a slice without room to spare, since
// it stays in memory as long as the version does.
func spell(head []byte, revision int64, tail []byte) []byte {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], revision, 10)
	json := make([]byte, 0, len(head)+len(digits)+len(tail))
	json = append(json, head...)
	json = append(json, digits...)
	return append(json, tail...)
}
