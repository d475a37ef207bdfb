package contract

import (
	"bytes"
	"encoding/json"
	"slices"
)

// listBody is a list taken apart.
type listBody struct {
	// envelope is the body with nothing between the brackets of items.
	envelope []byte
	// items is nil when the list has none, as the given document allows.
	items [][]byte
	cont  string
	// resourceVersion is the state that the list shows, "" when it does not say.
	resourceVersion string
	// remaining is remainingItemCount, nil when the list does not say.
	remaining *int64
}

// splitList takes a list apart. It reads leniently: what is wrong with the text
// besides is for the judge, who sees every byte in the envelope or in an item.
// ok is false when the body is no JSON object, or its items are no array.
func splitList(body []byte) (list listBody, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return list, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return list, false
		}
		switch key {
		case "items":
			if list.items != nil {
				return list, false // twice: only the whole body tells what is wrong
			}
			from, to, items, ok := readItems(dec)
			if !ok {
				return list, false
			}
			list.items, list.envelope = items, slices.Concat(body[:from], body[to:])
		case "metadata":
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return list, false
			}
			list.readMeta(raw)
		default:
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return list, false
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return list, false
	}
	return list, true
}

// readItems reads an array and returns where in the text its content stands.
func readItems(dec *json.Decoder) (from, to int64, items [][]byte, ok bool) {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return 0, 0, nil, false
	}
	from = dec.InputOffset()
	items = [][]byte{}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return 0, 0, nil, false
		}
		items = append(items, raw)
	}
	if _, err := dec.Token(); err != nil {
		return 0, 0, nil, false
	}
	return from, dec.InputOffset() - 1, items, true
}

// readMeta reads each member by itself, so that one of a wrong type, which the
// judge reports, does not hide the others.
func (l *listBody) readMeta(raw []byte) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		l.cont = text(members["continue"])
		l.resourceVersion = text(members["resourceVersion"])
		var remaining *int64
		if json.Unmarshal(members["remainingItemCount"], &remaining) == nil {
			l.remaining = remaining
		}
	}
}

// item is one machine as the target showed it.
type item struct {
	raw             []byte
	name, namespace string
	// namespaced says that the machine itself names its namespace.
	namespaced      bool
	uid, created    string
	resourceVersion string
	labels          map[string]string
}

// key names the machine within the target.
func (it *item) key() string { return it.namespace + "/" + it.name }

// readItem reads what the relations need. An item without a namespace counts to
// the one that was asked. ok is false for what has no name.
func readItem(raw []byte, namespace string) (it *item, ok bool) {
	var object struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return nil, false
	}
	m := object.Metadata
	it = &item{
		raw:             raw,
		name:            text(m["name"]),
		namespace:       text(m["namespace"]),
		uid:             text(m["uid"]),
		created:         text(m["creationTimestamp"]),
		resourceVersion: text(m["resourceVersion"]),
		labels:          make(map[string]string),
	}
	it.namespaced = it.namespace != ""
	if !it.namespaced {
		it.namespace = namespace
	}
	var labels map[string]json.RawMessage
	if json.Unmarshal(m["labels"], &labels) == nil {
		for k, v := range labels {
			it.labels[k] = text(v)
		}
	}
	return it, it.name != ""
}

// text returns a JSON string, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
