package contract

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Operators that Kubernetes' parser knows and its documentation of selectors in
// a URL does not: whether they are taken is open, what they mean is not.
const (
	opGreater operator = ">"
	opLess    operator = "<"
)

// term is one requirement of a generated selector.
type term struct {
	requirement
	layout layout
	// broken is what no grammar has, made of the key and the first value; nil for a
	// requirement.
	broken *breakage
}

// layout is how a requirement is written.
type layout int

const (
	usual layout = iota
	// 1 is tight: it leaves out all spaces that can be left out.
	_
	// wide has a space wherever there may be one.
	wide
	layouts
)

// String returns the term as a request has it.
func (t term) String() string {
	if t.broken != nil {
		return t.broken.text(t.key, t.values[0])
	}
	if t.layout == usual {
		return t.requirement.String()
	}
	tokens := t.tokens()
	if t.layout == wide {
		return " " + strings.Join(tokens, " ") + " "
	}
	text := strings.Join(tokens, "")
	if t.op == opIn || t.op == opNotIn {
		text = t.key + " " + strings.TrimPrefix(text, t.key)
	}
	return text
}

func (t term) tokens() []string {
	switch t.op {
	case opExists:
		return []string{t.key}
	case opNotExists:
		return []string{"!", t.key}
	case opIn, opNotIn:
		tokens := []string{t.key, string(t.op), "("}
		for i, v := range t.values {
			if i > 0 {
				tokens = append(tokens, ",")
			}
			tokens = append(tokens, v)
		}
		return append(tokens, ")")
	}
	return []string{t.key, string(t.op), t.values[0]}
}

// matches reports whether labels meet the term.
func (t term) matches(labels map[string]string) bool {
	if t.op != opGreater && t.op != opLess {
		return t.requirement.matches(labels)
	}
	value, has := labels[t.key]
	have, err := strconv.ParseInt(value, 10, 64)
	bound, err2 := strconv.ParseInt(t.values[0], 10, 64)
	if !has || err != nil || err2 != nil {
		return false
	}
	return t.op == opGreater && have > bound || t.op == opLess && have < bound
}

// feature names what kind of term it is.
func (t term) feature() string {
	if t.broken != nil {
		return t.broken.why
	}
	text := string(t.op)
	switch {
	case len(t.values) > 1:
		text += " several"
	case len(t.values) == 1 && t.values[0] == "":
		text += " nothing"
	}
	if t.layout != usual {
		text += " laid out"
	}
	return text
}

// breakage is what makes a selector wrong.
type breakage struct {
	why  string
	text func(key, value string) string
}

// of returns a wrong term with a key and a value in it.
func (b *breakage) of(key, value string) term {
	return term{requirement: requirement{key: key, values: []string{value}}, broken: b}
}

// breaks are what no grammar of label selectors has.
var breaks = []breakage{
	{"no key", func(_, v string) string { return "=" + v }},
	{"a set without parentheses", func(k, v string) string { return k + " in " + v }},
	{"a set that is not closed", func(k, v string) string { return k + " in (" + v }},
	{"a set that is not opened", func(k, v string) string { return k + " in " + v + ")" }},
	{"a set in a set", func(k, v string) string { return k + " in ((" + v + "))" }},
	{"no set behind notin", func(k, _ string) string { return k + " notin" }},
	{"values without a comma", func(k, v string) string { return k + " in (" + v + "x " + v + "y)" }},
	{"a requirement in parentheses", func(k, _ string) string { return "(" + k + ")" }},
	{"an equals sign too many", func(k, v string) string { return k + "===" + v + "x" }},
	{"two values", func(k, v string) string { return k + "=" + v + "x=" + v + "y" }},
	{"two words", func(k, v string) string { return k + " " + v + "x" }},
	{"an operator of another case", func(k, v string) string { return k + " IN (" + v + ")" }},
	{"two exclamation marks", func(k, _ string) string { return "!!" + k }},
	{"an exclamation mark and a value", func(k, v string) string { return "!" + k + "=" + v }},
	{"an exclamation mark and no key", func(string, string) string { return "!" }},
	{"nothing between commas", func(k, v string) string { return k + "=" + v + ",," + k }},
	{"a comma at the end", func(k, _ string) string { return k + "," }},
	{"a key that begins with a dash", func(k, v string) string { return "-" + k + "=" + v }},
	{"a key that is too long", func(_, v string) string { return strings.Repeat("k", 64) + "=" + v }},
	{"a key with two slashes", func(k, v string) string { return "a/b/" + k[strings.LastIndex(k, "/")+1:] + "=" + v }},
	{"a key with an asterisk", func(_, v string) string { return "*=" + v }},
	{"a value that begins with a dash", func(k, v string) string { return k + "=-" + v }},
	{"a value that is too long", func(k, _ string) string { return k + "=" + strings.Repeat("v", 64) }},
	{"a value with an asterisk", func(k, _ string) string { return k + "=*" }},
	{"a bound that is no number", func(k, _ string) string { return k + ">x" }},
	{"letters that are not ASCII", func(k, _ string) string { return k + "=ü" }},
}

// fieldBreaks are what no grammar of field selectors has.
var fieldBreaks = []breakage{
	{"no operator", func(k, _ string) string { return k }},
	{"an operator of labels", func(k, v string) string { return k + " in (" + v + ")" }},
	{"an exclamation mark", func(k, _ string) string { return "!" + k }},
}

