package openapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Find returns the operation that a request is for and its path parameters,
// decoded; nil when the document has none. The path is the escaped one
// ([url.URL.EscapedPath]); a slash at its end counts for nothing, as in a cluster.
// HEAD is answered by the operation of GET.
func (d *Document) Find(method, path string) (*Operation, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for _, op := range d.operations {
		if op.method != method {
			continue
		}
		if parameters, ok := op.matchPath(segments); ok {
			return op, parameters
		}
	}
	return nil, nil
}

// matchPath reads the path parameters; ok is false when the path is another.
func (op *Operation) matchPath(segments []string) (parameters map[string]string, ok bool) {
	templates := strings.Split(op.path, "/")
	if len(templates) != len(segments) {
		return nil, false
	}
	parameters = make(map[string]string)
	for i, template := range templates {
		segment, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, false
		}
		if name, ok := strings.CutPrefix(template, "{"); ok && segment != "" {
			parameters[strings.TrimSuffix(name, "}")] = segment
		} else if template != segment {
			return nil, false
		}
	}
	return parameters, true
}

// Negotiate returns the forms in which a success of an operation may be answered
// to a request with that Accept header, the most wanted first. watch says that
// the request asks for a watch. A server may answer with any of them, so an answer
// is right when one of them fits. Where nothing fits the result is empty, and 406
// is the answer to expect.
//
// It is meant for those who judge other servers, and reads the header as API
// servers do: q is honoured, "*/*" and no header at all mean plain JSON. What has
// no JSON form, application/yaml for one, is left out. Tables and partial objects
// are told under every profile, though ProfileDocument does not know them.
func (d *Document) Negotiate(op *Operation, accept string, watch bool) []Form {
	if strings.TrimSpace(accept) == "" {
		accept = "*/*"
	}
	type choice struct {
		form Form
		q    float64
	}
	var choices []choice
	plain := d.plainForm(op)
	for alternative := range strings.SplitSeq(accept, ",") {
		wanted := parseMediaType(alternative)
		q := 1.0
		if text, ok := wanted.parameters["q"]; ok {
			var err error
			if q, err = strconv.ParseFloat(text, 64); err != nil || q <= 0 {
				continue
			}
		}
		if form, ok := wanted.form(plain, watch); ok {
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

// plainForm returns the form of a success that was asked for as plain JSON.
func (d *Document) plainForm(op *Operation) Form {
	if ok := op.responses[http.StatusOK]; ok != nil {
		plain := ok.match(mediaType{base: "application/json"})
		for _, form := range []Form{FormItem, FormList} {
			if plain != nil && plain.rule != nil && plain.rule.schema == d.kinds[schemaItem].forms[form].schema {
				return form
			}
		}
	}
	return FormDeclared
}

// form returns the form that one alternative of an Accept header leads to, where
// plain JSON leads to plain.
func (m *mediaType) form(plain Form, watch bool) (form Form, ok bool) {
	switch m.base {
	case "*/*", "application/*", "application/json":
	default:
		return 0, false
	}
	as := m.parameters["as"]
	if v := m.parameters["v"]; as != "" && v != "" && v != "v1" && v != "v1beta1" {
		return 0, false
	}
	switch {
	case as == "":
		form = plain
	case plain != FormItem && plain != FormList:
		return 0, false
	case as == "Table":
		form = FormTable
	case as == "PartialObjectMetadata" && plain == FormItem:
		form = FormPartialObject
	case as == "PartialObjectMetadataList" && plain == FormList, as == "PartialObjectMetadata" && watch:
		// Clients that watch ask for either; the events have one object each.
		form = FormPartialObjectList
	default:
		return 0, false
	}
	if watch {
		form = watchForm(form)
	}
	return form, true
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
