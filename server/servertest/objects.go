package servertest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
)

// encode is the JSON of an object, with apiVersion and kind.
func (s *Server) encode(object any) []byte {
	s.t.Helper()
	data, err := marshal(object)
	if err != nil {
		s.t.Fatalf("object of type %T: %v", object, err)
	}
	return data
}

func marshal(object any) ([]byte, error) {
	switch o := object.(type) {
	case string:
		return named([]byte(o))
	case []byte:
		return named(o)
	case vmi.VirtualMachineInstance:
		o.APIVersion, o.Kind = cmp.Or(o.APIVersion, apiVersion), cmp.Or(o.Kind, kind)
		return json.Marshal(o)
	case *vmi.VirtualMachineInstance:
		if o == nil {
			return nil, errors.New("it is nil")
		}
		return marshal(*o)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return named(data)
}

const (
	apiVersion = "kubevirt.io/v1"
	kind       = "VirtualMachineInstance"
)

// named puts apiVersion and kind in front of an object that does not have them,
// and leaves its text alone otherwise: what is wrong with it is for the server to say.
func named(data []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	if members == nil {
		return nil, errors.New("no JSON object: null")
	}
	var front []string
	for _, m := range []struct{ name, value string }{{"apiVersion", apiVersion}, {"kind", kind}} {
		if _, said := members[m.name]; !said {
			front = append(front, fmt.Sprintf("%q:%q", m.name, m.value))
		}
	}
	if len(front) > 0 && len(members) > 0 {
		front = append(front, "") // a comma before the members that are there
	}
	_, rest, _ := bytes.Cut(data, []byte("{"))
	return slices.Concat([]byte("{"), []byte(strings.Join(front, ",")), rest), nil
}
