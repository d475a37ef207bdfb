package parsers_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// What a plain scalar can be taken for by YAML 1.1 as Kubernetes reads it.
var plainScalars = []string{
	"", "~", "null", "Null", "NULL", "nUll", "y", "Y", "yes", "Yes", "YES", "yEs", "n", "N", "no", "No", "NO", "on", "On", "ON", "oN", "off",
	"Off", "OFF", "true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "0", "-0", "+0", "1", "-1", "+1", "00", "01", "007", "0777", "08", "0o7",
	"0o8", "-0o7", "0b1", "0b2", "-0b1", "+0b1", "0x1F", "0XFF", "-0x1", "0x", "1_000", "_1", "1_", "0x_1", "1__0", "0b_1", "1.0", "1.", ".5", "-.5",
	"+.5", "1e3", "1E3", "1e+3", "1e-3", "1.5e3", "1e", "1e400", "-1e400", "1e-400", "1_0.5", "1.5_0", "9007199254740993", "9223372036854775807",
	"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e18", "1e19", "1e21",
	"123456789012345678901234567890", "0xffffffffffffffff", "0x7fffffffffffffff", "0.1", "100000000000000000000.0", "1.7976931348623157e308",
	".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.INF", ".iNf", ".nan", ".NaN", ".NAN", "inf", "nan", "Infinity", "NaN", ".", "..", "-", "+", "--", "-.",
	"2001-01-01", "2001-01-01T10:00:00Z", "2001-1-1", "2001-01-01 10:00:00", "2001-01-01t10:00:00.5-05:00", "2001-12-14 21:59:43.10 -5", "2001-13-40",
	"12:30", "12:30:45", "1:2:3.4", "-1:30", "190:20:30", "<<", "=", "!", "*", "&", "a b", "a: b", "a #b", "a#b", "#", "- a", "? a", "a:", ":a", ": a",
	"@a", "`a", "%a", "|", ">", "[", "]", "{", "}", ",", "a,b", "[a", "a]", "Ü", "\u00a0", "é: ü", "\u2028", "\u0085", "\ufeff", "a\tb", "\ta", "a\\n",
	"\xff", "\x00", "\x07", "\x7f", "\u007f\u0080", "😀", "1s", "64Mi", "02:00:00:00:00:01", "02-00-00", "0x02:0x03", "1.2.3", "v1", "1e3Mi", "==", "0.0.0.0",
	"+1e3", "-1E-3", "+0x1", "- 1", "0 1", "1 000", "1,000", "٣", "１",
}

var quotedScalars = []string{
	`""`, `''`, `"a"`, `'a'`, `"yes"`, `'1'`, `"\n\t\x41\u00e9\U0001F600\0\a\b\e\f\v\r\N\_\L\P\/\"\\"`, `"\ud83d"`, `"\ud83d\ude00"`, `"\xff"`, `"\q"`,
	`"a\
  b"`, "\"a\n\n  b\"", "'a\n  b'", `'it''s'`, `"unterminated`, `'unterminated`, `"<<"`, `"a" b`, `'a': b`, `"\x"`, `"\u12"`, "\"\t\"", "\"\u2028\"",
	"\"<&>\u2029\"", `"\U00110000"`, `"\uFFFE"`,
}

var yamlTags = []string{
	"!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!timestamp ", "!!binary ", "!!map ", "!!seq ", "!!set ", "!!omap ", "!!merge ",
	"!local ", "! ", "!<tag:yaml.org,2002:str> ", "!<tag:yaml.org,2002:int> ", "!e!x ",
}

var yamlKeys = []string{
	"a", "b", "c", "apiVersion", "metadata", "name", "items", "kind", "1", "1.5", "0x10", "yes", "on", "~", "null", "2001-01-01", `"q"`, `'q'`,
	"? a\n", "? [a]\n", "? {a: b}\n", "[a]", "{a: b}", ".inf", ".nan", "1e40", "0777", "18446744073709551615", "&k k", "*x", "!!str 1", "!!int 1", "a b", "Ü",
	"1_000", "-1", "\"\\u0061\"", "!!binary YQ==", "\"<<\"", "!!float 3",
}

