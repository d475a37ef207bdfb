package mutant

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Term is one requirement of a selector. Op is "" for a key that must be there,
// "!" for one that must not, or the operator as written; Values has one value
// for all but in and notin.
type Term struct {
	Key, Op string
	Values  []string
}

var (
	keyName    = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	keyPrefix  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
	// A symbol, or a word up to the next symbol or white space.
	lexeme = regexp.MustCompile(`==|!=|[=!(),<>]|[^=!(),<>\s]+`)
)

// ParseLabels reads a label selector as strictly as Kubernetes does
// (apimachinery, labels.Parse).
func ParseLabels(text string) ([]Term, error) {
	p := &parser{tokens: lexeme.FindAllString(text, -1)}
	if len(p.tokens) == 0 {
		return nil, nil
	}
	var terms []Term
	for {
		t, err := p.term()
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		terms = append(terms, t)
		switch next := p.next(); next {
		case "":
			return terms, nil
		case ",":
		default:
			return nil, fmt.Errorf("found '%s', expected: ',' or 'end of string'", next)
		}
	}
}

type parser struct{ tokens []string }

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	t := p.peek()
	p.tokens = p.tokens[min(1, len(p.tokens)):]
	return t
}

// atEnd says whether the term ends here.
func (p *parser) atEnd() bool { return p.peek() == "" || p.peek() == "," }

func symbol(token string) bool {
	return token == "" || strings.ContainsAny(token, "=!(),<>")
}

func (p *parser) term() (Term, error) {
	not := p.peek() == "!"
	if not {
		p.next()
	}
	t := Term{Key: p.next(), Values: []string{""}}
	if symbol(t.Key) {
		return Term{}, fmt.Errorf("found '%s', expected: identifier", t.Key)
	}
	if err := checkKey(t.Key); err != nil {
		return Term{}, err
	}
	switch {
	case not && p.atEnd():
		t.Op = "!"
		return t, nil
	case p.atEnd():
		return t, nil
	case not:
		return Term{}, fmt.Errorf("found '%s', expected: ',' or 'end of string'", p.peek())
	}
	switch t.Op = p.next(); t.Op {
	case "=", "==", "!=", "<", ">":
		if !p.atEnd() {
			t.Values[0] = p.next()
		}
	case "in", "notin":
		var err error
		if t.Values, err = p.set(); err != nil {
			return Term{}, err
		}
	default:
		return Term{}, fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", t.Op)
	}
	return t, t.check()
}

// set reads the values of in and notin; a value may be empty.
func (p *parser) set() ([]string, error) {
	if open := p.next(); open != "(" {
		return nil, fmt.Errorf("found '%s' expected: '('", open)
	}
	values := []string{""}
	for {
		switch token := p.next(); {
		case token == ")":
			return values, nil
		case token == ",":
			values = append(values, "")
		case symbol(token) || values[len(values)-1] != "":
			return nil, fmt.Errorf("found '%s', expected: ',' or ')'", token)
		default:
			values[len(values)-1] = token
		}
	}
}

func checkKey(key string) error {
	name := key
	if prefix, rest, has := strings.Cut(key, "/"); has {
		if name = rest; len(prefix) > 253 || !keyPrefix.MatchString(prefix) {
			return fmt.Errorf("invalid value: %q: prefix part must be a DNS subdomain", key)
		}
	}
	if !keyName.MatchString(name) {
		return fmt.Errorf("invalid value: %q: name part must be a qualified name", key)
	}
	return nil
}

func (t Term) check() error {
	for _, v := range t.Values {
		if !labelValue.MatchString(v) {
			return fmt.Errorf("values: Invalid value: %q: not a label value", v)
		}
		if t.Op == "<" || t.Op == ">" {
			if _, err := strconv.ParseInt(v, 10, 64); err != nil {
				return fmt.Errorf("values: Invalid value: %q: for 'Gt', 'Lt' operators, the value must be an integer", v)
			}
		}
	}
	return nil
}

// MatchLabel says whether labels meet the requirement. A key that is not there
// meets !=, notin and ! only.
func (t Term) MatchLabel(labels map[string]string) bool {
	value, has := labels[t.Key]
	in := has && slices.Contains(t.Values, value)
	switch t.Op {
	case "":
		return has
	case "!":
		return !has
	case "!=", "notin":
		return !in
	case "<", ">":
		a, err := strconv.ParseInt(value, 10, 64)
		b, _ := strconv.ParseInt(t.Values[0], 10, 64)
		return has && err == nil && (t.Op == "<" && a < b || t.Op == ">" && a > b)
	}
	return in
}

var fieldTerm = regexp.MustCompile(`^([^=!]*)(==|=|!=)(.*)$`)

// ParseFields reads a field selector. A custom resource without selectable
// fields, as KubeVirt's is, has metadata.name and metadata.namespace only.
func ParseFields(text string) ([]Term, error) {
	var terms []Term
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		m := fieldTerm.FindStringSubmatch(part)
		if m == nil {
			return nil, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", text, part)
		}
		if m[1] == "" && m[3] == "" {
			continue
		}
		if m[1] != "metadata.name" && m[1] != "metadata.namespace" {
			return nil, fmt.Errorf("field label not supported: %s", m[1])
		}
		terms = append(terms, Term{m[1], m[2], []string{m[3]}})
	}
	return terms, nil
}

// MatchField says whether an object meets the requirement of a field selector.
func (t Term) MatchField(o Object) bool {
	value := map[string]string{"metadata.name": o.Name, "metadata.namespace": o.Namespace}[t.Key]
	return (value == t.Values[0]) == (t.Op != "!=")
}
