package store

import (
	"cmp"
	"slices"
	"time"
)

// pins keeps snapshots readable within bounds, which are half of the bytes,
// the count and the age of [History].
//
// What a pin holds is never measured, it is charged: a version that is
// superseded stays in memory as long as the newest pin that shows it, since
// pins go oldest first. So each version is charged once, to that pin, and
// released with it. A snapshot that was rewound shows versions that were
// superseded before anybody could charge for them; it brings the charge along.
type pins struct {
	limits     History
	list       []*pin // by revision
	bytes      int64  // charged to all of them
	superseded int64  // bytes superseded since the beginning, pinned or not
	begin      int64  // the earliest revision that may be pinned
}

type pin struct {
	snapshot *snapshot
	since    time.Time
	versions int64 // bytes of superseded versions
	nodes    int64 // bytes of superseded tree nodes
	maxNodes int64 // all the nodes that the snapshot has
}

// held is what a snapshot holds besides the newest state, in bytes.
type held struct {
	versions int64
	nodes    int64
}

// Upper bounds of what the trees allocate, in bytes. A node of tidwall/btree
// has up to 63 items and 64 children, with some slack and the headers, and is
// half full or more.
const (
	objectsNodeBytes = 64*8 + 64*8 + 128
	indexNodeBytes   = 64*16 + 64*8 + 128
	objectsItemBytes = 3 * 8
	indexItemBytes   = 3 * 16
	objectBytes      = 192 // an Object and its labels, without JSON and path
)

// versionBytes is what a version of an object holds.
func versionBytes(o *Object) int64 {
	return int64(len(o.JSON) + len(o.path) + objectBytes)
}

// get returns the snapshot of a revision, or nil.
func (p *pins) get(revision int64) *snapshot {
	if i, ok := p.search(revision); ok {
		return p.list[i].snapshot
	}
	return nil
}

func (p *pins) search(revision int64) (int, bool) {
	return slices.BinarySearchFunc(p.list, revision, func(pin *pin, revision int64) int {
		return cmp.Compare(pin.snapshot.revision, revision)
	})
}

// add pins a snapshot, if it is not yet. Writes may have come since the
// snapshot was taken; what they superseded is charged as if the snapshot had
// shown all of it. It is not younger than a later one: those go oldest first.
func (p *pins) add(s *snapshot, now time.Time) {
	i, ok := p.search(s.revision)
	if ok || s.revision < p.begin {
		return
	}
	since := now
	if i < len(p.list) && p.list[i].since.Before(since) {
		since = p.list[i].since
	}
	maxNodes := int64(s.objects.Len()) * objectsItemBytes
	if s.index != nil {
		maxNodes += int64(s.index.Len()) * indexItemBytes
	}
	added := &pin{
		snapshot: s,
		since:    since,
		versions: s.rewound.versions + p.superseded - s.superseded,
		nodes:    min(s.rewound.nodes, maxNodes),
		maxNodes: maxNodes,
	}
	p.list = slices.Insert(p.list, i, added)
	p.bytes += added.versions + added.nodes
}

// supersede charges for what a write has taken from the newest state: an old
// version, nil if there was none, and the nodes on the way to it.
func (p *pins) supersede(old *Object, nodeBytes int) {
	var bytes int64
	if old != nil {
		bytes = versionBytes(old)
		p.superseded += bytes
	}
	if len(p.list) == 0 {
		return
	}
	newest := p.list[len(p.list)-1]
	if old == nil || old.Revision > newest.snapshot.revision {
		bytes = 0 // no pin shows it
	}
	nodes := min(int64(nodeBytes), newest.maxNodes-newest.nodes)
	newest.versions += bytes
	newest.nodes += nodes
	p.bytes += bytes + nodes
}

// evict brings the pins within their bounds, oldest first.
func (p *pins) evict(now time.Time) {
	n := 0
	for n < len(p.list) && (p.bytes > p.limits.Bytes/2 || len(p.list)-n > p.limits.Count || now.Sub(p.list[n].since) > p.limits.Age) {
		p.bytes -= p.list[n].versions + p.list[n].nodes
		n++
	}
	p.list = slices.Delete(p.list, 0, n)
}
