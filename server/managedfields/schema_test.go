package managedfields_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/managedfields"
)

// definition is KubeVirt's CustomResourceDefinition.
type definition struct {
	Spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				Root structural `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

func readDefinition(t *testing.T) definition {
	data, err := os.ReadFile("../../openapi/testdata/kubevirt-crd.json")
	require.NoError(t, err)
	var crd definition
	require.NoError(t, json.Unmarshal(data, &crd))
	require.Len(t, crd.Spec.Versions, 2)
	return crd
}

// structural is what matters here of a schema in a CustomResourceDefinition.
type structural struct {
	Type                 string                `json:"type"`
	Properties           map[string]structural `json:"properties"`
	AdditionalProperties *structural           `json:"additionalProperties"`
	Items                *structural           `json:"items"`
	ListType             string                `json:"x-kubernetes-list-type"`
	ListMapKeys          []string              `json:"x-kubernetes-list-map-keys"`
	MapType              string                `json:"x-kubernetes-map-type"`
}

// sample is a value that sets every field once, and what who applies it owns by
// the schema, nil for the place as a whole.
func (s structural) sample() (v any, owned map[string]any) {
	switch s.Type {
	case "object":
		object, below := map[string]any{}, map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			object[name], below["f:"+name] = sampleOf(s.Properties[name])
		}
		if s.AdditionalProperties != nil {
			object["any"], below["f:any"] = sampleOf(*s.AdditionalProperties)
		}
		if s.MapType == "atomic" {
			below = nil
		}
		return object, below
	case "array":
		item, below := s.Items.sample()
		switch s.ListType {
		case "map":
			key := map[string]any{}
			for _, name := range s.ListMapKeys {
				key[name] = item.(map[string]any)[name]
			}
			text, _ := json.Marshal(key)
			below["."] = map[string]any{}
			return []any{item}, map[string]any{"k:" + string(text): below}
		case "set":
			text, _ := json.Marshal(item)
			return []any{item}, map[string]any{"v:" + string(text): map[string]any{}}
		}
		return []any{item}, nil
	case "integer", "number":
		return 7, nil
	case "boolean":
		return true, nil
	default:
		return "x", nil
	}
}

func sampleOf(s structural) (any, map[string]any) {
	v, owned := s.sample()
	if owned == nil {
		owned = map[string]any{}
	}
	return v, owned
}

func TestRulesAreThoseOfTheDefinition(t *testing.T) {
	crd := readDefinition(t)
	for _, version := range crd.Spec.Versions {
		apiVersion := "kubevirt.io/" + version.Name
		v, owned := version.Schema.Root.sample()
		object := v.(map[string]any)
		object["apiVersion"], object["kind"], object["metadata"] = apiVersion, "VirtualMachineInstance", map[string]any{"name": "x"}
		delete(owned, "f:apiVersion")
		delete(owned, "f:kind")
		delete(owned, "f:metadata")
		applied, err := json.Marshal(object)
		require.NoError(t, err)
		require.Greater(t, len(applied), 10000, "the sample sets every field")

		out, err := managedfields.VirtualMachineInstance.Apply(nil, applied, managedfields.Write{Manager: "m", APIVersion: apiVersion}, false)
		require.NoError(t, err)
		var got struct {
			Metadata struct {
				ManagedFields []struct {
					FieldsV1 map[string]any `json:"fieldsV1"`
				} `json:"managedFields"`
			} `json:"metadata"`
		}
		require.NoError(t, json.Unmarshal(out, &got))
		require.Len(t, got.Metadata.ManagedFields, 1)
		assert.Equal(t, owned, got.Metadata.ManagedFields[0].FieldsV1)
	}
}

// Duplicates are refused wherever the definition refuses them, inside of lists with
// one owner as well.
func TestSetsOfTheDefinition(t *testing.T) {
	crd := readDefinition(t)
	found := 0
	var walk func(s structural, wrap func(any) any)
	walk = func(s structural, wrap func(any) any) {
		if s.ListType == "set" || s.ListType == "map" {
			found++
			item, _ := s.Items.sample()
			object := wrap([]any{item, item}).(map[string]any)
			object["apiVersion"], object["kind"] = v1, "VirtualMachineInstance"
			applied, err := json.Marshal(object)
			require.NoError(t, err)
			_, err = managedfields.VirtualMachineInstance.Apply(nil, applied, managedfields.Write{APIVersion: v1}, false)
			assert.ErrorContains(t, err, "duplicate entries for key", "%s", applied)
		}
		for name, field := range s.Properties {
			walk(field, func(v any) any { return wrap(map[string]any{name: v}) })
		}
		if s.Items != nil {
			walk(*s.Items, func(v any) any { return wrap([]any{v}) })
		}
	}
	walk(crd.Spec.Versions[0].Schema.Root, func(v any) any { return v })
	assert.Equal(t, 4, found)
}
