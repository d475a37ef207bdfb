package kubeproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"
)

// appendType begins an object with what it is.
func (d *decoder) appendType(to []byte, t TypeMeta) []byte {
	to = appendString(append(to, `{"kind":`...), []byte(t.Kind))
	return appendString(append(to, `,"apiVersion":`...), []byte(t.APIVersion))
}

// appendObject writes a message as an object.
func (d *decoder) appendObject(to []byte, m *message, data []byte) ([]byte, error) {
	to, err := d.appendMembers(append(to, '{'), m, data)
	return append(to, '}'), err
}

// appendMembers writes the fields of a message into the object that to ends with.
func (d *decoder) appendMembers(to []byte, m *message, data []byte) ([]byte, error) {
	slots, err := d.read(m, data)
	if err != nil {
		return to, err
	}
	for i := range m.fields {
		f, s := &m.fields[i], &slots[i]
		if !s.set && f.when != always {
			continue
		}
		before := len(to)
		if to[before-1] != '{' {
			to = append(to, ',')
		}
		to = append(strconv.AppendQuote(to, f.name), ':')
		empty := false
		if to, empty, err = d.appendValue(to, f, s); err != nil {
			return to, within(f.name, err)
		}
		if empty && f.when == filled {
			to = to[:before]
		}
	}
	return to, nil
}

// appendValue writes the value of a field, the zero value of its type where there
// is none, and reports whether it is that.
func (d *decoder) appendValue(to []byte, f *field, s *slot) (out []byte, empty bool, err error) {
	switch f.kind {
	case text:
		if !utf8.Valid(s.bytes) {
			return to, false, errNotUTF8
		}
		return appendString(to, s.bytes), len(s.bytes) == 0, nil
	case integer:
		return strconv.AppendInt(to, int64(s.number), 10), s.number == 0, nil
	case integer32:
		// The lower half, as in every protobuf reader.
		return strconv.AppendInt(to, int64(int32(s.number)), 10), int32(s.number) == 0, nil
	case boolean:
		return strconv.AppendBool(to, s.number != 0), s.number == 0, nil
	case timestamp, microTime:
		t, err := d.time(s.bytes, f.kind)
		if err != nil {
			return to, false, err
		}
		return appendTime(to, t, f.kind), t.IsZero(), nil
	case managed:
		to, err = d.appendManaged(to, s.bytes)
		return to, false, err
	case object:
		to, err = d.appendObject(to, f.of, s.bytes)
		return to, false, err
	case textMap:
		to, err = d.appendMap(to, s.items)
		return to, len(s.items) == 0, err
	}
	to, err = d.appendList(to, f, s.items)
	return to, len(s.items) == 0, err
}

var (
	errNotUTF8 = errors.New("is not UTF-8")
	errNoTime  = errors.New("is not in the years 1 to 9999")
	errNoJSON  = errors.New("is not JSON")
)

// appendString writes text that is UTF-8 as encoding/json does.
func appendString(to, text []byte) []byte {
	// A string always has a JSON form.
	quoted, _ := json.Marshal(string(text))
	return append(to, quoted...)
}

// appendList writes a list; one without items is null, as Go writes it.
func (d *decoder) appendList(to []byte, f *field, items [][]byte) (_ []byte, err error) {
	if len(items) == 0 {
		return append(to, "null"...), nil
	}
	for i, item := range items {
		to = append(to, "[,"[min(i, 1)])
		if f.kind == objects {
			to, err = d.appendObject(to, f.of, item)
		} else if !utf8.Valid(item) {
			err = errNotUTF8
		} else {
			to = appendString(to, item)
		}
		if err != nil {
			return to, within(strconv.Itoa(i), err)
		}
	}
	return append(to, ']'), nil
}

// appendMap writes a map, sorted by key.
func (d *decoder) appendMap(to []byte, items [][]byte) ([]byte, error) {
	all := make(map[string]string, len(items))
	for _, item := range items {
		slots, err := d.read(mapEntry, item)
		if err != nil {
			return to, err
		}
		key, value := slots[mapEntryKey].bytes, slots[mapEntryValue].bytes
		if !utf8.Valid(key) || !utf8.Valid(value) {
			return to, errNotUTF8
		}
		all[string(key)] = string(value)
	}
	// A map of strings always has a JSON form.
	sorted, _ := json.Marshal(all)
	return append(to, sorted...), nil
}

// appendManaged writes the JSON that a FieldsV1 has as bytes.
func (d *decoder) appendManaged(to, data []byte) ([]byte, error) {
	slots, err := d.read(fieldsV1, data)
	if err != nil {
		return to, err
	}
	raw := slots[fieldsV1Raw].bytes
	if len(raw) == 0 {
		return append(to, "null"...), nil
	}
	var compact, escaped bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil || !utf8.Valid(raw) {
		return to, errNoJSON
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	return append(to, escaped.Bytes()...), nil
}

// The seconds of the years 1 and 9999, counted from 1970.
var (
	firstSecond = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// time reads a Time or MicroTime. Without any bytes it is the zero time.
func (d *decoder) time(data []byte, k kind) (time.Time, error) {
	if len(data) == 0 {
		return time.Time{}, nil
	}
	slots, err := d.read(timeMessage, data)
	if err != nil {
		return time.Time{}, err
	}
	seconds, nanos := int64(slots[timeSeconds].number), int64(int32(slots[timeNanos].number))
	if k == timestamp {
		nanos = 0
	}
	if seconds < firstSecond || seconds > lastSecond {
		return time.Time{}, errNoTime
	}
	t := time.Unix(seconds, nanos/1000*1000).UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return time.Time{}, errNoTime
	}
	return t, nil
}

func appendTime(to []byte, t time.Time, k kind) []byte {
	if t.IsZero() {
		return append(to, "null"...)
	}
	layout := `"2006-01-02T15:04:05Z"`
	if k == microTime {
		layout = `"2006-01-02T15:04:05.000000Z"`
	}
	return t.AppendFormat(to, layout)
}
