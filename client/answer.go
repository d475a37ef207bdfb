package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
)

const (
	kindVMI  = "VirtualMachineInstance"
	kindList = "VirtualMachineInstanceList"
)

const (
	// minBuffer is what is read of a body at first, at most.
	minBuffer = 64 << 10
	// maxValue is how large an object may be where no more is allowed, about forty times
	// what etcd stores. A list may have any number of them.
	maxValue = 64 << 20
)

// answer is the body of a success. It is read as a stream, so that a list is never in
// memory both as a whole and as its items.
//
// Whether it is what was asked for goes by its kind alone. The apiVersion is not
// judged: the path has chosen it already, and gateways have rewritten it.
type answer struct {
	from        io.Reader
	contentType string
	most        int   // bytes of a value
	failed      error // of the connection, as opposed to what came over it
	begun       bool  // something of it has reached the caller, or is about to

	buf   []byte // what is at hand of the body
	at    int    // how much of it is used up
	past  int64  // how much of the body was there before
	ended bool   // nothing comes after buf
}

// Read notes an error of the connection on its way to a decoder, which would
// otherwise report it as one of the text.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.from.Read(p)
	if err != nil && err != io.EOF {
		a.failed = err
	}
	return n, err
}

// fill reads until there are so many bytes at hand, or all that there are.
func (a *answer) fill(want int) {
	if a.ended {
		return
	}
	if a.at > 0 {
		a.past += int64(a.at)
		a.buf = a.buf[:copy(a.buf, a.buf[a.at:])]
		a.at = 0
	}
	if want > cap(a.buf) {
		room := make([]byte, len(a.buf), max(want, minBuffer))
		copy(room, a.buf)
		a.buf = room
	}
	if want > len(a.buf) {
		n, err := io.ReadAtLeast(a, a.buf[len(a.buf):cap(a.buf)], want-len(a.buf))
		a.buf, a.ended = a.buf[:len(a.buf)+n], err != nil
	}
}

// next is the byte after white space, 0 at the end.
func (a *answer) next() byte {
	for {
		for ; a.at < len(a.buf); a.at++ {
			switch c := a.buf[a.at]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c
			}
		}
		if a.ended {
			return 0
		}
		a.fill(1)
	}
}

// take passes over a byte after white space, if it is that one.
func (a *answer) take(c byte) bool {
	if a.next() != c || a.at == len(a.buf) {
		return false
	}
	a.at++
	return true
}

// value reads one JSON value. Its bytes are good until the next call.
func (a *answer) value(found *head) ([]byte, error) {
	a.next()
	for {
		text := a.buf[a.at:]
		n, err := scanValue(text, a.ended, found)
		switch {
		case err == nil:
			a.at += n
			return text[:n], nil
		case err == errShort && len(text) > a.most:
			return nil, fmt.Errorf("answer has a value of more than %d MiB", a.most>>20)
		case err == errShort && !a.ended:
			a.fill(2*len(text) + 512) // so that a long value is looked at a few times only
		default:
			a.at += n
			return nil, a.invalid(err)
		}
	}
}

// invalid says why the body is not the JSON that it should be at this place, err being
// what a scan of it says, if there was one.
func (a *answer) invalid(err error) error {
	switch {
	case err != nil && err != errShort && err != errSyntax:
		return fmt.Errorf("answer is not JSON: %w", err)
	case a.at >= len(a.buf):
		return errors.New("answer breaks off in the middle of its JSON")
	}
	return fmt.Errorf("answer is not JSON: %w at byte %d", invalidCharacter(a.buf, a.at), a.past+int64(a.at))
}

// end checks that nothing follows the value that was read.
func (a *answer) end() error {
	if a.next(); a.at < len(a.buf) {
		return errors.New("answer has something after its JSON")
	}
	return nil
}

// begin checks that there is a body, and that it might be JSON.
func (a *answer) begin() error {
	switch a.next() {
	case '{', '[', '"', 'n', 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return nil
	}
	if a.at >= len(a.buf) {
		return errors.New("answer is empty")
	}
	if mediaType, _, _ := mime.ParseMediaType(a.contentType); mediaType != "" && mediaType != "application/json" {
		return fmt.Errorf("answer is not JSON but %s", oneLine(mediaType, 80))
	}
	return a.invalid(nil)
}

// object reads the body as one machine. The error means that it is none.
func (a *answer) object() (*VMI, error) {
	raw, found, err := a.whole()
	if err == nil {
		err = checkKind(raw, found)
	}
	if err != nil {
		return nil, err
	}
	return newVMI(raw, found), nil
}

// whole reads the body as one JSON value.
func (a *answer) whole() (json.RawMessage, head, error) {
	var found head
	if err := a.begin(); err != nil {
		return nil, found, err
	}
	text, err := a.value(&found)
	if err != nil {
		return nil, found, err
	}
	raw := bytes.Clone(text)
	return raw, found, a.end()
}

// checkKind fails unless an object is a machine.
func checkKind(raw json.RawMessage, found head) error {
	kind := found.kind.in(raw)
	if kind == kindVMI {
		return nil
	}
	status, _ := parseStatus(raw)
	return wrongKind(kind, kindVMI, status.Message)
}

// wrongKind says what a body is instead of the wanted kind. Servers that put a
// failure into a 200 are told apart by what their Status says.
func wrongKind(kind, want, message string) error {
	switch {
	case kind == "":
		return fmt.Errorf("answer has no kind, it is not a %s", want)
	case message != "":
		return fmt.Errorf("answer is a %s, not a %s: %s", oneLine(kind, 80), want, oneLine(message, maxErrorText))
	}
	return fmt.Errorf("answer is a %s, not a %s", oneLine(kind, 80), want)
}

// text is the string that raw holds, empty when it holds none.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}
