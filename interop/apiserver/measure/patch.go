package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// hearWait is how long watchers may take for a change before it counts as lost.
const hearWait = time.Minute

// patchWatched patches one machine after the other, and measures from the request to
// when the last of the watchers has the change. The first few are not in the figures.
func (b *bench) patchWatched(ctx context.Context, m *machines, s *side) (usage, error) {
	const warmUp = 3
	var current, heard, wrong atomic.Int64
	last := make(chan time.Time, 1)
	watchers := b.size.watchers
	a, err := attend(ctx, s, watchers, func(int) string { return everywhere }, func(_, sequence int) {
		if int64(sequence) != current.Load() {
			wrong.Add(1)
		}
		if heard.Add(1)%int64(watchers) == 0 {
			last <- time.Now()
		}
	})
	if err != nil {
		return usage{}, err
	}
	defer a.leave()
	client := s.client(http1)
	defer client.CloseIdleConnections()

	var u usage
	var before time.Duration
	for i := range warmUp + b.size.patches {
		if i == warmUp {
			if before, err = cpuOf(s.pid); err != nil {
				return usage{}, err
			}
		}
		n := b.next()
		current.Store(int64(n))
		begin := time.Now()
		if err := s.do(ctx, client, http.MethodPatch, m.path(n*7919%m.count), sequencePatch(n), io.Discard); err != nil {
			return usage{}, err
		}
		select {
		case at := <-last:
			if i >= warmUp {
				u.took = append(u.took, at.Sub(begin))
			}
		case <-time.After(hearWait):
			return usage{}, fmt.Errorf("%s: %d of %d watchers have not heard of a patch", s.name, int64(watchers)-heard.Load()%int64(watchers), watchers)
		case <-ctx.Done():
			return usage{}, ctx.Err()
		}
	}
	after, err := cpuOf(s.pid)
	if err != nil {
		return usage{}, err
	}
	if n := wrong.Load(); n > 0 {
		return usage{}, fmt.Errorf("%s: %d changes reached a watcher that was due another", s.name, n)
	}
	u.cpu = after - before
	return u, a.err()
}
