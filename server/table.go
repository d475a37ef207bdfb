package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// row is what the columns show of an object. The names of fields are matched by
// case when an object enters the store, so encoding/json's folding does no harm.
type row struct {
	Metadata json.RawMessage `json:"metadata"`
	Status   struct {
		Phase      *string `json:"phase"`
		NodeName   *string `json:"nodeName"`
		Interfaces []struct {
			IPAddress *string `json:"ipAddress"`
		} `json:"interfaces"`
		Conditions []struct {
			Type   string  `json:"type"`
			Status *string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

func (r *row) condition(kind string) any {
	for _, c := range r.Status.Conditions {
		if c.Type == kind {
			return cell(c.Status)
		}
	}
	return nil
}

func (r *row) ip() any {
	if len(r.Status.Interfaces) == 0 {
		return nil
	}
	return cell(r.Status.Interfaces[0].IPAddress)
}

func cell(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// column is a column of KubeVirt's definition of the resource
// (pkg/virt-operator/resource/generate/components/crds.go), which the API server
// puts the name in front of.
type column struct {
	name, kind, format, description string
	priority                        int32
	cell                            func(*server, string, time.Time, *row) any
}

func jsonPathColumn(name, kind, path string, priority int32, cell func(*server, string, time.Time, *row) any) column {
	return column{name, kind, "", "Custom resource definition column (in JSONPath format): " + path, priority, cell}
}

func conditionColumn(name, condition string, priority int32) column {
	return jsonPathColumn(name, "string", ".status.conditions[?(@.type=='"+condition+"')].status", priority,
		func(_ *server, _ string, _ time.Time, r *row) any { return r.condition(condition) })
}

var columns = []column{
	{"Name", "string", "name", "Name must be unique within a namespace. Is required when creating resources, although some resources " +
		"may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation " +
		"idempotence and configuration definition. Cannot be updated. " +
		"More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
		0, func(_ *server, name string, _ time.Time, _ *row) any { return name }},
	jsonPathColumn("Age", "date", ".metadata.creationTimestamp", 0,
		func(s *server, _ string, created time.Time, _ *row) any { return age(created, s.now()) }),
	jsonPathColumn("Phase", "string", ".status.phase", 0,
		func(_ *server, _ string, _ time.Time, r *row) any { return cell(r.Status.Phase) }),
	jsonPathColumn("IP", "string", ".status.interfaces[0].ipAddress", 0,
		func(_ *server, _ string, _ time.Time, r *row) any { return r.ip() }),
	jsonPathColumn("NodeName", "string", ".status.nodeName", 0,
		func(_ *server, _ string, _ time.Time, r *row) any { return cell(r.Status.NodeName) }),
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
		return "", badRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: Invalid value: %q: "+
			"must be 'Metadata', 'Object', 'None', or empty", string(i)))
	}
}

type tableHead struct {
	Kind              string                      `json:"kind"`
	APIVersion        string                      `json:"apiVersion"`
	Metadata          tableMeta                   `json:"metadata"`
	ColumnDefinitions []vmi.TableColumnDefinition `json:"columnDefinitions"`
	Rows              []tableRow                  `json:"rows"`
}

type tableRow struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object,omitempty"`
}

// table is the objects as rows.
func (s *server) table(objects []*store.Object, meta listMeta, want wanted, include includeObject) (answer, error) {
	head := tableHead{"Table", want.metaVersion, meta.table(), columnDefinitions(), []tableRow{}}
	empty, err := encode(head)
	if err != nil {
		return answer{}, err
	}
	head.Rows = make([]tableRow, len(objects))
	for i, o := range objects {
		if head.Rows[i], err = s.row(o, want, include); err != nil {
			return answer{}, fmt.Errorf("row of %s: %w", o.Key, err)
		}
	}
	body, err := encode(head)
	return answer{status: http.StatusOK, form: openapi.FormTable, contentType: mediaJSON, head: body, empty: empty}, err
}

func (s *server) row(o *store.Object, want wanted, include includeObject) (tableRow, error) {
	var r row
	if err := json.Unmarshal(o.JSON, &r); err != nil {
		return tableRow{}, err
	}
	var meta struct {
		CreationTimestamp time.Time `json:"creationTimestamp"`
	}
	if err := json.Unmarshal(r.Metadata, &meta); err != nil {
		return tableRow{}, err
	}
	out := tableRow{Cells: make([]any, len(columns))}
	for i, c := range columns {
		out.Cells[i] = c.cell(s, o.Key.Name, meta.CreationTimestamp, &r)
	}
	switch include {
	case includeWhole:
		out.Object = o.JSON
	case includeMetadata:
		object := append([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"`+want.metaVersion+`","metadata":`), r.Metadata...)
		out.Object = append(object, '}')
	}
	return out, nil
}

// encode writes JSON as a Kubernetes API server does: a line feed at the end.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}
