package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Negotiate returns the forms in which a success may be answered to a request
// with that Accept header, the most wanted first. watch says that the request
// asks for a watch. A server may answer with any of them, so an answer is right
// when one of them fits. Without a form that the operation has (Table under
// ProfileDocument, say) the result is empty and 406 is the answer to expect.
//
// It is meant for those who judge other servers, and reads the header as API
// servers do: q is honoured, "*/*" and no header at all mean plain JSON. What
// has no JSON form, application/yaml for one, is left out.
func (op *Operation) Negotiate(accept string, watch bool) []Form {
	if strings.TrimSpace(accept) == "" {
		accept = "*/*"
	}
	type choice struct {
		form Form
		q    float64
	}
	var choices []choice
	for alternative := range strings.SplitSeq(accept, ",") {
		wanted := parseMediaType(alternative)
		q := 1.0
		if text, ok := wanted.parameters["q"]; ok {
			var err error
			if q, err = strconv.ParseFloat(text, 64); err != nil || q <= 0 {
				continue
			}
		}
		form, ok := op.form(wanted, watch)
		if ok {
			choices = append(choices, choice{form, q})
		}
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(b.q, a.q) })
	var forms []Form
	for _, c := range choices {
		if !slices.Contains(forms, c.form) {
			forms = append(forms, c.form)
		}
	}
	return forms
}

// form returns the form of a success for one alternative of an Accept header.
func (op *Operation) form(wanted mediaType, watch bool) (Form, bool) {
	switch wanted.base {
	case "*/*", "application/*", "application/json":
	default:
		return 0, false
	}
	declared := op.responses[http.StatusOK]
	if declared == nil {
		return 0, false
	}
	as := wanted.parameters["as"]
	if watch && as == "PartialObjectMetadata" {
		// Clients that watch ask for either; the events have one object each.
		as = "PartialObjectMetadataList"
	}
	for _, m := range declared.content {
		if !m.json() || m.parameters["stream"] != "" || m.parameters["as"] != as {
			continue
		}
		if v := wanted.parameters["v"]; as == "Table" && v != "" && v != "v1" && v != "v1beta1" {
			continue
		}
		if watch {
			return watchForm(m.form), true
		}
		return m.form, true
	}
	return 0, false
}

// watchForm returns the form of the events of a watch of a list.
func watchForm(list Form) Form {
	switch list {
	case FormList:
		return FormWatchEvent
	case FormTable:
		return FormWatchEventTable
	case FormPartialObjectList:
		return FormWatchEventPartialObject
	}
	return list
}
