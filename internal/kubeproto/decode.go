package kubeproto

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// MediaType is the Content-Type of such bodies.
const MediaType = "application/vnd.kubernetes.protobuf"

// MaxSize is the size in bytes of the largest body that is read, that of a
// Kubernetes API server for any request (k8s.io/apiserver, MaxRequestBodyBytes).
const MaxSize = 3 << 20

// maxItems bounds the items of all lists and maps of a body together, since an
// empty item takes two bytes of it and far more of everything else.
const maxItems = 1 << 16

// ErrUnknownKind says that a body is well formed, of a kind that has no
// description here.
var ErrUnknownKind = errors.New("no such kind is read as protobuf")

// TypeMeta says what an object is.
type TypeMeta struct {
	// APIVersion is group and version, e.g. coordination.k8s.io/v1, or v1.
	APIVersion string
	// Kind is e.g. Lease.
	Kind string
}

// Decode returns the JSON form of the object in a body. Of the type, what the body
// leaves out is taken from defaults, as an API server takes it from the path that
// was asked for; what defaults leave out too is an error.
//
// Times have the form of Kubernetes' JSON: seconds, or microseconds where the field
// is a MicroTime. DeleteOptions may have the version of any group.
//
// It fails for what is no such body, is cut short, is larger than [MaxSize], has
// more than 65,536 items in its lists and maps, or holds what JSON cannot: text that
// is not UTF-8, a time before year 1 or after year 9999, managed fields that are no
// JSON. The error names the field, never its value. For a kind that is not known it
// is [ErrUnknownKind].
func Decode(body []byte, defaults TypeMeta) ([]byte, error) {
	if len(body) > MaxSize {
		return nil, fmt.Errorf("protobuf body: %d bytes are more than %d", len(body), MaxSize)
	}
	data, ok := bytes.CutPrefix(body, prefix)
	if !ok {
		return nil, fmt.Errorf("protobuf body: does not begin with %q", prefix)
	}
	if len(data) == 0 {
		return nil, errors.New("protobuf body: is empty")
	}
	typed, raw, err := openEnvelope(data)
	if err != nil {
		return nil, fmt.Errorf("protobuf body: %w", err)
	}
	if typed.APIVersion == "" {
		typed.APIVersion = defaults.APIVersion
	}
	if typed.Kind == "" {
		typed.Kind = defaults.Kind
	}
	m, err := typed.message()
	if err != nil {
		return nil, fmt.Errorf("protobuf body: %w", err)
	}
	var d decoder
	out, err := d.appendMembers(d.appendType(nil, typed), m, raw)
	if err != nil {
		return nil, fmt.Errorf("protobuf body: %s: %w", typed.Kind, err)
	}
	return append(out, '}'), nil
}

// prefix is how every such body begins (k8s.io/apimachinery,
// pkg/runtime/serializer/protobuf).
var prefix = []byte("k8s\x00")

// openEnvelope reads the runtime.Unknown around an object.
func openEnvelope(data []byte) (typed TypeMeta, raw []byte, err error) {
	slots, err := new(decoder).read(envelope, data)
	if err != nil {
		return TypeMeta{}, nil, err
	}
	inner, err := new(decoder).read(typeMeta, slots[envelopeType].bytes)
	if err != nil {
		return TypeMeta{}, nil, within(envelope.fields[envelopeType].name, err)
	}
	// What is compressed or of another form would be misread.
	for _, i := range []int{envelopeEncoding, envelopeContentType} {
		if text := string(slots[i].bytes); text != "" && (i == envelopeEncoding || text != MediaType) {
			return TypeMeta{}, nil, within(envelope.fields[i].name, errors.New("is not supported"))
		}
	}
	for i, s := range inner {
		if !utf8.Valid(s.bytes) {
			return TypeMeta{}, nil, within(typeMeta.fields[i].name, errNotUTF8)
		}
	}
	typed = TypeMeta{APIVersion: string(inner[typeMetaVersion].bytes), Kind: string(inner[typeMetaKind].bytes)}
	return typed, slots[envelopeRaw].bytes, nil
}

// message returns the description of the kind.
func (t TypeMeta) message() (*message, error) {
	if t.Kind == "" || t.APIVersion == "" {
		return nil, errors.New("does not say its kind and apiVersion")
	}
	if t.Kind == kindDeleteOptions {
		return deleteOptions, nil
	}
	if m := kinds[t]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%s of %s: %w", shorten(t.Kind), shorten(t.APIVersion), ErrUnknownKind)
}

// shorten quotes a name that a client has given.
func shorten(name string) string {
	const enough = 64
	if len(name) > enough {
		name = name[:enough] + "..."
	}
	return strconv.QuoteToASCII(name)
}
