package server

import (
	"bytes"
	"io"
)

// indentBuffer is what is gathered before it is passed on. The indentation of what is
// nested deeply is much larger than the JSON.
const indentBuffer = 4 << 10

// indenter passes JSON on as json.Indent would write it, two spaces a level, and keeps
// none of it. A line feed at the end is dropped, as from a Kubernetes API server.
// Strings and numbers stay as they are.
type indenter struct {
	to    io.Writer
	depth int
	// opened is set behind the beginning of an object or an array, which may be empty.
	opened          bool
	quoted, escaped bool
	out             []byte
}

// Write fails with the error of the writer behind it.
func (d *indenter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if d.quoted {
			n := d.text(rest)
			d.out = append(d.out, rest[:n]...)
			rest = rest[n:]
		} else {
			d.token(rest[0])
			rest = rest[1:]
		}
		if len(d.out) < indentBuffer && len(rest) > 0 {
			continue
		}
		if _, err := d.to.Write(d.out); err != nil {
			return 0, err
		}
		d.out = d.out[:0]
	}
	return len(p), nil
}

// text returns how much of p belongs to the string that it begins in.
func (d *indenter) text(p []byte) int {
	n := 0
	for n < len(p) {
		if d.escaped {
			d.escaped = false
			n++
			continue
		}
		i := bytes.IndexAny(p[n:], `"\`)
		if i < 0 {
			return len(p)
		}
		n += i + 1
		if p[n-1] == '"' {
			d.quoted = false
			return n
		}
		d.escaped = true
	}
	return n
}

// token takes a byte that is in no string.
func (d *indenter) token(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
		return
	case ',':
		d.out = append(d.out, c)
		d.line()
		return
	case ':':
		d.out = append(d.out, ": "...)
		return
	case '}', ']':
		d.depth--
		if !d.opened {
			d.line()
		}
		d.opened = false
		d.out = append(d.out, c)
		return
	}
	if d.opened {
		d.opened = false
		d.line()
	}
	d.out = append(d.out, c)
	switch c {
	case '{', '[':
		d.depth++
		d.opened = true
	case '"':
		d.quoted = true
	}
}

func (d *indenter) line() {
	d.out = append(d.out, '\n')
	for range d.depth {
		d.out = append(d.out, "  "...)
	}
}
