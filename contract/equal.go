package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// absent stands for a value that is not there.
type absent struct{}

// differing is one place at which two JSON values are not the same.
type differing struct {
	pointer   string
	want, got any
}

// diffs are the places, in the order of their keys.
type diffs []differing

// differences returns the places at which two JSON objects are not the same, at
// most maxDiff, whatever the order of their keys. A kind or apiVersion that only
// one of them has is no difference: the document leaves them out of what an object
// must have, and the schema checks look after them.
func differences(want, got []byte) diffs {
	if bytes.Equal(want, got) {
		return nil
	}
	wv, wok := decode(want)
	gv, gok := decode(got)
	if !wok || !gok {
		return diffs{{want: "JSON", got: "something else"}}
	}
	wm, wok := wv.(map[string]any)
	gm, gok := gv.(map[string]any)
	if wok && gok {
		for _, key := range []string{"apiVersion", "kind"} {
			if _, ok := wm[key]; !ok {
				delete(gm, key)
			} else if _, ok := gm[key]; !ok {
				delete(wm, key)
			}
		}
	}
	var d diffs
	d.compare(wv, gv, "")
	return d
}

func decode(raw []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	return v, dec.Decode(&v) == nil
}

func (d *diffs) add(pointer string, want, got any) {
	if len(*d) < maxDiff {
		*d = append(*d, differing{pointer, want, got})
	}
}

func (d *diffs) compare(want, got any, pointer string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			d.add(pointer, want, got)
			return
		}
		keys := slices.AppendSeq(slices.Collect(maps.Keys(w)), maps.Keys(g))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			at := pointer + "/" + escaped(key)
			wv, wok := w[key]
			gv, gok := g[key]
			switch {
			case !wok:
				d.add(at, absent{}, gv)
			case !gok:
				d.add(at, wv, absent{})
			default:
				d.compare(wv, gv, at)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			d.add(pointer, want, got)
			return
		}
		for i := range w {
			d.compare(w[i], g[i], pointer+"/"+strconv.Itoa(i))
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || !sameNumber(string(w), string(g)) {
			d.add(pointer, want, got)
		}
	default:
		switch got.(type) {
		case map[string]any, []any: // cannot be compared
			d.add(pointer, want, got)
		default:
			if want != got {
				d.add(pointer, want, got)
			}
		}
	}
}

// escaped is a key as a part of a JSON pointer.
func escaped(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// String names the first place.
func (d diffs) String() string {
	text := "another value at " + d[0].pointer
	if d[0].pointer == "" {
		text = "another body"
	}
	if n := len(d) - 1; n > 0 {
		text += " and " + number(n, "more place")
	}
	return text
}

// lines shows the places as a report may, without what looks secret.
func (d diffs) lines() []DiffLine {
	var lines []DiffLine
	for _, at := range d {
		line := func(op string, v any) {
			if v != (absent{}) {
				lines = append(lines, DiffLine{op, at.show(v)})
			}
		}
		line("-", at.want)
		line("+", at.got)
	}
	return lines[:min(len(lines), maxDiff)]
}

// show returns one side as POINTER: VALUE. The value is redacted with the keys
// around it, since they tell what is secret.
func (at differing) show(v any) string {
	keys := strings.Split(strings.TrimPrefix(at.pointer, "/"), "/")
	for _, key := range slices.Backward(keys) {
		v = map[string]any{key: v}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return at.pointer
	}
	shown := openapi.Redact(text)
	for _, key := range keys {
		quoted, _ := json.Marshal(key)
		inner, ok := strings.CutPrefix(shown, "{"+string(quoted)+":")
		if !ok {
			break
		}
		shown = strings.TrimSuffix(inner, "}")
	}
	return at.pointer + ": " + shown
}

// sameNumber compares numbers. Integers are compared by their digits, since a
// double holds only some of those of 64 bits.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a, ".eE") && !strings.ContainsAny(b, ".eE") {
		return false
	}
	af, aerr := strconv.ParseFloat(a, 64)
	bf, berr := strconv.ParseFloat(b, 64)
	return aerr == nil && berr == nil && af == bf
}
