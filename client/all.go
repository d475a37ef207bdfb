package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
)

// DefaultPageSize is how many machines [Client.All] asks for at a time when
// ListOptions has no Limit. It is what kubectl asks for.
const DefaultPageSize = 500

// readAhead is up to which size All reads a page before it yields of it: some hundred
// objects of an ordinary size.
const readAhead = 4 << 20

// All ranges over the machines of a namespace, or of all namespaces when it is
// empty, page by page; opts.Limit is the size of a page. Each range over the
// result starts anew. Requests are made while ranging, one at a time.
//
// An error is about the request and ends the range; the VMI is then nil. A value that
// Go cannot hold is for [VMI.View] to tell.
//
// Memory stays small whatever there is to list. A page of up to 4 MiB is read and
// checked before the loop sees any of it. Of a larger one, as from servers that know
// no pages, the items come while it is being read: the server waits for a slow loop,
// and a page that breaks off, or turns out to be no list, is an error after some of
// its items.
//
// The pages of one range show the list as of one moment. A server forgets that
// moment after a while, five minutes by a cluster's defaults; ranging slower than
// that ends with an error for which errors.Is(err, [ErrGone]) holds. With
// opts.AllowInconsistent it goes on after the last machine that it has shown, as
// things are by then: a machine that is there all the time is shown once, one that
// comes or goes meanwhile may be or not, and what was shown may have changed since.
func (c *Client) All(ctx context.Context, namespace string, opts ListOptions) iter.Seq2[*VMI, error] {
	return func(yield func(*VMI, error) bool) {
		opts := opts
		if opts.Limit == 0 {
			opts.Limit = DefaultPageSize
		}
		pages := &pager{yield: yield, forgotten: -1}
		for {
			next, err := pages.read(ctx, c, namespace, opts)
			if fresh := pages.fresh(err); opts.AllowInconsistent && fresh != "" {
				opts.Continue = fresh
				continue
			}
			switch {
			case pages.stopped:
				return
			case err != nil:
				yield(nil, err)
				return
			case next == "":
				return
			case next == opts.Continue:
				yield(nil, fmt.Errorf("%s: %w", listOp(namespace), errSamePage))
				return
			}
			opts.Continue = next
			// The token pins the revision; API servers refuse both together.
			opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
		}
	}
}

var errSamePage = errors.New("the server's continue token leads back to the same page")

// pager is a range over pages.
type pager struct {
	yield   func(*VMI, error) bool
	seen    int
	stopped bool
	// forgotten is how many were seen when the server had forgotten their moment.
	forgotten int
	buf       []byte // serves one page after the other
}

// read yields the items of a page and returns the token of the next.
func (p *pager) read(ctx context.Context, c *Client, namespace string, opts ListOptions) (string, error) {
	list := &List{}
	err := c.list(ctx, namespace, opts, func(body *answer) (err error) {
		body.buf = p.buf[:0]
		defer func() { p.buf = body.buf }()
		for len(body.buf) < readAhead && !body.ended {
			body.fill(min(2*len(body.buf)+minBuffer, readAhead))
		}
		if !body.ended {
			body.begun = true
			return body.each(list, p.item)
		}
		list, err = body.list()
		return err
	})
	if err != nil {
		return "", err
	}
	for i, vm := range list.Items {
		list.Items[i] = nil // a view that the loop asks for goes with its machine
		if !p.item(vm) {
			break
		}
	}
	return list.Continue, nil
}

// fresh is the token by which the range can go on where its moment is forgotten. One
// that has led to the same is none.
func (p *pager) fresh(err error) string {
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Status != http.StatusGone || p.forgotten == p.seen {
		return ""
	}
	p.forgotten = p.seen
	return refused.Continue
}

// item yields one, and reports whether the loop wants more.
func (p *pager) item(vm *VMI) bool {
	vm.index = p.seen
	p.seen++
	p.stopped = !p.yield(vm, nil)
	return !p.stopped
}
