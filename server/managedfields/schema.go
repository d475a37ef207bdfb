package managedfields

import (
	"slices"
	"strings"
)

// Schema says of one kind of objects which lists have owners of their items, and
// which objects have one owner as a whole. What it does not name is as in a
// CustomResourceDefinition: objects have owners of their members, lists one owner.
// A Schema is never changed, so any number of goroutines may use one.
type Schema struct {
	kind        string
	apiVersions []string
	root        *typ
}

// Rule is about one field.
type Rule struct {
	// Path names the field: "spec.resourceClaims". Behind "[]" stands what is in
	// an item of a list: "spec.topologySpreadConstraints[].labelSelector".
	Path string
	// Keys make a list one of type map: an item is told by these members of it.
	Keys []string
	// Set makes a list one of type set: an item is told by its value.
	Set bool
	// Atomic makes an object one that has one owner.
	Atomic bool
}

// objectMetaRules are what Kubernetes' ObjectMeta says of itself
// (k8s.io/apimachinery, pkg/apis/meta/v1/types.go).
var objectMetaRules = []Rule{
	{Path: "metadata.finalizers", Set: true},
	{Path: "metadata.ownerReferences", Keys: []string{"uid"}},
	{Path: "metadata.ownerReferences[]", Atomic: true},
}

// NewSchema returns the schema of a kind that is served under some versions of
// the same form ("kubevirt.io/v1"). Rules about metadata need not be given. Of
// several rules about one field the last one counts.
func NewSchema(kind string, apiVersions []string, rules ...Rule) *Schema {
	s := &Schema{kind: kind, apiVersions: slices.Clone(apiVersions), root: &typ{}}
	for _, r := range slices.Concat(objectMetaRules, rules) {
		t := s.root
		for name := range strings.SplitSeq(r.Path, ".") {
			field, items, isList := strings.Cut(name, "[]")
			t = t.makeField(field)
			for ; isList; _, items, isList = strings.Cut(items, "[]") {
				t = t.makeItem()
			}
		}
		t.keys, t.set, t.atomic = slices.Sorted(slices.Values(r.Keys)), r.Set, r.Atomic
	}
	return s
}

// typ is what the rules say of one place; nil where they say nothing.
type typ struct {
	keys   []string // sorted
	set    bool
	atomic bool
	fields map[string]*typ
	items  *typ
}

func (t *typ) makeField(name string) *typ {
	if t.fields == nil {
		t.fields = map[string]*typ{}
	}
	if t.fields[name] == nil {
		t.fields[name] = &typ{}
	}
	return t.fields[name]
}

func (t *typ) makeItem() *typ {
	if t.items == nil {
		t.items = &typ{}
	}
	return t.items
}

func (t *typ) field(name string) *typ {
	if t == nil {
		return nil
	}
	return t.fields[name]
}

func (t *typ) item() *typ {
	if t == nil {
		return nil
	}
	return t.items
}

func (t *typ) child(e *element) *typ {
	if e.kind == fieldElement {
		return t.field(e.name)
	}
	return t.item()
}

// granularList is true for lists that have owners of their items.
func (t *typ) granularList() bool { return t != nil && (t.set || len(t.keys) > 0) }

func (t *typ) atomicObject() bool { return t != nil && t.atomic }
