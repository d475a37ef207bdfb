package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
)

// floor answers with bytes that are there before anybody asks: lists with the one
// list, everything else with the one object, a watch with lines around that object.
type floor struct {
	list, object []byte
	// before and behind are the line of an event, without its number.
	before, behind []byte

	mu       sync.Mutex
	watchers map[string]map[chan []byte]bool // by path; that of everything is one of them
}

// serveFloor is the floor, with the bytes of two files: a list, and one object, which
// must have been patched by [sequencePatch] once.
func serveFloor(ctx context.Context, args []string, serving func(place) error) error {
	if len(args) != 2 {
		return fmt.Errorf("the floor takes two files, not %q", args)
	}
	f := &floor{watchers: make(map[string]map[chan []byte]bool)}
	var err error
	if f.list, err = os.ReadFile(args[0]); err != nil {
		return err
	}
	if f.object, err = os.ReadFile(args[1]); err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(bytes.TrimSpace(f.object), sequenceMark)
	if !ok {
		return fmt.Errorf("%s: it has no %s", args[1], sequenceName)
	}
	f.before = fmt.Appendf(nil, `{"type":"MODIFIED","object":%s%s`, before, sequenceMark)
	f.behind = append(bytes.TrimLeft(rest, "0123456789"), "}\n"...)

	server := httptest.NewUnstartedServer(f)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	socket, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: server.TLS.Certificates})
	if err != nil {
		return err
	}
	defer socket.Close()
	go f.serveSocket(socket)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := serving(place{URL: server.URL, CA: ca, Socket: socket.Addr().String()}); err != nil {
		return err
	}
	<-ctx.Done()
	server.CloseClientConnections()
	return nil
}

// serveSocket sends the list for each byte that comes.
func (f *floor) serveSocket(l net.Listener) {
	for {
		connection, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			for one := make([]byte, 1); ; {
				if _, err := io.ReadFull(connection, one); err != nil {
					return
				}
				if _, err := connection.Write(f.list); err != nil {
					return
				}
			}
		}()
	}
}

func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPatch:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		line := strconv.AppendInt(bytes.Clone(f.before), int64(sequenceIn(body)), 10)
		f.tell(r.URL.Path, append(line, f.behind...))
		_, _ = w.Write(f.object)
	case r.URL.Query().Has("watch"):
		f.watch(w, r)
	case r.URL.Path == everywhere:
		_, _ = w.Write(f.list)
	default:
		_, _ = w.Write(f.object)
	}
}

// tell sends a line to those who watch everything, and to those who watch the list
// that the object at a path is in.
func (f *floor) tell(path string, line []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range []string{everywhere, path[:strings.LastIndexByte(path, '/')]} {
		for watcher := range f.watchers[list] {
			watcher <- line
		}
	}
}

func (f *floor) watch(w http.ResponseWriter, r *http.Request) {
	lines := make(chan []byte, 1000)
	f.attend(r.URL.Path, lines, true)
	defer f.attend(r.URL.Path, lines, false)
	control := http.NewResponseController(w)
	for {
		if len(lines) == 0 && control.Flush() != nil {
			return
		}
		select {
		case line := <-lines:
			if _, err := w.Write(line); err != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

func (f *floor) attend(path string, watcher chan []byte, there bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !there {
		delete(f.watchers[path], watcher)
		return
	}
	if f.watchers[path] == nil {
		f.watchers[path] = make(map[chan []byte]bool)
	}
	f.watchers[path][watcher] = true
}
