package contract

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// maxRemembered is how many machines, and how many texts of machines, an observer
// remembers.
const maxRemembered = 20_000

// textDigest stands for a text.
type textDigest = [sha256.Size]byte

func digestOf(text []byte) textDigest { return sha256.Sum256(text) }

// lru is a map that forgets what was not used for the longest time.
type lru[K comparable, V any] struct {
	max   int
	order *list.List // of K, the newest in front
	at    map[K]*list.Element
	value map[K]V
}

func newLRU[K comparable, V any](n int) *lru[K, V] {
	return &lru[K, V]{max: n, order: list.New(), at: make(map[K]*list.Element), value: make(map[K]V)}
}

func (l *lru[K, V]) get(key K) (value V, ok bool) {
	if e := l.at[key]; e != nil {
		l.order.MoveToFront(e)
		return l.value[key], true
	}
	return value, false
}

func (l *lru[K, V]) put(key K, value V) {
	l.value[key] = value
	if e := l.at[key]; e != nil {
		l.order.MoveToFront(e)
		return
	}
	l.at[key] = l.order.PushFront(key)
	if l.order.Len() > l.max {
		if oldest, ok := l.order.Remove(l.order.Back()).(K); ok {
			delete(l.at, oldest)
			delete(l.value, oldest)
		}
	}
}

func (l *lru[K, V]) len() int { return l.order.Len() }

// saying is a fault of one item.
type saying struct {
	id      string
	finding Finding
}

// maxSayings bounds what is kept of one item; one with more is judged again.
const maxSayings = 20

// itemCache has what the judge said of items by their text, so that a list that is
// asked for again and again is not judged again and again.
type itemCache struct {
	mu    sync.Mutex
	items *lru[textDigest, []saying]
}

func newItemCache() *itemCache { return &itemCache{items: newLRU[textDigest, []saying](maxRemembered)} }

func (c *itemCache) get(d textDigest) ([]saying, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items.get(d)
}

func (c *itemCache) put(d textDigest, said []saying) {
	if len(said) > maxSayings {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.put(d, said)
}
