package server

import (
	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
)

// newKubeVirts has the installation that a cluster with KubeVirt has.
func (s *server) newKubeVirts() *resource {
	return &resource{
		group: group, version: version,
		discovered: vmi.APIResource{
			Name: "kubevirts", SingularName: "kubevirt", Namespaced: true, Kind: "KubeVirt", Verbs: readVerbs,
			ShortNames: []string{"kv", "kvs"}, Categories: []string{"all"},
		},
		store: s.newStore(),
		columns: []column{nameColumn, ageColumn,
			jsonPathColumn("Phase", "string", ".status.phase", 0, field("status", "phase"))},
	}
}

func kubevirtInstallation() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "kubevirt", "namespace": "kubevirt"},
		"spec":     map[string]any{},
		"status": map[string]any{
			"phase": "Deployed",
			"conditions": []any{
				condition("Available", "True", "AllComponentsReady"),
				condition("Progressing", "False", "AllComponentsReady"),
				condition("Degraded", "False", "AllComponentsReady"),
				condition("Created", "True", "AllResourcesCreated"),
			},
		},
	}
}

// condition is one of an object's status.
func condition(kind, status, reason string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": ""}
}

// ListKubeVirtForAllNamespaces answers the installations of all namespaces.
func (s *server) ListKubeVirtForAllNamespaces(c echo.Context, p clusterserver.ListKubeVirtForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ListNamespacedKubeVirt answers the installations of a namespace.
func (s *server) ListNamespacedKubeVirt(c echo.Context, namespace string, p clusterserver.ListNamespacedKubeVirtParams) error {
	return s.list(exchangeOf(c), namespace, listParams(p))
}

// ReadNamespacedKubeVirt answers one of them.
func (s *server) ReadNamespacedKubeVirt(c echo.Context, namespace, name string, p clusterserver.ReadNamespacedKubeVirtParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}
