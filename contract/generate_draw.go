package contract

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// fleet is what requests are made of: what was there when the first was made.
type fleet struct {
	items []*item
	// labels are those of each namespace, and of all of them under "".
	labels map[string][]label
	fields []openapi.Field
}

func (r *run) fleet(ctx context.Context) (fleet, error) {
	full, err := r.full(ctx, r.widest)
	if err != nil {
		return fleet{}, err
	}
	f := fleet{items: full.all(), labels: make(map[string][]label), fields: r.judge.doc.Fields()}
	for _, namespace := range append(r.someNamespaces(), "") {
		f.labels[namespace] = r.someLabels(labelsOf(f.in(namespace)))
	}
	return f, nil
}

// in returns the items of a namespace, or all of them.
func (f fleet) in(namespace string) []*item {
	return slices.DeleteFunc(slices.Clone(f.items), func(it *item) bool { return namespace != "" && it.namespace != namespace })
}

func (f fleet) labelsIn(namespace string) []label {
	if labels, ok := f.labels[namespace]; ok {
		return labels
	}
	return f.labels[""]
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// draw generates the request of a number. Every other one has a card in it.
func (f *fuzzer) draw(number int) generated {
	rng := f.rand(fmt.Sprintf("fuzz %d", number))
	g := generated{namespace: f.drawNamespace(rng)}
	switch n := rng.IntN(10); {
	case n == 0 || n == 1:
		g.read = true
		g.name = f.drawName(rng, g.namespace)
	case n < 5 && f.conventions() && f.widest == "":
		g.namespace = ""
	}
	g.args = f.drawArguments(rng, g)
	if rng.IntN(6) == 0 {
		g.encoding = encoding(rng.IntN(int(encodings)))
	}
	if number%2 == 0 {
		f.cards[number/2%len(f.cards)](rng, &g)
	}
	g.args = f.bounded(g, g.args)
	return g
}

// drawNamespace draws a namespace that has objects, or one that is almost called
// so. A run over one namespace may have no right to look into others.
func (f *fuzzer) drawNamespace(rng *rand.Rand) string {
	known := f.someNamespaces()
	if len(known) == 0 {
		return string(f.primary)
	}
	namespace := pick(rng, known)
	if rng.IntN(2) == 0 {
		namespace = string(f.primary)
	}
	if rng.IntN(8) > 0 {
		return namespace
	}
	if f.widest != "" {
		return f.nobody()
	}
	return almost(rng, namespace)
}

// drawName draws the name of an object, of that namespace or another, or one that
// nobody has.
func (f *fuzzer) drawName(rng *rand.Rand, namespace string) string {
	items := f.fleet.in(namespace)
	if len(items) == 0 || rng.IntN(6) == 0 {
		items = f.fleet.items
	}
	name := f.nobody()
	if len(items) > 0 {
		name = pick(rng, items).name
	}
	if !plainName(name) || rng.IntN(3) == 0 {
		return almost(rng, name)
	}
	return name
}

// almost returns a name that resembles another.
func almost(rng *rand.Rand, name string) string {
	for range nearNames {
		if near := pick(rng, nearNames)(name); plainName(near) {
			return near
		}
	}
	return "x"
}

// plainName reports whether a name can stand in a path and in a field selector
// without meaning something there.
func plainName(name string) bool {
	return name != "" && strings.Trim(name, ". ") != "" && !strings.ContainsAny(name, "/\\%=,!;\x00")
}

// drawArguments draws the query. Most requests have a selector or a limit, which
// tell most.
func (f *fuzzer) drawArguments(rng *rand.Rand, g generated) []argument {
	var args []argument
	add := func(p openapi.Parameter) { args = append(args, f.drawArgument(rng, g, p)...) }
	for _, p := range f.operation(g).Parameters() {
		if p.In != "query" {
			continue
		}
		odds := 8
		if p.Name == "limit" || p.Name == "labelSelector" {
			odds = 2
		} else if p.Name == "fieldSelector" {
			odds = 4
		}
		if rng.IntN(odds) > 0 {
			continue
		}
		add(p)
		if f.conventions() && rng.IntN(8) == 0 {
			add(p) // again: the first counts
		}
	}
	if f.conventions() && rng.IntN(10) == 0 {
		args = append(args, pick(rng, ignored))
	}
	rng.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
	return args
}

// ignored are parameters that no operation has. A real API server does not look
// at them.
var ignored = []argument{
	{name: "vmikit", text: "x"}, {name: "LIMIT", text: "1"}, {name: "labelselector", text: "a=b"},
	{name: "fieldSelectors", text: "metadata.name=x"}, {name: "limit[]", text: "1"}, {name: "namespace", text: "x"}, {name: "name", text: "x"},
}

// bounded sees to it that no answer is a burden: where there are more than a page
// of objects, a limit comes first.
func (f *fuzzer) bounded(g generated, args []argument) []argument {
	if g.read || len(f.fleet.in(g.namespace)) <= pageSize {
		return args
	}
	args = slices.DeleteFunc(args, func(a argument) bool {
		n, err := strconv.ParseInt(a.text, 10, 64)
		return a.name == "limit" && err == nil && (n < 1 || n > pageSize) || a.name == "resourceVersion"
	})
	if !slices.ContainsFunc(args, func(a argument) bool { return a.name == "limit" }) {
		args = append(args, argument{name: "limit", text: strconv.Itoa(pageSize)})
	}
	return args
}

// drawArgument draws a value for a parameter, nothing when there is none to ask
// with.
func (f *fuzzer) drawArgument(rng *rand.Rand, g generated, p openapi.Parameter) []argument {
	texts := opaques[p.Name].list
	if g.read {
		texts = opaques[p.Name].read
	}
	switch {
	case p.Name == "labelSelector":
		return []argument{f.labelSelector(rng, g.namespace)}
	case p.Name == "fieldSelector":
		return []argument{f.fieldSelector(rng, g.namespace)}
	case len(texts) > 0:
		return []argument{{name: p.Name, text: pick(rng, texts)}}
	case p.Type == "integer":
		return []argument{f.drawNumber(rng, p, len(f.fleet.in(g.namespace)))}
	}
	return nil
}

// spellings are odd ways to write a number. Which of them are right the document
// says.
var spellings = []func(n string) string{
	func(n string) string { return "0" + n },
	func(n string) string { return "000" + n },
	func(n string) string { return "+" + n },
	func(n string) string { return " " + n },
	func(n string) string { return n + " " },
	func(n string) string { return n + ".0" },
	func(n string) string { return n + ".5" },
	func(n string) string { return n + "e0" },
	func(n string) string { return "0x" + n },
	func(n string) string { return n + "_0" },
	func(n string) string { return n + "k" },
	func(n string) string { return strconv.Quote(n) },
	func(string) string { return "١٢" },
	func(string) string { return "" },
	func(string) string { return "abc" },
}

// drawNumber draws a number: around the bounds of the document, of 64 bits, and of
// how many objects there are.
func (f *fuzzer) drawNumber(rng *rand.Rand, p openapi.Parameter, objects int) argument {
	a := argument{name: p.Name, text: strconv.Itoa(1 + rng.IntN(objects+2))}
	if rng.IntN(2) == 0 {
		return a
	}
	if !f.conventions() || rng.IntN(2) == 0 {
		a.text = pick(rng, f.numbers(p.Values))
		return a
	}
	a.text = pick(rng, spellings)(a.text)
	return a
}

// around returns the numbers at the bounds and beside them.
func around(v openapi.Values) []string {
	var numbers []string
	for _, bound := range []*float64{v.Minimum, v.Maximum} {
		if bound == nil || math.Abs(*bound) > 1<<53 {
			continue
		}
		for _, n := range []int64{-1, 0, 1} {
			numbers = append(numbers, strconv.FormatInt(int64(*bound)+n, 10))
		}
	}
	return numbers
}

// fieldValues are what a field is asked for: what the document says that it may
// have, and what is just outside. What needs a backslash is left out.
func (f *fuzzer) fieldValues(v openapi.Values) []string {
	values := append(around(v), "")
	for _, member := range v.Enum {
		values = append(values, member, otherCase(member), cut(member))
	}
	if v.Type == "boolean" {
		values = append(values, "true", "false", "True", "1")
	}
	return slices.DeleteFunc(append(values, "x"), func(s string) bool { return strings.ContainsAny(s, `=,\`) })
}
