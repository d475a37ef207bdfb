package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// audience is watchers, each on an HTTP/1.1 connection of its own, read with as little
// work as can be: what the client does is in the latencies, too.
type audience struct {
	connections []net.Conn
	readers     sync.WaitGroup

	mu     sync.Mutex
	ended  bool
	failed error
}

// attend starts watchers from now on. Watcher i watches the list at path(i), and
// heard(i, …) is called for each change by its number, by one goroutine for each
// watcher.
func attend(ctx context.Context, s *side, watchers int, path func(i int) string, heard func(i, sequence int)) (*audience, error) {
	revision, err := s.revision(ctx)
	if err != nil {
		return nil, err
	}
	a := new(audience)
	for i := range watchers {
		response, err := a.watch(ctx, s, path(i)+"?watch=true&resourceVersion="+revision)
		if err != nil {
			a.leave()
			return nil, err
		}
		a.readers.Go(func() {
			defer response.Body.Close()
			if err := listen(response, func(sequence int) { heard(i, sequence) }); err != nil {
				a.fail(fmt.Errorf("%s: watcher %d: %w", s.name, i, err))
			}
		})
	}
	return a, nil
}

// revision is the newest one.
func (s *side) revision(ctx context.Context) (string, error) {
	body, err := s.get(ctx, everywhere+"?limit=1")
	if err != nil {
		return "", err
	}
	return lastMember(body, "resourceVersion")
}

// lastMember is the string that a list has under a name in its metadata, which are
// behind the items.
func lastMember(list []byte, name string) (string, error) {
	mark := `"` + name + `":"`
	text := string(list[max(0, len(list)-2000):])
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return "", fmt.Errorf("the list has no %s at its end", name)
	}
	value, _, _ := strings.Cut(text[at+len(mark):], `"`)
	return value, nil
}

func (a *audience) watch(ctx context.Context, s *side, path string) (*http.Response, error) {
	dialer := tls.Dialer{Config: s.tls()}
	connection, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(s.URL, "https://"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	a.connections = append(a.connections, connection)
	r, err := s.request(ctx, http.MethodGet, path, "")
	if err != nil {
		return nil, err
	}
	if err := r.Write(connection); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(connection, eventRoom), r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, s.refused(r, response)
	}
	return response, nil
}

// eventRoom is more than any event takes.
const eventRoom = 16 << 10

// listen reads events until the watch ends, which it should not do by itself.
func listen(response *http.Response, heard func(sequence int)) error {
	events := bufio.NewReaderSize(response.Body, eventRoom)
	for {
		line, err := events.ReadSlice('\n')
		if err != nil {
			return err
		}
		sequence := sequenceIn(line)
		if sequence < 0 {
			return fmt.Errorf("it heard %.200q", line)
		}
		heard(sequence)
	}
}

func (a *audience) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.failed = errors.Join(a.failed, err)
	}
}

// err is why watchers have ended.
func (a *audience) err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// leave ends all watchers.
func (a *audience) leave() error {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	for _, c := range a.connections {
		// The close_notify of TLS waits for a server that does not read.
		_ = c.SetDeadline(time.Now())
		c.Close()
	}
	a.readers.Wait()
	return a.err()
}
