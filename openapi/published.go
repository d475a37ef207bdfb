package openapi

import (
	"bytes"
	"cmp"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Published is the document as a Kubernetes API server publishes it under
// /openapi/v3: one document for each group and version, and an index of them.
// kubectl reads it before it creates, applies or explains.
type Published struct {
	index  []byte
	groups map[string]PublishedGroup
}

// PublishedGroup is the document of one group and version, as OpenAPI 3.0.3.
type PublishedGroup struct {
	// JSON is its text, the same in every process with the same document.
	JSON []byte
	// Hash names the text: SHA-512 in upper-case hexadecimal digits. It is the
	// parameter hash of the URL in the index, and good for an ETag.
	Hash string
}

// Index is the body of /openapi/v3. Its URLs are paths on the server, behind the prefix
// that everything is served under, "" for none. The prefix is the path of a URL without
// characters that JSON escapes.
func (p *Published) Index(prefix string) []byte {
	const url = `"serverRelativeURL":"`
	return bytes.ReplaceAll(p.index, []byte(url), []byte(url+prefix))
}

// Group returns what /openapi/v3/PATH has, where the path is api/VERSION or
// apis/GROUP/VERSION; ok is false when the document has no resource there. The
// caller must not change the text.
func (p *Published) Group(path string) (group PublishedGroup, ok bool) {
	group, ok = p.groups[path]
	return group, ok
}

// Published returns the document in the form of /openapi/v3. It has whatever
// operations on resources the document has, with the extensions by which kubectl
// finds its way (x-kubernetes-action, x-kubernetes-group-version-kind, the latter on
// schemas too), and parameters in place, since kubectl follows no reference to one.
// Objects that are no maps say x-kubernetes-preserve-unknown-fields, as a field that
// the document does not name is kept. Schemas have dotted names:
// io.kubevirt.v1.VirtualMachineInstance.
//
// It is made once. It fails for a document that cannot be told in this form, which
// is a fault of the document: that the embedded ones can is tested.
func (d *Document) Published() (*Published, error) { return d.published() }

// publish makes the form of /openapi/v3 of a lowered document.
func publish(doc *openapi3.T) (*Published, error) {
	paths := make(map[string][]string) // by group
	for path := range doc.Paths.Map() {
		if group, ok := groupOf(path); ok {
			paths[group] = append(paths[group], path)
		}
	}
	type entry struct {
		URL string `json:"serverRelativeURL"`
	}
	index := struct {
		Paths map[string]entry `json:"paths"`
	}{make(map[string]entry)}
	p := &Published{groups: make(map[string]PublishedGroup)}
	add := func(group string, text []byte) {
		sum := sha512.Sum512(text)
		hash := strings.ToUpper(hex.EncodeToString(sum[:]))
		p.groups[group] = PublishedGroup{JSON: text, Hash: hash}
		index.Paths[group] = entry{"/openapi/v3/" + group + "?hash=" + hash}
	}
	for group, paths := range paths {
		slices.Sort(paths)
		text, err := publishGroup(doc, group, paths)
		if err != nil {
			return nil, fmt.Errorf("publish %s: %w", group, err)
		}
		add(group, text)
		if group == kubevirtGroup {
			add(oldKubevirtGroup, inOldVersion(text))
		}
	}
	var err error
	if p.index, err = json.Marshal(index); err != nil {
		return nil, fmt.Errorf("publish the index: %w", err)
	}
	return p, nil
}

// KubeVirt's group in the version of the document, and in the one that it is deprecated
// for. Servers of it have the same objects in both, and so it is published in both.
const (
	kubevirtGroup    = "apis/kubevirt.io/v1"
	oldKubevirtGroup = kubevirtGroup + "alpha3"
)

// kubevirtVersion is where the document of KubeVirt's group says its version: in paths,
// in names of schemas, as apiVersion, and in the extension for kinds.
var kubevirtVersion = regexp.MustCompile(`(/apis/kubevirt\.io/v1|io\.kubevirt\.v1|"kubevirt\.io/v1|"group":"kubevirt\.io","kind":"[A-Za-z]+","version":"v1)(["./])`)

func inOldVersion(text []byte) []byte {
	return kubevirtVersion.ReplaceAll(text, []byte("${1}alpha3$2"))
}

// groupOf returns the group and version that a path of resources is in, as
// api/VERSION or apis/GROUP/VERSION.
func groupOf(path string) (group string, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	size := 0
	switch parts[0] {
	case "api":
		size = 2
	case "apis":
		size = 3
	default:
		return "", false
	}
	if len(parts) <= size {
		return "", false // discovery
	}
	return strings.Join(parts[:size], "/"), true
}

// groupVersionKind is the extension of that name: one on an operation, a list of
// them on a schema.
type groupVersionKind struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

const (
	extensionGVK      = "x-kubernetes-group-version-kind"
	extensionAction   = "x-kubernetes-action"
	extensionPreserve = "x-kubernetes-preserve-unknown-fields"
)

// publisher makes the document of one group.
type publisher struct {
	home    string // of the schemas that are the group's own
	schemas openapi3.Schemas
	origins map[string]*openapi3.Schema // by name in the document
}

func publishGroup(doc *openapi3.T, group string, paths []string) ([]byte, error) {
	p := &publisher{home: homeOf(group), schemas: make(openapi3.Schemas), origins: make(map[string]*openapi3.Schema)}
	out := &openapi3.T{
		OpenAPI:    doc.OpenAPI,
		Info:       doc.Info,
		Paths:      openapi3.NewPathsWithCapacity(len(paths)),
		Components: &openapi3.Components{Schemas: p.schemas, SecuritySchemes: doc.Components.SecuritySchemes},
		Security:   doc.Security,
	}
	for _, path := range paths {
		item, err := p.pathItem(path, doc.Paths.Value(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out.Paths.Set(path, item)
	}
	return json.Marshal(out)
}

// pathItem copies the operations of a path.
func (p *publisher) pathItem(path string, item *openapi3.PathItem) (*openapi3.PathItem, error) {
	gvk, ok := resourceKind(item)
	if !ok {
		return nil, errors.New("no operation answers with an object or list whose apiVersion and kind are given")
	}
	out := &openapi3.PathItem{Summary: item.Summary, Description: item.Description}
	operations := item.Operations()
	for _, method := range slices.Sorted(maps.Keys(operations)) {
		op := *operations[method]
		op.Extensions = maps.Clone(op.Extensions)
		if op.Extensions == nil {
			op.Extensions = make(map[string]any)
		}
		op.Extensions[extensionAction] = actionOf(method, path)
		op.Extensions[extensionGVK] = gvk
		var err error
		if op.Parameters, err = p.parameters(slices.Concat(item.Parameters, op.Parameters)); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if op.RequestBody, err = p.requestBody(op.RequestBody); err != nil {
			return nil, fmt.Errorf("%s: body: %w", method, err)
		}
		if op.Responses, err = p.responses(op.Responses); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		out.SetOperation(method, &op)
	}
	return out, nil
}

// actionOf is the verb that Kubernetes has in x-kubernetes-action.
func actionOf(method, path string) string {
	one := strings.HasSuffix(path, "}")
	switch {
	case method == "GET" && !one:
		return "list"
	case method == "DELETE" && !one:
		return "deletecollection"
	}
	return strings.ToLower(method)
}

// resourceKind returns the kind of the objects of a path: what is got there, listed
// or else made.
func resourceKind(item *openapi3.PathItem) (groupVersionKind, bool) {
	for _, op := range []*openapi3.Operation{item.Get, item.Post, item.Put, item.Patch} {
		if op == nil {
			continue
		}
		for _, status := range []int{200, 201} {
			response := op.Responses.Status(status)
			if response == nil {
				continue
			}
			media := response.Value.Content["application/json"]
			if media == nil || media.Schema == nil {
				continue
			}
			if kinds := resourceKinds(media.Schema.Value); len(kinds) > 0 {
				return kinds[0], true
			}
		}
	}
	return groupVersionKind{}, false
}

// resourceKinds returns what an object of the schema can be, or an item of the list.
func resourceKinds(schema *openapi3.Schema) []groupVersionKind {
	kinds := kindsOf(schema)
	items := schema.Properties["items"]
	if items == nil || items.Value.Items == nil {
		return kinds
	}
	if ofItems := kindsOf(items.Value.Items.Value); len(ofItems) > 0 {
		return ofItems
	}
	for i := range kinds {
		kinds[i].Kind = strings.TrimSuffix(kinds[i].Kind, "List")
	}
	return kinds
}

// kindsOf returns what an object of the schema can be, by the values that the
// document gives apiVersion and kind.
func kindsOf(schema *openapi3.Schema) []groupVersionKind {
	versions, names := schema.Properties["apiVersion"], schema.Properties["kind"]
	if versions == nil || names == nil {
		return nil
	}
	var kinds []groupVersionKind
	for _, apiVersion := range texts(versions.Value.Enum) {
		group, version, ok := strings.Cut(apiVersion, "/")
		if !ok {
			group, version = "", apiVersion
		}
		for _, name := range texts(names.Value.Enum) {
			kinds = append(kinds, groupVersionKind{Group: group, Kind: name, Version: version})
		}
	}
	slices.SortFunc(kinds, func(a, b groupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds
}
