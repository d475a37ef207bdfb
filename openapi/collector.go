package openapi

import (
	"cmp"
	"slices"
)

// located is an issue and where in the text its value begins.
type located struct {
	Issue
	offset int64
}

// collector gathers the issues of one value.
type collector struct {
	found   []located
	dropped bool
}

func (c *collector) full() bool { return len(c.found) >= maxIssues }

func (c *collector) add(offset int64, i Issue) {
	if c.full() {
		c.dropped = true
		return
	}
	c.found = append(c.found, located{Issue: i, offset: offset})
}

// issues returns what was gathered, in the order of the text.
func (c *collector) issues() Issues {
	if len(c.found) == 0 {
		return nil
	}
	slices.SortStableFunc(c.found, func(a, b located) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Rule, b.Rule))
	})
	all := make(Issues, 0, len(c.found)+1)
	for _, l := range c.found {
		all = append(all, l.Issue)
	}
	if c.dropped {
		all = append(all, Issue{Rule: RuleTooManyIssues, Message: "there are more issues than are told"})
	}
	return all
}
