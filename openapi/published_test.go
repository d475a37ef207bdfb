package openapi_test

import (
	"context"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

const kubevirtV1 = "apis/kubevirt.io/v1"

// published returns what a server of the profile publishes of a group.
func published(t *testing.T, p openapi.Profile, group string) *openapi3.T {
	t.Helper()
	d, err := openapi.LoadServer(p)
	require.NoError(t, err)
	all, err := d.Published()
	require.NoError(t, err)
	g, ok := all.Group(group)
	require.True(t, ok, group)
	doc, err := openapi3.NewLoader().LoadFromData(g.JSON)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(context.Background()))
	return doc
}

func TestPublishedIndex(t *testing.T) {
	for _, p := range openapi.Profiles() {
		d, err := openapi.LoadServer(p)
		require.NoError(t, err)
		all, err := d.Published()
		require.NoError(t, err)
		var index struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		require.NoError(t, json.Unmarshal(all.Index(""), &index))
		assert.Subset(t, slices.Collect(maps.Keys(index.Paths)), []string{"api/v1", kubevirtV1})
		for path, entry := range index.Paths {
			group, ok := all.Group(path)
			require.True(t, ok, path)
			assert.Equal(t, fmt.Sprintf("%X", sha512.Sum512(group.JSON)), group.Hash)
			assert.Equal(t, "/openapi/v3/"+path+"?hash="+group.Hash, entry.ServerRelativeURL)
		}
		again, err := d.Published()
		require.NoError(t, err)
		assert.Same(t, all, again)
		_, ok := all.Group("apis/nosuch/v1")
		assert.False(t, ok)
	}
}

// The given document alone has two operations, and is published as well.
func TestPublishedOfTheDocumentAlone(t *testing.T) {
	all, err := load(t, openapi.ProfileDocument).Published()
	require.NoError(t, err)
	group, ok := all.Group(kubevirtV1)
	require.True(t, ok)
	assert.Equal(t, 2, strings.Count(string(group.JSON), `"operationId"`))
	_, ok = all.Group("api/v1")
	assert.False(t, ok)
}

// Every operation on resources is published, with the parameters in place.
func TestPublishedOperations(t *testing.T) {
	kinds := map[string]map[string]any{
		kubevirtV1: {"group": "kubevirt.io", "kind": "VirtualMachineInstance", "version": "v1"},
		"api/v1":   {"group": "", "kind": "Namespace", "version": "v1"},
	}
	for _, p := range openapi.Profiles() {
		server, err := openapi.LoadServer(p)
		require.NoError(t, err)
		for group, kind := range kinds {
			doc := published(t, p, group)
			assert.Equal(t, "3.0.3", doc.OpenAPI)
			assert.Empty(t, doc.Components.Parameters)
			count := 0
			for path, item := range doc.Paths.Map() {
				for method, op := range item.Operations() {
					count++
					var names, want []string
					for _, ref := range op.Parameters {
						assert.Empty(t, ref.Ref)
						names = append(names, ref.Value.Name)
					}
					for _, parameter := range server.Operation(op.OperationID).Parameters() {
						want = append(want, parameter.Name)
					}
					assert.Equal(t, want, names, op.OperationID)
					if strings.Contains(path, "/virtualmachineinstances") || strings.HasPrefix("/api/v1/namespaces/{name}", path) {
						assert.Equal(t, kind, op.Extensions["x-kubernetes-group-version-kind"], "%s %s", method, path)
					}
				}
			}
			for _, op := range server.Operations() {
				if strings.HasPrefix(op.Path(), "/"+group+"/") {
					count--
				}
			}
			assert.Zero(t, count, "operations that are not published")
		}
	}
}

func TestPublishedActions(t *testing.T) {
	got := make(map[string]any)
	for _, item := range published(t, openapi.ProfileKubeVirt, kubevirtV1).Paths.Map() {
		for _, op := range item.Operations() {
			got[op.OperationID] = op.Extensions["x-kubernetes-action"]
		}
	}
	assert.Equal(t, map[string]any{
		listID: "list",
		readID: "get",
		"listVirtualMachineInstanceForAllNamespaces":       "list",
		"createNamespacedVirtualMachineInstance":           "post",
		"replaceNamespacedVirtualMachineInstance":          "put",
		"patchNamespacedVirtualMachineInstance":            "patch",
		"deleteNamespacedVirtualMachineInstance":           "delete",
		"deleteCollectionNamespacedVirtualMachineInstance": "deletecollection",
		"listKubeVirtForAllNamespaces":                     "list",
		"listNamespacedKubeVirt":                           "list",
		"readNamespacedKubeVirt":                           "get",
	}, got)
}

func TestPublishedSchemas(t *testing.T) {
	schemas := published(t, openapi.ProfileKubeVirt, kubevirtV1).Components.Schemas
	machine := schemas["io.kubevirt.v1.VirtualMachineInstance"]
	require.NotNil(t, machine)
	assert.Equal(t, []any{map[string]any{"group": "kubevirt.io", "kind": "VirtualMachineInstance", "version": "v1"}},
		machine.Value.Extensions["x-kubernetes-group-version-kind"])
	assert.Equal(t, "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", machine.Value.Properties["metadata"].Ref)
	assert.True(t, schemas["io.kubevirt.v1.Condition"].Value.Properties["lastProbeTime"].Value.Nullable)
	assert.Nil(t, schemas["io.kubevirt.v1.DomainSpec"].Value.Extensions["x-kubernetes-group-version-kind"])
}

// What the document leaves open must be open for clients, or they drop it.
func TestPublishedObjectsAreOpen(t *testing.T) {
	for _, p := range openapi.Profiles() {
		doc := published(t, p, kubevirtV1)
		opened := 0
		require.NoError(t, doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
			s := ref.Value
			isMap := s.AdditionalProperties.Schema != nil
			want := (s.Type == nil || s.Type.Is("object")) && !isMap
			if want {
				opened++
			}
			assert.Equal(t, want, s.Extensions["x-kubernetes-preserve-unknown-fields"] == true, "%s: %s", p, pointer)
			return nil
		}))
		assert.Greater(t, opened, 30)
	}
}
