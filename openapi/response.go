package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Response is an answer of a server, whole, or one event of a watch.
type Response struct {
	// Operation is the one that was asked. Without it the body alone is judged,
	// by Form.
	Operation *Operation
	// Form is what was negotiated. The zero value, FormDeclared, takes it from
	// the operation and the Content-Type.
	Form Form
	// Kind is that of the objects that the form is about, where they are no
	// VirtualMachineInstances: Event, for one.
	Kind string
	// Status is the HTTP status code.
	Status int
	// Header has the headers, with canonical names; Content-Type is looked at.
	Header http.Header
	// Body is the body without any content encoding. For a watch it is one event,
	// one line of the stream.
	Body []byte
	// Head says that the answer is one to HEAD, which has no body to judge.
	Head bool
}

// ValidateResponse returns every rule that an answer breaks; nil when it breaks
// none. Pointers point into the body; those of undeclared-status and
// content-type are "".
//
// The status code must be declared by the operation, and nothing more is said of
// one that is not. The Content-Type must be declared for the code. What the code
// declares no content for is not looked at. An error (400 and above) must be the
// declared body, in whatever form the success was asked for, and a Status in it
// must repeat the status code. A form that the document does not know, such as a
// Table under ProfileDocument, must be JSON, no more.
//
// An event of a watch is judged by its type: ADDED, MODIFIED and DELETED carry
// an object of the form, BOOKMARK the kind and a resourceVersion, ERROR a Status.
func (d *Document) ValidateResponse(r Response) Issues {
	if r.Operation == nil {
		return d.validateForm(r)
	}
	declared := r.Operation.responses[r.Status]
	if declared == nil {
		return Issues{{
			Rule:    RuleUndeclaredStatus,
			Value:   strconv.Itoa(r.Status),
			Message: "must be a status code that " + r.Operation.id + " declares",
		}}
	}
	if r.Head || len(declared.content) == 0 {
		return nil
	}
	header := r.Header.Get("Content-Type")
	got := parseMediaType(header)
	media := declared.match(got)
	if media == nil {
		return Issues{{
			Rule:    RuleContentType,
			Value:   quoteText("Content-Type", header),
			Message: "must be " + strings.Join(declared.types(), " or "),
		}}
	}
	if r.Status < http.StatusBadRequest && r.Form != FormDeclared {
		return d.validateForm(r)
	}
	if !media.json() {
		return validateText(media, r.Body)
	}
	return d.validateRule(media.rule, r)
}

// validateForm judges a body by a form alone.
func (d *Document) validateForm(r Response) Issues {
	k, issues := d.kind(r.Kind)
	if issues != nil {
		return issues
	}
	if objectForm, ok := eventForms[r.Form]; ok {
		return k.validateEvent(r.Form, objectForm, r.Body)
	}
	return d.validateRule(k.forms[r.Form], r)
}

// validateRule judges a body by its schema and by what Kubernetes asks of bodies
// of that kind.
func (d *Document) validateRule(by *rule, r Response) Issues {
	k, issues := d.kind(r.Kind)
	if issues != nil {
		return issues
	}
	var check func(any) []broken
	if d.conventions && by != nil {
		switch k.form(by) {
		case FormItem, FormPartialObject:
			check = func(tree any) []broken { return unnamed(nil, tree) }
		case FormList, FormPartialObjectList:
			check = unnamedItems
		case FormTable:
			check = func(tree any) []broken { return k.wrongRows(nil, tree) }
		case FormStatus:
			check = func(tree any) []broken { return wrongCode(tree, r.Status) }
		}
	}
	return judge(r.Body, by, false, check)
}

// wrongCode returns what is broken where the Status of an error has another code
// than the answer.
func wrongCode(tree any, status int) []broken {
	fields, ok := tree.(map[string]any)
	if !ok || status < http.StatusBadRequest || fields["code"] == float64(status) {
		return nil
	}
	return []broken{{
		path:    []step{keyStep("code")},
		keyword: RuleStatusCode,
		text:    fmt.Sprintf("must be the status code of the answer, %d", status),
	}}
}

// response is what an operation declares for one status code.
type response struct {
	content []mediaType
}

// mediaType is one media type that is declared, or the one of an answer.
type mediaType struct {
	name       string // type and parameters as declared
	base       string // without parameters
	parameters map[string]string
	rule       *rule // nil when anything is good
}

func (m *mediaType) json() bool { return m.base == "application/json" }

func (op *Operation) addResponse(rs *ruleSet, code string, o *openapi3.Response) error {
	status, err := strconv.Atoi(code)
	if err != nil {
		return fmt.Errorf("only answers with one code each are supported: %w", err)
	}
	declared := new(response)
	for name, media := range o.Content {
		m := parseMediaType(name)
		m.name = name
		if media.Schema != nil {
			if m.rule, err = rs.rule(media.Schema.Value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		declared.content = append(declared.content, m)
	}
	op.responses[status] = declared
	return nil
}

// parseMediaType splits a media type. It is only ever compared with what is
// declared, so what is malformed needs no error: it will equal nothing.
func parseMediaType(text string) mediaType {
	base, rest, _ := strings.Cut(text, ";")
	m := mediaType{base: strings.ToLower(strings.TrimSpace(base)), parameters: make(map[string]string)}
	for rest != "" {
		var p string
		p, rest, _ = strings.Cut(rest, ";")
		name, value, _ := strings.Cut(p, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if name == "charset" && strings.EqualFold(value, "utf-8") {
			continue
		}
		m.parameters[name] = value
	}
	return m
}

// match returns the declared media type that an answer has. One with parameters
// (;as=Table) is meant when the answer has the same ones; an answer without any
// is of the plain type, as API servers send all forms.
func (r *response) match(got mediaType) *mediaType {
	for i := range r.content {
		if m := &r.content[i]; m.base == got.base && maps.Equal(m.parameters, got.parameters) {
			return m
		}
	}
	return nil
}

func (r *response) types() []string {
	var names []string
	for _, m := range r.content {
		if len(m.parameters) == 0 {
			names = append(names, m.name)
		}
	}
	return names
}

// validateText judges a body that is text, not JSON.
func validateText(m *mediaType, body []byte) Issues {
	if m.rule == nil {
		return nil
	}
	var found Issues
	for _, b := range visit(m.rule.schema, string(body)) {
		found = append(found, Issue{Rule: b.keyword, Value: quoteText("", string(body)), Message: b.message()})
	}
	return found
}
