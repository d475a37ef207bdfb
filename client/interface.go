package client

import (
	"context"
	"iter"

	"github.com/vmikit/vmikit/gen/vmi"
)

// Reader is what a program needs of a [Client] to look at machines. It is there for
// functions that are to be tested with a fake of one's own; package
// server/servertest, a whole server in a few milliseconds, is often less work and
// closer to the truth. Most programs take a *Client, or declare an interface with the
// methods they call.
//
// Methods may be added to Reader and Writer; a fake that embeds the interface keeps
// compiling.
type Reader interface {
	Get(ctx context.Context, namespace, name string) (*VMI, error)
	List(ctx context.Context, namespace string, opts ListOptions) (*List, error)
	All(ctx context.Context, namespace string, opts ListOptions) iter.Seq2[*VMI, error]
	Watch(ctx context.Context, namespace string, opts WatchOptions) iter.Seq2[Event, error]
	WaitFor(ctx context.Context, namespace, name string, until Condition) (*VMI, error)
}

// Writer is what a program needs of a [Client] to change machines, see [Reader].
type Writer interface {
	Create(ctx context.Context, namespace string, object any, opts WriteOptions) (*VMI, error)
	Patch(ctx context.Context, namespace, name string, patch Patch, opts WriteOptions) (*VMI, error)
	Update(ctx context.Context, namespace, name string, change func(*vmi.VirtualMachineInstance) error, opts WriteOptions) (*VMI, error)
	Delete(ctx context.Context, namespace, name string, opts DeleteOptions) error
}

var _ interface {
	Reader
	Writer
} = (*Client)(nil)
