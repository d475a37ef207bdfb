package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// measure is one thing that is measured, of vmikit, of the API server and of the
// floor, or of some of them.
type measure struct {
	on      []string
	figures []figure
	of      func(ctx context.Context, b *bench, m *machines, s *side) ([]float64, error)
}

// figure is what a measure yields, in the same order, with the share of the API
// server's that vmikit may have at most; 0 is no goal.
type figure struct {
	name string
	goal float64
}

const (
	vmikitName    = "vmikit"
	apiServerName = "API server"
	floorName     = "floor"
)

var (
	servers = []string{vmikitName, apiServerName}
	all     = []string{vmikitName, apiServerName, floorName}
)

var measures = []measure{
	{servers, []figure{{"resident with the machines, MiB", 1. / 10}}, resident},
	{all, []figure{{"list all, HTTP/1.1: CPU ms per MB", 1. / 40}}, listCost(http1)},
	{all, []figure{{"list all, HTTP/2: CPU ms per MB", 1. / 18}}, listCost(http2)},
	{[]string{floorName}, []figure{{"list all, TLS socket: CPU ms per MB", 0}}, socketCost},
	{all, []figure{{"get, HTTP/1.1: p50, ms", 1. / 8}, {"get, HTTP/1.1: p99, ms", 1. / 8}, {"get, HTTP/1.1: CPU ms each", 0}}, getLatency(http1)},
	{all, []figure{{"get, HTTP/2: p50, ms", 1. / 8}, {"get, HTTP/2: p99, ms", 1. / 8}, {"get, HTTP/2: CPU ms each", 0}}, getLatency(http2)},
	{all, []figure{{"patch to the last watcher: p50, ms", 1. / 8}, {"patch to the last watcher: p99, ms", 1. / 8}, {"patch to the watchers: CPU ms each", 0}}, patchToLast},
	{servers, []figure{{"resident after all that, MiB", 1. / 10}}, resident},
}

// besideNamespaces is over how many the machines spread.
const besideNamespaces = 10

// beside puts vmikit beside the API server.
func (b *bench) beside(ctx context.Context) (err error) {
	m, err := newMachines(b.size.machines, besideNamespaces)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n%d machines, %d clients, %d watchers\n", m.count, b.size.clients, b.size.watchers)
	sides := make(map[string]*side)
	defer func() {
		for _, s := range sides {
			err = errors.Join(err, s.close())
		}
	}()
	if sides[vmikitName], err = b.startVmikit(ctx, os.DevNull); err != nil {
		delete(sides, vmikitName)
		return err
	}
	if !b.alone {
		if sides[apiServerName], err = b.startChild(ctx, apiServerName); err != nil {
			delete(sides, apiServerName)
			return err
		}
	}
	for _, name := range servers {
		if s := sides[name]; s != nil {
			if err := b.prepare(ctx, m, s); err != nil {
				return err
			}
		}
	}
	if sides[floorName], err = b.startFloor(ctx, m, sides[vmikitName]); err != nil {
		delete(sides, floorName)
		return err
	}
	t := b.besideTable()
	for _, x := range measures {
		load, values := loadAverage(), make(map[string][]float64)
		for _, name := range x.on {
			s := sides[name]
			if s == nil {
				continue
			}
			time.Sleep(b.size.pause)
			awake, err := rest(sides, name)
			if err != nil {
				return err
			}
			values[name], err = x.of(ctx, b, m, s)
			if err := errors.Join(err, awake()); err != nil {
				return err
			}
		}
		for i, f := range x.figures {
			t.add(f, i, values, load)
		}
	}
	return nil
}

// prepare makes the machines and says what that took.
func (b *bench) prepare(ctx context.Context, m *machines, s *side) error {
	begin := time.Now()
	before, err := cpuOf(s.pid)
	if err != nil {
		return err
	}
	if err := m.fill(ctx, s); err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := cpuOf(s.pid)
	if err != nil {
		return err
	}
	list, err := s.get(ctx, everywhere)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s: made at %.0f a second, %.2f ms of CPU each; %d bytes each as served\n",
		s.name, float64(m.count)/took.Seconds(), milliseconds(after-before)/float64(m.count), len(list)/m.count)
	return nil
}

// startFloor starts the floor with what a server answers.
func (b *bench) startFloor(ctx context.Context, m *machines, s *side) (*side, error) {
	client := s.client(http1)
	defer client.CloseIdleConnections()
	if err := s.do(ctx, client, http.MethodPatch, m.path(0), sequencePatch(b.next()), io.Discard); err != nil {
		return nil, err
	}
	list, object := filepath.Join(b.dir, "list.json"), filepath.Join(b.dir, "object.json")
	for file, path := range map[string]string{list: everywhere, object: m.path(0)} {
		body, err := s.get(ctx, path)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, body, 0o600); err != nil {
			return nil, err
		}
	}
	return b.startChild(ctx, floorName, list, object)
}

// next is the number of the next patch. No two have the same, so that each is a change.
func (b *bench) next() int {
	b.patches++
	return b.patches
}

// resident is the memory that a server has now.
func resident(_ context.Context, _ *bench, _ *machines, s *side) ([]float64, error) {
	now, _, err := memoryOf(s.pid)
	return []float64{now}, err
}

func listCost(p protocol) func(context.Context, *bench, *machines, *side) ([]float64, error) {
	return func(ctx context.Context, b *bench, _ *machines, s *side) ([]float64, error) {
		u, err := b.load(ctx, s, s.asker(p, func() string { return everywhere }))
		return u.perMB(), err
	}
}

func socketCost(ctx context.Context, b *bench, _ *machines, s *side) ([]float64, error) {
	u, err := b.load(ctx, s, s.socketAsker())
	return u.perMB(), err
}

func getLatency(p protocol) func(context.Context, *bench, *machines, *side) ([]float64, error) {
	return func(ctx context.Context, b *bench, m *machines, s *side) ([]float64, error) {
		u, err := b.load(ctx, s, s.asker(p, m.any))
		return u.each(), err
	}
}

func patchToLast(ctx context.Context, b *bench, m *machines, s *side) ([]float64, error) {
	u, err := b.patchWatched(ctx, m, s)
	return u.each(), err
}
