package contract

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// card is one thing that is asked for certain, whatever else is by chance.
type card func(rng *rand.Rand, g *generated)

// deck returns the cards in the order in which they are dealt: every bound of the
// document and every odd spelling, every wrong selector, name and encoding.
func (f *fuzzer) deck() []card {
	cards := slices.Concat(f.nameCards(), f.numberCards(), f.labelCards(), f.encodingCards())
	if f.conventions() {
		cards = slices.Concat(cards, f.fieldCards(), f.brokenCards(), f.opaqueCards())
	}
	rng := f.rand("fuzz deck")
	rng.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}

// list makes a request one for a list with an argument in front and one other at
// most: more of them hide each other's faults.
func (g *generated) list(a argument) {
	g.read, g.name = false, ""
	g.args = slices.DeleteFunc(g.args, func(have argument) bool { return have.name == a.name })
	g.args = slices.Insert(g.args[:min(1, len(g.args))], 0, a)
}

func (f *fuzzer) nameCards() []card {
	var cards []card
	for _, almost := range nearNames {
		cards = append(cards, func(rng *rand.Rand, g *generated) {
			namespace := string(f.primary)
			name := f.nobody()
			if items := f.fleet.in(namespace); len(items) > 0 {
				name = pick(rng, items).name
			}
			if name = almost(name); plainName(name) {
				*g = generated{read: true, namespace: namespace, name: name}
			}
		})
	}
	return cards
}

// numberCards are for the parameters that the document has a bound for.
func (f *fuzzer) numberCards() []card {
	var cards []card
	for _, p := range f.judge.doc.Operation(opList).Parameters() {
		if p.Type != "integer" || p.In != "query" || p.Minimum == nil && p.Maximum == nil {
			continue
		}
		for _, text := range f.numbers(p.Values) {
			cards = append(cards, func(_ *rand.Rand, g *generated) { g.list(argument{name: p.Name, text: text}) })
		}
		if !f.conventions() {
			continue
		}
		for _, spelled := range spellings {
			cards = append(cards, func(rng *rand.Rand, g *generated) {
				g.list(argument{name: p.Name, text: spelled(strconv.Itoa(1 + rng.IntN(9)))})
			})
		}
	}
	return cards
}

// labelCards are every operator with one value and with several, in every layout,
// and labels that are almost there.
func (f *fuzzer) labelCards() []card {
	var cards []card
	for _, op := range f.operators() {
		for values := 1; values <= 3; values++ {
			if values > 1 && op != opIn && op != opNotIn {
				break
			}
			for layout := range layouts {
				if layout != usual && !f.conventions() {
					break
				}
				cards = append(cards, func(rng *rand.Rand, g *generated) {
					t := f.labelTermOf(rng, f.fleet.labelsIn(g.namespace), op, values)
					t.layout = layout
					g.list(argument{name: "labelSelector", terms: []term{t}})
				})
			}
		}
	}
	for _, near := range nearLabels {
		for _, op := range []operator{opEquals, opNotEquals} {
			cards = append(cards, func(rng *rand.Rand, g *generated) {
				l := usable(near(someLabel(rng, f.fleet.labelsIn(g.namespace))))
				g.list(argument{name: "labelSelector", terms: []term{{requirement: requirement{l.key, op, []string{l.value}}}}})
			})
		}
	}
	return cards
}

// fieldCards are the fields that every target selects by, and as often others.
func (f *fuzzer) fieldCards() []card {
	var cards []card
	for _, op := range fieldOperators {
		for _, field := range []string{nameField, namespaceField, "", ""} {
			cards = append(cards, func(rng *rand.Rand, g *generated) {
				g.list(argument{name: "fieldSelector", terms: []term{f.fieldTerm(rng, g.namespace, field, op)}})
			})
		}
	}
	return cards
}

// brokenCards are selectors that break the grammar, alone or behind a right part.
func (f *fuzzer) brokenCards() []card {
	var cards []card
	for i := range breaks {
		cards = append(cards, func(rng *rand.Rand, g *generated) {
			labels := f.fleet.labelsIn(g.namespace)
			a := argument{name: "labelSelector", terms: []term{breaks[i].of(f.label(rng, labels))}}
			if rng.IntN(2) == 0 {
				a.terms = slices.Insert(a.terms, 0, f.labelTerm(rng, labels))
			}
			g.list(a)
		})
	}
	for i := range fieldBreaks {
		cards = append(cards, func(rng *rand.Rand, g *generated) {
			t := fieldBreaks[i].of(nameField, f.drawName(rng, g.namespace))
			g.list(argument{name: "fieldSelector", terms: []term{t}})
		})
	}
	return cards
}

func (f *fuzzer) opaqueCards() []card {
	var cards []card
	for _, p := range f.judge.doc.Operation(opList).Parameters() {
		for _, text := range opaques[p.Name].list {
			cards = append(cards, func(_ *rand.Rand, g *generated) { g.list(argument{name: p.Name, text: text}) })
		}
	}
	return cards
}

// encodingCards have in them what there are several ways to encode.
func (f *fuzzer) encodingCards() []card {
	var cards []card
	for e := range encodings {
		for _, op := range []operator{opEquals, opIn} {
			cards = append(cards, func(rng *rand.Rand, g *generated) {
				t := f.labelTermOf(rng, f.fleet.labelsIn(g.namespace), op, 2)
				g.list(argument{name: "labelSelector", terms: []term{t}})
				g.encoding = e
			})
		}
	}
	return cards
}

// nearNames make names that resemble another, or that a path or selector may have
// trouble with. Those that mean something in a path are for the checks of edges.
var nearNames = []func(name string) string{
	otherCase,
	cut,
	func(name string) string { return name + "x" },
	func(name string) string { return name + "-1" },
	func(name string) string { return "x" + name },
	func(name string) string { return name + "." },
	func(name string) string { return name + " " },
	func(name string) string { return " " + name },
	func(name string) string { return "$" + name },
	func(string) string { return strings.Repeat("a", 63) },
	func(string) string { return strings.Repeat("a", 64) },
	func(string) string { return strings.Repeat("a.", 126) + "a" },
	func(string) string { return strings.Repeat("a", 300) },
	func(string) string { return "x" },
	func(string) string { return "0" },
	func(string) string { return "ü" },
	func(string) string { return "*" },
	func(string) string { return "null" },
}

// numbers are those around the bounds of the document and of 64 bits, and some
// more.
func (f *fuzzer) numbers(v openapi.Values) []string {
	numbers := around(v)
	if !f.conventions() {
		// The document has no bound but its own, and does not say how numbers are
		// spelled.
		return append(numbers, "abc", "1.5")
	}
	return append(numbers, "-1", "8", "9", "10", "4294967297",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551617", strings.Repeat("9", 40))
}
