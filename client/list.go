package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/gen/vmiclient"
)

// ListOptions narrows a list. The zero value asks for everything; a field that
// is zero is not sent.
type ListOptions struct {
	// LabelSelector is a Kubernetes label selector, e.g. "app=web,tier!=test".
	LabelSelector string
	// FieldSelector selects by field; API servers know metadata.name and
	// metadata.namespace for machines.
	FieldSelector string
	// Limit is the most items that an answer should have; below zero is an error.
	// Servers ignore it when ResourceVersion is "0".
	Limit int
	// Continue is the token of the page before, from [List]. The other options
	// have to be those of the first page, without ResourceVersion.
	Continue string
	// ResourceVersion is the revision that the answer must not be older than, or
	// must be, as ResourceVersionMatch says. "0" is any the server has at hand.
	ResourceVersion string
	// ResourceVersionMatch is NotOlderThan or Exact; servers refuse it without
	// a ResourceVersion.
	ResourceVersionMatch string
	// AllowInconsistent is for [Client.All] and not sent: when the server has forgotten
	// the moment that the pages show, the range goes on in the present, see there.
	AllowInconsistent bool
}

// List is one answer to a list request: all machines, or a page of them.
type List struct {
	// Items are the machines in the server's order, none left out, never nil. Values
	// that Go cannot hold fail nothing here, but the View of their own item.
	Items []*VMI
	// ResourceVersion is the revision that the list shows.
	ResourceVersion string
	// Continue is the token of the next page, empty on the last one.
	Continue string
	// RemainingItemCount is the number of items after this page, or nil when the
	// server does not say: on the last page, and when a selector is in force.
	RemainingItemCount *int64
}

// List returns the machines of a namespace, or of all namespaces when it is empty;
// a namespace that does not exist has none. One request is made: with a Limit the
// answer may be a page, and Continue of the result leads to the next. [Client.All]
// does that by itself.
func (c *Client) List(ctx context.Context, namespace string, opts ListOptions) (*List, error) {
	var list *List
	err := c.list(ctx, namespace, opts, func(body *answer) (err error) {
		list, err = body.list()
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// list makes one request and hands its answer to read.
func (c *Client) list(ctx context.Context, namespace string, opts ListOptions, read func(*answer) error) error {
	call := c.call(listOp(namespace))
	call.stream = true
	if namespace != "" {
		if err := checkSegment("namespace", namespace); err != nil {
			return call.wrap(ctx, err)
		}
	}
	params, err := opts.params()
	if err != nil {
		return call.wrap(ctx, err)
	}
	return call.do(ctx, func(record vmiclient.RequestEditorFn) (*http.Response, error) {
		if namespace == "" {
			all := vmi.ListVirtualMachineInstanceForAllNamespacesParams(params)
			return c.raw.ListVirtualMachineInstanceForAllNamespaces(ctx, &all, record)
		}
		return c.raw.ListNamespacedVirtualMachineInstance(ctx, namespace, &params, record)
	}, read)
}

func listOp(namespace string) string {
	if namespace == "" {
		return "list vmis in all namespaces"
	}
	return "list vmis in " + oneLine(namespace, maxNames)
}

// params leaves out what is zero: limit=0 in particular breaks the document's
// minimum, although API servers take it for no limit.
func (o ListOptions) params() (vmi.ListNamespacedVirtualMachineInstanceParams, error) {
	var p vmi.ListNamespacedVirtualMachineInstanceParams
	if o.Limit < 0 {
		return p, fmt.Errorf("limit %d is below zero", o.Limit)
	}
	if o.ResourceVersion == "" && o.ResourceVersionMatch != "" {
		return p, errors.New("a resourceVersionMatch needs a resourceVersion")
	}
	p.LabelSelector = present(o.LabelSelector)
	p.FieldSelector = present(o.FieldSelector)
	p.Limit = present(o.Limit)
	p.Continue = present(o.Continue)
	p.ResourceVersion = present(o.ResourceVersion)
	p.ResourceVersionMatch = present(o.ResourceVersionMatch)
	return p, nil
}

// present is nil for a zero value, which the generated client does not send.
func present[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
