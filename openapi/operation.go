package openapi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// Operation is one operation of a document: what may be asked with one method on
// one path, and what may be answered.
type Operation struct {
	id         string
	method     string
	path       string
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

func (d *Document) compileOperation(rs *ruleSet, method, path string, item *openapi3.PathItem, o *openapi3.Operation) (*Operation, error) {
	if o.OperationID == "" {
		return nil, errors.New("no operationId")
	}
	op := &Operation{
		id:        o.OperationID,
		method:    method,
		path:      path,
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
		if err := op.addResponse(rs, code, ref.Value); err != nil {
			return nil, fmt.Errorf("answer %s: %w", code, err)
		}
	}
	return op, nil
}
