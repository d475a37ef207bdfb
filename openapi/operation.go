package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Operation is one operation of a document: what may be asked with one method on
// one path, and what may be answered.
type Operation struct {
	id         string
	method     string
	path       string
	segments   []string // of the path; a template begins with "{"
	parameters []parameter
	responses  map[int]*response
}

// ID returns the operationId, e.g. listNamespacedVirtualMachineInstance.
func (op *Operation) ID() string { return op.id }

// Method returns the HTTP method, e.g. GET.
func (op *Operation) Method() string { return op.method }

// Path returns the path with its templates, e.g. /api/v1/namespaces/{name}.
func (op *Operation) Path() string { return op.path }

// Statuses returns the status codes that the operation declares, in order.
func (op *Operation) Statuses() []int {
	codes := make([]int, 0, len(op.responses))
	for code := range op.responses {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// Operation returns the operation with that operationId, nil when the document
// has none.
func (d *Document) Operation(id string) *Operation { return d.byID[id] }

// Operations returns all operations, by path and method.
func (d *Document) Operations() []*Operation { return slices.Clone(d.operations) }

// Find returns the operation that a request is for, and the path parameters,
// decoded. path is the escaped path of the URL (see [url.URL.EscapedPath]),
// without what the document's servers would put in front; an encoded slash
// belongs to its segment. HEAD finds GET. One slash at the end is left out of
// account, as an API server does.
//
// ok is false when the document has no such path, or another method there.
func (d *Document) Find(method, path string) (op *Operation, pathParams map[string]string, ok bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	for _, op := range d.operations {
		if op.method != method || !op.matches(path) {
			continue
		}
		params, ok := op.pathParams(path)
		return op, params, ok
	}
	return nil, nil, false
}

// matches compares a path segment by segment. No two paths of the documents
// match the same request; a test holds them to it.
func (op *Operation) matches(path string) bool {
	path, found := strings.CutPrefix(path, "/")
	if !found {
		return false
	}
	for i, want := range op.segments {
		got, rest, more := strings.Cut(path, "/")
		if more == (i == len(op.segments)-1) {
			return false
		}
		if template(want) && got == "" || !template(want) && got != want {
			return false
		}
		path = rest
	}
	return true
}

func (op *Operation) pathParams(path string) (map[string]string, bool) {
	params := make(map[string]string)
	path = strings.TrimPrefix(path, "/")
	for _, want := range op.segments {
		got, rest, _ := strings.Cut(path, "/")
		if template(want) {
			value, err := url.PathUnescape(got)
			if err != nil {
				return nil, false
			}
			params[want[1:len(want)-1]] = value
		}
		path = rest
	}
	return params, true
}

func template(segment string) bool { return strings.HasPrefix(segment, "{") }

func (d *Document) compileOperation(rs *ruleSet, method, path string, item *openapi3.PathItem, o *openapi3.Operation) (*Operation, error) {
	if o.OperationID == "" {
		return nil, errors.New("no operationId")
	}
	op := &Operation{
		id:        o.OperationID,
		method:    method,
		path:      path,
		segments:  strings.Split(strings.TrimPrefix(path, "/"), "/"),
		responses: make(map[int]*response),
	}
	for _, ref := range slices.Concat(item.Parameters, o.Parameters) {
		p, err := compileParameter(ref.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", ref.Value.Name, err)
		}
		op.parameters = append(op.parameters, p)
	}
	for code, ref := range o.Responses.Map() {
		if err := op.addResponse(d, rs, code, ref.Value); err != nil {
			return nil, fmt.Errorf("answer %s: %w", code, err)
		}
	}
	return op, nil
}
