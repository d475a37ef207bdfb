package openapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The documents are parsed anew here: what Published returns is made once.

func TestPublishingIsDeterministic(t *testing.T) {
	for _, p := range Profiles() {
		var first *Published
		for range 8 {
			doc, err := parse(p)
			require.NoError(t, err)
			published, err := publish(doc)
			require.NoError(t, err)
			if first == nil {
				first = published
			}
			require.Equal(t, first, published, p)
		}
	}
}

// Nothing is lost or added on the way but names and extensions.
func TestPublishedSchemasAreThoseOfTheDocument(t *testing.T) {
	plain := strings.NewReplacer(homeMeta, "", "io.kubevirt.v1.", "", "io.k8s.api.core.v1.", "",
		"io.k8s.api.apiextensions.v1.", "", "io.k8s.api.authorization.v1.", "", "io.k8s.api.coordination.v1.", "")
	for _, p := range Profiles() {
		doc, err := parse(p)
		require.NoError(t, err)
		published, err := publish(doc)
		require.NoError(t, err)
		old, ok := published.groups[oldKubevirtGroup]
		require.True(t, ok)
		text := published.groups[kubevirtGroup].JSON
		assert.NotContains(t, string(old.JSON), `"kubevirt.io/v1"`)
		assert.Equal(t, string(text), strings.ReplaceAll(string(old.JSON), "v1alpha3", "v1"), "nothing but the version differs")
		delete(published.groups, oldKubevirtGroup)
		for name, group := range published.groups {
			var got struct {
				Components struct{ Schemas map[string]any }
			}
			require.NoError(t, json.Unmarshal([]byte(plain.Replace(string(group.JSON))), &got))
			require.NotEmpty(t, got.Components.Schemas)
			for schema, tree := range got.Components.Schemas {
				text, err := json.Marshal(doc.Components.Schemas[schema])
				require.NoError(t, err)
				var want any
				require.NoError(t, json.Unmarshal(text, &want))
				assert.Equal(t, want, withoutExtensions(tree), "%s: %s: %s", p, name, schema)
			}
		}
	}
}

func withoutExtensions(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			if strings.HasPrefix(key, "x-kubernetes-") {
				delete(v, key)
			} else {
				withoutExtensions(value)
			}
		}
	case []any:
		for _, value := range v {
			withoutExtensions(value)
		}
	}
	return tree
}

func TestHomesOfSchemas(t *testing.T) {
	for group, want := range map[string]string{
		"api/v1":                       "io.k8s.api.core.v1.",
		"apis/apps/v1":                 "io.k8s.api.apps.v1.",
		"apis/coordination.k8s.io/v1":  "io.k8s.api.coordination.v1.",
		"apis/kubevirt.io/v1alpha3":    "io.kubevirt.v1alpha3.",
		"apis/cdi.kubevirt.io/v1beta1": "io.kubevirt.cdi.v1beta1.",
	} {
		assert.Equal(t, want, homeOf(group))
	}
}

func TestGroupsOfPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/api": "", "/api/v1": "", "/apis": "", "/apis/kubevirt.io": "", "/apis/kubevirt.io/v1": "", "/version": "", "/openapi/v3": "",
		"/api/v1/namespaces":                           "api/v1",
		"/apis/kubevirt.io/v1/virtualmachineinstances": "apis/kubevirt.io/v1",
	} {
		group, ok := groupOf(path)
		assert.Equal(t, want, group, path)
		assert.Equal(t, want != "", ok, path)
	}
}
