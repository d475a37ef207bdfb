package manifest

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// lineBuffer is how much of a line is looked at in one piece, and the size of
// reads.
const lineBuffer = 64 << 10

// source is a reader that can be looked at before it is consumed, that takes
// bytes back, and that knows the line of its next byte.
type source struct {
	r    io.Reader
	buf  []byte // read and not consumed
	line int    // of buf[0], from 1
	err  error  // what ended r
}

func newSource(r io.Reader) *source { return &source{r: r, line: 1} }

// fill reads more and reports whether there is any.
func (s *source) fill() bool {
	for idle := 0; s.err == nil && idle < 100; idle++ {
		s.buf = slices.Grow(s.buf, lineBuffer)
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.err = err
		if n > 0 {
			return true
		}
	}
	if s.err == nil {
		s.err = io.ErrNoProgress
	}
	return false
}

// failed is the error that ended the stream before its end, if one did.
func (s *source) failed() error {
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// peekLine returns the next line with its line feed, or as much of a long or
// last line as there is, and nothing at the end. It is valid until the next
// call.
func (s *source) peekLine() []byte {
	seen := 0
	for {
		if i := bytes.IndexByte(s.buf[seen:], '\n'); i >= 0 {
			return s.buf[:seen+i+1]
		}
		seen = len(s.buf)
		if seen >= lineBuffer || !s.fill() {
			return s.buf[:seen]
		}
	}
}

// advance consumes n bytes that were peeked.
func (s *source) advance(n int) {
	s.line += bytes.Count(s.buf[:n], newline)
	s.buf = s.buf[n:]
}

// peekText consumes blank lines, says whether there were any, and returns the
// first byte of the line behind them that is no white space, or false at the
// end. That line's indentation is not consumed. Nor are lines with a tab, which
// JSON allows and YAML does not: it returns what follows them, and the tab if
// nothing does.
func (s *source) peekText() (first byte, blank, ok bool) {
	for {
		line := s.peekLine()
		if len(line) == 0 {
			return 0, blank, false
		}
		if text := bytes.TrimLeft(line, whiteSpace); len(text) > 0 {
			return text[0], blank, true
		}
		if bytes.IndexByte(line, '\t') >= 0 {
			break
		}
		blank = line[len(line)-1] == '\n' // or part of a line; no text is indented so far
		s.advance(len(line))
	}
	for len(s.buf) < lineBuffer && s.fill() {
	}
	if text := bytes.TrimLeft(s.buf, whiteSpace); len(text) > 0 {
		return text[0], blank, true
	}
	return '\t', blank, true
}

// Read hands bytes to a decoder that counts lines itself: line stays.
func (s *source) Read(p []byte) (int, error) {
	if len(s.buf) == 0 && !s.fill() {
		return 0, s.err
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	return n, nil
}

// unread takes back bytes that a decoder got from Read and did not use. They
// belong to the source from then on.
func (s *source) unread(b []byte) {
	if len(s.buf) == 0 {
		s.buf = slices.Clip(b)
		return
	}
	s.buf = slices.Concat(b, s.buf)
}

var newline = []byte{'\n'}

// whiteSpace is what JSON allows between values.
const whiteSpace = " \t\r\n"
