package mutant

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"sync"
)

// Transport has a handler answer without a network, so that a test can have its own
// time. An answer is sent piece by piece, as net/http does it: when it is flushed, when
// there is enough of it, and at its end.
type Transport struct{ http.Handler }

// RoundTrip returns with the first piece. The handler goes on until it has answered or
// nobody reads on.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, out := io.Pipe()
	a := &answering{header: make(http.Header), begun: make(chan struct{}), out: bufio.NewWriterSize(nil, 4<<10)}
	a.out.Reset(begins{a, out})
	// Whoever hangs up reads nothing more, what the handler does about it included.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	hangUp := func(err error) {
		_ = body.CloseWithError(err)
		cancel()
	}
	stop := context.AfterFunc(r.Context(), func() { hangUp(r.Context().Err()) })
	go func() {
		defer cancel()
		defer stop()
		t.Handler.ServeHTTP(a, r.WithContext(ctx))
		a.begin()
		_ = a.out.Flush()
		_ = out.Close()
	}()
	select {
	case <-a.begun:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(a.code), StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: closing{body, hangUp}, ContentLength: -1, Request: r,
	}, nil
}

// answering is an answer under way. sent is the header as it was when the code was
// written.
type answering struct {
	header, sent http.Header
	code         int
	out          *bufio.Writer
	once         sync.Once
	begun        chan struct{}
}

func (a *answering) Header() http.Header { return a.header }

func (a *answering) WriteHeader(code int) {
	if a.code == 0 {
		a.code, a.sent = code, a.header.Clone()
	}
}

func (a *answering) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.out.Write(p)
}

func (a *answering) Flush() {
	a.begin()
	_ = a.out.Flush()
}

func (a *answering) begin() {
	a.WriteHeader(http.StatusOK)
	a.once.Do(func() { close(a.begun) })
}

// begins is where an answer goes that must have begun.
type begins struct {
	*answering
	out io.Writer
}

func (b begins) Write(p []byte) (int, error) {
	b.begin()
	return b.out.Write(p)
}

// closing is a body that hangs up when it is closed.
type closing struct {
	io.Reader
	hangUp func(error)
}

func (c closing) Close() error {
	c.hangUp(io.ErrClosedPipe)
	return nil
}
