package server

import (
	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
)

// newLeases are the leases by which one of several managers comes to lead.
func (s *server) newLeases() *resource {
	return &resource{
		group: "coordination.k8s.io", version: "v1",
		discovered:   vmi.APIResource{Name: "leases", SingularName: "lease", Namespaced: true, Kind: "Lease", Verbs: writeVerbs},
		store:        s.newStore(),
		native:       true,
		createdByPut: true,
		columns: []column{nameColumn,
			{"Holder", "string", "", "The identity of the holder of the lease.", 0, field("spec", "holderIdentity")},
			nativeAgeColumn},
		owners: managedfields.NewSchema("Lease", []string{"coordination.k8s.io/v1"}),
	}
}

// ListLeaseForAllNamespaces answers the leases of all namespaces.
func (s *server) ListLeaseForAllNamespaces(c echo.Context, p clusterserver.ListLeaseForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ListNamespacedLease answers the leases of a namespace.
func (s *server) ListNamespacedLease(c echo.Context, namespace string, p clusterserver.ListNamespacedLeaseParams) error {
	return s.list(exchangeOf(c), namespace, listParams(p))
}

// ReadNamespacedLease answers one of them.
func (s *server) ReadNamespacedLease(c echo.Context, namespace, name string, p clusterserver.ReadNamespacedLeaseParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}

// CreateNamespacedLease stores a new one.
func (s *server) CreateNamespacedLease(c echo.Context, namespace string, p clusterserver.CreateNamespacedLeaseParams) error {
	return s.create(exchangeOf(c), namespace, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// ReplaceNamespacedLease stores a new version of one.
func (s *server) ReplaceNamespacedLease(c echo.Context, namespace, name string, p clusterserver.ReplaceNamespacedLeaseParams) error {
	return s.replace(exchangeOf(c), namespace, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject})
}

// PatchNamespacedLease changes one.
func (s *server) PatchNamespacedLease(c echo.Context, namespace, name string, p clusterserver.PatchNamespacedLeaseParams) error {
	return s.patch(exchangeOf(c), namespace, name, writeParams{p.DryRun, p.FieldValidation, p.FieldManager, p.IncludeObject}, p.Force)
}

// DeleteNamespacedLease deletes one.
func (s *server) DeleteNamespacedLease(c echo.Context, namespace, name string, p clusterserver.DeleteNamespacedLeaseParams) error {
	return s.delete(exchangeOf(c), namespace, name, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents})
}

// DeleteCollectionNamespacedLease deletes what a list shows.
func (s *server) DeleteCollectionNamespacedLease(c echo.Context, namespace string, p clusterserver.DeleteCollectionNamespacedLeaseParams) error {
	return s.deleteCollection(exchangeOf(c), namespace, deleteParams{p.DryRun, p.PropagationPolicy, p.OrphanDependents}, listParams{
		LabelSelector: p.LabelSelector, FieldSelector: p.FieldSelector, Limit: p.Limit, Continue: p.Continue,
		ResourceVersion: p.ResourceVersion, ResourceVersionMatch: p.ResourceVersionMatch,
	})
}
