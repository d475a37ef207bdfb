package contract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// maxLine bounds one event, maxStream all that is read of one watch, in bytes.
	maxLine   = 8 << 20
	maxStream = 64 << 20
)

// stream is a watch under way. It is read beside the other requests, which go on
// meanwhile.
type stream struct {
	request request
	cancel  context.CancelFunc
	// news has an entry when something came, ended is closed at the end.
	news  chan struct{}
	ended chan struct{}

	mu    sync.Mutex
	ex    *exchange // without body; nil until there is an answer
	lines [][]byte
	err   error
}

// watch begins a watch. It counts as a request, and does not wait for the answer:
// a server may keep that until there is an event.
func (c *caller) watch(ctx context.Context, req request) (*stream, error) {
	if err := c.admit(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	u := c.url(req)
	hr, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	c.dress(hr, req)
	s := &stream{request: req, cancel: cancel, news: make(chan struct{}, 1), ended: make(chan struct{})}
	ex := &exchange{request: req, url: u, curl: c.redact.curl(req, u), sentHeader: hr.Header, started: time.Now()}
	if c.watcher == nil {
		c.watcher = c.watchClient()
	}
	go s.follow(c.watcher, hr, ex)
	return s, nil
}

// watchClient is a client with connections of its own, so that a watch does not
// occupy the one of the other requests.
func (c *caller) watchClient() *http.Client {
	own := *c.client
	if transport, ok := own.Transport.(*http.Transport); ok {
		own.Transport = c.clone(transport)
	}
	return &own
}

func (s *stream) follow(client *http.Client, hr *http.Request, ex *exchange) {
	defer close(s.ended)
	defer s.cancel()
	resp, err := client.Do(hr)
	if err != nil {
		s.fail(err)
		return
	}
	defer resp.Body.Close()
	ex.status, ex.header = resp.StatusCode, resp.Header
	s.mu.Lock()
	s.ex = ex
	s.mu.Unlock()
	lines := bufio.NewScanner(io.LimitReader(resp.Body, maxStream))
	lines.Buffer(nil, maxLine)
	whole := true
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		whole = n > 0 && data[n-1] == '\n'
		return n, line, err
	})
	for lines.Scan() {
		if !whole && (lines.Err() != nil || hr.Context().Err() != nil) {
			break // in the middle of an event, most often because no more is asked for
		}
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			s.mu.Lock()
			s.lines = append(s.lines, bytes.Clone(line))
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
		}
	}
	s.fail(lines.Err())
}

func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !errors.Is(err, context.Canceled) {
		s.err = err
	}
}

// seen returns what came until now: the exchange, nil without an answer, and the
// events.
func (s *stream) seen() (*exchange, [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ex, s.lines[:len(s.lines):len(s.lines)]
}

// wait returns when the events are enough, the time is up or the watch ends, which
// it tells.
func (s *stream) wait(ctx context.Context, limit time.Duration, enough func([][]byte) bool) (early bool, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		if _, lines := s.seen(); enough(lines) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-timer.C:
			return false, nil
		case <-s.ended:
			_, lines := s.seen()
			return !enough(lines), nil
		case <-s.news:
		}
	}
}

// answered reports whether the watch was begun.
func (s *stream) answered() bool {
	ex, _ := s.seen()
	return ex != nil && ex.status == http.StatusOK
}

// stop ends a watch and waits until nothing of it is under way. A nil stream is at
// its end.
func (s *stream) stop() {
	if s != nil {
		s.cancel()
		<-s.ended
	}
}

// failure says why a watch that has no answer has none, nil when it was only waited
// for.
func (s *stream) failure(c *caller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("%w to a watch: %s", errNoAnswer, c.redact.clean(c.plain(s.err)))
}
