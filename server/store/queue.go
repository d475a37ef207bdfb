package store

import (
	"cmp"
	"slices"
)

// queue is the records of one namespace, or of all, by revision. The lock is
// that of the log.
type queue struct {
	namespace string
	records   []*record // from head on
	head      int
	lost      int64         // the changes up to here are not all held
	woken     chan struct{} // closed by the next change, once somebody waits
	waiting   int           // how many do
}

// queueBytes is what a queue costs in memory without what recordBytes covers:
// itself, its place in a map, a name, and some places that are not worth
// getting back.
const queueBytes = 96 + 64 + 96 + 2*compactAt*8

// compactAt is where the place of what was popped is worth getting back.
const compactAt = 16

func (q *queue) len() int {
	return len(q.records) - q.head
}

func (q *queue) first() *record {
	return q.records[q.head]
}

func (q *queue) push(r *record) {
	q.records = append(q.records, r)
}

func (q *queue) pop() {
	q.lost = q.first().revision
	q.records[q.head] = nil
	q.head++
	switch {
	case q.len() == 0:
		q.records, q.head = nil, 0
	case q.head >= compactAt && q.head >= q.len():
		q.records, q.head = slices.Clone(q.records[q.head:]), 0
	}
}

// check returns an error when a change after the revision was given up.
func (q *queue) check(revision int64) error {
	if revision < q.lost {
		return &ExpiredError{Requested: revision, Oldest: q.lost}
	}
	return nil
}

// after returns the records after a revision. It is looked for from the end,
// where nearly everybody is.
func (q *queue) after(revision int64) []*record {
	records := q.records[q.head:]
	from, to := 0, len(records)
	for step := 1; step <= len(records); step *= 2 {
		i := len(records) - step
		if records[i].revision <= revision {
			from = i + 1
			break
		}
		to = i
	}
	i, _ := slices.BinarySearchFunc(records[from:to], revision+1, func(r *record, revision int64) int {
		return cmp.Compare(r.revision, revision)
	})
	return records[from+i:]
}

// rouse returns the channel of those who wait; it is for the caller to close.
func (q *queue) rouse() chan struct{} {
	woken := q.woken
	q.woken = nil
	return woken
}
