package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

const (
	fleetNamespaces = 100
	pageLimit       = 500
	// memoryGoal, in MiB, and pagingGoal are for 100,000 machines.
	memoryGoal = 1024
	pagingGoal = 3 * time.Second
)

// fleet loads many machines and pages through all of them.
func (b *bench) fleet(ctx context.Context) (err error) {
	m, err := newMachines(b.size.fleet, fleetNamespaces)
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "fleet.json")
	if err := m.save(file); err != nil {
		return err
	}
	load := loadAverage()
	begin := time.Now()
	s, err := b.startVmikit(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	fmt.Fprintf(b.out, "\n%d machines from a file in %.1f s; load %s\n", m.count, time.Since(begin).Seconds(), load)
	loaded, _, err := memoryOf(s.pid)
	if err != nil {
		return err
	}
	for i, p := range []protocol{http1, http2, http1} {
		load := loadAverage()
		r, err := m.page(ctx, s, p)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "all of it in %d pages of %d over %s: %.2f s (goal %v%s), server CPU %.2f s, %d bytes a machine; load %s\n",
			r.pages, pageLimit, p, r.took.Seconds(), pagingGoal, b.verdict(r.took <= pagingGoal), r.cpu.Seconds(), r.bytes/m.count, load)
		if i > 0 {
			continue
		}
		now, most, err := memoryOf(s.pid)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "resident %.0f MiB after the load and %.0f MiB after paging once (goal %d MiB%s), never more than %.0f MiB\n",
			loaded, now, memoryGoal, b.verdict(now <= memoryGoal), most)
	}
	return nil
}

// verdict is behind the goal in a sentence.
func (b *bench) verdict(yes bool) string {
	if b.size != goals {
		return fmt.Sprintf(" with %d machines", goals.fleet)
	}
	return ": " + b.met(yes)
}

// save writes all machines to a file, one a line.
func (m *machines) save(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(file)
	for i := range m.count {
		to.WriteString(m.json(i))
		to.WriteByte('\n')
	}
	return errors.Join(to.Flush(), file.Close())
}

// paging is what it took to read all pages.
type paging struct {
	pages, bytes int
	took, cpu    time.Duration
}

func (m *machines) page(ctx context.Context, s *side, p protocol) (*paging, error) {
	client := s.client(p)
	defer client.CloseIdleConnections()
	before, err := cpuOf(s.pid)
	if err != nil {
		return nil, err
	}
	r, begin := new(paging), time.Now()
	var body bytes.Buffer
	for token := ""; token != "" || r.pages == 0; r.pages++ {
		body.Reset()
		if err := s.do(ctx, client, http.MethodGet, fmt.Sprintf("%s?limit=%d&continue=%s", everywhere, pageLimit, url.QueryEscape(token)), "", &body); err != nil {
			return nil, err
		}
		if token, err = lastMember(body.Bytes(), "continue"); err != nil {
			return nil, err
		}
		r.bytes += body.Len()
	}
	r.took = time.Since(begin)
	after, err := cpuOf(s.pid)
	if err != nil {
		return nil, err
	}
	r.cpu = after - before
	if want := (m.count + pageLimit - 1) / pageLimit; r.pages != want {
		return nil, fmt.Errorf("%d machines came in %d pages, not %d", m.count, r.pages, want)
	}
	return r, nil
}
