package main

import (
	"context"
	"fmt"
)

func (b *bench) measureLists(ctx context.Context) error {
	for _, machines := range b.lists {
		theirs, err := b.ask(ctx, "client-go", machines)
		if err != nil {
			return err
		}
		for _, side := range []struct {
			name, title    string
			cpu, allocated goal
		}{
			{"typed", "typed view of each", goal{part: 1. / 3}, goal{part: 1. / 2}},
			{"light", "names and phases", goal{part: 1. / 8}, goal{}},
		} {
			took, err := b.ask(ctx, side.name, machines)
			if err != nil {
				return err
			}
			title := fmt.Sprintf("List of %d, %s", machines, side.title)
			b.row(title+": CPU ms", took.CPU, theirs.CPU, side.cpu)
			b.row(title+": MB", took.Allocated, theirs.Allocated, side.allocated)
		}
	}
	return nil
}

// measureMemory has nothing of client-go beside it, which has no stream of a list.
func (b *bench) measureMemory(ctx context.Context) error {
	for _, side := range []struct{ name, title string }{{"all", "in pages of 500"}, {"whole", "in one answer"}} {
		took, err := b.ask(ctx, side.name, b.stream)
		if err != nil {
			return err
		}
		b.row(fmt.Sprintf("All %d %s: MB of heap at most", b.stream, side.title), took.Peak, 0, goal{most: 30})
	}
	return nil
}
