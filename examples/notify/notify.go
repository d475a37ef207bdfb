// Package notify stands for a program of your own: it tells somebody when machines
// fail. What there is to see is its test, which runs it against a server that fails
// and forgets on demand.
package notify

import (
	"context"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
)

// Failures tells of each machine that reaches the phase Failed, once, by namespace and
// name, and of those that are in it at the beginning. It goes on until the watch ends,
// and returns the error of that.
func Failures(ctx context.Context, c *client.Client, tell func(machine string)) error {
	failed := make(map[string]bool) // by uid
	for e, err := range c.Watch(ctx, "", client.WatchOptions{}) {
		switch {
		case err != nil:
			return err
		case e.Type == client.EventDeleted:
			delete(failed, e.UID)
		case e.VMI != nil && e.VMI.Phase() == vmi.PhaseFailed && !failed[e.UID]:
			failed[e.UID] = true
			tell(e.Namespace + "/" + e.Name)
		}
	}
	return nil
}
