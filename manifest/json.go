package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// readJSON reads JSON objects for as long as the stream has one after another.
func (r *reader) readJSON() {
	in := &meter{r: r.src}
	d := jsontext.NewDecoder(in, tolerant...)
	for !r.done {
		in.left = r.maxBytes
		first := d.PeekKind()
		rest := d.UnreadBuffer()
		space := rest[:len(rest)-len(bytes.TrimLeft(rest, whiteSpace))]
		if first != '{' {
			if len(space) < len(rest) { // keep the indentation of text
				space = space[:bytes.LastIndexByte(space, '\n')+1]
			}
			r.src.line += bytes.Count(space, newline)
			r.src.unread(rest[len(space):])
			return
		}
		in.left = r.maxBytes
		line := r.src.line + bytes.Count(space, newline)
		value, err := d.ReadValue()
		if err != nil {
			r.notJSON(d, line, err)
			return
		}
		r.src.line = line + bytes.Count(value, newline)
		if len(value) > r.maxBytes {
			r.fail(line, tooLarge("a JSON value", r.maxBytes))
			continue
		}
		r.emit(value, place{line: line})
	}
}

// notJSON takes a document that begins like JSON for YAML, as kubectl does,
// and reports the JSON error if it is neither. The decoder failed at the value
// on the line.
func (r *reader) notJSON(d *jsontext.Decoder, line int, err error) {
	rest := d.UnreadBuffer()
	if failed := r.src.failed(); failed != nil && errors.Is(err, failed) {
		r.src.line = line
		return // run reports it; half a value may mean something else than the whole
	}
	at := line
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset := int(syntax.ByteOffset - d.InputOffset())
		at = r.src.line + bytes.Count(rest[:min(max(offset, 0), len(rest))], newline)
		err = fmt.Errorf("invalid json: %w", syntax.Err)
	}
	r.src.unread(rest)
	if errors.Is(err, errTooLarge) {
		r.fail(line, tooLarge("a JSON value", r.maxBytes))
		r.skipDocument()
		return
	}
	first := r.src.line
	text, yamlErr := r.nextDocument(nil, maxObjectBytes)
	if yamlErr == nil {
		source := &yamlSource{text: slices.Clone(text), line: first}
		var c conversion
		if c, yamlErr = source.convert(); yamlErr == nil {
			r.emitConverted(c, place{line: line, source: source})
			return
		}
	}
	r.fail(at, err)
}

// meter passes on so many bytes of a stream and then fails.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLarge
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}
