package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/vmikit/vmikit/contract"
)

// Reasons for which events are not judged.
const (
	largeEvent = "events that are too large to be judged"
	fastEvent  = "events that came faster than they could be judged"
)

// watch passes a stream of events on.
func (p *Proxy) watch(w *contract.Watch, resp *http.Response) error {
	if !p.config.enforce {
		if !p.queue.add(0, func() { w.Begin() }) {
			w.Untold(tooFast)
		}
		resp.Body = &stream{body: resp.Body, max: p.config.maxBody, event: func(line []byte, at time.Time) {
			if !p.queue.add(int64(len(line)), func() { w.Event(line, at) }) {
				w.Untold(fastEvent)
			}
		}, large: func() { w.Untold(largeEvent) }}
		return nil
	}
	if failures := failed(w.Begin()); len(failures) > 0 {
		resp.Body.Close()
		replace(resp, broken("answer", failures))
		return nil
	}
	resp.Header.Del("Content-Length") // there may be more or less than that
	resp.ContentLength = -1
	resp.Body = &gate{body: resp.Body, max: p.config.maxBody, watch: w}
	return nil
}

// stream hands in the lines of a body while they are read.
type stream struct {
	body  io.ReadCloser
	max   int64
	line  []byte
	skip  bool // within a line that is too large
	event func(line []byte, at time.Time)
	large func()
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.body.Read(b)
	at := time.Now()
	for rest := b[:n]; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte("\n"))
		rest = after
		s.take(part)
		if whole {
			s.end(at)
		}
	}
	if errors.Is(err, io.EOF) {
		s.end(at) // the last line need not have an end
	}
	return n, err
}

func (s *stream) take(part []byte) {
	switch {
	case s.skip:
	case int64(len(s.line)+len(part)) > s.max:
		s.skip, s.line = true, nil
		s.large()
	default:
		s.line = append(s.line, part...)
	}
}

func (s *stream) end(at time.Time) {
	if !s.skip && len(s.line) > 0 {
		s.event(s.line, at)
	}
	s.line, s.skip = nil, false
}

func (s *stream) Close() error { return s.body.Close() }

// gate lets the right events of a body through, each when it is there whole. A
// wrong one is replaced by an error, and the stream ends.
type gate struct {
	body  io.ReadCloser
	max   int64
	watch *contract.Watch
	line  []byte // what was read and is not judged
	out   []byte // what is to be passed on
	// skip says that the line is too large to be held, so it is passed on as it comes.
	skip bool
	err  error // what comes behind out
	buf  [32 << 10]byte
}

func (g *gate) Read(b []byte) (int, error) {
	for len(g.out) == 0 {
		if g.err != nil {
			return 0, g.err
		}
		n, err := g.body.Read(g.buf[:])
		g.line = append(g.line, g.buf[:n]...)
		g.err = err
		g.judge(time.Now())
	}
	n := copy(b, g.out)
	g.out = g.out[n:]
	return n, nil
}

// judge moves the lines that are there to what is passed on.
func (g *gate) judge(at time.Time) {
	for len(g.line) > 0 {
		end := bytes.IndexByte(g.line, '\n') + 1
		whole := end > 0 || errors.Is(g.err, io.EOF) // the last one need not have an end
		if end == 0 {
			end = len(g.line)
		}
		if !whole && !g.skip && int64(end) <= g.max {
			return
		}
		line := g.line[:end]
		g.line = g.line[end:]
		if !g.skip && int64(end) > g.max {
			g.skip = true
			g.watch.Untold(largeEvent)
		}
		if !g.skip {
			failures := failed(g.watch.Event(bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))), at))
			if len(failures) > 0 {
				g.out, g.line, g.err = append(g.out, errorEvent(broken("event", failures))...), nil, io.EOF
				return
			}
		}
		g.out = append(g.out, line...)
		g.skip = g.skip && !whole
	}
}

func (g *gate) Close() error { return g.body.Close() }

// errorEvent is a Status as an event.
func errorEvent(s status) []byte {
	text, err := json.Marshal(struct {
		Type   string `json:"type"`
		Object status `json:"object"`
	}{"ERROR", s})
	if err != nil {
		return nil // there is nothing in a Status that cannot be JSON
	}
	return append(text, '\n')
}
