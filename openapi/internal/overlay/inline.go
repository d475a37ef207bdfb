package main

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

const parameterRef = "#/components/parameters/"

// inlineParameters replaces each {$ref: '#/components/parameters/X'} by a copy
// of X and drops components.parameters.
func inlineParameters(root *yaml.Node) error {
	components := member(root.Content[0], "components")
	if components == nil {
		return nil
	}
	parameters := member(components, "parameters")
	if parameters == nil {
		return nil
	}
	if err := inline(root, parameters); err != nil {
		return err
	}
	i := slices.IndexFunc(components.Content, func(n *yaml.Node) bool { return n.Value == "parameters" })
	components.Content = slices.Delete(components.Content, i, i+2)
	return nil
}

func inline(n, parameters *yaml.Node) error {
	if ref := member(n, "$ref"); ref != nil {
		name, ok := strings.CutPrefix(ref.Value, parameterRef)
		if !ok {
			return nil
		}
		p := member(parameters, name)
		if p == nil {
			return fmt.Errorf("line %d: no parameter %q", ref.Line, name)
		}
		*n = *deepCopy(p)
		return nil
	}
	for _, c := range n.Content {
		if err := inline(c, parameters); err != nil {
			return err
		}
	}
	return nil
}

// member returns the value of a key of a mapping, nil when there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
