package command

import (
	"context"
	"errors"
	"iter"

	"github.com/vmikit/vmikit/manifest"
)

var errInterrupted = errors.New("interrupted")

// readAhead reads the next objects while the last one is worked on, and yields
// errInterrupted as soon as ctx ends, even when the reader waits for somebody to
// type. What is read ahead is bounded by the count: objects are small, see
// package manifest for the largest.
func readAhead(ctx context.Context, objects iter.Seq2[*manifest.Object, error]) iter.Seq2[*manifest.Object, error] {
	type item struct {
		object *manifest.Object
		err    error
	}
	return func(yield func(*manifest.Object, error) bool) {
		reading, stop := context.WithCancel(ctx)
		defer stop()
		items := make(chan item, 16)
		go func() {
			defer close(items)
			for object, err := range objects {
				select {
				case items <- item{object, err}:
				case <-reading.Done():
					return
				}
			}
		}()
		for {
			select {
			case <-ctx.Done():
				yield(nil, errInterrupted)
				return
			case i, ok := <-items:
				if ctx.Err() != nil {
					continue // both are ready; the end wins
				}
				if !ok || !yield(i.object, i.err) {
					return
				}
			}
		}
	}
}
