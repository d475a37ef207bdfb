package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
	"github.com/vmikit/vmikit/server/store"
)

// lastingNamespaces are there from the beginning and cannot be deleted.
var lastingNamespaces = []string{"default", "kube-system", "kubevirt"}

// newNamespaces are the namespaces that somebody has made, and those in which there was
// ever a machine: nobody needs to make one before machines can be in it, unless
// [WithStrictNamespaces] asks for that.
func (s *server) newNamespaces() *resource {
	r := &resource{
		version: "v1",
		discovered: vmi.APIResource{
			Name: "namespaces", SingularName: "namespace", Kind: "Namespace", ShortNames: []string{"ns"},
			Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		},
		native:        true,
		unconditional: true,
		columns: []column{nameColumn,
			{"Status", "string", "", "The status of the namespace", 0, field("status", "phase")},
			nativeAgeColumn},
		owners:     managedfields.NewSchema("Namespace", []string{"v1"}),
		complete:   completeNamespace,
		selectable: fields("status.phase"),
	}
	n := &spaces{server: s, resource: r, Memory: s.newStore()}
	r.store = &derived{Memory: n.Memory, source: s.machines.store, follower: n}
	return r
}

// spaces are namespaces as they follow from machines, and what becomes of those that
// are being deleted.
type spaces struct {
	*store.Memory
	server   *server
	resource *resource

	starting bool
	known    map[string]bool // are in the store
	fresh    map[string]bool // are to be made
	touched  map[string]bool // what is in them, or they themselves, may have changed
	ended    map[string]bool // were deleted
}

func (n *spaces) begin() {
	n.starting = true
	n.fresh, n.touched = make(map[string]bool), make(map[string]bool)
	if n.known == nil {
		n.known, n.ended = make(map[string]bool), make(map[string]bool)
		for _, name := range lastingNamespaces {
			n.fresh[name] = true
		}
	}
	for name := range n.known {
		n.touched[name] = true
	}
}

func (n *spaces) add(change store.Change) {
	name := change.Object.Key.Namespace
	n.touched[name] = true
	// A machine that goes makes no namespace, nor does one that came where namespaces
	// have to be made first: it was let in.
	if change.Type != store.Deleted && !n.known[name] && (n.starting || !n.server.strictNamespaces) {
		n.fresh[name] = true
	}
}

func (n *spaces) settle(ctx context.Context) error {
	n.starting = false
	for name := range n.fresh {
		if err := n.make(ctx, name); err != nil {
			return err
		}
		delete(n.fresh, name)
	}
	if n.server.ending.Load() == 0 {
		clear(n.touched)
		return nil
	}
	for name := range n.touched {
		if err := n.endIfEmpty(ctx, name); err != nil {
			return err
		}
		delete(n.touched, name)
	}
	return nil
}

// make makes a namespace that is there without anybody having made it.
func (n *spaces) make(ctx context.Context, name string) error {
	meta := map[string]any{"name": name}
	if n.ended[name] {
		// It is another one than that which was deleted.
		meta["uid"], meta["creationTimestamp"] = n.server.newID(), n.server.now().UTC().Format(time.RFC3339)
	}
	object := map[string]any{"metadata": meta}
	completeNamespace(object, nil)
	if err := n.server.put(ctx, n.resource, n.Memory, object); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	n.known[name] = true
	return nil
}

