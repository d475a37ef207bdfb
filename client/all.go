package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// DefaultPageSize is how many machines [Client.All] asks for at a time when
// ListOptions has no Limit. It is what kubectl asks for.
const DefaultPageSize = 500

// All ranges over the machines of a namespace, or of all namespaces when it is
// empty, page by page; opts.Limit is the size of a page. Each range over the
// result starts anew. Requests are made while ranging, one at a time, and one page
// is held in memory.
//
// An error ends the range, with one exception: an [*ItemError] comes with the VMI
// it is about, as for [Client.Get], and the range goes on after it if the loop
// does. With every other error the VMI is nil.
//
// The pages of one range show the list as of one moment. A server forgets that
// moment after a while, five minutes by a cluster's defaults; ranging slower than
// that ends with an error for which errors.Is(err, [ErrGone]) holds.
func (c *Client) All(ctx context.Context, namespace string, opts ListOptions) iter.Seq2[*VMI, error] {
	return func(yield func(*VMI, error) bool) {
		opts := opts
		if opts.Limit == 0 {
			opts.Limit = DefaultPageSize
		}
		for seen := 0; ; {
			list, err := c.List(ctx, namespace, opts)
			if err != nil {
				yield(nil, err)
				return
			}
			if !list.each(seen, yield) {
				return
			}
			seen += len(list.Items)
			switch list.Continue {
			case "":
				return
			case opts.Continue:
				yield(nil, fmt.Errorf("%s: %w", listOp(namespace), errSamePage))
				return
			}
			opts.Continue = list.Continue
			// The token pins the revision; API servers refuse both together.
			opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
		}
	}
}

var errSamePage = errors.New("the server's continue token leads back to the same page")

// each yields the items of a page that begins after the first seen ones of its
// list, and reports whether the loop wants more.
func (l *List) each(seen int, yield func(*VMI, error) bool) bool {
	failed := l.Failed // in the order of Items
	for i, vm := range l.Items {
		var err error
		if len(failed) > 0 && failed[0].Index == i {
			failed[0].Index += seen
			err, failed = failed[0], failed[1:]
		}
		if !yield(vm, err) {
			return false
		}
	}
	return true
}
