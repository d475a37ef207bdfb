package published_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	clientopenapi "k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	explain "k8s.io/kubectl/pkg/explain/v2"
	"sigs.k8s.io/yaml"

	"github.com/vmikit/vmikit/openapi"
)

var (
	kind      = schema.GroupVersionKind{Group: "kubevirt.io", Version: "v1", Kind: "VirtualMachineInstance"}
	resources = kind.GroupVersion().WithResource("virtualmachineinstances")
)

// serve answers /openapi/v3 of a profile, for a client of the kind that kubectl has.
func serve(t *testing.T, p openapi.Profile) (clientopenapi.Client, *rest.Config) {
	t.Helper()
	doc, err := openapi.LoadServer(p)
	require.NoError(t, err)
	published, err := doc.Published()
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, "/openapi/v3")
		body := published.Index("")
		if group, found := published.Group(strings.TrimPrefix(path, "/")); found {
			assert.Equal(t, group.Hash, r.URL.Query().Get("hash"))
			body = group.JSON
		} else if !ok || path != "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write(body)
		assert.NoError(t, err)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	return client.OpenAPIV3(), config
}

// kubectl asks this before it creates or applies with validation.
func TestFieldValidationIsFound(t *testing.T) {
	for _, p := range openapi.Profiles() {
		client, config := serve(t, p)
		dynamicClient, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		for _, name := range []resource.VerifiableQueryParam{resource.QueryParamFieldValidation, "dryRun", "fieldManager", "force"} {
			assert.NoError(t, resource.NewQueryParamVerifierV3(dynamicClient, client, name).HasSupport(kind), "%s %s", p, name)
		}
		assert.Error(t, resource.NewQueryParamVerifierV3(dynamicClient, client, "nosuch").HasSupport(kind))
	}
}

func TestSpecIsReadWhole(t *testing.T) {
	client, _ := serve(t, openapi.ProfileKubeVirt)
	root := openapi3.NewRoot(client)
	versions, err := root.GroupVersions()
	require.NoError(t, err)
	assert.Subset(t, versions, []schema.GroupVersion{{Version: "v1"}, kind.GroupVersion()})
	for _, version := range versions {
		spec, err := root.GVSpec(version)
		require.NoError(t, err, version)
		tree, err := root.GVSpecAsMap(version)
		require.NoError(t, err, version)
		assert.Len(t, spec.Paths.Paths, len(tree["paths"].(map[string]any)))
		assert.Len(t, spec.Components.Schemas, len(tree["components"].(map[string]any)["schemas"].(map[string]any)))
	}
}

func TestExplain(t *testing.T) {
	client, _ := serve(t, openapi.ProfileKubeVirt)
	for field, lines := range map[string][]string{
		"":                                     {"KIND:       VirtualMachineInstance", "VERSION:    v1", "spec\t<VirtualMachineInstanceSpec>"},
		"spec.domain.cpu":                      {"FIELD: cpu <Object>", "CPU configuration for the VM.", "cores\t<integer>", "dedicatedCpuPlacement\t<boolean>"},
		"status.phase":                         {"FIELD: phase <string>", "Current lifecycle phase of the VMI.", "WaitingForSync"},
		"metadata.labels":                      {"FIELD: labels <map[string]string>"},
		"spec.domain.devices.interfaces.model": {"FIELD: model <string>", "ne2k_pci"},
	} {
		path := strings.FieldsFunc(field, func(r rune) bool { return r == '.' })
		var out bytes.Buffer
		require.NoError(t, explain.PrintModelDescription(path, &out, client, resources, false, 0, "plaintext"), field)
		for _, line := range lines {
			assert.Contains(t, out.String(), line, field)
		}
	}
	var out bytes.Buffer
	require.NoError(t, explain.PrintModelDescription(nil, &out, client, resources, true, 0, "plaintext"))
	assert.Contains(t, out.String(), "secureBoot\t<boolean>")
	assert.EqualError(t, explain.PrintModelDescription([]string{"spec", "nosuch"}, &out, client, resources, false, 0, "plaintext"),
		`error: field "nosuch" does not exist`)
}

// Clients that apply on their own side (client-go's typed extract, Argo CD) know the
// fields from the schemas alone. None may refuse or lose what the document leaves open.
func TestNoFieldIsLostOnTheClientsSide(t *testing.T) {
	client, _ := serve(t, openapi.ProfileKubeVirt)
	converter, err := clientopenapi.NewTypeConverter(client, false)
	require.NoError(t, err)
	files, err := filepath.Glob("../../../openapi/testdata/corpus/*.yaml")
	require.NoError(t, err)
	doc, err := openapi.LoadServer(openapi.ProfileKubeVirt)
	require.NoError(t, err)
	converted := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		object := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON(text)
		require.NoError(t, err)
		if len(doc.ValidateObject(data)) > 0 {
			continue
		}
		require.NoError(t, yaml.Unmarshal(text, &object.Object))
		require.NoError(t, unstructured.SetNestedField(object.Object, map[string]any{"deeper": []any{int64(1)}}, "spec", "domain", "nobodyKnows"))
		typed, err := converter.ObjectToTyped(object)
		if !assert.NoError(t, err, file) {
			continue
		}
		back, err := converter.TypedToObject(typed)
		require.NoError(t, err, file)
		got, err := runtime.DefaultUnstructuredConverter.ToUnstructured(back)
		require.NoError(t, err)
		assert.Equal(t, object.Object, got, file)
		converted++
	}
	assert.Greater(t, converted, 20)
}
