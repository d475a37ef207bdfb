package server

import (
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
	"github.com/vmikit/vmikit/server/store"
)

// machines are the VirtualMachineInstances of a store.
func machines(st store.Store) *resource {
	return &resource{
		group: group, version: version,
		discovered: vmi.APIResource{
			Name:         plural,
			SingularName: strings.ToLower(kind),
			Namespaced:   true,
			Kind:         kind,
			Verbs:        []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
			ShortNames:   []string{"vmi", "vmis"},
			Categories:   []string{"all"},
			// Clients compare it to see that two versions are stored as one.
			StorageVersionHash: storageVersionHash(group + "/" + version + "/" + kind),
		},
		store:   st,
		columns: machineColumns,
		owners:  managedfields.VirtualMachineInstance,
	}
}

// oldVersion is a resource in a version that is deprecated.
func oldVersion(r *resource, version string) *resource {
	old := *r
	old.version, old.storedAs = version, r.apiVersion()
	return &old
}

// ListNamespacedVirtualMachineInstance answers a list of one namespace. One that
// has no machines, or no valid name, is an empty list, as in a cluster.
func (s *server) ListNamespacedVirtualMachineInstance(c echo.Context, namespace string, p vmi.ListNamespacedVirtualMachineInstanceParams) error {
	return s.list(exchangeOf(c), namespace, p)
}

// ListVirtualMachineInstanceForAllNamespaces answers a list over all namespaces.
func (s *server) ListVirtualMachineInstanceForAllNamespaces(c echo.Context, p vmi.ListVirtualMachineInstanceForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ReadNamespacedVirtualMachineInstance answers one machine.
func (s *server) ReadNamespacedVirtualMachineInstance(c echo.Context, namespace, name string, p vmi.ReadNamespacedVirtualMachineInstanceParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}

// CreateNamespacedVirtualMachineInstance stores a new machine.
func (s *server) CreateNamespacedVirtualMachineInstance(c echo.Context, namespace string, p vmi.CreateNamespacedVirtualMachineInstanceParams) error {
	return s.create(exchangeOf(c), namespace, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// ReplaceNamespacedVirtualMachineInstance stores a new version of a machine.
func (s *server) ReplaceNamespacedVirtualMachineInstance(c echo.Context, namespace, name string, p vmi.ReplaceNamespacedVirtualMachineInstanceParams) error {
	return s.replace(exchangeOf(c), namespace, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// PatchNamespacedVirtualMachineInstance changes a machine.
func (s *server) PatchNamespacedVirtualMachineInstance(c echo.Context, namespace, name string, p vmi.PatchNamespacedVirtualMachineInstanceParams) error {
	return s.patch(exchangeOf(c), namespace, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject}, p.Force)
}

// DeleteNamespacedVirtualMachineInstance deletes a machine, or begins to when it has
// finalizers.
func (s *server) DeleteNamespacedVirtualMachineInstance(c echo.Context, namespace, name string, p vmi.DeleteNamespacedVirtualMachineInstanceParams) error {
	return s.delete(exchangeOf(c), namespace, name, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents})
}

// DeleteCollectionNamespacedVirtualMachineInstance deletes what a list shows.
func (s *server) DeleteCollectionNamespacedVirtualMachineInstance(c echo.Context, namespace string, p vmi.DeleteCollectionNamespacedVirtualMachineInstanceParams) error {
	return s.deleteCollection(exchangeOf(c), namespace, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents}, listParams{
		LabelSelector: p.LabelSelector, FieldSelector: p.FieldSelector, Limit: p.Limit, Continue: p.Continue,
		ResourceVersion: p.ResourceVersion, ResourceVersionMatch: p.ResourceVersionMatch,
	})
}
