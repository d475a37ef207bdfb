package managedfields_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/managedfields"
)

const v1 = "kubevirt.io/v1"

// machine is one object with the writes that were made to it, a minute apart.
type machine struct {
	t    *testing.T
	live []byte
	time time.Time
}

func newMachine(t *testing.T) *machine {
	return &machine{t: t, time: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
}

// by is the next write of a manager.
func (m *machine) by(manager string) managedfields.Write {
	m.time = m.time.Add(time.Minute)
	return managedfields.Write{Manager: manager, APIVersion: v1, Time: m.time}
}

// manifest is an object with members of metadata and a spec, both without braces.
func manifest(meta, spec string) string {
	if meta != "" {
		meta = "," + meta
	}
	return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"%s},"spec":{%s}}`, meta, spec)
}

func (m *machine) apply(manager, meta, spec string, force bool) error {
	out, err := managedfields.VirtualMachineInstance.Apply(m.live, []byte(manifest(meta, spec)), m.by(manager), force)
	if err == nil {
		m.live = out
	}
	return err
}

func (m *machine) mustApply(manager, meta, spec string) {
	m.t.Helper()
	require.NoError(m.t, m.apply(manager, meta, spec, false))
}

// put writes an object as a whole, with the managedFields that it had unless meta
// says others.
func (m *machine) put(manager, meta, spec string) {
	m.t.Helper()
	if !strings.Contains(meta, "managedFields") && m.live != nil && m.fields() != "" {
		meta = strings.TrimPrefix(meta+`,"managedFields":`+m.fields(), ",")
	}
	m.write(manager, manifest(meta, spec))
}

func (m *machine) write(manager, object string) {
	m.t.Helper()
	fields, err := managedfields.VirtualMachineInstance.Update(m.live, []byte(object), m.by(manager))
	require.NoError(m.t, err)
	var o, meta map[string]json.RawMessage
	require.NoError(m.t, json.Unmarshal([]byte(object), &o))
	require.NoError(m.t, json.Unmarshal(o["metadata"], &meta))
	delete(meta, "managedFields")
	if fields != nil {
		meta["managedFields"] = fields
	}
	o["metadata"], err = json.Marshal(meta)
	require.NoError(m.t, err)
	m.live, err = json.Marshal(o)
	require.NoError(m.t, err)
}

// fields is metadata.managedFields, "" where there are none.
func (m *machine) fields() string {
	var o struct {
		Metadata struct {
			ManagedFields json.RawMessage `json:"managedFields"`
		} `json:"metadata"`
	}
	require.NoError(m.t, json.Unmarshal(m.live, &o))
	return string(o.Metadata.ManagedFields)
}

// owners is one line for each entry: manager, operation, the minute of its time,
// and its fields.
func (m *machine) owners() []string {
	lines := []string{}
	if m.fields() == "" {
		return lines
	}
	var entries []struct {
		Manager, Operation string
		Time               *time.Time
		FieldsV1           json.RawMessage
	}
	require.NoError(m.t, json.Unmarshal([]byte(m.fields()), &entries))
	for _, e := range entries {
		minute := "-"
		if e.Time != nil {
			minute = fmt.Sprint(int(e.Time.Sub(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)).Minutes()))
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation, minute, e.FieldsV1))
	}
	return lines
}

// spec is the spec of the object.
func (m *machine) spec() string {
	var o struct {
		Spec json.RawMessage `json:"spec"`
	}
	require.NoError(m.t, json.Unmarshal(m.live, &o))
	return string(o.Spec)
}
