package store

import (
	"slices"
	"sync"
	"time"
)

// changeLog is the latest changes, for all watches: none has a copy of its
// own, and all that a change costs on account of watches is to wake those that
// wait for one in its namespace, or in any.
//
// It has a lock of its own, which nobody holds for longer than it takes to
// look at a few records, so that readers do not come in the way of writers.
type changeLog struct {
	limits History
	epoch  time.Time

	mu   sync.Mutex
	last int64 // the newest revision, that of the latest change as a rule
	// begins is where a compaction was: what came before is kept for the watches
	// that are running then, and for nobody else.
	begins int64
	bytes  int64 // charged to all records and queues
	all    queue
	// of holds the queue of each namespace with a record in it or somebody
	// waiting for one.
	of map[string]*queue
}

// newChangeLog makes the log of a store that begins at a revision.
func newChangeLog(limits History, revision int64, now time.Time) *changeLog {
	return &changeLog{limits: limits, epoch: now, last: revision, all: queue{lost: revision}, of: map[string]*queue{}}
}

// append adds the change of the next revision. The caller must wake those who
// are returned, and should hold no lock then.
func (l *changeLog) append(r *record, now time.Time) sleepers {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.at = now.Sub(l.epoch)
	l.last = r.revision
	q := l.named(r.key().Namespace)
	if q.len() == 0 {
		l.bytes += queueBytes
	}
	l.bytes += r.bytes()
	l.all.push(r)
	q.push(r)
	l.evict(now)
	return sleepers{l.all.rouse(), q.rouse()}
}

// sleepers are those who wait for a change in any namespace, and those who
// wait for one in its own.
type sleepers [2]chan struct{}

func (s sleepers) wake() {
	for _, woken := range s {
		if woken != nil {
			close(woken)
		}
	}
}

// named returns the queue of a namespace, "" being that of all.
func (l *changeLog) named(namespace string) *queue {
	if namespace == "" {
		return &l.all
	}
	q, ok := l.of[namespace]
	if !ok {
		q = &queue{namespace: namespace, lost: l.all.lost}
		l.of[namespace] = q
	}
	return q
}

// forget drops the queue of a namespace that nobody needs.
func (l *changeLog) forget(q *queue) {
	if q != &l.all && q.len() == 0 && q.waiting == 0 {
		delete(l.of, q.namespace)
	}
}

// evict brings the log within its bounds. Only age takes the latest record.
func (l *changeLog) evict(now time.Time) {
	horizon := now.Sub(l.epoch) - l.limits.Age
	for l.all.len() > 0 {
		r := l.all.first()
		over := l.bytes > l.limits.Bytes/2 || l.all.len() > l.limits.Changes
		if r.at >= horizon && (!over || l.all.len() == 1) {
			return
		}
		q := l.of[r.key().Namespace]
		l.all.pop()
		q.pop()
		l.bytes -= r.bytes()
		if q.len() == 0 {
			l.bytes -= queueBytes
		}
		l.forget(q)
	}
}

// check returns an error when the changes after a revision are not all held.
func (l *changeLog) check(revision int64, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evict(now)
	return l.holds(revision)
}

// holds returns an error when somebody who comes now is not to have the changes
// after a revision.
func (l *changeLog) holds(revision int64) error {
	if revision < l.begins {
		return &ExpiredError{Requested: revision, Oldest: l.begins}
	}
	return l.all.check(revision)
}

// since returns the changes after a revision, or an error when they are not
// all held.
func (l *changeLog) since(revision int64, now time.Time) ([]*record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evict(now)
	if err := l.holds(revision); err != nil {
		return nil, err
	}
	return slices.Clone(l.all.after(revision)), nil
}

// read copies the first changes in a namespace after a revision, as many as
// there is room for, and says up to which revision these are all.
func (l *changeLog) read(namespace string, after int64, room []*record) (n int, upTo int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q, ok := &l.all, true
	if namespace != "" {
		q, ok = l.of[namespace]
	}
	if !ok {
		return 0, max(after, l.last), l.all.check(after)
	}
	if err := q.check(after); err != nil {
		return 0, after, err
	}
	if n = copy(room, q.after(after)); n == len(room) {
		return n, room[n-1].revision, nil
	}
	return n, max(after, l.last), nil
}

// reached returns the revision of the latest change.
func (l *changeLog) reached() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// bed is where somebody waits for a change in the queue.
type bed struct {
	queue *queue
	woken <-chan struct{}
}

// sleep returns what the next change in the namespace wakes, or false when
// there is one after the revision already. Whoever is given a bed must leave
// it.
func (l *changeLog) sleep(namespace string, after int64) (bed, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.named(namespace)
	if q.check(after) != nil || len(q.after(after)) > 0 {
		return bed{}, false
	}
	if q.woken == nil {
		q.woken = make(chan struct{})
	}
	q.waiting++
	return bed{queue: q, woken: q.woken}, true
}

// leave ends a sleep and returns up to which revision there was nothing to
// wake for. The queue has known that as long as somebody was waiting, also
// when what else is in the log has been given up meanwhile.
func (l *changeLog) leave(b bed, after int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.queue.check(after) == nil && len(b.queue.after(after)) == 0 {
		after = max(after, l.last)
	}
	b.queue.waiting--
	l.forget(b.queue)
	return after
}
