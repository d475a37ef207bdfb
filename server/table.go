package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// column is a column of KubeVirt's definition of the resource
// (pkg/virt-operator/resource/generate/components/crds.go), which the API server
// puts the name in front of.
type column struct {
	name, kind, format, description string
	priority                        int32
	cell                            func(*server, *row) any
}

func jsonPathColumn(name, kind, path string, priority int32, cell func(*server, *row) any) column {
	return column{name, kind, "", "Custom resource definition column (in JSONPath format): " + path, priority, cell}
}

func conditionColumn(name, condition string, priority int32) column {
	return jsonPathColumn(name, "string", ".status.conditions[?(@.type=='"+condition+"')].status", priority,
		func(_ *server, r *row) any { return r.condition(condition) })
}

var columns = []column{
	{"Name", "string", "name", "Name must be unique within a namespace. Is required when creating resources, although some resources " +
		"may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation " +
		"idempotence and configuration definition. Cannot be updated. " +
		"More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
		0, func(_ *server, r *row) any { return r.name }},
	jsonPathColumn("Age", "date", ".metadata.creationTimestamp", 0,
		func(s *server, r *row) any { return age(r.created(), s.now()) }),
	jsonPathColumn("Phase", "string", ".status.phase", 0,
		func(_ *server, r *row) any { return cell(r.status.Phase) }),
	jsonPathColumn("IP", "string", ".status.interfaces[0].ipAddress", 0,
		func(_ *server, r *row) any { return r.ip() }),
	jsonPathColumn("NodeName", "string", ".status.nodeName", 0,
		func(_ *server, r *row) any { return cell(r.status.NodeName) }),
	conditionColumn("Ready", "Ready", 0),
	conditionColumn("Live-Migratable", "LiveMigratable", 1),
	conditionColumn("Paused", "Paused", 1),
}

func columnDefinitions() []vmi.TableColumnDefinition {
	defs := make([]vmi.TableColumnDefinition, len(columns))
	for i, c := range columns {
		defs[i] = vmi.TableColumnDefinition{Name: c.name, Type: c.kind, Format: c.format, Description: c.description, Priority: c.priority}
	}
	return defs
}

// includeObject says what a row carries beside its cells.
type includeObject string

const (
	includeNone     includeObject = "None"
	includeMetadata includeObject = "Metadata"
	includeWhole    includeObject = "Object"
)

// readIncludeObject reads the parameter, which only a table looks at.
func readIncludeObject(want wanted, p *string) (includeObject, error) {
	if want.form != openapi.FormTable {
		return "", nil
	}
	switch i := includeObject(value(p)); i {
	case "":
		return includeMetadata, nil
	case includeNone, includeMetadata, includeWhole:
		return i, nil
	default:
		return "", badRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: Invalid value: %s: "+
			"must be 'Metadata', 'Object', 'None', or empty", quote(string(i))))
	}
}

// table is the objects as rows.
func (s *server) table(objects []*store.Object, meta listMeta, want wanted, include includeObject) (answer, error) {
	envelope, err := encode(struct {
		Kind              string                      `json:"kind"`
		APIVersion        string                      `json:"apiVersion"`
		Metadata          tableMeta                   `json:"metadata"`
		ColumnDefinitions []vmi.TableColumnDefinition `json:"columnDefinitions"`
		Rows              []struct{}                  `json:"rows"`
	}{"Table", want.metaVersion, meta.table(), columnDefinitions(), []struct{}{}})
	if err != nil {
		return answer{}, err
	}
	tail := []byte("]}\n")
	a := okJSON(openapi.FormTable, bytes.TrimSuffix(envelope, tail))
	a.items, a.tail = objects, tail
	a.render = func(to []byte, o *store.Object) []byte { return s.appendRow(to, o, want, include) }
	return a, nil
}

func (s *server) appendRow(to []byte, o *store.Object, want wanted, include includeObject) []byte {
	r := newRow(o)
	to = append(to, `{"cells":[`...)
	for i, c := range columns {
		if i > 0 {
			to = append(to, ',')
		}
		// A string or nothing always has a JSON form.
		text, _ := json.Marshal(c.cell(s, r))
		to = append(to, text...)
	}
	to = append(to, ']')
	switch include {
	case includeWhole:
		to = append(append(to, `,"object":`...), o.JSON...)
	case includeMetadata:
		to = appendPartial(append(to, `,"object":`...), r.metadata, want)
	}
	return append(to, '}')
}

// encode writes JSON as a Kubernetes API server does: a line feed at the end.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

// row is what the columns show of an object. A profile may leave a field open
// that a column shows, so a value of another type is an empty cell, not an error.
// encoding/json folds case, but members are stored in the order of their names,
// so the one in lower case is read last and counts.
type row struct {
	name     string
	metadata json.RawMessage
	status   struct {
		Phase, NodeName, Interfaces, Conditions json.RawMessage
	}
}

func newRow(o *store.Object) *row {
	var members struct{ Metadata, Status json.RawMessage }
	// What is stored is an object.
	_ = json.Unmarshal(o.JSON, &members)
	r := &row{name: o.Key.Name, metadata: members.Metadata}
	decode(members.Status, &r.status)
	return r
}

// decode leaves alone what it cannot decode.
func decode(raw json.RawMessage, to any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, to)
	}
}

// cell is a text, or nothing where there is none.
func cell(raw json.RawMessage) any {
	var s *string
	decode(raw, &s)
	if s == nil {
		return nil
	}
	return *s
}

func (r *row) created() (t time.Time) {
	var meta struct{ CreationTimestamp json.RawMessage }
	decode(r.metadata, &meta)
	decode(meta.CreationTimestamp, &t)
	return t
}

func (r *row) ip() any {
	var interfaces []json.RawMessage
	decode(r.status.Interfaces, &interfaces)
	if len(interfaces) == 0 {
		return nil
	}
	var first struct{ IPAddress json.RawMessage }
	decode(interfaces[0], &first)
	return cell(first.IPAddress)
}

func (r *row) condition(kind string) any {
	var conditions []json.RawMessage
	decode(r.status.Conditions, &conditions)
	for _, raw := range conditions {
		var c struct{ Type, Status json.RawMessage }
		decode(raw, &c)
		if cell(c.Type) == any(kind) {
			return cell(c.Status)
		}
	}
	return nil
}
