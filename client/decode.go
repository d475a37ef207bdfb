package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// badValue is a value that its Go type cannot hold.
type badValue struct {
	pointer string
	err     error
}

// decodeView fills a typed view from JSON and returns the first value that does not
// fit, in the order of the text. It is the only place that decodes objects.
//
// encoding/json would not do: it stops at a time that is none and does not say where
// that was; it takes {"phase":"Running","Phase":"Failed"} for Failed, where an API
// server, which matches names exactly, sees Running and an unknown field; and it takes
// three times as long. Whatever is not plain is left to it, value by value, so what a
// value means, and how an error reads, is the same. Of members with the same name the
// last one counts, whole.
func decodeView(raw json.RawMessage, view any) *badValue {
	d := decoder{scanner: scanner{text: raw, all: true}}
	v := reflect.ValueOf(view).Elem()
	if _, err := planOf(v.Type())(&d, v); err != nil {
		v.SetZero()
		return &badValue{err: err}
	}
	if d.err == nil {
		return nil
	}
	return &badValue{pointer: pointerTo(raw, d.where), err: d.err}
}

// decoder goes once over a text. It needs no valid JSON to be safe: what the scanner
// finds wrong ends it.
type decoder struct {
	scanner
	where int // the first value that did not fit
	err   error
}

// report notes that the value which begins there does not fit.
func (d *decoder) report(where int, err error) {
	if d.err == nil {
		d.where, d.err = where, err
	}
}

// plan decodes the value that comes next into v, which is zero. It reports whether v
// can hold it; when not, v is zero still. The error is that of a text that is no JSON.
type plan func(d *decoder, v reflect.Value) (bool, error)

// skip passes over the next value and returns it.
func (d *decoder) skip() (begin int, raw []byte, err error) {
	d.next()
	begin = d.at
	err = d.value(nowhere, 1)
	return begin, d.text[begin:d.at], err
}

// standard leaves a value to encoding/json.
func standard(d *decoder, v reflect.Value) (bool, error) {
	begin, raw, err := d.skip()
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		v.SetZero()
		d.report(begin, err)
		return false, nil
	}
	return true, nil
}

// ownMethod is for types that decode themselves, as time.Time does.
func ownMethod(d *decoder, v reflect.Value) (bool, error) {
	begin, raw, err := d.skip()
	if err != nil {
		return false, err
	}
	if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw); err != nil {
		v.SetZero()
		d.report(begin, err)
		return false, nil
	}
	return true, nil
}

func decodeString(d *decoder, v reflect.Value) (bool, error) {
	if d.next() != '"' {
		return standard(d, v)
	}
	s, err := d.string()
	v.SetString(s)
	return true, err
}

func (d *decoder) string() (string, error) {
	begin := d.at
	if err := d.quoted(); err != nil {
		return "", err
	}
	return unquote(d.text[begin:d.at]), nil
}

func decodeBool(d *decoder, v reflect.Value) (bool, error) {
	switch d.next() {
	case 't':
		v.SetBool(true)
		return true, d.word("true")
	case 'f':
		return true, d.word("false")
	}
	return standard(d, v)
}

func decodeInt(d *decoder, v reflect.Value) (bool, error) {
	d.next()
	begin := d.at
	if d.at < len(d.text) && d.text[d.at] == '-' {
		d.at++
	}
	// Eighteen digits fit; what follows them must not belong to the number.
	if digits := d.digits(); digits > 0 && digits <= 18 && !d.goesOn() {
		n, _ := strconv.ParseInt(string(d.text[begin:d.at]), 10, 64)
		if !v.OverflowInt(n) {
			v.SetInt(n)
			return true, nil
		}
	}
	d.at = begin
	return standard(d, v)
}

// goesOn reports whether a number goes on after its digits.
func (d *decoder) goesOn() bool {
	if d.at >= len(d.text) {
		return false
	}
	c := d.text[d.at]
	return c == '.' || c|0x20 == 'e'
}

func decodeAny(d *decoder, v reflect.Value) (bool, error) {
	d.next()
	begin := d.at
	value, fits, err := d.any(1)
	if err != nil {
		return false, err
	}
	if !fits { // a number beyond float64, of which encoding/json says so
		d.at = begin
		return standard(d, v)
	}
	if value != nil {
		v.Set(reflect.ValueOf(value))
	}
	return true, nil
}

// any decodes what no type is known of, as encoding/json does.
func (d *decoder) any(depth int) (value any, fits bool, err error) {
	if depth > maxDepth {
		return nil, false, errDeep
	}
	switch c := d.next(); c {
	case '"':
		value, err = d.string()
		return value, true, err
	case '{':
		members := map[string]any{}
		fits = true
		err = d.members(func(name []byte) error {
			value, ok, err := d.any(depth + 1)
			members[unquote(name)] = value
			fits = fits && ok
			return err
		})
		return members, fits, err
	case '[':
		elements := []any{}
		fits = true
		err = d.elements(func() error {
			value, ok, err := d.any(depth + 1)
			elements = append(elements, value)
			fits = fits && ok
			return err
		})
		return elements, fits, err
	case 't', 'f', 'n':
		value = c == 't'
		if c == 'n' {
			value = nil
		}
		return value, true, d.scanner.value(nowhere, 1)
	}
	_, raw, err := d.skip()
	if err != nil {
		return nil, false, err
	}
	number, err := strconv.ParseFloat(string(raw), 64)
	return number, err == nil, nil
}

// members passes over an object and hands over each name, quoted; value decodes what
// comes next.
func (d *decoder) members(value func(name []byte) error) error {
	d.at++
	for first := true; d.next() != '}'; first = false {
		if !first {
			if d.next() != ',' {
				return d.ends()
			}
			d.at++
		}
		if d.next() != '"' {
			return d.ends()
		}
		begin := d.at
		if err := d.quoted(); err != nil {
			return err
		}
		name := d.text[begin:d.at]
		if d.next() != ':' {
			return d.ends()
		}
		d.at++
		if err := value(name); err != nil {
			return err
		}
	}
	d.at++
	return nil
}

// elements passes over an array; value decodes the element that comes next.
func (d *decoder) elements(value func() error) error {
	d.at++
	for first := true; d.next() != ']'; first = false {
		if !first {
			if d.next() != ',' {
				return d.ends()
			}
			d.at++
		}
		if err := value(); err != nil {
			return err
		}
	}
	d.at++
	return nil
}

// wrong reports a value that is not of the type of JSON that belongs there. null is
// none of them and always fits.
func (d *decoder) wrong(belongs string) (bool, error) {
	begin, raw, err := d.skip()
	if err != nil || string(raw) == "null" {
		return err == nil, err
	}
	d.report(begin, fmt.Errorf("%s where an %s belongs", jsonType(raw), belongs))
	return false, nil
}

// jsonType names the type of a JSON value, by its first byte.
func jsonType(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
