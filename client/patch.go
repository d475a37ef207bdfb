package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
)

// Patch is a change to a machine, for [Client.Patch], in one of three forms. The
// functions that make one take JSON as a json.RawMessage, as bytes or as a string,
// or any value that encoding/json turns into JSON; where that fails, Client.Patch
// fails with it.
type Patch struct {
	mediaType string
	body      []byte
	force     bool
	err       error
}

const (
	mediaTypeJSON      = "application/json"
	mediaTypeMerge     = "application/merge-patch+json"
	mediaTypeJSONPatch = "application/json-patch+json"
	mediaTypeApply     = "application/apply-patch+yaml"
)

// MergePatch is a JSON merge patch (RFC 7386): an object whose members replace those
// of the machine, null removes one, and lists are replaced whole. With a
// metadata.resourceVersion in it, a machine that has changed since is left alone and
// the error is [ErrConflict].
func MergePatch(patch any) Patch {
	body, err := encodeJSON(patch)
	return Patch{mediaType: mediaTypeMerge, body: body, err: err}
}

// JSONPatch is a list of operations (RFC 6902). One that cannot be done, a test among
// them, fails the whole with [ErrInvalid].
func JSONPatch(operations any) Patch {
	body, err := encodeJSON(operations)
	return Patch{mediaType: mediaTypeJSONPatch, body: body, err: err}
}

// ApplyPatch is server-side apply: the machine is made, or changed, to have the
// fields of object, and loses those that the same [WriteOptions.FieldManager] has
// applied before and does not now. Fields that belong to another manager are an
// [ErrConflict], unless force takes them over. apiVersion, kind and metadata.name may
// be left out. A typed struct has no way to say that a field is empty, as opposed to
// not there.
func ApplyPatch(object any, force bool) Patch {
	body, err := Encode(object)
	return Patch{mediaType: mediaTypeApply, body: body, force: force, err: err}
}

// Encode is the JSON that [Client.Create] sends for an object: the bytes of what is JSON
// already or a [VMI], or what encoding/json makes of it, with apiVersion and kind in front
// where it has none. It is there for fakes of [Writer], and fails when the object is no
// JSON object; what is in it is for a server to judge.
func Encode(object any) (json.RawMessage, error) {
	switch o := object.(type) {
	case vmi.VirtualMachineInstance:
		object = identified(o)
	case *vmi.VirtualMachineInstance:
		if o == nil {
			return nil, errors.New("the object is nil")
		}
		object = identified(*o)
	}
	data, err := encodeJSON(object)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return nil, fmt.Errorf("the object is a JSON %s", jsonType(bytes.TrimLeft(data, space)))
	}
	return withIdentity(data, members), nil
}

const apiVersion = "kubevirt.io/v1"

func identified(o vmi.VirtualMachineInstance) vmi.VirtualMachineInstance {
	if o.APIVersion == "" {
		o.APIVersion = apiVersion
	}
	if o.Kind == "" {
		o.Kind = kindVMI
	}
	return o
}

// withIdentity puts apiVersion and kind in front of an object that does not have
// them. The rest of its text stays as it is, and what is wrong with it is for the
// server to say.
func withIdentity(data []byte, members map[string]json.RawMessage) []byte {
	var front []string
	for _, m := range [][2]string{{"apiVersion", apiVersion}, {"kind", kindVMI}} {
		if _, said := members[m[0]]; !said {
			front = append(front, fmt.Sprintf("%q:%q", m[0], m[1]))
		}
	}
	if len(front) > 0 && len(members) > 0 {
		front = append(front, "") // a comma before the members that are there
	}
	_, rest, _ := bytes.Cut(data, []byte("{"))
	return slices.Concat([]byte("{"), []byte(strings.Join(front, ",")), rest)
}

// encodeJSON is the JSON of what the functions of this package take for it.
func encodeJSON(value any) ([]byte, error) {
	var data []byte
	switch v := value.(type) {
	case json.RawMessage:
		data = v
	case []byte:
		data = v
	case string:
		data = []byte(v)
	case *VMI:
		if v == nil {
			return nil, errors.New("the object is nil")
		}
		data = v.Raw
	case VMI: // Its MarshalJSON is that of the pointer, which encoding/json does not find.
		data = v.Raw
	default:
		// A patch has more to say with its < and > than a browser would have to fear.
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(value); err != nil {
			return nil, fmt.Errorf("a %T is no JSON: %w", value, err)
		}
		return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return data, nil
}
