package openapi

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
)

// Request holds what a request gives for the parameters of its operation. Any
// of the fields may be nil.
type Request struct {
	// Path has the path parameters, decoded.
	Path map[string]string
	// Query has the query parameters, as [url.ParseQuery] returns them.
	Query url.Values
	// Header has the headers, with canonical names.
	Header http.Header
}

// ValidateRequest returns the rules that the parameters of a request break, in
// the order in which the operation declares them; nil when there are none.
//
// The pointer of an issue is /query/NAME, /path/NAME or /header/NAME. Text that
// is not of the declared type breaks the rule type. As in a cluster, parameters
// that the operation does not declare are ignored, and of a repeated one the
// first value counts. Numbers are decimal and fit into 64 bits; the booleans are
// those of [strconv.ParseBool].
func (op *Operation) ValidateRequest(r Request) Issues {
	var found Issues
	for i := range op.parameters {
		p := &op.parameters[i]
		text, given := p.in(r)
		if !given {
			if p.required {
				found = append(found, Issue{Pointer: p.pointer, Rule: "required", Message: "must be there"})
			}
			continue
		}
		found = p.validate(text, found)
	}
	return found
}

// parameter is one declared parameter of an operation.
type parameter struct {
	name     string
	pointer  string
	in       func(Request) (text string, given bool)
	required bool
	schema   *openapi3.Schema
	parse    func(text string) (any, error)
}

func (p *parameter) validate(text string, found Issues) Issues {
	value, err := p.parse(text)
	if err != nil {
		return append(found, Issue{Pointer: p.pointer, Rule: "type", Value: quoteText(p.name, text), Message: err.Error()})
	}
	for _, b := range visit(p.schema, value) {
		found = append(found, Issue{Pointer: p.pointer, Rule: b.keyword, Value: p.show(text), Message: b.message()})
	}
	return found
}

// show returns the text as JSON of the parameter's type.
func (p *parameter) show(text string) string {
	if p.schema.Type.Is(openapi3.TypeString) {
		return quoteText(p.name, text)
	}
	return text
}

func compileParameter(o *openapi3.Parameter) (parameter, error) {
	if o.Schema == nil || o.Style != "" || o.Explode != nil {
		return parameter{}, errors.New("only parameters with a schema and the style that goes without saying are supported")
	}
	p := parameter{
		name:     o.Name,
		pointer:  "/" + o.In + "/" + escapeToken.Replace(o.Name),
		required: o.Required,
		schema:   o.Schema.Value,
	}
	switch name := o.Name; o.In {
	case openapi3.ParameterInPath:
		p.in = func(r Request) (string, bool) { text := r.Path[name]; return text, text != "" }
	case openapi3.ParameterInQuery:
		p.in = func(r Request) (string, bool) { return first(r.Query[name]) }
	case openapi3.ParameterInHeader:
		key := http.CanonicalHeaderKey(name)
		p.in = func(r Request) (string, bool) { return first(r.Header[key]) }
	default:
		return parameter{}, errors.New("parameters in " + o.In + " are not supported")
	}
	switch types := p.schema.Type; {
	case types.Is(openapi3.TypeString):
		p.parse = func(text string) (any, error) { return text, nil }
	case types.Is(openapi3.TypeInteger):
		p.parse = parseInteger
	case types.Is(openapi3.TypeBoolean):
		p.parse = parseBoolean
	default:
		return parameter{}, errors.New("only strings, integers and booleans are supported")
	}
	return p, nil
}

func first(values []string) (string, bool) {
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

func parseInteger(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return nil, errors.New("must be an integer of 64 bits")
	}
	if err != nil {
		return nil, errors.New("must be an integer")
	}
	return n, nil
}

func parseBoolean(text string) (any, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return nil, errors.New("must be true or false")
	}
	return b, nil
}
