package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// value is JSON with the order of its members.
type value struct {
	scalar  string // its JSON text; "" for objects and arrays
	object  bool
	names   []string // of the members, for an object
	members []*value // members or items
	// cut is set where the text ended within it.
	cut bool
}

// parseValue reads JSON that may end anywhere, and says what follows it.
func parseValue(text []byte) (v *value, rest []byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := readValue(d)
	if v == nil || err != nil && !v.cut {
		return nil, nil, false
	}
	return v, text[d.InputOffset():], true
}

func readValue(d *json.Decoder) (*value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return &value{scalar: compact(token)}, nil
	}
	v := &value{object: delim == '{'}
	for d.More() {
		if v.object {
			name, err := d.Token()
			if err != nil {
				v.cut = true
				return v, err
			}
			v.names = append(v.names, name.(string))
		}
		member, err := readValue(d)
		if member != nil {
			v.members = append(v.members, member)
		}
		if err != nil {
			v.names = v.names[:min(len(v.names), len(v.members))]
			v.cut = true
			return v, err
		}
	}
	if _, err := d.Token(); err != nil {
		v.cut = true
		return v, err
	}
	return v, nil
}

func compact(token any) string {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	// A token is a string, a number, a boolean or nil.
	_ = e.Encode(token)
	return strings.TrimSpace(buf.String())
}

// get returns a member, nil when there is none.
func (v *value) get(path ...string) *value {
	for _, name := range path {
		if v == nil || !v.object {
			return nil
		}
		i := slices.Index(v.names, name)
		if i < 0 || i >= len(v.members) {
			return nil
		}
		v = v.members[i]
	}
	return v
}

// text is the value of a string, "" for anything else.
func (v *value) text() string {
	var s string
	if v != nil {
		_ = json.Unmarshal([]byte(v.scalar), &s)
	}
	return s
}

// String is the value as JSON, shortened.
func (v *value) String() string {
	if v == nil {
		return "absent"
	}
	if v.scalar != "" {
		return v.scalar
	}
	parts := make([]string, len(v.members))
	for i, m := range v.members {
		if parts[i] = m.String(); v.object {
			parts[i] = compact(v.names[i]) + ":" + parts[i]
		}
	}
	if v.object {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// lines is how many lines the recorder would have written.
func (v *value) lines() int {
	if len(v.members) == 0 {
		return 1
	}
	n := 2
	for _, m := range v.members {
		n += m.lines()
	}
	return n
}

// slim leaves out what the recorder left out of machines.
func (v *value) slim() *value {
	if !v.object {
		for _, m := range v.members {
			m.slim()
		}
		return v
	}
	machine := v.get("kind").text() == "VirtualMachineInstance"
	for i, name := range v.names {
		m := v.members[i]
		switch {
		case name == "managedFields":
			v.members[i] = &value{scalar: fmt.Sprintf(`"<trimmed %d entries>"`, len(m.members))}
		case name == "spec" && machine:
			v.members[i] = &value{scalar: `"<trimmed>"`}
		case name == "status" && machine && m.object:
			phase := m.get("phase")
			if phase == nil {
				phase = &value{scalar: "null"}
			}
			v.members[i] = &value{object: true, names: []string{"phase", "..."}, members: []*value{phase, {scalar: `"<trimmed>"`}}}
		default:
			m.slim()
		}
	}
	return v
}

// differ tells where ours differs from what was recorded, each with the JSON pointer
// of the place.
func differ(recorded, ours *value, at string, tell func(at, recorded, ours string)) {
	if recorded.scalar != "" || ours.scalar != "" || recorded.object != ours.object {
		if !sameScalar(recorded, ours, at) {
			tell(at, recorded.String(), ours.String())
		}
		return
	}
	if !recorded.object {
		for i := range min(len(recorded.members), len(ours.members)) {
			differ(recorded.members[i], ours.members[i], fmt.Sprintf("%s/%d", at, i), tell)
		}
		if n, m := len(recorded.members), len(ours.members); n > m || n < m && !recorded.cut {
			tell(at, count(n, recorded.cut), count(m, false))
		}
		return
	}
	var common, order []string
	for i, name := range recorded.names {
		mine := ours.get(name)
		if mine == nil {
			tell(at+"/"+name, recorded.members[i].String(), "absent")
			continue
		}
		common = append(common, name)
		differ(recorded.members[i], mine, at+"/"+name, tell)
	}
	for i, name := range ours.names {
		if slices.Contains(common, name) {
			order = append(order, name)
		} else if !recorded.cut {
			tell(at+"/"+name, "absent", ours.members[i].String())
		}
	}
	if !slices.Equal(common, order) {
		tell(at, "members in the order "+strings.Join(common, " "), strings.Join(order, " "))
	}
}

func count(n int, cut bool) string {
	if cut {
		return fmt.Sprintf("more than %d items", n)
	}
	return fmt.Sprintf("%d items", n)
}
