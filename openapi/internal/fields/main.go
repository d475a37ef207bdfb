// Command fields lists the fields of a VirtualMachineInstance as KubeVirt's
// CustomResourceDefinition has them, one path a line, for package openapi to
// tell fields that nobody knows. `make generate` runs it:
//
//	fields OUT CRD.json
//
// In a path NAME[*] is an item of an array, NAME[name] a value of a map and
// NAME[?] an object in which any name is good. Fields inside of which there are
// others are not listed by themselves.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: fields OUT CRD.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "fields:", err)
		os.Exit(1)
	}
}

func run(out, crd string) error {
	data, err := os.ReadFile(crd)
	if err != nil {
		return err
	}
	paths, err := fields(data)
	if err != nil {
		return fmt.Errorf("%s: %w", crd, err)
	}
	header := fmt.Sprintf("# Code generated from %s by `make generate`. DO NOT EDIT.\n", filepath.Base(crd))
	return os.WriteFile(out, []byte(header+strings.Join(paths, "\n")+"\n"), 0o644)
}

// version is the version of the resource whose fields are listed.
const version = "v1"

type definition struct {
	Spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				Root schema `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// schema is what a structural schema says about names (Kubernetes
// documentation, "Specifying a structural schema").
type schema struct {
	Properties           map[string]schema `json:"properties"`
	Items                *schema           `json:"items"`
	AdditionalProperties *schema           `json:"additionalProperties"`
	PreserveUnknown      bool              `json:"x-kubernetes-preserve-unknown-fields"`
}

func fields(crd []byte) ([]string, error) {
	var d definition
	if err := json.Unmarshal(crd, &d); err != nil {
		return nil, err
	}
	for _, v := range d.Spec.Versions {
		if v.Name != version {
			continue
		}
		root := v.Schema.Root
		if len(root.Properties) == 0 {
			return nil, fmt.Errorf("version %s has no fields", version)
		}
		// A definition leaves metadata to the API server.
		delete(root.Properties, "metadata")
		paths, err := appendFields(slices.Clone(objectMeta), "", root)
		if err != nil {
			return nil, err
		}
		slices.Sort(paths)
		return paths, nil
	}
	return nil, fmt.Errorf("no version %s", version)
}

func appendFields(paths []string, path string, s schema) ([]string, error) {
	switch {
	case s.PreserveUnknown:
		return append(paths, path+"[?]"), nil
	case s.Items != nil:
		return appendFields(paths, path+"[*]", *s.Items)
	case s.AdditionalProperties != nil:
		return appendFields(paths, path+"[name]", *s.AdditionalProperties)
	case len(s.Properties) == 0:
		return append(paths, path), nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == "" || strings.ContainsAny(name, ".[]\n#") {
			return nil, errors.New("name that a path cannot have: " + name)
		}
		below := name
		if path != "" {
			below = path + "." + name
		}
		var err error
		if paths, err = appendFields(paths, below, s.Properties[name]); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// objectMeta are the fields of meta/v1 ObjectMeta, selfLink included, which old
// servers still send.
var objectMeta = []string{
	"metadata.annotations[name]",
	"metadata.creationTimestamp",
	"metadata.deletionGracePeriodSeconds",
	"metadata.deletionTimestamp",
	"metadata.finalizers[*]",
	"metadata.generateName",
	"metadata.generation",
	"metadata.labels[name]",
	"metadata.managedFields[*].apiVersion",
	"metadata.managedFields[*].fieldsType",
	"metadata.managedFields[*].fieldsV1[?]",
	"metadata.managedFields[*].manager",
	"metadata.managedFields[*].operation",
	"metadata.managedFields[*].subresource",
	"metadata.managedFields[*].time",
	"metadata.name",
	"metadata.namespace",
	"metadata.ownerReferences[*].apiVersion",
	"metadata.ownerReferences[*].blockOwnerDeletion",
	"metadata.ownerReferences[*].controller",
	"metadata.ownerReferences[*].kind",
	"metadata.ownerReferences[*].name",
	"metadata.ownerReferences[*].uid",
	"metadata.resourceVersion",
	"metadata.selfLink",
	"metadata.uid",
}
