package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// difference returns the pointer to the first place at which two JSON objects
// are not the same, "" when they are, whatever the order of their keys. A kind or
// apiVersion that only one of them has is no difference: the document leaves
// them out of what an object must have, and the schema checks look after them.
func difference(a, b []byte) (pointer string, differ bool) {
	if bytes.Equal(a, b) {
		return "", false
	}
	av, aok := decode(a)
	bv, bok := decode(b)
	if !aok || !bok {
		return "", !bytes.Equal(a, b)
	}
	am, aok := av.(map[string]any)
	bm, bok := bv.(map[string]any)
	if aok && bok {
		for _, key := range []string{"apiVersion", "kind"} {
			if _, ok := am[key]; !ok {
				delete(bm, key)
			} else if _, ok := bm[key]; !ok {
				delete(am, key)
			}
		}
	}
	path, differ := differs(av, bv, nil)
	if !differ {
		return "", false
	}
	for _, p := range path {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
	}
	return pointer, true
}

func decode(raw []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	return v, dec.Decode(&v) == nil
}

func differs(a, b any, path []string) ([]string, bool) {
	switch a := a.(type) {
	case map[string]any:
		bm, ok := b.(map[string]any)
		if !ok {
			return path, true
		}
		keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(bm)))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			av, aok := a[key]
			bv, bok := bm[key]
			if aok != bok {
				return append(path, key), true
			}
			if p, differ := differs(av, bv, append(path, key)); differ {
				return p, true
			}
		}
		return nil, false
	case []any:
		bs, ok := b.([]any)
		if !ok || len(a) != len(bs) {
			return path, true
		}
		for i := range a {
			if p, differ := differs(a[i], bs[i], append(path, strconv.Itoa(i))); differ {
				return p, true
			}
		}
		return nil, false
	case json.Number:
		bn, ok := b.(json.Number)
		return path, !ok || !sameNumber(string(a), string(bn))
	default:
		return path, a != b
	}
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
