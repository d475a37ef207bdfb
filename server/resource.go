package server

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
	"github.com/vmikit/vmikit/server/store"
)

// resource is one kind of objects that the server has: where they are, and what
// differs from the other kinds.
type resource struct {
	group, version string
	// discovered is how discovery shows it; name and kind are there.
	discovered vmi.APIResource
	store      store.Store
	columns    []column
	// owners says which lists have owners of their items.
	owners *managedfields.Schema
	// selectable are the fields, beside name and namespace, that a field selector may
	// ask for.
	selectable map[string]func(object map[string]any) string
	// native says that the kind is one of Kubernetes' own, whose objects may be sent as
	// protobuf and changed by strategic merge patches, and have no generation.
	native bool
	// unconditional says that a write may leave the resourceVersion out.
	unconditional bool
	// createdByPut says that a PUT makes an object that is not there.
	createdByPut bool
	// storedAs is the apiVersion that the objects have in the store, where it is another:
	// that of the version that this one is deprecated for.
	storedAs string
	// complete gives an object what this kind has of the server's own, and says what
	// is wrong with it beside what the document says; old is nil for a new one.
	complete func(object, old map[string]any) []vmi.StatusCause
}

// clusterScope is the namespace in which the store of a resource without namespaces
// has its objects.
const clusterScope = "cluster"

// does reports whether the resource has a verb.
func (r *resource) does(verb string) bool { return slices.Contains(r.discovered.Verbs, verb) }

// path is where the resource is, or one object of it, in the version that has routes.
func (r *resource) path(namespace, name string) string {
	p := "/api/" + r.storedVersion()
	if r.group != "" {
		p = "/apis/" + r.storedVersion()
	}
	if r.discovered.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.name()
	if name != "" {
		p += "/" + name
	}
	return p
}

// fields are the texts at some paths of an object, to be selected by.
func fields(paths ...string) map[string]func(map[string]any) string {
	values := make(map[string]func(map[string]any) string, len(paths))
	for _, path := range paths {
		parents, member := strings.Split(path, "."), path[strings.LastIndexByte(path, '.')+1:]
		parents = parents[:len(parents)-1]
		values[path] = func(object map[string]any) string {
			for _, p := range parents {
				object = asObject(object[p])
			}
			return text(object, member)
		}
	}
	return values
}

// selectableFields are the names of those.
func (r *resource) selectableFields() []string { return slices.Collect(maps.Keys(r.selectable)) }

// draft is an object as it is stored.
func (r *resource) draft(key store.Key, object map[string]any) (store.Draft, error) {
	meta := asObject(object["metadata"])
	meta["resourceVersion"] = ""
	d, err := (&incoming{key, object, meta}).render(meta)
	if len(r.selectable) > 0 {
		d.Fields = make(map[string]string, len(r.selectable))
		for name, value := range r.selectable {
			d.Fields[name] = value(object)
		}
	}
	return d, err
}

func (r *resource) name() string { return r.discovered.Name }

func (r *resource) kind() string { return r.discovered.Kind }

func (r *resource) apiVersion() string {
	if r.group == "" {
		return r.version
	}
	return r.group + "/" + r.version
}

// show is an object in the version of the resource.
func (r *resource) show(o *store.Object) []byte {
	if r.storedAs == "" {
		return o.JSON
	}
	const member = `{"apiVersion":"`
	if rest, ok := bytes.CutPrefix(o.JSON, []byte(member+r.storedAs+`"`)); ok {
		return slices.Concat([]byte(member+r.apiVersion()+`"`), rest)
	}
	// A member that nobody names may stand before it.
	object, _ := decodeObject(o.JSON) // what is stored is an object
	object["apiVersion"] = r.apiVersion()
	return canonical(object)
}

// judged is a body as the document judges it, which knows the version that is stored.
func (r *resource) judged(body []byte) []byte {
	if r == nil || r.storedAs == "" {
		return body
	}
	return bytes.ReplaceAll(body, []byte(`"apiVersion":"`+r.apiVersion()+`"`), []byte(`"apiVersion":"`+r.storedAs+`"`))
}

// storedVersion is the apiVersion that objects have in the store.
func (r *resource) storedVersion() string { return cmp.Or(r.storedAs, r.apiVersion()) }

// inStore gives an object of a client the version in which it is stored.
func (r *resource) inStore(object map[string]any) {
	object["apiVersion"] = r.storedVersion()
}

// is reports whether two resources are versions of one.
func (r *resource) is(o *resource) bool {
	return r != nil && r.name() == o.name() && r.group == o.group
}

// qualified is the resource as messages name it, virtualmachineinstances.kubevirt.io.
func (r *resource) qualified() string { return qualified(r.name(), r.group) }

// qualifiedKind is VirtualMachineInstance.kubevirt.io.
func (r *resource) qualifiedKind() string { return qualified(r.kind(), r.group) }

func (r *resource) notFound(name string) *statusError {
	return notFound(r.group, r.name(), name)
}

func (r *resource) alreadyExists(name string) *statusError {
	return failure(http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", r.qualified(), name)).
		details(vmi.StatusDetails{Name: name, Group: r.group, Kind: r.name()})
}

// conflict says that a write came too late, or is for another object.
func (r *resource) conflict(name, why string) *statusError {
	return r.cannotBeFulfilled(r.qualified(), r.name(), name, why)
}

// conflictOfKind is the same where a Kubernetes API server names the kind, not the
// resource.
func (r *resource) conflictOfKind(name, why string) *statusError {
	return r.cannotBeFulfilled(r.qualifiedKind(), r.kind(), name, why)
}

func (r *resource) cannotBeFulfilled(what, kind, name, why string) *statusError {
	return failure(http.StatusConflict, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", what, name, why)).
		details(vmi.StatusDetails{Name: name, Group: r.group, Kind: kind})
}

func (r *resource) modified(name string) *statusError {
	return r.conflict(name, "the object has been modified; please apply your changes to the latest version and try again")
}

// invalid says what is wrong with an object that somebody wants to write.
func (r *resource) invalid(name string, causes []vmi.StatusCause) *statusError {
	return failure(http.StatusUnprocessableEntity, "Invalid",
		fmt.Sprintf("%s %s is invalid: %s", r.qualifiedKind(), quote(name), joinCauses(causes))).
		details(vmi.StatusDetails{Name: name, Group: r.group, Kind: r.kind(), Causes: causes})
}
