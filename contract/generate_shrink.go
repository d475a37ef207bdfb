package contract

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shrink looks for the smallest request that fails by the same kind: it takes
// what is smaller as long as that still fails. Each try is one request, so objects
// that changed may mislead it; the request that is left is held between two lists
// as every other, and no findings mean that it did not fail again.
func (f *fuzzer) shrink(ctx context.Context, g generated, kind string) (generated, findings, error) {
	tries := maxShrinks
	tried := map[string]bool{f.curlOf(g): true}
	for smaller := true; smaller; {
		smaller = false
		for _, candidate := range f.smaller(g) {
			curl := f.curlOf(candidate)
			if tried[curl] {
				continue
			}
			if tries--; tries < 0 {
				break
			}
			tried[curl] = true
			started := time.Now()
			suspicions, err := f.suspect(ctx, []probe{f.probe(candidate)})
			if err != nil {
				return g, nil, err
			}
			if len(suspicions) == 0 || !sameKind(suspicions[0].claims, kind) {
				continue
			}
			if time.Since(started) > time.Second {
				tries = min(tries, maxSlowShrinks)
			}
			g, smaller = candidate, true
			break
		}
	}
	found, err := f.relate(ctx, []probe{f.probe(g)})
	if len(found) > 0 && kindOf(found) != kind {
		found = nil
	}
	return g, found, err
}

func sameKind(claims []claim, kind string) bool {
	var found findings
	for _, c := range claims {
		found = append(found, Finding{Outcome: cmp.Or(c.Outcome, Fail), Message: c.Message})
	}
	return kindOf(found) == kind
}

// smaller returns requests that are a step smaller, the largest steps first.
func (f *fuzzer) smaller(g generated) []generated {
	var all []generated
	with := func(change func(*generated)) {
		smaller := g
		smaller.args = slices.Clone(g.args)
		change(&smaller)
		smaller.args = f.bounded(smaller, smaller.args)
		all = append(all, smaller)
	}
	if len(g.args) > 2 {
		for i := range g.args {
			with(func(s *generated) { s.args = s.args[i : i+1] })
		}
	}
	for i := range g.args {
		with(func(s *generated) { s.args = slices.Delete(s.args, i, i+1) })
	}
	if g.encoding != encodedUsual {
		with(func(s *generated) { s.encoding = encodedUsual })
	}
	if g.namespace != string(f.primary) {
		with(func(s *generated) { s.namespace = string(f.primary) })
	}
	for i, a := range g.args {
		for _, argument := range a.smaller() {
			with(func(s *generated) { s.args[i] = argument })
		}
	}
	if g.read && len(f.fleet.items) > 0 {
		for _, name := range shorter(g.name) {
			if plainName(name) {
				with(func(s *generated) { s.name = name })
			}
		}
	}
	return all
}

// smaller returns arguments that are a step smaller.
func (a argument) smaller() []argument {
	var all []argument
	add := func(change func(*argument)) {
		smaller := a
		smaller.terms = slices.Clone(a.terms)
		change(&smaller)
		all = append(all, smaller)
	}
	switch {
	case a.isSelector():
	case spelling(a.text) == "plain", spelling(a.text) == "below 1":
		n, _ := strconv.ParseInt(a.text, 10, 64)
		for _, n := range lower(n) {
			add(func(s *argument) { s.text = strconv.FormatInt(n, 10) })
		}
	default:
		for _, text := range append([]string{"x"}, shorter(a.text)...) {
			if text != "" {
				add(func(s *argument) { s.text = text })
			}
		}
	}
	if len(a.terms) > 2 {
		for i := range a.terms {
			add(func(s *argument) { s.terms = s.terms[i : i+1] })
		}
	}
	for i := range a.terms {
		if len(a.terms) > 1 {
			add(func(s *argument) { s.terms = slices.Delete(s.terms, i, i+1) })
		}
	}
	for i, p := range a.terms {
		for _, smaller := range p.smaller() {
			add(func(s *argument) { s.terms[i] = smaller })
		}
	}
	return all
}

// smaller returns terms that are a step smaller, and ones of a selector still.
func (t term) smaller() []term {
	var all []term
	add := func(change func(*term)) {
		smaller := t
		smaller.values = slices.Clone(t.values)
		change(&smaller)
		all = append(all, smaller)
	}
	if t.layout != usual {
		add(func(s *term) { s.layout = usual })
	}
	if len(t.values) > 1 {
		for i := range t.values {
			add(func(s *term) { s.values = s.values[i : i+1] })
		}
	}
	if len(t.values) > 2 {
		for i := range t.values {
			add(func(s *term) { s.values = slices.Delete(s.values, i, i+1) })
		}
	}
	switch {
	case t.op == opDoubleEquals, t.op == opIn && len(t.values) == 1:
		add(func(s *term) { s.op = opEquals })
	case t.op == opNotIn && len(t.values) == 1:
		add(func(s *term) { s.op = opNotEquals })
	}
	for i, v := range t.values {
		if t.op == opGreater || t.op == opLess {
			break // anything but a number is another kind of term
		}
		for _, short := range simpler(v) {
			add(func(s *term) { s.values[i] = short })
		}
	}
	if len(t.key) > longText && !strings.ContainsAny(t.key, "./") {
		for _, short := range simpler(t.key) {
			if isLabelKey(short) {
				add(func(s *term) { s.key = short })
			}
		}
	}
	return all
}

// longText is from which length on a text is made shorter bit by bit. The labels
// that people give are shorter and stay as they are, or go whole.
const longText = 32

// simpler returns labels to have in the place of one.
func simpler(s string) []string {
	var all []string
	if len(s) > 1 {
		all = append(all, "x")
	}
	if len(s) > longText {
		all = append(all, shorter(s)...)
	}
	return slices.DeleteFunc(all, func(s string) bool { return !isLabelValue(s) && !isLabelKey(s) })
}

// shorter returns texts made of a text by leaving something out.
func shorter(s string) []string {
	const few = 6
	var all []string
	if n := len(s); n > few {
		all = append(all, s[:n/2], s[:n-n/4], s[:n-1])
	} else {
		for i := range len(s) {
			all = append(all, s[:i]+s[i+1:])
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return strings.ToValidUTF8(s, "") != s })
}

// lower returns numbers that are nearer to 1, those that are nearest first.
func lower(n int64) []int64 {
	var all []int64
	switch {
	case n > 1:
		all = []int64{1, 2, n / 2, n - 1}
	case n < 0:
		all = []int64{0, -1, n / 2}
	}
	return slices.DeleteFunc(all, func(m int64) bool { return m == n || m > n && n > 0 || m < n && n < 0 })
}
