package certs

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how often files are looked at, at most: when somebody asks for what they
// hold.
const lookEvery = time.Second

// Reloaded is what some files hold, and their new content once they change. It is safe
// for concurrent use and needs no goroutine.
type Reloaded[T any] struct {
	paths []string
	load  func() (T, error)
	tell  func(error)
	value atomic.Pointer[T]

	mu     sync.Mutex
	looked time.Time
	seen   [sha256.Size]byte
	bad    bool
}

// Reload loads what files hold, and fails as load does. When they change it is loaded
// again. Content that load refuses keeps what there was: tell is called with the error,
// once for that content, and with nil when something new is in force.
func Reload[T any](load func() (T, error), tell func(error), paths ...string) (*Reloaded[T], error) {
	r := &Reloaded[T]{paths: paths, load: load, tell: tell, looked: time.Now()}
	r.seen = r.look()
	first, err := load()
	if err != nil {
		return nil, err
	}
	r.value.Store(&first)
	return r, nil
}

// Get returns what the files held when they were last good, no older than a second.
func (r *Reloaded[T]) Get() T {
	// Who comes while somebody looks takes what there is.
	if r.mu.TryLock() {
		if now := time.Now(); now.Sub(r.looked) >= lookEvery {
			r.looked = now
			r.refresh()
		}
		r.mu.Unlock()
	}
	return *r.value.Load()
}

func (r *Reloaded[T]) refresh() {
	seen := r.look()
	changed := seen != r.seen
	if !changed && !r.bad {
		return
	}
	r.seen = seen
	// What was refused may become good by itself: a certificate whose time comes.
	next, err := r.load()
	if r.bad = err != nil; r.bad {
		if changed {
			r.tell(err)
		}
		return
	}
	r.value.Store(&next)
	r.tell(nil)
}

// look is a sum of what is in the files, or of why that cannot be read.
func (r *Reloaded[T]) look() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, path := range r.paths {
		data, err := os.ReadFile(path)
		fmt.Fprintf(h, "%d %v\n", len(data), err)
		h.Write(data)
	}
	h.Sum(sum[:0])
	return sum
}
