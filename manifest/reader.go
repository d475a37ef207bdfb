package manifest

import (
	"bytes"
	"errors"
	"fmt"
)

// reader turns one stream into objects and errors.
type reader struct {
	name     string
	maxBytes int
	// wholeLists keeps Lists from being opened.
	wholeLists bool
	src        *source
	yield      func(*Object, error) bool
	done       bool   // the caller has seen enough
	text       []byte // of nextDocument, used again for the next
}

var (
	errSeparator = errors.New("only a comment may follow --- on its line")
	errArray     = errors.New("a JSON array is not a Kubernetes object; " +
		"put the objects one after another or into the items of a List")
	errTooLarge = errors.New("too large")
)

func tooLarge(what string, limit int) error {
	return fmt.Errorf("%w: %s may have %d bytes", errTooLarge, what, limit)
}

func (r *reader) run() {
	for !r.done {
		first, blank, ok := r.src.peekText()
		switch {
		case !ok:
			if err := r.src.failed(); err != nil {
				r.fail(r.src.line, fmt.Errorf("read: %w", withoutPath(err)))
			}
			return
		case first == '{':
			r.readJSON()
		case first == '[':
			r.fail(r.src.line, errArray)
			r.skipDocument()
		case first == ',' || first == '}' || first == ']':
			r.fail(r.src.line, fmt.Errorf("no object begins with %q", first))
			r.skipDocument()
		default:
			r.readYAML(blank)
		}
	}
}

// fail yields an error.
func (r *reader) fail(line int, err error) {
	if !r.done {
		r.done = !r.yield(nil, &Error{File: r.name, Line: line, Err: err})
	}
}

// readYAML reads the stream up to the next separator as one YAML document.
// blank says that blank lines went before it: behind one, the byte order mark
// of UTF-16 does not count.
func (r *reader) readYAML(blank bool) {
	line := r.src.line
	var before []byte
	if blank {
		before = newline
	}
	text, err := r.nextDocument(before, r.maxBytes)
	if err != nil {
		r.fail(line, err)
		return
	}
	line -= len(before)
	r.readDocument(text, line)
}

// nextDocument returns the text before the next separator, behind what is given,
// and consumes both; it is valid until the next call. A document of more than limit bytes is consumed and not returned, and so is
// one that a read error cuts short: half a document may mean something else.
func (r *reader) nextDocument(before []byte, limit int) ([]byte, error) {
	text := append(r.text[:0], before...)
	large := false
	for start := true; ; {
		line := r.src.peekLine()
		if len(line) == 0 {
			if r.src.failed() != nil {
				text = nil // run reports the error
			}
			break
		}
		if start {
			end, err := separator(line)
			if err != nil && len(text) > len(before) {
				break // the next call reports it
			}
			if err != nil {
				r.fail(r.src.line, err)
				r.skipDocument()
				return nil, nil
			}
			if end {
				r.skipLine()
				break
			}
		}
		start = line[len(line)-1] == '\n'
		large = large || len(text)+len(line) > limit
		if large {
			text = nil
		} else {
			text = append(text, line...)
			r.text = text
		}
		r.src.advance(len(line))
	}
	if large {
		return nil, tooLarge("a document", limit)
	}
	return text, nil
}

// separator reports whether a line ends a document: --- as kubectl has it, or
// the document end marker of YAML.
func separator(line []byte) (bool, error) {
	if rest, ok := bytes.CutPrefix(line, []byte("---")); ok {
		rest = bytes.TrimSpace(rest)
		if len(rest) > 0 && rest[0] != '#' {
			return false, errSeparator
		}
		return true, nil
	}
	rest, ok := bytes.CutPrefix(line, []byte("..."))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(whiteSpace), rest[0]) >= 0), nil
}

// skipLine consumes the rest of the line.
func (r *reader) skipLine() {
	for {
		line := r.src.peekLine()
		end := len(line) == 0 || line[len(line)-1] == '\n'
		r.src.advance(len(line))
		if end {
			return
		}
	}
}

// skipDocument consumes the stream up to the next line that may begin a
// document.
func (r *reader) skipDocument() {
	for {
		r.skipLine()
		line := r.src.peekLine()
		if len(line) == 0 {
			return
		}
		if end, err := separator(line); end || err != nil {
			return
		}
	}
}
