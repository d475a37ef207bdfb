package server

import (
	"bytes"
	"encoding/json"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// listMeta is metadata of a list. Its continue is always written, as by a
// Kubernetes API server for custom resources; the generated vmi.ListMeta leaves an
// empty one out.
type listMeta struct {
	Continue           string `json:"continue"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
	ResourceVersion    string `json:"resourceVersion"`
}

// tableMeta is the same for tables, which leave an empty continue out.
type tableMeta struct {
	ResourceVersion    string `json:"resourceVersion"`
	Continue           string `json:"continue,omitempty"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
}

func (m listMeta) table() tableMeta {
	return tableMeta{m.ResourceVersion, m.Continue, m.RemainingItemCount}
}

// list is a list of whole objects: an envelope around their bytes.
func list(objects []*store.Object, meta listMeta) answer {
	// A struct of strings and a number always has a JSON form.
	m, _ := json.Marshal(meta)
	tail := append([]byte(`],"kind":"`+listKind+`","metadata":`), m...)
	a := okJSON(openapi.FormList, []byte(`{"apiVersion":"`+group+`/`+version+`","items":[`))
	a.items, a.tail = objects, append(tail, "}\n"...)
	return a
}

// partialObject is an object with nothing but its metadata.
func partialObject(o *store.Object, want wanted) (answer, error) {
	body, err := appendPartial(nil, o, want.metaVersion)
	return okJSON(openapi.FormPartialObject, append(body, '\n')), err
}

func appendPartial(to []byte, o *store.Object, metaVersion string) ([]byte, error) {
	meta, err := metadataOf(o.JSON)
	if err != nil {
		return nil, err
	}
	to = append(to, `{"kind":"PartialObjectMetadata","apiVersion":"`+metaVersion+`","metadata":`...)
	to = append(to, meta...)
	return append(to, '}'), nil
}

func metadataOf(object []byte) (json.RawMessage, error) {
	var o struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	err := json.Unmarshal(object, &o)
	return o.Metadata, err
}

// partialList is a list of those.
func partialList(objects []*store.Object, meta listMeta, want wanted) (answer, error) {
	var body bytes.Buffer
	open := func() error {
		body.WriteString(`{"kind":"PartialObjectMetadataList","apiVersion":"` + want.metaVersion + `","metadata":`)
		m, err := json.Marshal(meta.table())
		body.Write(m)
		body.WriteString(`,"items":[`)
		return err
	}
	if err := open(); err != nil {
		return answer{}, err
	}
	empty := append(bytes.Clone(body.Bytes()), "]}"...)
	for i, o := range objects {
		if i > 0 {
			body.WriteByte(',')
		}
		item, err := appendPartial(body.AvailableBuffer(), o, want.metaVersion)
		if err != nil {
			return answer{}, err
		}
		body.Write(item)
	}
	body.WriteString("]}\n")
	a := okJSON(openapi.FormPartialObjectList, body.Bytes())
	a.empty = empty
	return a, nil
}
