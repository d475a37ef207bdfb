package openapi

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// place is a value that is looked for in a text, and those looked for inside it.
type place struct {
	inside map[string]*place
	offset int64
	raw    []byte // nil when the text has no such value
}

// under returns the place of a member or item.
func (p *place) under(token string) *place {
	sub := p.inside[token]
	if sub == nil {
		if p.inside == nil {
			p.inside = make(map[string]*place)
		}
		sub = new(place)
		p.inside[token] = sub
	}
	return sub
}

// find reads data, which must be JSON, and notes where the places are. Of a key
// that is there twice the last counts, as it does in the tree.
func (p *place) find(data []byte) {
	text := bytes.TrimPrefix(data, utf8BOM)
	f := finder{
		data: data,
		base: int64(len(data) - len(text)),
		dec:  jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	f.value(p)
	p.inherit()
}

// inherit gives every place that the text has not the offset of what it would
// stand in.
func (p *place) inherit() {
	for _, sub := range p.inside {
		if sub.raw == nil {
			sub.offset = p.offset
		}
		sub.inherit()
	}
}

type finder struct {
	data []byte
	base int64
	dec  *jsontext.Decoder
}

func (f *finder) offset() int64 { return f.base + f.dec.InputOffset() }

// value reads one value, and reports whether the text still is JSON.
func (f *finder) value(p *place) bool {
	if p == nil {
		return f.dec.SkipValue() == nil
	}
	kind := f.dec.PeekKind()
	if len(p.inside) == 0 || kind != '{' && kind != '[' {
		raw, err := f.dec.ReadValue()
		if err != nil {
			return false
		}
		p.set(f.data, f.offset()-int64(len(raw)), f.offset())
		return true
	}
	if _, err := f.dec.ReadToken(); err != nil {
		return false
	}
	start := f.offset() - 1
	for i := 0; f.dec.PeekKind() != '}' && f.dec.PeekKind() != ']'; i++ {
		token := strconv.Itoa(i)
		if kind == '{' {
			raw, err := f.dec.ReadValue()
			if err != nil {
				return false
			}
			// Invalid UTF-8 is replaced here as it was in the tree.
			text, _ := jsontext.AppendUnquote(nil, raw)
			token = string(text)
		}
		if !f.value(p.inside[token]) {
			return false
		}
	}
	if _, err := f.dec.ReadToken(); err != nil {
		return false
	}
	p.set(f.data, start, f.offset())
	return true
}

func (p *place) set(data []byte, start, end int64) {
	p.offset, p.raw = start, data[start:end]
}
