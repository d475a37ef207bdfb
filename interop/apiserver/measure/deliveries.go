package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// delivery is a rate of writes, and who watches what.
type delivery struct {
	name string
	// perSecond is the writes of all writers together.
	perSecond, writers int
	// namespaces are over how many the watchers spread; 0 is that each watches everything.
	namespaces int
}

const (
	deliveryNamespaces = 50
	deliveryGoal       = 50 * time.Millisecond
)

var deliveryTests = []delivery{
	{"all watch everything, 20 writes/s", 20, 1, 0},
	{"each a namespace of 50, 1000 writes/s", 1000, 10, deliveryNamespaces},
}

const deliveryRow = "%-38s %-7s %9s %6s %9s %8s %8s %8s %6s %-6s %7s %7s %5s\n"

// deliveries writes at a steady rate and looks how late each watcher hears of each
// change, from when the write was due: a server that is late with one write is late
// with all behind it.
func (b *bench) deliveries(ctx context.Context) (err error) {
	m, err := newMachines(max(b.size.crowd, deliveryNamespaces), deliveryNamespaces)
	if err != nil {
		return err
	}
	ours, err := b.startVmikit(ctx, os.DevNull)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	fmt.Fprintf(b.out, "\n%d watchers for %s; latency from when a write was due, ms; CPU for each delivery, us, writes included\n", b.size.crowd, b.size.delivering)
	if err := b.prepare(ctx, m, ours); err != nil {
		return err
	}
	bare, err := b.startFloor(ctx, m, ours)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	fmt.Fprintf(b.out, deliveryRow, "", "", "delivered", "lost", "misplaced", "p50", "p99", "last", "goal", "", "server", "client", "load")
	for _, d := range deliveryTests {
		for _, s := range []*side{ours, bare} {
			if err := b.deliver(ctx, m, s, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// delivering is a test that runs.
type delivering struct {
	delivery
	m     *machines
	s     *side
	first int // number of the first write
	count int // of writes
	begin time.Time
	// heard counts what has reached a watcher.
	heard    atomic.Int64
	watchers []hearing
}

// hearing is what one watcher has heard.
type hearing struct {
	next int // the write that it is to hear of next
	// misplaced counts changes that were not the next.
	misplaced int
	took      []time.Duration
}

func (b *bench) deliver(ctx context.Context, m *machines, s *side, d delivery) error {
	t := &delivering{delivery: d, m: m, s: s, watchers: make([]hearing, b.size.crowd)}
	t.count = int(float64(d.perSecond) * b.size.delivering.Seconds())
	t.first = b.patches + 1
	b.patches += t.count
	for i := range t.watchers {
		t.watchers[i].next = i % t.step()
	}
	load := loadAverage()
	a, err := attend(ctx, s, b.size.crowd, t.path, t.hear)
	if err != nil {
		return err
	}
	server, client, err := t.run(ctx)
	if err = errors.Join(err, a.leave()); err != nil {
		return err
	}
	return t.report(b, server, client, load)
}

// step is how far apart the writes are that one watcher hears of.
func (d delivery) step() int { return max(1, d.namespaces) }

// path is what watcher i watches. Write n is of machine n, more or less, and so of
// namespace n.
func (t *delivering) path(i int) string {
	if t.namespaces == 0 {
		return everywhere
	}
	return t.m.list(i)
}

func (t *delivering) due(n int) time.Time {
	return t.begin.Add(time.Duration(n) * time.Second / time.Duration(t.perSecond))
}

func (t *delivering) hear(i, sequence int) {
	w, n := &t.watchers[i], sequence-t.first
	w.took = append(w.took, time.Since(t.due(n)))
	if n != w.next {
		w.misplaced++
	}
	w.next = n + t.step()
	t.heard.Add(1)
}

// expected is the changes that are to reach the watchers.
func (t *delivering) expected() int {
	sum := 0
	for i := range t.watchers {
		sum += (t.count - i%t.step() + t.step() - 1) / t.step()
	}
	return sum
}

// run writes, and returns when all was heard, or nothing more is; with the CPU time of
// the server and of this process.
func (t *delivering) run(ctx context.Context) (server, client time.Duration, err error) {
	clientBefore, serverBefore, err := t.cpu()
	if err != nil {
		return 0, 0, err
	}
	t.begin = time.Now().Add(100 * time.Millisecond)
	if err := t.write(ctx); err != nil {
		return 0, 0, err
	}
	for last, since := t.heard.Load(), time.Now(); int(last) < t.expected() && time.Since(since) < hearWait/4; time.Sleep(10 * time.Millisecond) {
		if now := t.heard.Load(); now != last {
			last, since = now, time.Now()
		}
	}
	clientAfter, serverAfter, err := t.cpu()
	return serverAfter - serverBefore, clientAfter - clientBefore, err
}

// cpu is that of this process, and of the server.
func (t *delivering) cpu() (client, server time.Duration, err error) {
	if client, err = cpuOf(os.Getpid()); err != nil {
		return 0, 0, err
	}
	server, err = cpuOf(t.s.pid)
	return client, server, err
}

// write makes the writes when they are due. Those of one namespace are of one writer,
// in order.
func (t *delivering) write(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for writer := range t.writers {
		group.Go(func() error {
			client := t.s.client(http1)
			defer client.CloseIdleConnections()
			for n := writer; n < t.count; n += t.writers {
				select {
				case <-time.After(time.Until(t.due(n))):
				case <-ctx.Done():
					return ctx.Err()
				}
				if err := t.s.do(ctx, client, http.MethodPatch, t.m.path(n%t.m.count), sequencePatch(t.first+n), io.Discard); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// report writes a row. That something is lost or out of order is an error.
func (t *delivering) report(b *bench, server, client time.Duration, load string) error {
	var took []time.Duration
	misplaced := 0
	for _, w := range t.watchers {
		took, misplaced = append(took, w.took...), misplaced+w.misplaced
	}
	each := func(cpu time.Duration) string {
		return number(float64(cpu.Microseconds()) / float64(max(len(took), 1)))
	}
	lost, p99 := t.expected()-len(took), quantile(took, 0.99)
	fmt.Fprintf(b.out, deliveryRow, t.name, t.s.name, fmt.Sprint(len(took)), fmt.Sprint(lost), fmt.Sprint(misplaced),
		number(milliseconds(quantile(took, 0.5))), number(milliseconds(p99)), number(milliseconds(quantile(took, 1))),
		number(milliseconds(deliveryGoal)), b.met(p99 <= deliveryGoal), each(server), each(client), load)
	if lost != 0 || misplaced != 0 {
		return fmt.Errorf("%s: %s: %d changes are lost and %d out of order", t.s.name, t.name, lost, misplaced)
	}
	return nil
}
