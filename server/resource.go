package server

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

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
}

func (r *resource) name() string { return r.discovered.Name }

func (r *resource) kind() string { return r.discovered.Kind }

func (r *resource) apiVersion() string {
	if r.group == "" {
		return r.version
	}
	return r.group + "/" + r.version
}

// qualified is the resource as messages name it, virtualmachineinstances.kubevirt.io.
func (r *resource) qualified() string { return qualified(r.name(), r.group) }

// qualifiedKind is VirtualMachineInstance.kubevirt.io.
func (r *resource) qualifiedKind() string { return qualified(r.kind(), r.group) }

// on is the exchange that an echo handler works on, now about a resource.
func on(c echo.Context, r *resource) *exchange {
	x := exchangeOf(c)
	x.resource = r
	return x
}

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
