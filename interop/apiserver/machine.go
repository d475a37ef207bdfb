package apiserver

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// manifestFiles are machines of different kinds and in different phases, each without
// what tells one machine from another. All profiles take them, and so does the CRD.
//
//go:embed machines
var manifestFiles embed.FS

func readManifests() ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(manifestFiles, "machines/*.yaml")
	if err != nil {
		return nil, err
	}
	var kinds []*unstructured.Unstructured
	for _, name := range names {
		data, err := manifestFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := yaml.Unmarshal(data, &object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		kinds = append(kinds, &unstructured.Unstructured{Object: object})
	}
	return kinds, nil
}

// draw makes a machine after one of the manifests.
func draw(random *rand.Rand, manifests []*unstructured.Unstructured, namespace, name string) (*unstructured.Unstructured, error) {
	machine := manifests[random.IntN(len(manifests))].DeepCopy()
	machine.SetNamespace(namespace)
	machine.SetName(name)
	machine.SetLabels(drawLabels(random))
	mac := fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", random.IntN(256), random.IntN(256), random.IntN(256), random.IntN(256))
	uuid := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), random.IntN(1<<16), random.IntN(1<<12), random.IntN(1<<12), random.Int64N(1<<48))
	err := unstructured.SetNestedField(machine.Object, uuid, "spec", "domain", "firmware", "uuid")
	if err == nil {
		err = setFirst(machine, mac, "macAddress", "spec", "domain", "devices", "interfaces")
	}
	if phase, _, _ := unstructured.NestedString(machine.Object, "status", "phase"); phase == "Running" && err == nil {
		node := fmt.Sprintf("node-%d", 1+random.IntN(3))
		err = errors.Join(unstructured.SetNestedField(machine.Object, node, "status", "nodeName"),
			setFirst(machine, mac, "mac", "status", "interfaces"))
	}
	if err != nil {
		return nil, fmt.Errorf("machine %s/%s: %w", namespace, name, err)
	}
	return machine, nil
}

// setFirst sets a field of the first item of the list at path.
func setFirst(machine *unstructured.Unstructured, value, field string, path ...string) error {
	items, _, err := unstructured.NestedSlice(machine.Object, path...)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return fmt.Errorf("nothing at %s", strings.Join(path, "."))
	}
	first, ok := items[0].(map[string]any)
	if !ok {
		return fmt.Errorf("no object at %s", strings.Join(path, "."))
	}
	first[field] = value
	return unstructured.SetNestedSlice(machine.Object, items, path...)
}
