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
	"github.com/vmikit/vmikit/openapi"
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
	d := &derived{Memory: s.newStore(), source: s.machines.store}
	r.store = d
	known := make(map[string]bool)
	d.add = func(ctx context.Context, change store.Change) error {
		name := change.Object.Key.Namespace
		if known[name] || change.Type == store.Deleted {
			return nil
		}
		if err := s.putNamespace(ctx, r, d.Memory, name); err != nil {
			return err
		}
		known[name] = true
		return nil
	}
	d.first = func(ctx context.Context) error {
		for _, name := range lastingNamespaces {
			if err := s.putNamespace(ctx, r, d.Memory, name); err != nil {
				return err
			}
		}
		return nil
	}
	d.settle = func(ctx context.Context) error {
		// One that was deleted comes back with its next machine.
		if s.ending.Load() == 0 {
			return nil
		}
		clear(known)
		return s.endNamespaces(ctx, d.Memory)
	}
	return r
}

// putNamespace makes a namespace that is there without anybody having made it.
func (s *server) putNamespace(ctx context.Context, r *resource, to store.Store, name string) error {
	object := map[string]any{"metadata": map[string]any{"name": name}}
	completeNamespace(object, nil)
	err := s.put(ctx, r, to, object)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
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
	if newRow(o).at("status", "phase") == string(vmi.NamespacePhaseTerminating) {
		why := fmt.Sprintf("namespace %s is being terminated", name)
		return failure(http.StatusForbidden, "Forbidden",
			fmt.Sprintf("%s is forbidden: unable to create new content in namespace %s because it is being terminated", r.qualified(), name)).
			details(vmi.StatusDetails{Group: r.group, Kind: r.name(), Causes: []vmi.StatusCause{
				{Reason: "NamespaceTerminating", Message: why, Field: "metadata.namespace"},
			}})
	}
	return nil
}

// endNamespace deletes a namespace with all that is in it. What has finalizers stays,
// and the namespace with it, until they are gone.
func (s *server) endNamespace(x *exchange, name string, p deleteParams) error {
	d, err := s.readDeletion(x, p)
	if err != nil {
		return err
	}
	if slices.Contains(lastingNamespaces, name) {
		return failure(http.StatusForbidden, "Forbidden", fmt.Sprintf("namespaces %q is forbidden: this namespace may not be deleted", name)).
			details(vmi.StatusDetails{Name: name, Kind: "namespaces"})
	}
	ctx, key := x.r.Context(), store.Key{Namespace: clusterScope, Name: name}
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
			for _, r := range []*resource{s.machines, s.leases, s.events} {
				if err := s.removeAll(ctx, r, name); err != nil {
					return err
				}
			}
			// Asking for the store's state settles what was ended.
			if _, err := x.resource.store.Revision(ctx); err != nil {
				return err
			}
		}
		return s.answerObject(x, http.StatusOK, ended, wanted{form: openapi.FormItem}, "")
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
	marked, err := x.resource.store.Update(x.r.Context(), draft, old.Revision)
	if err == nil {
		s.ending.Add(1)
	}
	return marked, err
}

// removeAll deletes what a resource has in a namespace.
func (s *server) removeAll(ctx context.Context, r *resource, namespace string) error {
	page, err := r.store.List(ctx, store.ListOptions{Namespace: namespace})
	if err != nil {
		return err
	}
	for _, o := range page.Objects {
		if _, err := s.removeListed(ctx, r, o, deletion{}); err != nil {
			return err
		}
	}
	return nil
}

// endNamespaces removes the namespaces that are being ended and have nothing in them
// any more.
func (s *server) endNamespaces(ctx context.Context, from *store.Memory) error {
	fields, err := store.ParseFieldSelector("status.phase="+string(vmi.NamespacePhaseTerminating), "status.phase")
	if err != nil {
		return err
	}
	page, err := from.List(ctx, store.ListOptions{Fields: fields})
	if err != nil {
		return err
	}
	for _, o := range page.Objects {
		empty := true
		for _, r := range []*resource{s.machines, s.leases, s.events} {
			in, err := r.store.List(ctx, store.ListOptions{Namespace: o.Key.Name, Limit: 1})
			if err != nil {
				return err
			}
			empty = empty && len(in.Objects) == 0
		}
		if !empty {
			continue
		}
		if _, err := from.Delete(ctx, o.Key, o.Revision); err == nil {
			s.ending.Add(-1)
		}
	}
	return nil
}

// ListNamespace answers the namespaces.
func (s *server) ListNamespace(c echo.Context, p vmi.ListNamespaceParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
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
