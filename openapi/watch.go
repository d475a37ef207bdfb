package openapi

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// validateEvent judges one event of a watch.
func (k *kind) validateEvent(form, objectForm Form, body []byte) Issues {
	rules := k.events[form]
	eventType := eventTypeOf(body)
	r, ok := rules[eventType]
	if !ok {
		r = rules[""]
	}
	return judge(body, r, false, func(tree any) []broken {
		event, ok := tree.(map[string]any)
		if !ok || eventType == eventBookmark || eventType == eventError || r == nil || r == rules[""] {
			return nil
		}
		at := []step{keyStep("object")}
		if objectForm == FormTable {
			return k.wrongRows(at, event["object"])
		}
		return unnamed(at, event["object"])
	})
}

// eventTypeOf returns the member "type" of an event, "" when it has none. The
// object may stand before it, and how the object is read depends on it.
func eventTypeOf(body []byte) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(bytes.TrimPrefix(body, utf8BOM)),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return ""
	}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		if key.String() != "type" || dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				return ""
			}
			continue
		}
		value, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		return value.String()
	}
	return ""
}
