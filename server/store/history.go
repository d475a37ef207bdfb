package store

import "time"

// History bounds what a [Memory] keeps of the past. There are two kinds of it,
// and each may hold half of Bytes:
//
//   - The log of changes, which watches read, and from which a list of any
//     state that it reaches back to is made by undoing what came after. For
//     each change it holds the version that the change has superseded.
//   - The states at the revisions that a page with a rest was answered from,
//     so that the pages after it need not make them once more, and can be had
//     when the log does not reach back that far, as it happens when few
//     objects are written often.
//
// When one bound is passed the oldest is given up, and lists that ask for it
// and watches that have yet to see it fail with [ErrExpired]. A field that is
// not above zero has its default.
type History struct {
	// Bytes that the past may hold besides what the newest state holds: JSON,
	// labels, and what is around them. Half is for the log and half for old
	// states; a version that both hold is charged to both. One change is held
	// however large it is, or nobody could watch large objects. The default is
	// 128 MiB.
	Bytes int64
	// Changes in the log. The default of 100,000 is what can be undone while
	// somebody waits, and, with small objects, about as much as fits into half
	// of the default for Bytes.
	Changes int
	// Count of old states. The default of 1,024 is for what Bytes cannot see:
	// so many lists are hardly ever in the middle at once, and looking one up
	// takes no time yet.
	Count int
	// Age of changes, and of old states from when they were first needed. The
	// default is the 5 minutes after which a Kubernetes API server has etcd
	// compacted. Age is looked at when the store is written to, listed, or
	// asked for a watch; an idle one holds what it held.
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
