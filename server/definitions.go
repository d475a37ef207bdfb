package server

import (
	"encoding/json"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/clusterserver"
	"github.com/vmikit/vmikit/gen/vmi"
)

// newDefinitions has the definition of the machines.
func (s *server) newDefinitions() *resource {
	return &resource{
		group: "apiextensions.k8s.io", version: "v1",
		discovered: vmi.APIResource{
			Name: "customresourcedefinitions", SingularName: "customresourcedefinition", Kind: "CustomResourceDefinition",
			Verbs: readVerbs, ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"},
		},
		store:  s.newStore(),
		native: true,
		columns: []column{nameColumn,
			{"Created At", "date", "", "The time at which the definition was created.", 0, field("metadata", "creationTimestamp")}},
	}
}

// definition says of the machines what clients look up in a definition: names, columns
// and versions. What their fields are is in the OpenAPI document.
func (s *server) definition() map[string]any {
	d := s.machines.discovered
	names := map[string]any{
		"plural": d.Name, "singular": d.SingularName, "kind": d.Kind, "listKind": d.Kind + "List",
		"shortNames": d.ShortNames, "categories": d.Categories,
	}
	printed := make([]any, 0, len(machineColumns))
	for _, c := range machineColumns[1:] { // The API server puts the name in front.
		printed = append(printed, map[string]any{"name": c.name, "type": c.kind, "jsonPath": c.jsonPath(), "priority": json.Number(strconv.Itoa(int(c.priority)))})
	}
	of := func(version string, storage, deprecated bool) map[string]any {
		v := map[string]any{
			"name": version, "served": true, "storage": storage, "additionalPrinterColumns": printed,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		}
		if deprecated {
			v["deprecated"] = true
		}
		return v
	}
	return map[string]any{
		"metadata": map[string]any{"name": s.machines.qualified()},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": names, "conversion": map[string]any{"strategy": "None"},
			"versions": []any{of(version, true, false), of(oldVersionName, false, true)},
		},
		"status": map[string]any{
			"acceptedNames": names, "storedVersions": []string{version},
			"conditions": []any{condition("NamesAccepted", "True", "NoConflicts"), condition("Established", "True", "InitialNamesAccepted")},
		},
	}
}

// ListCustomResourceDefinition answers the definitions.
func (s *server) ListCustomResourceDefinition(c echo.Context, p clusterserver.ListCustomResourceDefinitionParams) error {
	return s.list(exchangeOf(c), clusterScope, listParams(p))
}

// ReadCustomResourceDefinition answers one of them.
func (s *server) ReadCustomResourceDefinition(c echo.Context, name string, p clusterserver.ReadCustomResourceDefinitionParams) error {
	return s.read(exchangeOf(c), clusterScope, name, p.ResourceVersion, p.IncludeObject)
}
