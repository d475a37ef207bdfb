package proxy

import "sync"

// queue does work one piece after the other, beside whoever hands it in. There is
// no goroutine while there is no work.
type queue struct {
	mu    sync.Mutex
	work  []piece
	busy  bool
	bytes int64
	idle  *sync.Cond
}

func newQueue() *queue {
	q := new(queue)
	q.idle = sync.NewCond(&q.mu)
	return q
}

type piece struct {
	do   func()
	size int64
}

// maxQueued bounds the bytes of what waits to be judged.
const maxQueued = 256 << 20

// maxPieces bounds how many pieces wait, small ones among them.
const maxPieces = 10_000

// add hands in a piece of work that holds so many bytes. It reports false, and does
// not take it, when more waits already than may.
func (q *queue) add(size int64, do func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.work) >= maxPieces || q.bytes > 0 && q.bytes+size > maxQueued {
		return false
	}
	q.work = append(q.work, piece{do, size})
	q.bytes += size
	if !q.busy {
		q.busy = true
		go q.run()
	}
	return true
}

func (q *queue) run() {
	for {
		q.mu.Lock()
		if len(q.work) == 0 {
			q.busy = false
			q.idle.Broadcast()
			q.mu.Unlock()
			return
		}
		next := q.work[0]
		q.work[0] = piece{}
		q.work = q.work[1:]
		q.mu.Unlock()
		next.do()
		q.mu.Lock()
		q.bytes -= next.size
		q.mu.Unlock()
	}
}

func (q *queue) wait() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.busy {
		q.idle.Wait()
	}
}
