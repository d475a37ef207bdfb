package store

import (
	"cmp"
	"slices"
	"time"
)

// History bounds what a [Memory] keeps of the past: the latest changes, by which
// watches go on and every state before them can be shown again, and the state at
// each revision that a page with a rest was answered from. When one bound is passed
// the oldest is given up, and lists and watches that ask for it fail with
// [ErrExpired]. A field that is not above zero has its default.
type History struct {
	// Bytes that the past may hold besides what the newest state holds, in JSON and
	// in the trees around it: one half for the changes, the other for the states.
	// The default is 128 MiB.
	Bytes int64
	// Changes that are kept. The default is 100,000.
	Changes int
	// Count of old states. The default of 1,024 is for what Bytes cannot see:
	// so many lists are hardly ever in the middle at once, and looking one up
	// takes no time yet.
	Count int
	// Age of changes, and of old states from when they were first needed. The default is the
	// 5 minutes after which a Kubernetes API server has etcd compacted. Age is
	// looked at when the store is used; an idle one holds what it held.
	Age time.Duration
}

func (h History) withDefaults() History {
	if h.Bytes <= 0 {
		h.Bytes = 128 << 20
	}
	if h.Changes <= 0 {
		h.Changes = 100_000
	}
	if h.Count <= 0 {
		h.Count = 1024
	}
	if h.Age <= 0 {
		h.Age = 5 * time.Minute
	}
	return h
}

// pins keeps snapshots readable within bounds.
//
// What a pin holds is never measured, it is charged: a version that is
// superseded stays in memory as long as the newest pin that shows it, since
// pins go oldest first. So each version is charged once, to that pin, and
// released with it.
type pins struct {
	limits     History
	list       []*pin // by revision
	bytes      int64  // charged to all of them
	superseded int64  // bytes superseded since the beginning, pinned or not
}

type pin struct {
	snapshot *snapshot
	since    time.Time
	versions int64 // bytes of superseded versions
	nodes    int64 // bytes of superseded tree nodes
	maxNodes int64 // all the nodes that the snapshot has
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
// shown all of it.
func (p *pins) add(s *snapshot, now time.Time) {
	i, ok := p.search(s.revision)
	if ok {
		return
	}
	missed := p.superseded - s.superseded
	p.list = slices.Insert(p.list, i, &pin{
		snapshot: s,
		since:    now,
		versions: missed,
		maxNodes: int64(s.objects.Len())*objectsItemBytes + int64(s.index.Len())*indexItemBytes,
	})
	p.bytes += missed
}

// supersede charges for what a write has taken from the newest state: an old
// version, nil if there was none, and the nodes on the way to it.
func (p *pins) supersede(old *Object, nodeBytes int) {
	var bytes int64
	if old != nil {
		bytes = old.bytes()
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
