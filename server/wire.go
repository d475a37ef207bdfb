package server

import (
	"bufio"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipAbove is the size of a body above which it is compressed, at the level that
// costs least, for clients that take it (kube-apiserver).
const gzipAbove = 128 << 10

var (
	// held are buffers of what is written before it is known whether that is all.
	// What is larger goes out in pieces of their size, not of an object's.
	held = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, gzipAbove) }}
	zips = sync.Pool{New: func() any {
		z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level there is
		return z
	}}
)

// wire sends the body of an answer, and before it the head, which depends on the
// body. HEAD is answered by the head that GET has.
type wire struct {
	x      *exchange
	status int
	// length is what the body has, -1 while that is not known.
	length int
	// pieces is set when the body is sent in pieces however short it is.
	pieces bool
	// gzip is set when the body may be compressed.
	gzip  bool
	begun bool
	zip   *gzip.Writer
	err   error
}

var errHeadOnly = errors.New("no body is wanted")

// acceptsGzip reports whether a client takes gzip. As in kube-apiserver it does so
// by the bare name; with a weight, 0 for one, it gets the body as it is, which it
// takes too.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) == "gzip" {
			return true
		}
	}
	return false
}

// begin sends the head.
func (w *wire) begin() {
	h := w.x.w.Header()
	large := w.length < 0 || w.length > gzipAbove
	head := w.x.r.Method == http.MethodHead
	switch {
	case w.gzip && large:
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
		if !head {
			w.zip = zips.Get().(*gzip.Writer)
			w.zip.Reset(&counter{w.x})
		}
	case w.length >= 0 && !w.pieces:
		h.Set("Content-Length", strconv.Itoa(w.length))
	case !head && w.x.r.ProtoMajor == 1:
		h.Set("Transfer-Encoding", "chunked")
	}
	w.begun = true
	w.x.w.WriteHeader(w.status)
	if head {
		w.err = errHeadOnly
	}
}

// Write is called with what no longer fits into a buffer of gzipAbove, or with the
// body of a known length.
func (w *wire) Write(p []byte) (n int, err error) {
	if !w.begun {
		w.begin()
	}
	if w.err != nil {
		return 0, w.err
	}
	if w.zip != nil {
		n, w.err = w.zip.Write(p)
	} else {
		n, w.err = (&counter{w.x}).Write(p)
	}
	return n, w.err
}

// end completes the body, if it is there in whole.
func (w *wire) end(whole bool) {
	if w.zip == nil {
		return
	}
	if whole {
		// An error is the client's connection: there is nobody left to tell.
		_ = w.zip.Close()
	}
	w.zip.Reset(nil)
	zips.Put(w.zip)
}

// counter writes to the client and counts it.
type counter struct{ x *exchange }

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.x.w.Write(p)
	c.x.written += int64(n)
	return n, err
}

// send sends an answer in a rendition. An error is not one of the client's
// connection, of which there is nobody left to tell; begun says whether something
// has been sent all the same.
func (x *exchange) send(a *answer, r rendition) (begun bool, err error) {
	w := &wire{x: x, status: a.status, length: -1, pieces: len(a.items) > 0, gzip: !a.fixed && acceptsGzip(x.r)}
	if r == asIs && len(a.items) == 0 {
		w.length = len(a.head) + len(a.tail)
		err = a.writeTo(w)
	} else {
		err = x.sendHeld(w, a, r)
	}
	w.end(err == nil)
	if w.err != nil {
		err = nil
	}
	return w.begun, err
}

func (x *exchange) sendHeld(w *wire, a *answer, r rendition) error {
	b := held.Get().(*bufio.Writer)
	b.Reset(w)
	defer func() {
		b.Reset(nil)
		held.Put(b)
	}()
	if err := r.render(b, a); err != nil {
		return err
	}
	if !w.begun {
		w.length = b.Buffered()
	}
	if err := b.Flush(); err != nil || w.begun {
		return err
	}
	w.begin() // There was nothing to write.
	return nil
}
