package contract

import (
	"slices"
	"strings"
)

// candidate is a selector that a check may ask with.
type candidate struct {
	selector selector
	// telling is how much the right answer differs from the wrong ones: the
	// higher, the rather it is asked.
	telling int
	// enough says that the answer tells all that the check is after.
	enough bool
}

// best returns the candidates that tell most, n at most. Which of those that
// tell the same is by seed.
func (r *run) best(purpose string, candidates []candidate, n int) []candidate {
	rng := r.rand(purpose)
	rng.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.telling - a.telling })
	return candidates[:min(n, len(candidates))]
}

// mostLabels are as many as candidates are made of: machines tend to have a label
// with their own name, and a fleet of thousands has thousands of those.
const mostLabels = 500

// someLabels returns the labels that candidates are made of: those that several
// objects have before those of one object, which of them by seed.
func (r *run) someLabels(labels []label) []label {
	if len(labels) <= mostLabels {
		return labels
	}
	rng := r.rand("labels")
	rng.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	slices.SortStableFunc(labels, func(a, b label) int { return min(b.with, 2) - min(a.with, 2) })
	return labels[:mostLabels]
}

// kind makes candidates of one kind from items and the labels on them.
type kind func(items []*item, labels []label) []candidate

// one makes one candidate of each label.
func one(op operator, enough func(label) bool) kind {
	return func(_ []*item, labels []label) []candidate {
		var out []candidate
		for _, l := range labels {
			q := requirement{key: l.key, op: op}
			if op != opExists && op != opNotExists {
				q.values = []string{l.value}
			}
			c := candidate{selector: selector{q}, enough: enough(l)}
			for _, n := range []int{l.with, l.other, l.without} {
				if n > 0 {
					c.telling++
				}
			}
			if c.enough {
				c.telling += 3
			}
			out = append(out, c)
		}
		return out
	}
}

// several is one for operators with a set of values: it adds another value of
// the key, where there is one, and a value that nobody has.
func several(op operator, enough func(label) bool) kind {
	single := one(op, enough)
	return func(items []*item, labels []label) []candidate {
		out := single(items, labels)
		for i := range out {
			q := &out[i].selector[0]
			for _, l := range labels {
				// A third value stays out, so that the answer is not simply
				// everything that has the key.
				if l.key == q.key && l.value != q.values[0] && labels[i].other > l.with {
					q.values = append(q.values, l.value)
					break
				}
			}
			q.values = append(q.values, nobodysValue)
		}
		return out
	}
}

// What an answer must be able to tell apart. That objects without the key are
// selected, or are not, a key that no object has tells as well.
func someNotAll(l label) bool  { return l.other+l.without > 0 }
func otherValues(l label) bool { return l.other > 0 }
func anyLabel(label) bool      { return true }

// A pair is made of a requirement for each of two labels; the answer tells all when
// it is smaller than that of either alone.
const mostPaired = 12 // labels, which makes some hundred pairs

// and joins two requirements of different keys.
func and(first, second operator) kind {
	return paired(first, second, func(a, b label) bool { return a.key != b.key })
}

// sameKey joins two requirements of one key.
func sameKey(first, second operator) kind {
	return paired(first, second, func(a, b label) bool { return a.key == b.key && a.value != b.value })
}

func paired(first, second operator, fit func(a, b label) bool) kind {
	return func(items []*item, labels []label) []candidate {
		var out []candidate
		labels = labels[:min(mostPaired, len(labels))]
		for _, a := range labels {
			for _, b := range labels {
				if fit(a, b) {
					out = append(out, conjunction(items, selector{require(a, first), require(b, second)}))
				}
			}
		}
		return out
	}
}

// three joins the requirements of three keys, the last of which counts: a server
// that reads two of them shows by it.
func three(items []*item, labels []label) []candidate {
	var out []candidate
	labels = labels[:min(mostPaired/2, len(labels))]
	for _, a := range labels {
		for _, b := range labels {
			for _, c := range labels {
				if a.key < b.key && c.key != a.key && c.key != b.key {
					out = append(out, conjunction(items, selector{require(a, opExists), require(b, opExists), require(c, opNotEquals)}))
				}
			}
		}
	}
	return out
}

// require is a requirement that objects with a label meet, or those without it.
func require(l label, op operator) requirement {
	q := requirement{key: l.key, op: op}
	switch op {
	case opExists, opNotExists:
	case opIn, opNotIn:
		q.values = []string{l.value, nobodysValue}
	default:
		q.values = []string{l.value}
	}
	return q
}

// nobodysValue is a value that no label has.
const nobodysValue = "vmikit-contract-nobody"

func conjunction(items []*item, both selector) candidate {
	n := len(both.filter(items))
	c := candidate{selector: both}
	for i := range both {
		if n < len(both[i:i+1].filter(items)) {
			c.telling++
		}
	}
	c.enough = c.telling == len(both)
	if n > 0 {
		c.telling++
	}
	return c
}

// nearMiss is a requirement of a label that almost is one that is there. The answer
// tells something when it is not that of the real label.
func nearMiss(op operator, almost func(label) label) kind {
	return func(items []*item, labels []label) []candidate {
		have := make(map[[2]string]int)
		keys := make(map[string]int)
		for _, it := range items {
			for key, value := range it.labels {
				have[[2]string{key, value}]++
				keys[key]++
			}
		}
		var out []candidate
		for _, l := range labels {
			miss := almost(l)
			if miss == l || !isLabelKey(miss.key) || !isLabelValue(miss.value) {
				continue
			}
			c := candidate{selector: selector{require(miss, op)}}
			if op == opExists || op == opNotExists {
				c.enough = keys[miss.key] < keys[l.key]
			} else {
				c.enough = have[[2]string{miss.key, miss.value}] < l.with
			}
			if c.enough {
				c.telling++
			}
			out = append(out, c)
		}
		return out
	}
}

// ofEmpty leaves of a kind those of labels with an empty value, which is a value
// and no lack of one.
func ofEmpty(k kind) kind {
	return func(items []*item, labels []label) []candidate {
		return k(items, slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return l.value != "" }))
	}
}

func valueInOtherCase(l label) label { l.value = otherCase(l.value); return l }
func valueCut(l label) label         { l.value = cut(l.value); return l }
func valueEmpty(l label) label       { l.value = ""; return l }
func valueLonger(l label) label      { l.value += "x"; return l }
func keyInOtherCase(l label) label   { l.key = otherCaseOfName(l.key); return l }
func keyCut(l label) label           { l.key = cut(l.key); return l }
func keyLonger(l label) label        { l.key += "x"; return l }

// keyWithoutPrefix and keyWithPrefix make another key of the same name.
func keyWithoutPrefix(l label) label {
	l.key = l.key[strings.LastIndex(l.key, "/")+1:]
	return l
}

func keyWithPrefix(l label) label {
	if !strings.Contains(l.key, "/") {
		l.key = "example.com/" + l.key
	}
	return l
}

func otherCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// otherCaseOfName changes the case of a label key after its prefix, which is a
// DNS name and has no upper case.
func otherCaseOfName(key string) string {
	i := strings.LastIndex(key, "/") + 1
	return key[:i] + otherCase(key[i:])
}

func cut(s string) string {
	if s == "" {
		return s
	}
	return s[:len(s)-1]
}
