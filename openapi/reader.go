package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep arrays and objects may be nested. A real machine is
// about a dozen deep; what walks the value after the reader is recursive.
const maxDepth = 1000

// reader reads one JSON text into the tree that kin-openapi judges, and on the
// way reports what the tree no longer shows: how the text was written.
//
// The decoder is told to let duplicate keys and invalid UTF-8 pass. It would
// stop at the first of them; the reader reports them all and goes on.
type reader struct {
	dec    *jsontext.Decoder
	base   int64 // of the first byte of the decoder's input
	path   []step
	strict bool // report unknown fields
	to     *collector
}

// errStop ends the reading of a text that is not JSON; the issue has been reported.
var errStop = errors.New("not json")

var utf8BOM = []byte("\xEF\xBB\xBF")

// readTree returns the tree of the one JSON value in data. ok is false when
// there is none, which has then been reported.
func readTree(data []byte, s *shape, strict bool, to *collector) (tree any, ok bool) {
	r := reader{strict: strict, to: to}
	if rest, found := bytes.CutPrefix(data, utf8BOM); found {
		r.report(0, RuleJSONByteOrderMark, nil, "must not begin with a byte order mark")
		data, r.base = rest, int64(len(utf8BOM))
	}
	r.dec = jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	tree, err := r.value(s, s.beginField(nil), 0)
	if err != nil {
		return nil, false
	}
	r.end()
	return tree, true
}

// value reads one value. s and f are nil where nothing is known about it.
func (r *reader) value(s *shape, f *field, depth int) (any, error) {
	switch kind := r.dec.PeekKind(); kind {
	case '{', '[':
		if depth >= maxDepth {
			r.report(r.offset(), RuleJSONDepth, nil, "must not be nested more than 1,000 deep")
			return nil, errStop
		}
		if kind == '{' {
			return r.object(s, f, depth+1)
		}
		return r.array(s, f, depth+1)
	case '"', '0':
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, r.syntax(err)
		}
		if kind == '0' {
			return r.number(raw, s), nil
		}
		return r.text(raw), nil
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil, r.syntax(err)
	}
	if token.Kind() == 'n' {
		return nil, nil
	}
	return token.Bool(), nil
}

func (r *reader) array(s *shape, f *field, depth int) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, r.syntax(err)
	}
	items := s.item()
	f = items.beginField(f.item())
	list := []any{}
	for r.dec.PeekKind() != ']' {
		r.path = append(r.path, step{index: len(list)})
		item, err := r.value(items, f, depth)
		if err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
		list = append(list, item)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, r.syntax(err)
	}
	return list, nil
}

func (r *reader) object(s *shape, f *field, depth int) (any, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, r.syntax(err)
	}
	object := make(map[string]any)
	for r.dec.PeekKind() != '}' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, r.syntax(err)
		}
		at := r.offset() - int64(len(raw))
		key, known := s.key(raw)
		valid := true
		if !known {
			key, valid = unquote(raw)
		}
		r.path = append(r.path, keyStep(key))
		if !valid {
			r.invalidUTF8(at)
		}
		if !known {
			r.undeclared(at, key, s, f)
		}
		if _, twice := object[key]; twice {
			r.report(at, RuleJSONDuplicateKey, nil, "must not be there twice")
		}
		child := s.child(key)
		v, err := r.value(child, child.beginField(f.child(key)), depth)
		if err != nil {
			return nil, err
		}
		object[key] = v
		r.path = r.path[:len(r.path)-1]
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, r.syntax(err)
	}
	return object, nil
}

// undeclared judges a key that the document does not declare. Keys of maps
// (labels, annotations) are free, and so are those that KubeVirt declares.
func (r *reader) undeclared(at int64, key string, s *shape, f *field) {
	if s != nil && s.values != nil || f.declares(key) {
		return
	}
	if s != nil && s.members != nil {
		if _, ok := s.members[key]; ok {
			return // written with escapes
		}
		if name, ok := s.folded[fold(key)]; ok {
			r.report(at, RuleJSONKeyCase, nil, "must be written "+name)
			return
		}
	}
	if r.strict && (s != nil && s.members != nil || f.describes()) {
		r.report(at, RuleUnknownField, nil, "is no field of the resource")
	}
}

// text returns the string that raw JSON, just read, spells.
func (r *reader) text(raw []byte) string {
	text, valid := unquote(raw)
	if !valid {
		r.invalidUTF8(r.offset() - int64(len(raw)))
	}
	return text
}

func (r *reader) invalidUTF8(at int64) {
	r.report(at, RuleJSONInvalidUTF8, nil, "must be UTF-8 without halves of surrogate pairs")
}

// unquote returns the string that raw JSON spells. What is no valid UTF-8 is
// replaced.
func unquote(raw []byte) (text string, valid bool) {
	inside := raw[1 : len(raw)-1]
	plain := true
	for _, b := range inside {
		if b == '\\' || b >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return string(inside), true
	}
	unquoted, err := jsontext.AppendUnquote(nil, raw)
	return string(unquoted), err == nil
}

// number returns the double nearest to a number, which is what the keywords
// compare, and reports a number that clients cannot read into the type that they
// have for it.
func (r *reader) number(raw []byte, s *shape) any {
	at := r.offset() - int64(len(raw))
	text := string(raw)
	double, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.report(at, RuleJSONNumberRange, raw, "must fit into a double")
		return placeholder
	}
	if isInteger(raw) {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			r.report(at, RuleJSONIntegerRange, raw, "must fit into 64 bits")
		}
		return double
	}
	if s != nil && s.integer && math.Trunc(double) == double {
		r.report(at, RuleJSONIntegerForm, raw, "must be written without fraction and exponent")
	}
	return double
}

// placeholder stands in the tree for a number that no double can hold. It lies
// within all limits of the documents, so that the one issue about the number is
// the reader's.
var placeholder any = float64(1)

// isInteger reports whether a JSON number has neither fraction nor exponent.
func isInteger(raw []byte) bool {
	return !bytes.ContainsAny(raw, ".eE")
}

// end reports what follows the value.
func (r *reader) end() {
	at := r.offset()
	switch _, err := r.dec.ReadValue(); {
	case errors.Is(err, io.EOF):
	case err == nil:
		r.report(at, RuleJSONSecondValue, nil, "must be the end of the text, not another value")
	default:
		r.report(at, RuleJSONTrailingData, nil, "must be the end of the text")
	}
}

// offset returns where in the text the decoder stands: behind what it last read.
func (r *reader) offset() int64 { return r.base + r.dec.InputOffset() }

func (r *reader) syntax(err error) error {
	at, reason := r.offset(), "the text ends too early"
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = r.base + e.ByteOffset
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			reason = e.Err.Error()
		}
	} else if errors.Is(err, io.EOF) {
		reason = "the text is empty"
	}
	r.report(at, RuleJSONSyntax, nil, fmt.Sprintf("must be JSON: %s at byte %d", reason, at))
	return errStop
}

func (r *reader) report(at int64, rule string, raw []byte, message string) {
	if r.to.full() {
		r.to.dropped = true
		return
	}
	r.to.add(at, Issue{Pointer: pointer(r.path), Rule: rule, Value: showValue(r.path, raw), Message: message})
}
