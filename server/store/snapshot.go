package store

import (
	"context"
	"iter"
	"slices"
	"sort"

	"github.com/tidwall/btree"
)

// snapshot is the state of a [Memory] at one revision. Nothing writes to its
// trees, so that any number of readers may share it without a lock.
type snapshot struct {
	revision   int64
	objects    *btree.BTreeG[*Object]
	index      *btree.BTreeG[posting] // nil when the snapshot was rewound
	superseded int64                  // pins.superseded when the snapshot was taken
	rewound    held                   // what of it the newest state did not have then
}

func newObjects() *btree.BTreeG[*Object] {
	less := func(a, b *Object) bool { return a.path < b.path }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// at returns a stand-in for an object at a position, to search with.
func at(position string) *Object {
	return &Object{path: position}
}

// window is the part of the order of keys that a list looks at.
type window struct {
	namespace string // "" is all
	from      *Object
	to        *Object // the first one that does not belong to it; nil is the end
}

func (w window) contains(o *Object) bool {
	return o.path >= w.from.path && w.reaches(o)
}

// reaches is contains for those who start at from.
func (w window) reaches(o *Object) bool {
	return w.to == nil || o.path < w.to.path
}

// windowOf returns false when the options ask for two namespaces.
func windowOf(opts ListOptions) (window, bool) {
	namespace := opts.Namespace
	if exact, ok := opts.Fields.Namespace(); ok {
		if namespace != "" && namespace != exact {
			return window{}, false
		}
		namespace = exact
	}
	if namespace == "" {
		return window{from: at(opts.Start)}, true
	}
	return window{
		namespace: namespace,
		from:      at(max(opts.Start, namespace+"/")),
		to:        at(behindNamespace(namespace)),
	}, true
}

// behindNamespace returns the first position that is behind all objects of
// a namespace: "0" is the byte after "/".
func behindNamespace(namespace string) string {
	return namespace + "0"
}

func (s *snapshot) list(ctx context.Context, opts ListOptions) (*Page, error) {
	page := &Page{Revision: s.revision}
	w, ok := windowOf(opts)
	if !ok {
		return page, nil
	}
	if opts.Labels.Empty() && opts.Fields.Empty() {
		s.listAll(page, w, opts.Limit)
		return page, nil
	}
	return page, s.listSelected(ctx, page, w, opts)
}

// listAll costs a few searches, to count, and one step for each object of the
// page.
func (s *snapshot) listAll(page *Page, w window, limit int) {
	count := s.count(w)
	take := count
	if limit > 0 {
		take = min(take, limit)
	}
	if take == 0 {
		return
	}
	page.Objects = make([]*Object, 0, take)
	s.objects.Ascend(w.from, func(o *Object) bool {
		page.Objects = append(page.Objects, o)
		return len(page.Objects) < take
	})
	page.Remaining = int64(count - take)
	page.More = page.Remaining > 0
}

// listSelected stops at the limit. Whether one of the objects behind it is
// selected is not looked into, so the last page can be an empty one, as it can
// from a Kubernetes API server. A selector can have as many requirements as
// somebody cares to send, so it asks now and then whether anybody still waits.
func (s *snapshot) listSelected(ctx context.Context, page *Page, w window, opts ListOptions) error {
	cut := false
	labels := newMatcher(opts.Labels)
	compared := 0
	for o := range s.candidates(w, opts) {
		if compared += 1 + len(opts.Labels.requirements); compared > comparisonsBetweenLooks {
			if err := ctx.Err(); err != nil {
				return err
			}
			compared = 0
		}
		if opts.Fields.Matches(o) && labels.matches(o) {
			page.Objects = append(page.Objects, o)
			if len(page.Objects) == opts.Limit {
				cut = true
				break
			}
		}
	}
	if cut && s.anyBehind(page.Objects[len(page.Objects)-1], w) {
		page.More = true
		page.Remaining = -1
	}
	return nil
}

// comparisonsBetweenLooks are about a millisecond's.
const comparisonsBetweenLooks = 50_000

// candidates yields, in order, a superset of what the selectors match, as
// small as can be had without looking at the objects.
func (s *snapshot) candidates(w window, opts ListOptions) iter.Seq[*Object] {
	if name, ok := opts.Fields.Name(); ok {
		return s.named(name, w)
	}
	if r := s.mostSelective(opts.Labels, w); r != nil {
		return s.labelled(r, w)
	}
	return func(yield func(*Object) bool) {
		s.objects.Ascend(w.from, func(o *Object) bool {
			return w.reaches(o) && yield(o)
		})
	}
}

// named looks one name up, in each namespace if there are several.
func (s *snapshot) named(name string, w window) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		namespaces := s.namespaces()
		if w.namespace != "" {
			namespaces = slices.Values([]string{w.namespace})
		}
		for namespace := range namespaces {
			o, ok := s.objects.Get(at(Key{Namespace: namespace, Name: name}.String()))
			if ok && w.contains(o) && !yield(o) {
				return
			}
		}
	}
}

// namespaces yields the namespaces that have objects, in the order of keys,
// with one search for each.
func (s *snapshot) namespaces() iter.Seq[string] {
	return func(yield func(string) bool) {
		for next := at(""); next != nil; {
			from := next
			next = nil
			s.objects.Ascend(from, func(o *Object) bool {
				if yield(o.Key.Namespace) {
					next = at(behindNamespace(o.Key.Namespace))
				}
				return false
			})
		}
	}
}

func (s *snapshot) anyBehind(o *Object, w window) bool {
	found := false
	s.objects.Ascend(at(o.Key.After()), func(behind *Object) bool {
		found = w.contains(behind)
		return false
	})
	return found
}

// count returns the number of objects in the window.
func (s *snapshot) count(w window) int {
	from, to := 0, s.objects.Len()
	if w.from.path != "" {
		from = rank(s.objects, w.from)
	}
	if w.to != nil {
		to = rank(s.objects, w.to)
	}
	return max(0, to-from)
}

// rank returns how many items of the tree come before the given one.
func rank[T any](tree *btree.BTreeG[T], item T) int {
	return sort.Search(tree.Len(), func(i int) bool {
		other, _ := tree.GetAt(i)
		return !tree.Less(other, item)
	})
}
