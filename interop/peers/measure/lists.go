package main

import (
	"context"
	"fmt"
)

func (b *bench) measureLists(ctx context.Context) error {
	for _, machines := range b.lists {
		took, err := b.ask(ctx, machines, "client-go", "typed", "light")
		if err != nil {
			return err
		}
		theirs := took["client-go"]
		for _, side := range []struct {
			name, title    string
			cpu, allocated goal
		}{
			{"typed", "typed view of each", goal{part: 1. / 3}, goal{part: 1. / 2}},
			{"light", "names and phases", goal{part: 1. / 8}, goal{}},
		} {
			ours, title := took[side.name], fmt.Sprintf("List of %d, %s", machines, side.title)
			b.row(title+": CPU ms", ours.CPU, theirs.CPU, side.cpu)
			b.row(title+": MB", ours.Allocated, theirs.Allocated, side.allocated)
		}
	}
	return nil
}

// measureMemory has nothing of client-go beside it, which has no stream of a list.
func (b *bench) measureMemory(ctx context.Context) error {
	took, err := b.ask(ctx, b.stream, "all", "whole")
	if err != nil {
		return err
	}
	for _, side := range []struct{ name, title string }{{"all", "in pages of 500"}, {"whole", "in one answer"}} {
		b.row(fmt.Sprintf("All %d %s: MB of heap at most", b.stream, side.title), took[side.name].Peak, 0, goal{most: 30})
	}
	return nil
}
