package server

import (
	"encoding/json"
	"slices"

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

// wholeList is a list of whole objects: an envelope around their bytes.
func wholeList(r *resource, objects []*store.Object, meta listMeta) answer {
	// A struct of strings and a number always has a JSON form.
	m, _ := json.Marshal(meta)
	tail := append([]byte(`],"kind":"`+r.kind()+`List","metadata":`), m...)
	a := okJSON(openapi.FormList, []byte(`{"apiVersion":"`+r.apiVersion()+`","items":[`))
	a.items, a.tail = objects, append(tail, "}\n"...)
	if r.storedAs != "" {
		a.render = func(to []byte, o *store.Object) []byte { return append(to, r.show(o)...) }
	}
	return a
}

// partialObject is an object with nothing but its metadata.
func partialObject(o *store.Object, want wanted) answer {
	return okJSON(openapi.FormPartialObject, append(appendPartial(nil, metadataOf(o), want), '\n'))
}

func appendPartial(to, metadata []byte, want wanted) []byte {
	to = append(to, `{"kind":"PartialObjectMetadata","apiVersion":"`+want.metaVersion+`","metadata":`...)
	to = append(to, metadata...)
	return append(to, '}')
}

// metadataOf is the metadata of a stored object, which always has some.
func metadataOf(o *store.Object) json.RawMessage {
	var members struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	_ = json.Unmarshal(o.JSON, &members)
	return members.Metadata
}

// partialList is a list of those.
func partialList(objects []*store.Object, meta listMeta, want wanted) (answer, error) {
	m, err := json.Marshal(meta.table())
	if err != nil {
		return answer{}, err
	}
	a := okJSON(openapi.FormPartialObjectList,
		slices.Concat([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"`+want.metaVersion+`","metadata":`), m, []byte(`,"items":[`)))
	a.items, a.tail = objects, []byte("]}\n")
	a.render = func(to []byte, o *store.Object) []byte { return appendPartial(to, metadataOf(o), want) }
	return a, nil
}
