package server

import (
	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
)

// Clients of a cluster list these before they show anything. There are none here.

// newPods are none: nothing here runs in pods.
func (s *server) newPods() *resource {
	return &resource{
		version: "v1",
		discovered: vmi.APIResource{
			Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", Verbs: readVerbs,
			ShortNames: []string{"po"}, Categories: []string{"all"},
		},
		store:  s.newStore(),
		native: true,
		selectable: fields("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
			"spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"),
		columns: []column{nameColumn,
			{"Ready", "string", "", "The aggregate readiness state of this pod for accepting traffic.", 0, none},
			{"Status", "string", "", "The aggregate status of the containers in this pod.", 0, field("status", "phase")},
			{"Restarts", "string", "", "The number of times the containers in this pod have been restarted.", 0, none},
			nativeAgeColumn},
	}
}

// newSecrets are none.
func (s *server) newSecrets() *resource {
	return &resource{
		version:    "v1",
		discovered: vmi.APIResource{Name: "secrets", SingularName: "secret", Namespaced: true, Kind: "Secret", Verbs: readVerbs},
		store:      s.newStore(),
		native:     true,
		selectable: fields("type"),
		columns: []column{nameColumn,
			{"Type", "string", "", "Used to facilitate programmatic handling of secret data.", 0, field("type")},
			{"Data", "string", "", "The number of data entries.", 0, none},
			nativeAgeColumn},
	}
}

// newClaims are none.
func (s *server) newClaims() *resource {
	return &resource{
		version: "v1",
		discovered: vmi.APIResource{
			Name: "persistentvolumeclaims", SingularName: "persistentvolumeclaim", Namespaced: true, Kind: "PersistentVolumeClaim",
			Verbs: readVerbs, ShortNames: []string{"pvc"},
		},
		store:  s.newStore(),
		native: true,
		columns: []column{nameColumn,
			{"Status", "string", "", "The current phase of the claim.", 0, field("status", "phase")},
			{"Volume", "string", "", "The volume that is bound to the claim.", 0, field("spec", "volumeName")},
			nativeAgeColumn},
	}
}

// ListPodForAllNamespaces answers the pods of all namespaces.
func (s *server) ListPodForAllNamespaces(c echo.Context, p clusterserver.ListPodForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ListNamespacedPod answers the pods of a namespace.
func (s *server) ListNamespacedPod(c echo.Context, namespace string, p clusterserver.ListNamespacedPodParams) error {
	return s.list(exchangeOf(c), namespace, listParams(p))
}

// ReadNamespacedPod answers one of them.
func (s *server) ReadNamespacedPod(c echo.Context, namespace, name string, p clusterserver.ReadNamespacedPodParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}

// ListSecretForAllNamespaces answers the secrets of all namespaces.
func (s *server) ListSecretForAllNamespaces(c echo.Context, p clusterserver.ListSecretForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ListNamespacedSecret answers the secrets of a namespace.
func (s *server) ListNamespacedSecret(c echo.Context, namespace string, p clusterserver.ListNamespacedSecretParams) error {
	return s.list(exchangeOf(c), namespace, listParams(p))
}

// ReadNamespacedSecret answers one of them.
func (s *server) ReadNamespacedSecret(c echo.Context, namespace, name string, p clusterserver.ReadNamespacedSecretParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}

// ListPersistentVolumeClaimForAllNamespaces answers the claims of all namespaces.
func (s *server) ListPersistentVolumeClaimForAllNamespaces(c echo.Context, p clusterserver.ListPersistentVolumeClaimForAllNamespacesParams) error {
	return s.list(exchangeOf(c), "", listParams(p))
}

// ListNamespacedPersistentVolumeClaim answers the claims of a namespace.
func (s *server) ListNamespacedPersistentVolumeClaim(c echo.Context, namespace string, p clusterserver.ListNamespacedPersistentVolumeClaimParams) error {
	return s.list(exchangeOf(c), namespace, listParams(p))
}

// ReadNamespacedPersistentVolumeClaim answers one of them.
func (s *server) ReadNamespacedPersistentVolumeClaim(c echo.Context, namespace, name string, p clusterserver.ReadNamespacedPersistentVolumeClaimParams) error {
	return s.read(exchangeOf(c), namespace, name, p.ResourceVersion, p.IncludeObject)
}
