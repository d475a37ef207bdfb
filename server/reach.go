package server

import (
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// reach is how far a change goes into an object: the members of the object itself that
// it may change, by name, beside which all stays as it is. Nil is that it may change
// anything.
//
// Most changes are about a label, an annotation or the status. What they do not reach
// was judged when it came, and is stored as it stands: it is never taken apart. So it is
// with the managed fields, which only their package reads, unless the change names them.
type reach struct {
	members []string
	owners  bool
}

// untouched is the JSON of a member out of reach. It stands in the tree of an object for
// what is in it, in the one form in which objects are stored.
type untouched string

const metadataMember, ownersMember = "metadata", "managedFields"

// reachOf is that of a change to members, beside which every write looks at those that
// say which object it is.
func reachOf(owners bool, members ...string) *reach {
	return &reach{members: append([]string{"apiVersion", "kind", metadataMember}, members...), owners: owners}
}

// reachOfMerge is the reach of a merge patch, which is a well-formed object.
func reachOfMerge(patch []byte) *reach {
	members, err := decodeObject(patch)
	if err != nil {
		return nil
	}
	meta, given := members[metadataMember]
	_, owners := asObject(meta)[ownersMember]
	return reachOf(owners || given && asObject(meta) == nil, slices.Collect(maps.Keys(members))...)
}

// reachOfPatch is the reach of a JSON patch.
func reachOfPatch(ops jsonpatch.Patch) *reach {
	var members []string
	owners := false
	for _, op := range ops {
		to, err := op.Path()
		if err != nil {
			return nil
		}
		paths := []string{to}
		if from, err := op.From(); err == nil {
			paths = append(paths, from)
		}
		for _, p := range paths {
			steps := strings.Split(p, "/")
			if len(steps) < 2 || steps[0] != "" {
				return nil // It is about the object as a whole, or nothing.
			}
			members = append(members, unescapeStep.Replace(steps[1]))
			owners = owners || steps[1] == metadataMember && (len(steps) == 2 || steps[2] == ownersMember)
		}
	}
	return reachOf(owners, members...)
}

// unescapeStep reads a step of a JSON pointer (RFC 6901).
var unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")

// reaches is how far a change may go without a look at the rest.
func (s *server) reaches(x *exchange, r *reach) *reach {
	if !x.resource.is(s.machines) || x.resource.storedAs != "" || s.admission != AdmissionNone {
		return nil // Here rules see the whole object.
	}
	return r
}

// open returns the members of a stored object, with what is out of reach untouched.
func (r *reach) open(object []byte) (map[string]any, error) {
	if r == nil {
		return decodeObject(object)
	}
	return readMembers(object, func(parent, name string) bool {
		switch parent {
		case "":
			return !slices.Contains(r.members, name)
		case metadataMember:
			return !r.owners && name == ownersMember
		}
		return false
	})
}

// within is an object without what is out of reach.
func (r *reach) within(object map[string]any) map[string]any {
	if r == nil {
		return object
	}
	part := maps.Clone(object)
	maps.DeleteFunc(part, isUntouched)
	if meta := asObject(part[metadataMember]); isUntouched("", meta[ownersMember]) {
		meta = maps.Clone(meta)
		delete(meta, ownersMember)
		part[metadataMember] = meta
	}
	return part
}

// owned is an object without the members that are out of reach, but with its owners.
func (r *reach) owned(object map[string]any) map[string]any {
	part := maps.Clone(object)
	maps.DeleteFunc(part, isUntouched)
	return part
}

// restore puts the members that are out of reach of a change into what the change has
// made of the rest. Who owns what is found anew anyway.
func (r *reach) restore(object, old map[string]any) {
	if r == nil {
		return
	}
	for name, v := range old {
		if isUntouched(name, v) {
			object[name] = v
		}
	}
}

func isUntouched(_ string, v any) bool {
	_, is := v.(untouched)
	return is
}
