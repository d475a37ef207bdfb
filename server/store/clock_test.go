package store_test

import (
	"sync/atomic"
	"time"
)

// clock stands still until it is told to move.
type clock struct {
	nanoseconds atomic.Int64
}

func newClock() *clock {
	c := &clock{}
	c.nanoseconds.Store(time.Date(2026, 12, 1, 22, 7, 36, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time {
	return time.Unix(0, c.nanoseconds.Load())
}

func (c *clock) Advance(d time.Duration) {
	c.nanoseconds.Add(int64(d))
}