// endIfEmpty removes a namespace that is being deleted, with what is in it, once
// nothing is left that has finalizers.
func (n *spaces) endIfEmpty(ctx context.Context, name string) error {
	o, err := n.Memory.Get(ctx, store.Key{Namespace: clusterScope, Name: name})
	if err != nil || !terminating(o) {
		return ignoreNotFound(err)
	}
	left := 0
	for _, r := range n.server.contained() {
		page, err := r.store.List(ctx, store.ListOptions{Namespace: name})
		if err != nil {
			return err
		}
		for _, in := range page.Objects {
			if _, err := n.server.removeListed(ctx, r, in, deletion{}); err != nil {
				return err
			}
		}
		if page, err = r.store.List(ctx, store.ListOptions{Namespace: name, Limit: 1}); err != nil {
			return err
		}
		left += len(page.Objects)
	}
	if left > 0 || len(finalizers(asObject(newRow(o).whole()["metadata"]))) > 0 {
		return nil
	}
	if _, err := n.Memory.Delete(ctx, o.Key, o.Revision); err != nil {
		if errors.Is(err, store.ErrConflict) {
			n.touched[name] = true // it has changed meanwhile, and whoever did settles it
			return nil
		}
		return ignoreNotFound(err)
	}
	n.server.ending.Add(-1)
	delete(n.known, name)
	n.ended[name] = true
	return nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// terminating reports whether a namespace is being deleted.
func terminating(o *store.Object) bool {
	return newRow(o).at("status", "phase") == string(vmi.NamespacePhaseTerminating)
}

// contained are the resources that have something in namespaces.
func (s *server) contained() []*resource { return []*resource{s.machines, s.leases, s.events} }

// written is told of each write of an object, so that a namespace that waits for it
// ends. Machines are followed anyway.
func (s *server) written(ctx context.Context, r *resource, key store.Key) error {
	name := key.Namespace
	switch {
	case s.ending.Load() == 0, r.is(s.machines):
		return nil
	case r == s.namespaces:
		name = key.Name
	}
	d := s.namespaces.store.(*derived)
	return d.with(ctx, func() { d.follower.(*spaces).touched[name] = true })
}

// completeNamespace gives a namespace its label, finalizer and phase, and holds its
// name to what a namespace may be called.
func completeNamespace(object, old map[string]any) []vmi.StatusCause {
	meta := asObject(object["metadata"])
	name := text(meta, "name")
	labels := asObject(meta["labels"])
	if labels == nil {
		labels = make(map[string]any)
		meta["labels"] = labels
	}
	labels["kubernetes.io/metadata.name"] = name
	// Only the server ends a namespace.
	if old != nil {
		object["spec"], object["status"] = old["spec"], old["status"]
	} else {
		object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		object["status"] = map[string]any{"phase": string(vmi.NamespacePhaseActive)}
	}
	if len(name) > 63 || !dns1123Label.MatchString(name) {
		return []vmi.StatusCause{invalidField("metadata.name", quote(name),
			"must be a DNS label: lower case letters, digits and -, at most 63, letters or digits at both ends")}
	}
	return nil
}

// admitNamespace says whether something new may come into a namespace.
func (s *server) admitNamespace(x *exchange, name string) error {
	r := x.resource
	if !r.discovered.Namespaced || !s.strictNamespaces && s.ending.Load() == 0 {
		return nil
	}
	o, err := s.namespaces.store.Get(x.r.Context(), store.Key{Namespace: clusterScope, Name: name})
	switch {
	case errors.Is(err, store.ErrNotFound) && s.strictNamespaces:
		return s.namespaces.notFound(name)
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	if terminating(o) {
		why := fmt.Sprintf("namespace %s is being terminated", name)
		return failure(http.StatusForbidden, "Forbidden",
			fmt.Sprintf("%s is forbidden: unable to create new content in namespace %s because it is being terminated", r.qualified(), name)).
			details(vmi.StatusDetails{Group: r.group, Kind: r.name(), Causes: []vmi.StatusCause{
				{Reason: "NamespaceTerminating", Message: why, Field: "metadata.namespace"},
			}})
	}
	return nil
}

// endNamespace begins the end of a namespace, with all that is in it. What has
// finalizers stays, and the namespace with it, until they are gone.
func (s *server) endNamespace(x *exchange, name string, p deleteParams) error {
	want, include, err := negotiateDeletion(x, false)
	if err != nil {
		return err
	}
	d, err := s.readDeletion(x, p)
	if err != nil {
		return err
	}
	if slices.Contains(lastingNamespaces, name) {
		return failure(http.StatusForbidden, "Forbidden", fmt.Sprintf("namespaces %q is forbidden: this namespace may not be deleted", name)).
			details(vmi.StatusDetails{Name: name, Kind: "namespaces"})
	}
	key := store.Key{Namespace: clusterScope, Name: name}
	for try := 1; ; try++ {
		old, err := current(x, key)
		if err != nil {
			return err
		}
		ended, err := s.markNamespace(x, old, d)
		if errors.Is(err, store.ErrConflict) && try < maxTries {
			continue
		}
		if err != nil {
			return raced(x.resource, name, err)
		}
		if !d.dryRun {
			if err := s.written(x.r.Context(), x.resource, key); err != nil {
				return err
			}
		}
		return s.answerObject(x, http.StatusOK, ended, want, include)
	}
}

// markNamespace is the namespace that is being ended.
func (s *server) markNamespace(x *exchange, old *store.Object, d deletion) (*store.Object, error) {
	object, err := decodeObject(old.JSON)
	if err != nil {
		return nil, err
	}
	meta := asObject(object["metadata"])
	if err := d.check(x.resource, old.Key.Name, text(meta, "uid"), text(meta, "resourceVersion")); err != nil {
		return nil, err
	}
	if text(meta, "deletionTimestamp") != "" {
		return old, nil
	}
	meta["deletionTimestamp"] = s.now().UTC().Format(time.RFC3339)
	meta["deletionGracePeriodSeconds"] = json.Number("0")
	object["status"] = map[string]any{"phase": string(vmi.NamespacePhaseTerminating)}
	draft, err := x.resource.draft(old.Key, object)
	if err != nil || d.dryRun {
		o, _ := store.NewObject(draft, old.Revision)
		return o, err
	}
	// What was let in before is stored before, and so is removed.
	s.entering.Lock()
	defer s.entering.Unlock()
	marked, err := x.resource.store.Update(x.r.Context(), draft, old.Revision)
	if err == nil {
		s.ending.Add(1)
	}
	return marked, err
}

// ListNamespace answers the namespaces.
func (s *server) ListNamespace(c echo.Context, p vmi.ListNamespaceParams) error {
	return s.list(exchangeOf(c), clusterScope, listParams(p))
}

// ReadNamespace answers one namespace.
func (s *server) ReadNamespace(c echo.Context, name string, p vmi.ReadNamespaceParams) error {
	return s.read(exchangeOf(c), clusterScope, name, p.ResourceVersion, p.IncludeObject)
}

// CreateNamespace stores a new one.
func (s *server) CreateNamespace(c echo.Context, p clusterserver.CreateNamespaceParams) error {
	return s.create(exchangeOf(c), clusterScope, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// ReplaceNamespace stores a new version of one.
func (s *server) ReplaceNamespace(c echo.Context, name string, p clusterserver.ReplaceNamespaceParams) error {
	return s.replace(exchangeOf(c), clusterScope, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// PatchNamespace changes one.
func (s *server) PatchNamespace(c echo.Context, name string, p clusterserver.PatchNamespaceParams) error {
	return s.patch(exchangeOf(c), clusterScope, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject}, p.Force)
}

// DeleteNamespace deletes one and all that is in it.
func (s *server) DeleteNamespace(c echo.Context, name string, p clusterserver.DeleteNamespaceParams) error {
	return s.endNamespace(exchangeOf(c), name, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents})
}
