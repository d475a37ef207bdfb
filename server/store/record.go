package store

import (
	"slices"
	"sync/atomic"
	"time"
)

// record is one change in the log. All but gone stays as it is.
type record struct {
	revision int64
	at       time.Duration // on the clock of the log
	old      *Object       // nil for a creation
	next     *Object       // nil for a deletion
	gone     atomic.Pointer[Object]
}

func (r *record) key() Key {
	if r.next != nil {
		return r.next.Key
	}
	return r.old.Key
}

// farewell returns the old state under the revision of the change. The first
// one who needs it spells it, for all.
func (r *record) farewell() *Object {
	if o := r.gone.Load(); o != nil {
		return o
	}
	r.gone.CompareAndSwap(nil, r.old.WithRevision(r.revision))
	return r.gone.Load()
}

// recordBytes is what a record costs: itself, and its places in two queues
// that may be twice as long as what is in them, with a quarter on top when one
// has just grown.
const recordBytes = 48 + 2*8*5/2 + 24

// bytes is what the record holds besides the newest state. The version that
// the change made is in the newest state, or in a later record. A farewell is
// charged as soon as one can be asked for.
func (r *record) bytes() int64 {
	bytes := int64(recordBytes)
	if r.old == nil {
		return bytes
	}
	bytes += versionBytes(r.old)
	if r.next == nil || !slices.Equal(r.old.labels.pairs, r.next.labels.pairs) {
		bytes += versionBytes(r.old)
	}
	return bytes
}
