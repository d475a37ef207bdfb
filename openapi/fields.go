package openapi

import (
	_ "embed"
	"strings"
	"sync"
)

// fieldsTXT lists the fields of a VirtualMachineInstance as KubeVirt's own
// definition of the resource has them, one path a line. internal/fields writes it.
//
//go:embed kubevirt-fields.gen.txt
var fieldsTXT string

// field is one field of KubeVirt's definition. It says which names there are,
// nothing about values: that is the documents' part.
type field struct {
	names  map[string]*field
	values *field // of a map: each value
	items  *field // of an array: each item
	open   bool   // any name is good below
}

// declares reports whether KubeVirt's definition has a field of that name.
func (f *field) declares(name string) bool {
	return f != nil && (f.open || f.values != nil || f.names[name] != nil)
}

// describes reports whether the definition says which names there are.
func (f *field) describes() bool {
	return f != nil && f.names != nil
}

// child returns the field under a name, nil when the definition has none.
func (f *field) child(name string) *field {
	if f == nil {
		return nil
	}
	if c := f.names[name]; c != nil {
		return c
	}
	return f.values
}

// item returns the field of an item, nil when the definition has none.
func (f *field) item() *field {
	if f == nil {
		return nil
	}
	return f.items
}

// kubevirtFields returns the root of the definition.
var kubevirtFields = sync.OnceValue(func() *field {
	root := new(field)
	for line := range strings.Lines(fieldsTXT) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		at := root
		for token := range strings.SplitSeq(line, ".") {
			name, kinds, _ := strings.Cut(token, "[")
			at = at.declare(name)
			for kind := range strings.SplitSeq(strings.TrimSuffix(kinds, "]"), "][") {
				at = at.declareKind(kind)
			}
		}
	}
	return root
})

func (f *field) declare(name string) *field {
	if f.names == nil {
		f.names = make(map[string]*field)
	}
	c := f.names[name]
	if c == nil {
		c = new(field)
		f.names[name] = c
	}
	return c
}

// declareKind follows one bracket behind a name: [*] is an item of an array,
// [name] a value of a map, [?] anything at all.
func (f *field) declareKind(kind string) *field {
	switch kind {
	case "*":
		if f.items == nil {
			f.items = new(field)
		}
		return f.items
	case "name":
		if f.values == nil {
			f.values = new(field)
		}
		return f.values
	case "?":
		f.open = true
	}
	return f
}
