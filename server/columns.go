package server

import (
	"encoding/json"
	"strings"
	"time"
)

// column is a column of a table. Those of custom resources are in their definition
// (KubeVirt: pkg/virt-operator/resource/generate/components/crds.go), and the API
// server puts the name in front; those of Kubernetes' own kinds are in
// pkg/printers/internalversion.
type column struct {
	name, kind, format, description string
	priority                        int32
	cell                            func(*server, *row) any
}

const columnOfDefinition = "Custom resource definition column (in JSONPath format): "

func jsonPathColumn(name, kind, path string, priority int32, cell func(*server, *row) any) column {
	return column{name, kind, "", columnOfDefinition + path, priority, cell}
}

// jsonPath is where a column of a definition is read from.
func (c column) jsonPath() string { return strings.TrimPrefix(c.description, columnOfDefinition) }

var (
	nameColumn = column{"Name", "string", "name", "Name must be unique within a namespace. Is required when creating resources, although some resources " +
		"may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation " +
		"idempotence and configuration definition. Cannot be updated. " +
		"More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
		0, func(_ *server, r *row) any { return r.name }}
	ageColumn       = jsonPathColumn("Age", "date", ".metadata.creationTimestamp", 0, rowAge)
	nativeAgeColumn = column{"Age", "string", "", "CreationTimestamp is a timestamp representing the server time when this object was created.", 0, rowAge}
)

func rowAge(s *server, r *row) any { return age(r.created(), s.now()) }

// field is a cell with the text that an object has at a path.
func field(path ...string) func(*server, *row) any {
	return func(_ *server, r *row) any { return r.at(path...) }
}

// none is an empty cell, of what is never there.
func none(*server, *row) any { return nil }

// at is the text at a path of the object, or nothing.
func (r *row) at(path ...string) any {
	object := r.whole()
	for _, member := range path[:len(path)-1] {
		object = asObject(object[member])
	}
	switch v := object[path[len(path)-1]].(type) {
	case string, json.Number:
		return v
	}
	return nil
}

// whole is the members of the object.
func (r *row) whole() map[string]any {
	if r.members == nil {
		// What is stored is an object.
		r.members, _ = decodeObject(r.json)
	}
	return r.members
}

// ageOf is a cell with how long ago the first of some times was that the object has.
func ageOf(members ...string) func(*server, *row) any {
	return func(s *server, r *row) any {
		for _, m := range members {
			if t, err := time.Parse(time.RFC3339, text(r.whole(), m)); err == nil {
				return age(t, s.now())
			}
		}
		return "<unknown>"
	}
}
