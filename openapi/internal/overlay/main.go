// Command overlay applies OpenAPI Overlays to a document, one after the other,
// and writes the result. It is what `make generate` runs to make the derived
// documents.
//
//	overlay [-inline-parameters] OUT DOCUMENT OVERLAY...
//
// With -inline-parameters every reference to a parameter is replaced by the
// parameter, after the overlays: the generator makes a named type of each shared
// parameter, and a package of machines has better use for the names Limit, Name
// and Namespace.
//
// It is strict: an action that matches nothing or changes nothing is an error,
// because it means that the layer below no longer is what the overlay's author
// saw.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/speakeasy-api/openapi/overlay"
	"gopkg.in/yaml.v3"
)

func main() {
	inline := flag.Bool("inline-parameters", false, "replace references to parameters by the parameters")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: overlay [-inline-parameters] OUT DOCUMENT OVERLAY...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 3 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), flag.Args()[2:], *inline); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

func run(out, document string, overlays []string, inline bool) error {
	src, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	layered, err := apply(src, overlays, inline)
	if err != nil {
		return err
	}
	names := []string{filepath.Base(document)}
	for _, o := range overlays {
		names = append(names, filepath.Base(o))
	}
	header := fmt.Sprintf("# Code generated from %s by `make generate`. DO NOT EDIT.\n", strings.Join(names, " + "))
	return os.WriteFile(out, append([]byte(header), layered...), 0o644)
}

// apply returns the document with the overlays applied in order. Key order and
// the document's comments are kept.
func apply(document []byte, overlays []string, inline bool) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, err
	}
	for _, path := range overlays {
		if err := applyFile(&root, path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if inline {
		if err := inlineParameters(&root); err != nil {
			return nil, err
		}
	}
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(&root); err != nil {
		return nil, err
	}
	return buf.Bytes(), enc.Close()
}

func applyFile(root *yaml.Node, path string) error {
	o, err := overlay.Parse(path)
	if err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return err
	}
	for i := range o.Actions {
		resolveAliases(&o.Actions[i].Update)
	}
	warnings, err := o.ApplyToStrict(root)
	if err != nil {
		return err
	}
	if len(warnings) > 0 {
		return errors.New(strings.Join(warnings, "; "))
	}
	return nil
}

// resolveAliases replaces every alias by a copy of what it stands for: an
// overlay may use anchors to say a thing once, the derived document does not.
func resolveAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		*n = *deepCopy(n.Alias)
	}
	n.Anchor = ""
	// Flow style is for reading overlays; one style makes diffs of the result readable.
	n.Style &^= yaml.FlowStyle
	for _, c := range n.Content {
		resolveAliases(c)
	}
}

func deepCopy(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = deepCopy(child)
	}
	return &c
}
