package store

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// change is one write: old is nil for a creation, next for a deletion.
type change struct {
	revision  int64
	at        time.Time
	old, next *Object

	// gone is the old state under the revision of this change, made once for all
	// watches that show it.
	once sync.Once
	gone *Object
}

// key is of the object that the change is about.
func (c *change) key() Key {
	if c.next != nil {
		return c.next.Key
	}
	return c.old.Key
}

// last is the old state as it is reported when nothing of the object is to be seen
// any more.
func (c *change) last() *Object {
	c.once.Do(func() { c.gone = c.old.WithRevision(c.revision) })
	return c.gone
}

// bytes are what only the log holds of a change: the version that it superseded.
// Each version that is not superseded yet is one of the newest state.
func (c *change) bytes() int64 {
	n := int64(changeBytes)
	if c.old != nil {
		n += c.old.bytes()
	}
	if c.next == nil {
		n += c.old.bytes() // the last state once more
	}
	return n
}

// changeBytes is what a change takes itself, its place in the log included.
const changeBytes = 160

// changeLog keeps the changes of the recent past, oldest first.
type changeLog struct {
	limits History
	// kept are the changes, first the sequence number of the first one.
	kept  []*change
	first int64
	bytes int64
	// oldest is the revision behind which every change is kept.
	oldest int64
	// evicted counts what was given up since all watches were last woken.
	evicted int
}

// end is the sequence number of the next change.
func (l *changeLog) end() int64 { return l.first + int64(len(l.kept)) }

func (l *changeLog) append(c *change) {
	l.kept = append(l.kept, c)
	l.bytes += c.bytes()
}

// evict brings the log within its bounds. It reports whether watches that wait are to
// be woken: one over objects that do not change must look at what it skips before it
// is given up, or it would seem to have missed it.
func (l *changeLog) evict(now time.Time) (wake bool) {
	n := 0
	for n < len(l.kept) {
		c := l.kept[n]
		if l.bytes <= l.limits.Bytes/2 && len(l.kept)-n <= l.limits.Changes && now.Sub(c.at) <= l.limits.Age {
			break
		}
		l.bytes -= c.bytes()
		l.oldest = c.revision
		l.kept[n] = nil
		n++
	}
	if n == 0 {
		return false
	}
	l.kept = l.kept[n:] // append moves what is left when there is no more room
	l.first += int64(n)
	if l.evicted += n; l.evicted > len(l.kept)/4 {
		l.evicted = 0
		return true
	}
	return false
}

// after returns the sequence number of the first change behind a revision.
func (l *changeLog) after(revision int64) int64 {
	i := sort.Search(len(l.kept), func(i int) bool { return l.kept[i].revision > revision })
	return l.first + int64(i)
}

// since returns all changes behind a revision.
func (l *changeLog) since(revision int64) []*change {
	return slices.Clone(l.kept[l.after(revision)-l.first:])
}
