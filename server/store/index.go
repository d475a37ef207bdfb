package store

import (
	"container/heap"
	"iter"
	"slices"
	"strings"
	"unique"

	"github.com/tidwall/btree"
)

// posting says that an object has a label. The index is one tree of them,
// ordered by key and value of the label and then as the objects are, so that
// the objects with one label are neighbours, in order, and a copy of the tree
// is the index of a snapshot. A nil object is behind all others, to search
// with.
type posting struct {
	label  unique.Handle[label]
	object *Object
}

func newIndex() *btree.BTreeG[posting] {
	less := func(a, b posting) bool {
		if a.label != b.label {
			return compareLabels(a.label.Value(), b.label.Value()) < 0
		}
		if a.object == nil || b.object == nil {
			return a.object != nil
		}
		return a.object.path < b.object.path
	}
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

func compareLabels(a, b label) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	return strings.Compare(a.value, b.value)
}

// reindex replaces the postings of one version by those of the next; either
// may be nil. It returns how many postings it touched.
func reindex(index *btree.BTreeG[posting], old, next *Object) int {
	touched := 0
	if next != nil {
		for _, l := range next.labels.pairs {
			index.Set(posting{l, next}) // takes the place of the old version's
		}
		touched = len(next.labels.pairs)
	}
	if old != nil {
		for _, l := range old.labels.pairs {
			if next == nil || !slices.Contains(next.labels.pairs, l) {
				index.Delete(posting{l, old})
				touched++
			}
		}
	}
	return touched
}

// seekCost is what a search in the index costs, in objects looked at by
// a scan. It keeps long lists of values from being slower than a scan.
const seekCost = 32

// mostSelective returns the requirement that the index answers with the
// fewest objects, nil when there is no index or none makes fewer than a scan
// of the window looks at.
func (s *snapshot) mostSelective(selector Selector, w window) *Requirement {
	if s.index == nil {
		return nil
	}
	var best *Requirement
	bestCost := s.count(w)
	for i := range selector.requirements {
		r := &selector.requirements[i]
		switch r.Operator {
		case Equals, DoubleEquals, In:
			if cost := s.indexCost(r, w, bestCost); cost < bestCost {
				best, bestCost = r, cost
			}
		}
	}
	return best
}

// indexCost stops counting at the bound.
func (s *snapshot) indexCost(r *Requirement, w window, bound int) int {
	cost := len(r.Values) * seekCost
	for _, value := range r.Values {
		if cost >= bound {
			break
		}
		l := unique.Make(label{key: r.Key, value: value})
		cost += rank(s.index, posting{l, w.to}) - rank(s.index, posting{l, w.from})
	}
	return cost
}

// labelled yields the objects in the window that have one of the values of
// the requirement, in order, by merging the postings of each value.
func (s *snapshot) labelled(r *Requirement, w window) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		var cursors cursorHeap
		for _, value := range r.Values {
			c := &cursor{label: unique.Make(label{key: r.Key, value: value}), postings: s.index.Iter()}
			if c.postings.Seek(posting{c.label, w.from}) && c.arrive(w) {
				cursors = append(cursors, c)
			}
		}
		heap.Init(&cursors)
		for len(cursors) > 0 {
			c := cursors[0]
			if !yield(c.object) {
				return
			}
			if c.postings.Next() && c.arrive(w) {
				heap.Fix(&cursors, 0)
			} else {
				heap.Pop(&cursors)
			}
		}
	}
}

// cursor walks along the postings of one label.
type cursor struct {
	label    unique.Handle[label]
	postings btree.IterG[posting]
	object   *Object
}

// arrive takes the object that the walk has come to; false is the end.
func (c *cursor) arrive(w window) bool {
	p := c.postings.Item()
	c.object = p.object
	return p.label == c.label && w.reaches(p.object)
}

type cursorHeap []*cursor

func (h cursorHeap) Len() int           { return len(h) }
func (h cursorHeap) Less(i, j int) bool { return h[i].object.path < h[j].object.path }
func (h cursorHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursorHeap) Push(x any)        { *h = append(*h, x.(*cursor)) }
func (h *cursorHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