// labelSelector draws a selector of labels.
func (f *fuzzer) labelSelector(rng *rand.Rand, namespace string) argument {
	a := argument{name: "labelSelector"}
	labels := f.fleet.labelsIn(namespace)
	for range length(rng) {
		a.terms = append(a.terms, f.labelTerm(rng, labels))
	}
	if f.conventions() && rng.IntN(6) == 0 {
		a.terms[rng.IntN(len(a.terms))] = breaks[rng.IntN(len(breaks))].of(f.label(rng, labels))
	}
	if f.conventions() && rng.IntN(40) == 0 {
		a.terms = nil // selects everything
	}
	return a
}

// length is how many requirements a selector has: mostly few.
func length(rng *rand.Rand) int { return []int{1, 1, 1, 1, 2, 2, 2, 3, 3, 4}[rng.IntN(10)] }

// operators are those that a label selector may have.
func (f *fuzzer) operators() []operator {
	all := []operator{opEquals, opDoubleEquals, opNotEquals, opIn, opNotIn, opExists, opNotExists}
	if f.conventions() {
		all = append(all, opGreater, opLess)
	}
	return all
}

func (f *fuzzer) labelTerm(rng *rand.Rand, labels []label) term {
	t := f.labelTermOf(rng, labels, pick(rng, f.operators()), 1+rng.IntN(4))
	if f.conventions() && rng.IntN(4) == 0 {
		t.layout = layout(rng.IntN(int(layouts)))
	}
	return t
}

// labelTermOf draws a term with an operator, and of a set with so many values.
func (f *fuzzer) labelTermOf(rng *rand.Rand, labels []label, op operator, values int) term {
	key, value := f.label(rng, labels)
	t := term{requirement: requirement{key: key, op: op}}
	switch op {
	case opExists, opNotExists:
	case opGreater, opLess:
		t.values = []string{strconv.Itoa(rng.IntN(20))}
	case opIn, opNotIn:
		for range values {
			t.values = append(t.values, value)
			_, value = f.label(rng, labels)
			if of := valuesOf(labels, key); len(of) > 0 && rng.IntN(2) == 0 {
				value = pick(rng, of)
			}
		}
	default:
		t.values = []string{value}
	}
	return t
}

// nearLabels make labels that resemble another, or that are as long as can be.
var nearLabels = []func(label) label{
	valueInOtherCase, valueCut, keyInOtherCase, keyCut,
	func(l label) label { l.value = ""; return l },
	func(l label) label { l.value = strings.Repeat("v", 62); return l },
	func(l label) label { l.value = strings.Repeat("v", 63); return l },
	func(l label) label { l.key = strings.Repeat("k", 63); return l },
	func(l label) label { l.key = unknownKey; return l },
}

// label draws a label that is there, or almost.
func (f *fuzzer) label(rng *rand.Rand, labels []label) (key, value string) {
	l := someLabel(rng, labels)
	if rng.IntN(3) == 0 {
		l = pick(rng, nearLabels)(l)
	}
	l = usable(l)
	return l.key, l.value
}

func someLabel(rng *rand.Rand, labels []label) label {
	if len(labels) == 0 {
		return label{key: unknownKey, value: "x"}
	}
	return pick(rng, labels)
}

// usable returns a label that a selector can be written with.
func usable(l label) label {
	if !isLabelKey(l.key) {
		l.key = unknownKey
	}
	if !isLabelValue(l.value) {
		l.value = "x"
	}
	return l
}

func valuesOf(labels []label, key string) []string {
	var values []string
	for _, l := range labels {
		if l.key == key {
			values = append(values, l.value)
		}
	}
	return values
}

// fieldSelector draws a selector of fields: the name and the namespace, and at
// times another field of the document, which a target may refuse.
func (f *fuzzer) fieldSelector(rng *rand.Rand, namespace string) argument {
	a := argument{name: "fieldSelector"}
	if !f.conventions() {
		// The document has no grammar; this much is what it is for.
		a.terms = []term{{requirement: requirement{nameField, opEquals, []string{f.drawName(rng, namespace)}}}}
		return a
	}
	for range length(rng) {
		field := pick(rng, []string{nameField, nameField, nameField, namespaceField, ""})
		a.terms = append(a.terms, f.fieldTerm(rng, namespace, field, pick(rng, fieldOperators)))
	}
	if rng.IntN(6) == 0 {
		a.terms[rng.IntN(len(a.terms))] = fieldBreaks[rng.IntN(len(fieldBreaks))].of(nameField, f.drawName(rng, namespace))
	}
	return a
}

var fieldOperators = []operator{opEquals, opDoubleEquals, opNotEquals}

// fieldTerm draws a term for a field, "" is any of the document. No value has a
// backslash: it would take the comma behind it for its own.
func (f *fuzzer) fieldTerm(rng *rand.Rand, namespace, field string, op operator) term {
	var value string
	switch field {
	case nameField:
		value = f.drawName(rng, namespace)
		if rng.IntN(8) == 0 {
			value += "=x"
		}
	case namespaceField:
		if value = f.drawNamespace(rng); !plainName(value) {
			value = "x"
		}
	default:
		drawn := pick(rng, f.fleet.fields)
		field, value = drawn.Path, pick(rng, f.fieldValues(drawn.Values))
	}
	return term{requirement: requirement{field, op, []string{value}}}
}

// Fields that every Kubernetes API selects by.
const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// matchesField reports whether a machine meets a term of a field selector. A
// field that is not there is empty.
func (t term) matchesField(it *item) bool {
	var value string
	switch t.key {
	case nameField:
		value = it.name
	case namespaceField:
		value = it.namespace
	default:
		value = fieldOf(it.raw, t.key)
	}
	return slices.Contains(t.values, value) == (t.op != opNotEquals)
}
