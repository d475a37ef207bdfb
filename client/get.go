package client

import (
	"context"
	"net/http"

	"github.com/vmikit/vmikit/gen/vmiclient"
)

// Get returns the machine of that name. A machine that does not exist is an
// [*Error] for which errors.Is(err, [ErrNotFound]) holds; a namespace that does
// not exist is the same.
//
// The error is about the request alone: a value that Go cannot hold is for [VMI.View]
// to tell. With an error the VMI is nil.
func (c *Client) Get(ctx context.Context, namespace, name string) (*VMI, error) {
	call := c.call("get vmi " + oneLine(namespace+"/"+name, maxNames))
	if err := checkNames(namespace, name); err != nil {
		return nil, call.wrap(ctx, err)
	}
	return call.object(ctx, func(record vmiclient.RequestEditorFn) (*http.Response, error) {
		return c.raw.ReadNamespacedVirtualMachineInstance(ctx, namespace, name, nil, record)
	})
}
