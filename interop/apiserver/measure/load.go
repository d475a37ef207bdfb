package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// fillers is how many machines are made at the same time.
const fillers = 8

// fill makes the machines.
func (m *machines) fill(ctx context.Context, s *side) error {
	group, ctx := errgroup.WithContext(ctx)
	for filler := range fillers {
		group.Go(func() error {
			client := s.client(http1)
			defer client.CloseIdleConnections()
			for i := filler; i < m.count; i += fillers {
				if err := s.do(ctx, client, http.MethodPost, m.list(i)+"?fieldValidation=Strict", m.json(i), io.Discard); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// any is the path of one of the machines, each as likely as the others.
func (m *machines) any() string { return m.path(rand.IntN(m.count)) }

// asking is a client. ask returns the bytes of an answer.
type asking struct {
	ask func(ctx context.Context) (int64, error)
	end func()
}

// load lets clients ask for a while, each one after the other, and each once at least.
func (b *bench) load(ctx context.Context, s *side, open func(context.Context) (*asking, error)) (usage, error) {
	clients := make([]*asking, b.size.clients)
	for i := range clients {
		c, err := open(ctx)
		if err != nil {
			return usage{}, err
		}
		defer c.end()
		clients[i] = c
	}
	if _, err := clients[0].ask(ctx); err != nil {
		return usage{}, err
	}
	before, err := cpuOf(s.pid)
	if err != nil {
		return usage{}, err
	}
	u, err := b.askAll(ctx, clients)
	if err != nil {
		return usage{}, err
	}
	after, err := cpuOf(s.pid)
	u.cpu = after - before
	return u, err
}

func (b *bench) askAll(ctx context.Context, clients []*asking) (usage, error) {
	var mu sync.Mutex
	var u usage
	until := time.Now().Add(b.size.reading)
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range clients {
		group.Go(func() error {
			var own usage
			for len(own.took) == 0 || time.Now().Before(until) {
				begin := time.Now()
				n, err := c.ask(ctx)
				if err != nil {
					return err
				}
				own.took = append(own.took, time.Since(begin))
				own.bytes += n
			}
			mu.Lock()
			defer mu.Unlock()
			u.took, u.bytes = append(u.took, own.took...), u.bytes+own.bytes
			return nil
		})
	}
	err := group.Wait()
	return u, err
}

// asker gets a path, which may be another one each time.
func (s *side) asker(p protocol, path func() string) func(context.Context) (*asking, error) {
	return func(context.Context) (*asking, error) {
		client, to := s.client(p), newSink()
		return &asking{
			ask: func(ctx context.Context) (int64, error) {
				before := to.n
				err := s.do(ctx, client, http.MethodGet, path(), "", to)
				return to.n - before, err
			},
			end: client.CloseIdleConnections,
		}, nil
	}
}

// socketAsker gets the list of the floor from its TLS socket.
func (s *side) socketAsker() func(context.Context) (*asking, error) {
	return func(ctx context.Context) (*asking, error) {
		list, err := s.get(ctx, everywhere)
		if err != nil {
			return nil, err
		}
		dialer := tls.Dialer{Config: s.tls()}
		connection, err := dialer.DialContext(ctx, "tcp", s.Socket)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		to := newSink()
		return &asking{
			ask: func(context.Context) (int64, error) {
				if _, err := connection.Write([]byte{'\n'}); err != nil {
					return 0, err
				}
				return to.ReadFrom(io.LimitReader(connection, int64(len(list))))
			},
			end: func() { connection.Close() },
		}, nil
	}
}

// sink counts bytes, and takes them in large pieces, which is less work.
type sink struct {
	n    int64
	room []byte
}

func newSink() *sink { return &sink{room: make([]byte, 64<<10)} }

func (s *sink) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	return len(p), nil
}

// ReadFrom is what [io.Copy] prefers.
func (s *sink) ReadFrom(r io.Reader) (int64, error) {
	before := s.n
	for {
		n, err := r.Read(s.room)
		s.n += int64(n)
		switch err {
		case nil:
		case io.EOF:
			return s.n - before, nil
		default:
			return s.n - before, err
		}
	}
}
