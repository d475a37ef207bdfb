package server

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

func columnDefinitions(columns []column) []vmi.TableColumnDefinition {
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
func (s *server) table(r *resource, objects []*store.Object, meta listMeta, want wanted, include includeObject) (answer, error) {
	envelope, err := encode(struct {
		Kind              string                      `json:"kind"`
		APIVersion        string                      `json:"apiVersion"`
		Metadata          tableMeta                   `json:"metadata"`
		ColumnDefinitions []vmi.TableColumnDefinition `json:"columnDefinitions"`
		Rows              []struct{}                  `json:"rows"`
	}{"Table", want.metaVersion, meta.table(), columnDefinitions(r.columns), []struct{}{}})
	if err != nil {
		return answer{}, err
	}
	tail := []byte("]}\n")
	a := okJSON(openapi.FormTable, bytes.TrimSuffix(envelope, tail))
	a.items, a.tail = objects, tail
	a.render = func(to []byte, o *store.Object) []byte { return s.appendRow(to, r, o, want, include) }
	return a, nil
}

func (s *server) appendRow(to []byte, of *resource, o *store.Object, want wanted, include includeObject) []byte {
	r := newRow(o)
	to = append(to, `{"cells":[`...)
	for i, c := range of.columns {
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
		to = append(append(to, `,"object":`...), of.show(o)...)
	case includeMetadata:
		to = appendPartial(append(to, `,"object":`...), r.metadata, want)
	default:
		to = append(to, `,"object":null`...)
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
