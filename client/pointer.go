package client

import (
	"strconv"
	"strings"
)

// pointerTo is the JSON Pointer (RFC 6901) of the value that begins at a place of a
// valid text, empty when none but the whole does. It is looked for only after something
// went wrong there, so that decoding need not keep book.
func pointerTo(text []byte, where int) string {
	var pointer strings.Builder
	d := decoder{scanner: scanner{text: text, all: true}}
	for {
		token, begin := d.childAt(where)
		if begin < 0 {
			return pointer.String()
		}
		pointer.WriteString(step("", token))
		d.at = begin
	}
}

// childAt returns the member or element of the next value in which a place lies, and
// where that begins; -1 when it lies in none.
func (d *decoder) childAt(where int) (token string, begin int) {
	begin = -1
	child := func(name string) error {
		from, raw, err := d.skip()
		if from <= where && where < from+len(raw) {
			token, begin = name, from
		}
		return err
	}
	count := 0
	switch d.next() {
	case '{':
		_ = d.members(func(quoted []byte) error { return child(unquote(quoted)) })
	case '[':
		_ = d.elements(func() error {
			count++
			return child(strconv.Itoa(count - 1))
		})
	}
	return token, begin
}
