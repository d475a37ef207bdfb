package openapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// Document is one profile, compiled. It does not change and is safe for
// concurrent use.
type Document struct {
	profile    Profile
	digest     string
	operations []*Operation
	byID       map[string]*Operation

	object *rule            // VirtualMachineInstance
	kinds  map[string]*kind // by name; the one of object is always there
	// conventions says that the document has the layer of Kubernetes, so that
	// errors are Status bodies and objects that a server answers with have names.
	conventions bool
	published   func() (*Published, error)
}

// Load returns the document of a profile, whole: its operations, parameters,
// answers and objects. It is compiled once a process; every later call returns
// the same document. It fails for a profile that does not exist, and nothing
// else: that the embedded documents compile is tested.
func Load(p Profile) (*Document, error) {
	load, ok := loaders[p]
	if !ok {
		_, err := ParseProfile(string(p))
		return nil, err
	}
	return load()
}

// LoadServer returns the document that a server enforces which was told to
// judge objects by profile p: the operations, parameters, status codes, error
// bodies and forms of the Kubernetes layer, and the VirtualMachineInstance of p.
// For ProfileKubernetes and ProfileKubeVirt that is Load(p). Like Load it
// compiles once.
func LoadServer(p Profile) (*Document, error) {
	if p == ProfileDocument {
		return loadDocumentServer()
	}
	return Load(p)
}

type loader = func() (*Document, error)

var (
	loaders            = makeLoaders()
	loadDocumentServer = sync.OnceValues(compileDocumentServer)
)

func makeLoaders() map[Profile]loader {
	all := make(map[Profile]loader)
	for _, p := range Profiles() {
		all[p] = sync.OnceValues(func() (*Document, error) {
			doc, err := parse(p)
			if err != nil {
				return nil, err
			}
			return compile(p, digest(source(p)), doc)
		})
	}
	return all
}

// compileDocumentServer puts the given document's VirtualMachineInstance and its
// metadata into the Kubernetes layer. References to a schema share one value, so
// whatever refers to them there (the list, the partial objects, the events of a
// watch) then means the given ones: what was taken as an object can be answered in
// every form.
func compileDocumentServer() (*Document, error) {
	given, err := parse(ProfileDocument)
	if err != nil {
		return nil, err
	}
	layer, err := parse(ProfileKubernetes)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{schemaItem, schemaObjectMeta} {
		*layer.Components.Schemas[name].Value = *given.Components.Schemas[name].Value
	}
	return compile(ProfileDocument, digest(source(ProfileDocument), source(ProfileKubernetes)), layer)
}

// parse reads a profile's document and turns it into the copy that is enforced
// at run time.
func parse(p Profile) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(source(p))
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", p, err)
	}
	if err := lower(doc); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p, err)
	}
	return doc, nil
}

func compile(p Profile, digest string, doc *openapi3.T) (*Document, error) {
	d := &Document{
		profile: p,
		digest:  digest,
		byID:    make(map[string]*Operation),
		published: sync.OnceValues(func() (*Published, error) {
			return publish(doc)
		}),
	}
	rules := newRuleSet(doc)
	if err := d.compileKinds(rules); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p, err)
	}
	items := doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(items)) {
		methods := items[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			op, err := d.compileOperation(rules, method, path, items[path], methods[method])
			if err != nil {
				return nil, fmt.Errorf("profile %s: %s %s: %w", p, method, path, err)
			}
			d.operations = append(d.operations, op)
			d.byID[op.id] = op
		}
	}
	return d, nil
}

// Profile returns the profile that objects are judged by.
func (d *Document) Profile() Profile { return d.profile }

// Digest names the text of the document, as sha256:HEX. Whoever keeps objects
// longer than the process lives records it with them: under another digest they
// have to be validated again.
func (d *Document) Digest() string { return d.digest }

// lower turns an OpenAPI 3.1 document into a 3.0.3 one with the same meaning.
// kin-openapi compiles the schemas of a 3.1 document anew on every call; those
// of a 3.0 document it walks as they are, a hundred times faster. The validation
// at the end is the guard: it refuses every keyword that 3.0 has not and would
// silently ignore.
func lower(doc *openapi3.T) error {
	err := doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		if err := lowerNull(ref.Value); err != nil {
			return fmt.Errorf("%s: %w", pointer, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	doc.OpenAPI = "3.0.3"
	doc.Servers = nil
	return doc.Validate(context.Background())
}

// lowerNull says in the way of OpenAPI 3.0 whether null is a value of the schema.
func lowerNull(s *openapi3.Schema) error {
	if s.Type == nil {
		// In 3.1 a schema without a type takes null, in 3.0 it does not.
		s.Nullable = len(s.Enum) == 0
		return nil
	}
	if !s.Type.IncludesNull() {
		return nil
	}
	types := slices.DeleteFunc(s.Type.Slice(), func(t string) bool { return t == openapi3.TypeNull })
	if len(types) != 1 {
		return fmt.Errorf("type array %v has no form in OpenAPI 3.0", s.Type.Slice())
	}
	s.Type = &openapi3.Types{types[0]}
	s.Nullable = true
	return nil
}