var yamlTokens = []string{
	" ", "\n", "\t", "\r", "\r\n", ":", ": ", "- ", "-", "? ", "#", " #", "&x ", "*x", "!", "!!str ", "|", ">", "|-\n", ">+\n", "|2\n", "'", "\"", "[", "]", "{",
	"}", ",", "\\", "%", "@", "`", "<<: ", "\u0085", "\u2028", "\u2029", "\ufeff", "\x00", "\xff", "%YAML 1.1\n", "%TAG ! tag:x,1:\n", "...", "---", "\n\n", "~", "  ",
}

// The words that can stand in a block mapping without breaking it, which random
// documents are mostly made of.
var (
	goodScalars = readable("v: %s\n", plainScalars)
	goodQuoted  = readable("v: %s\n", quotedScalars)
	goodKeys    = readable("%s: v\n", yamlKeys)
	goodTags    = readable("v: %sw\n", yamlTags)
)

func readable(form string, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		_, err := yaml.YAMLToJSON([]byte(strings.Replace(form, "%s", word, 1)))
		return err != nil
	})
}

// randomYAML is one document, now and then with a broken place.
func randomYAML(r *rand.Rand) string {
	g := &yamlWriter{r: r}
	var text string
	switch r.IntN(16) {
	case 0:
		text = tokenSoup(r, yamlTokens, yamlKeys, plainScalars)
	case 1:
		text = strings.TrimPrefix(g.value(0, 3), " ")
	case 2:
		text = pick(r, []string{"", "\n", " ", "# nothing\n", "\n# a\n\n", "\ufeff", "~", "null", "\t\n", " \n  # x"})
	case 3, 4, 5:
		text = g.list()
	default:
		text = g.object(0)
	}
	if oneIn(r, 3) {
		text = mutate(r, text, yamlTokens)
	}
	switch r.IntN(20) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		text = "\ufeff" + text
	case 2:
		text = strings.TrimRight(text, "\n")
	case 3:
		text = "\n# first\n\n" + text
	}
	return text
}

// yamlWriter writes blocks as people and tools do, with everything odd that YAML
// has mixed in.
type yamlWriter struct {
	r       *rand.Rand
	anchors int      // that have a name
	values  []string // aliases of what is written already
	merges  []string // those of mappings among them
}

func (g *yamlWriter) pad(indent int) string { return strings.Repeat(" ", indent) }

// object is a mapping with a kind.
func (g *yamlWriter) object(indent int) string {
	members := g.mapping(indent, 1+g.r.IntN(3))
	kind := g.pad(indent) + "kind: " + pick(g.r, []string{"Pod", "VirtualMachineInstance", "K", `"K"`}) + "\n"
	if oneIn(g.r, 2) {
		return kind + members
	}
	return members + kind
}

// list is a List, mostly in the form of kubectl get -o yaml.
func (g *yamlWriter) list() string {
	indent := pick(g.r, []int{0, 0, 2})
	var b strings.Builder
	head := "apiVersion: v1\nkind: " + pick(g.r, []string{"List", "PodList", "VirtualMachineInstanceList"}) + "\n"
	if oneIn(g.r, 2) {
		b.WriteString(head)
		head = ""
	}
	if oneIn(g.r, 3) {
		b.WriteString(g.mapping(0, 1))
	}
	b.WriteString("items:" + pick(g.r, []string{"", "", "", " ", " # all", " &items"}) + "\n")
	for range g.r.IntN(4) {
		var item string
		switch g.r.IntN(8) {
		case 0:
			item = g.pad(indent+2) + strings.TrimPrefix(g.value(indent, 1), " ")
		case 1:
			item = g.mapping(indent+2, 1)
		default:
			item = g.object(indent + 2)
		}
		if len(item) < indent+2 || strings.TrimLeft(item[:indent+2], " ") != "" {
			item = g.pad(indent+2) + "x\n"
		}
		b.WriteString(g.pad(indent) + "- " + item[indent+2:])
	}
	if oneIn(g.r, 3) {
		b.WriteString(pick(g.r, []string{"# end\n", "metadata: {}\n", "metadata:\n  resourceVersion: \"\"\n", "\n\n"}))
	}
	return b.String() + head
}

