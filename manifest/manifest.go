// Package manifest reads Kubernetes objects from streams of YAML and JSON, as
// kubectl apply -f reads them, and remembers for each object the file and the
// line it came from.
//
// The common case is a loop over [Walk], which takes what people write after
// -f: files, directories and "-" for standard input.
//
//	for object, err := range manifest.Walk(paths, os.Stdin) {
//		if err != nil {
//			fmt.Fprintln(os.Stderr, err) // vmis.yaml:12: did not find expected key
//			continue
//		}
//		fmt.Println(object.File, object.Line, object.Kind, object.Name)
//	}
//
// [WriteYAML] goes the other way: JSON as kubectl get -o yaml prints it.
//
// # YAML
//
// YAML is decoded by go.yaml.in/yaml/v2, the engine under sigs.k8s.io/yaml and
// so under kubectl, and printed as JSON by the rules of sigs.k8s.io/yaml: on and
// yes are true, 0777 is octal, timestamps are strings, keys that are numbers or
// booleans become strings, large integers stay exact, and what JSON cannot
// express (.inf, .nan, null as a key) is an error. Unlike there, keys keep the
// order of the file, and duplicate keys are kept for whoever judges the object.
//
// Documents are separated by lines of --- as in kubectl, which allows nothing
// but a comment behind the dashes. A line of "..." ends a document too; kubectl
// drops what follows it, this package reads on. Text that follows a complete
// document in any other way is an error here and ignored by kubectl.
//
// # JSON
//
// A document that begins with { is JSON if it can be read as JSON, and YAML
// otherwise, as in kubectl. Several values may follow each other. The bytes are
// passed on as they are; duplicate names, unusual numbers and invalid UTF-8
// inside strings are left for a validator to report.
//
// # Limits
//
// A stream is read document by document and may be of any length. One document
// may have 128 MiB ([WithMaxBytes]); one object 16 MiB, one million YAML
// values and 10,000 levels. A YAML document over the 16 MiB must be a List in
// block style whose items do not share anchors, such as kubectl get -o yaml
// prints; its items are then decoded one at a time. Aliases may expand a
// document to eight times its size or 16 MiB, whichever is more, and are
// limited further by the YAML engine.
package manifest

import (
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object is one Kubernetes object found in a stream: a document, or an item of
// a document that is a List.
type Object struct {
	// File is the name of the stream as it was given; "-" is shown as
	// "<stdin>".
	File string
	// Line is where the object begins, counted from 1.
	Line int

	// APIVersion is empty when absent or not a string.
	APIVersion string
	// Kind is never empty.
	Kind string
	// Namespace is metadata.namespace, empty when absent or not a string.
	Namespace string
	// Name is metadata.name, empty when absent or not a string.
	Name string

	// JSON is the object as one JSON value. From JSON it is the very bytes of
	// the file, from YAML a conversion without insignificant white space.
	// Members named twice are there twice. An item of a typed list (kind
	// FooList) that has neither apiVersion nor kind is given those of its list,
	// as kubectl does; they are the one thing added.
	JSON []byte

	// source is the YAML text that holds the object, nil when it came from
	// JSON; root is the object's JSON pointer in there.
	source *yamlSource
	root   string
}

// LineOf gives the line of the value at a JSON pointer (RFC 6901), which is
// relative to the object; "" is the object itself. For a member of an object
// that is the line of its name, except that a YAML alias or merge key leads to
// the line where the value is written. A pointer to nothing gives the line of
// the nearest ancestor that exists; of a member that is named twice the last
// one counts.
//
// The answer is computed by reading the object's text again and costs about as
// much as reading it the first time. LineOf may be called by several
// goroutines.
func (o *Object) LineOf(pointer string) int {
	tokens := splitPointer(pointer)
	if o.source == nil {
		return o.Line + newlinesBefore(o.JSON, tokens)
	}
	return o.source.lineOf(splitPointer(o.root), tokens, o.Line)
}

// Error says what could not be read and where: "vmis.yaml:12: did not find
// expected key". It never quotes values of the file, which may be secrets.
type Error struct {
	// File is the name of the stream, "<stdin>" for "-".
	File string
	// Line counts from 1 and is 0 when the error concerns no line.
	Line int
	Err  error
}

// Error returns it on one line. What is not printable in the name of a file,
// line breaks and control characters among it, is escaped as in Go.
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place += ":" + strconv.Itoa(e.Line)
	}
	return printable(place + ": " + e.Err.Error())
}

// printable escapes what is not for a line of a terminal, as strconv.Quote does.
// Quotes and backslashes stay: names of files have them.
func printable(text string) string {
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		part := text[:n]
		if !strconv.IsPrint(r) || r == utf8.RuneError && n == 1 {
			quoted := strconv.Quote(part)
			part = quoted[1 : len(quoted)-1]
		}
		b.WriteString(part)
		text = text[n:]
	}
	return b.String()
}

// Unwrap returns Err, so that errors.Is finds fs.ErrNotExist and its like.
func (e *Error) Unwrap() error { return e.Err }

const (
	// defaultMaxBytes holds a List of 10,000 objects of a busy cluster.
	defaultMaxBytes = 128 << 20
	// maxObjectBytes is far above what an API server takes (3 MiB) and etcd
	// stores (1.5 MiB).
	maxObjectBytes = 16 << 20
)

// Option changes how streams are read.
type Option func(*config)

type config struct {
	maxBytes   int
	wholeLists bool
}

// WithMaxBytes sets the size in bytes of the largest YAML document or JSON
// value, Lists included. Reading takes up to four times as much memory. The
// default is 128 MiB; n below 1 means the default.
func WithMaxBytes(n int) Option {
	return func(c *config) { c.maxBytes = n }
}

// WithWholeLists yields a List itself, as an object like any other.
func WithWholeLists() Option {
	return func(c *config) { c.wholeLists = true }
}

// Read yields the objects of one stream in their order. A List, which is an
// object whose kind ends in List and that has items, yields its items instead
// of itself.
//
// Errors are of type [*Error] and come in the place of what could not be read.
// Reading goes on after the next line of ---; an error of r ends it. A stream
// without objects (nothing, white space, comments) yields nothing at all.
func Read(name string, r io.Reader, opts ...Option) iter.Seq2[*Object, error] {
	c := config{}
	for _, opt := range opts {
		opt(&c)
	}
	if c.maxBytes < 1 {
		c.maxBytes = defaultMaxBytes
	}
	if name == stdinPath {
		name = stdinName
	}
	return func(yield func(*Object, error) bool) {
		rd := &reader{name: name, maxBytes: c.maxBytes, wholeLists: c.wholeLists, src: newSource(r), yield: yield}
		rd.run()
	}
}
