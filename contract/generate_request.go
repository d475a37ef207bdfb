package contract

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// generated is one generated request, as something that can be made smaller.
type generated struct {
	// read asks for one object, else for a list: of all namespaces when namespace
	// is empty.
	read            bool
	namespace, name string
	args            []argument
	encoding        encoding
}

// argument is one parameter of a query.
type argument struct {
	name string
	// text is the value, of what is no selector.
	text string
	// terms are those of a selector.
	terms []term
}

func (a argument) isSelector() bool { return a.name == "labelSelector" || a.name == "fieldSelector" }

// value is what stands behind the name, decoded.
func (a argument) value() string {
	if !a.isSelector() {
		return a.text
	}
	texts := make([]string, len(a.terms))
	for i, p := range a.terms {
		texts[i] = p.String()
	}
	return strings.Join(texts, ",")
}

// values returns the query, decoded.
func (g generated) values() url.Values {
	values := make(url.Values)
	for _, a := range g.args {
		values.Add(a.name, a.value())
	}
	return values
}

// first returns the argument of a name that counts: as in a cluster, the first.
func (g generated) first(name string) (argument, bool) {
	i := slices.IndexFunc(g.args, func(a argument) bool { return a.name == name })
	if i < 0 {
		return argument{}, false
	}
	return g.args[i], true
}

// encoding is a way to percent-encode a request. They all mean the same (RFC
// 3986, section 6.2.2).
type encoding int

const (
	// encodedUsual is what forms and most clients do.
	encodedUsual encoding = iota
	// encodedSpaces writes a space as %20, not as a plus sign.
	encodedSpaces
	// encodedWhole encodes every byte, those that need not be included.
	encodedWhole
	// encodedLower has hexadecimal digits in lower case.
	encodedLower
	// encodedLittle leaves what a query may have as it is.
	encodedLittle
	encodings
)

// query returns the query, encoded.
func (g generated) query() string {
	pairs := make([]string, len(g.args))
	for i, a := range g.args {
		pairs[i] = g.encoding.text(a.name) + "=" + g.encoding.text(a.value())
	}
	return strings.Join(pairs, "&")
}

// wholePath returns the path with the names encoded whole.
func (g generated) wholePath() string {
	path := strings.TrimSuffix(machines("x"), "x/virtualmachineinstances")
	if g.namespace == "" {
		return machines("")
	}
	path += encodedWhole.text(g.namespace) + "/virtualmachineinstances"
	if g.read {
		path += "/" + encodedWhole.text(g.name)
	}
	return path
}

func (e encoding) text(s string) string {
	switch e {
	case encodedSpaces:
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	case encodedWhole:
		return encodeEach(s, func(byte) bool { return true }, "%%%02X")
	case encodedLower:
		return encodeEach(s, func(c byte) bool { return !unreserved(c) }, "%%%02x")
	case encodedLittle:
		return encodeEach(s, func(c byte) bool { return !unreserved(c) && !strings.ContainsRune("!(),:@/?=", rune(c)) }, "%%%02X")
	}
	return url.QueryEscape(s)
}

func unreserved(c byte) bool {
	return isLower(c) || 'A' <= c && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}

func encodeEach(s string, encode func(byte) bool, format string) string {
	var b strings.Builder
	for i := range len(s) {
		if encode(s[i]) {
			fmt.Fprintf(&b, format, s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// spelling says how a text is an integer.
func spelling(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "beyond 64 bits"
	case err != nil:
		return "no integer"
	case strconv.FormatInt(n, 10) != text:
		return "oddly spelled"
	case n < 1:
		return "below 1"
	}
	return "plain"
}

// features are what a request has in it, by which one failure is told to be the
// same as another.
func (g generated) features() []string {
	features := make(map[string]bool)
	if g.read {
		features["read"] = true
	}
	if g.encoding != encodedUsual {
		features[fmt.Sprint("encoding ", g.encoding)] = true
	}
	seen := make(map[string]int)
	for _, a := range g.args {
		seen[a.name]++
		features[fmt.Sprint(a.name, " ", seen[a.name])] = true
		if !a.isSelector() {
			features[a.name+" "+spelling(a.text)] = true
		}
		for i, p := range a.terms {
			features[fmt.Sprint(a.name, " of ", i+1)] = true
			features[a.name+" "+p.feature()] = true
		}
	}
	return slices.Sorted(maps.Keys(features))
}