func (g *yamlWriter) mapping(indent, depth int) string {
	var b strings.Builder
	for range 1 + g.r.IntN(4) {
		key := pick(g.r, yamlKeys[:6])
		switch g.r.IntN(12) {
		case 0:
			key = usually(g.r, goodKeys, yamlKeys)
		case 1:
			if len(g.merges) > 0 {
				b.WriteString(g.pad(indent) + "<<: " + g.merged() + "\n")
				continue
			}
		case 2:
			b.WriteString(g.pad(indent) + "# comment\n")
		}
		b.WriteString(g.pad(indent) + key)
		if strings.HasSuffix(key, "\n") {
			b.WriteString(g.pad(indent))
		}
		b.WriteString(":" + g.value(indent, depth))
	}
	return b.String()
}

func (g *yamlWriter) merged() string {
	if oneIn(g.r, 3) {
		return "[" + g.alias(g.merges) + ", " + g.alias(g.merges) + "]"
	}
	return g.alias(g.merges)
}

// alias is one of those, or hardly ever one that leads nowhere good.
func (g *yamlWriter) alias(of []string) string {
	if oneIn(g.r, 60) {
		return pick(g.r, []string{"*nosuch", "*x0", "*"})
	}
	return pick(g.r, of)
}

// value is what stands behind the colon of a key at the indentation, or behind
// a dash.
func (g *yamlWriter) value(indent, depth int) string {
	kind := g.r.IntN(12)
	if depth == 0 {
		kind %= 6
	}
	if kind == 3 && len(g.values) > 0 {
		return " " + g.alias(g.values) + "\n"
	}
	anchor := ""
	if oneIn(g.r, 8) {
		anchor = fmt.Sprintf("x%d", g.anchors)
		g.anchors++
	}
	text := g.untagged(kind, indent, depth)
	if kind < 6 && oneIn(g.r, 10) {
		text = " " + strings.TrimSuffix(usually(g.r, goodTags, yamlTags), " ") + text
	}
	if anchor == "" {
		return text
	}
	g.values = append(g.values, "*"+anchor)
	if 6 <= kind && kind <= 8 {
		g.merges = append(g.merges, "*"+anchor)
	}
	return " &" + anchor + text
}

func (g *yamlWriter) untagged(kind, indent, depth int) string {
	inner := indent + pick(g.r, []int{1, 2, 2, 2, 4})
	switch kind {
	case 0:
		return " " + usually(g.r, goodQuoted, quotedScalars) + "\n"
	case 1:
		return " " + g.flow(2) + pick(g.r, []string{"\n", " # c\n"})
	case 2:
		return g.block(inner)
	case 6, 7, 8:
		return "\n" + g.mapping(inner, depth-1)
	case 9, 10:
		return "\n" + g.sequence(pick(g.r, []int{indent, inner}), depth-1)
	}
	return " " + usually(g.r, goodScalars, plainScalars) + pick(g.r, []string{"\n", "\n", " # c\n"})
}

func (g *yamlWriter) sequence(indent, depth int) string {
	var b strings.Builder
	for range 1 + g.r.IntN(3) {
		b.WriteString(g.pad(indent) + "-" + g.value(indent, depth))
	}
	return b.String()
}

// block is a literal or folded scalar.
func (g *yamlWriter) block(indent int) string {
	var b strings.Builder
	b.WriteString(" " + pick(g.r, []string{"|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "|-  # c"}) + "\n")
	for range g.r.IntN(4) {
		b.WriteString(g.pad(indent) + pick(g.r, []string{"text", "  more", "", "# no comment", "key: value", "- dash", "\ttab", "  ", "items:", "'\""}) + "\n")
	}
	return b.String()
}

// flow is a collection in brackets or a scalar inside of one.
func (g *yamlWriter) flow(depth int) string {
	if depth == 0 {
		return usually(g.r, goodScalars, plainScalars)
	}
	elements := make([]string, g.r.IntN(3))
	mapping := oneIn(g.r, 2)
	for i := range elements {
		elements[i] = g.flow(g.r.IntN(depth))
		if mapping {
			elements[i] = pick(g.r, yamlKeys[:16]) + pick(g.r, []string{": ", ":", " : "}) + elements[i]
		}
	}
	joined := strings.Join(elements, pick(g.r, []string{", ", ",", ",\n   "}))
	if mapping {
		return "{" + joined + "}"
	}
	return "[" + joined + "]"
}
