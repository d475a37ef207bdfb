package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseSelector reads a label selector as a Kubernetes API server does:
// the same are accepted, they mean the same, and a refused one gets the same
// message (of many bad values the first few are named). The grammar is that
// of labels.Parse in k8s.io/apimachinery:
//
//	selector    = [ requirement { "," requirement } ]
//	requirement = key | "!" key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
//	            | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
//
// A key is a qualified name, [prefix/]name with a DNS subdomain of up to 253
// characters as prefix; name and value have up to 63 characters. A value that
// is left out is the empty one, so "app=" and "app in ()" match objects whose
// label app is empty. The time taken grows with the length of s as sorting
// does.
func ParseSelector(s string) (Selector, error) {
	p := selectorParser{lex: lexer{rest: s}}
	p.advance()
	requirements, err := p.selector()
	if err != nil {
		return Selector{}, err
	}
	slices.SortFunc(requirements, func(a, b Requirement) int { return strings.Compare(a.Key, b.Key) })
	return Selector{requirements: requirements}, nil
}

type selectorParser struct {
	lex lexer
	tok token // the one to be looked at next
}

// advance moves to the next token and returns the one it leaves behind.
func (p *selectorParser) advance() token {
	t := p.tok
	p.tok = p.lex.next()
	return t
}

func (p *selectorParser) selector() ([]Requirement, error) {
	if p.tok.kind == endToken {
		return nil, nil
	}
	if !p.atRequirement() {
		return nil, fmt.Errorf("found '%s', expected: !, identifier, or 'end of string'", p.tok.text)
	}
	var requirements []Requirement
	for {
		r, err := p.requirement()
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		requirements = append(requirements, r)
		switch t := p.advance(); {
		case t.kind == endToken:
			return requirements, nil
		case !t.isSymbol(","):
			return nil, fmt.Errorf("found '%s', expected: ',' or 'end of string'", t.text)
		case !p.atRequirement():
			return nil, fmt.Errorf("found '%s', expected: identifier after ','", p.tok.text)
		}
	}
}

func (p *selectorParser) atRequirement() bool {
	return p.tok.asValue().kind == identifierToken || p.tok.isSymbol("!")
}

func (p *selectorParser) requirement() (Requirement, error) {
	negated := p.tok.isSymbol("!")
	if negated {
		p.advance()
	}
	key := p.advance().asValue()
	if key.kind != identifierToken {
		return Requirement{}, fmt.Errorf("found '%s', expected: identifier", key.text)
	}
	if err := checkLabelKey(key.text); err != nil {
		return Requirement{}, err
	}
	if negated {
		return Requirement{Key: key.text, Operator: DoesNotExist}, nil
	}
	if p.tok.kind == endToken || p.tok.isSymbol(",") {
		return Requirement{Key: key.text, Operator: Exists}, nil
	}
	r := Requirement{Key: key.text}
	var err error
	if r.Operator, err = p.operator(); err != nil {
		return Requirement{}, err
	}
	if r.Operator == In || r.Operator == NotIn {
		r.Values, err = p.values()
	} else {
		r.Values, err = p.value()
	}
	if err != nil {
		return Requirement{}, err
	}
	return r, r.check()
}

func (p *selectorParser) operator() (Operator, error) {
	t := p.advance()
	switch {
	case t.kind == inToken:
		return In, nil
	case t.kind == notInToken:
		return NotIn, nil
	case t.isSymbol("="), t.isSymbol("=="), t.isSymbol("!="):
		return Operator(t.text), nil
	case t.isSymbol(">"):
		return GreaterThan, nil
	case t.isSymbol("<"):
		return LessThan, nil
	}
	return "", fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", t.text)
}

func (p *selectorParser) value() ([]string, error) {
	if p.tok.kind == endToken || p.tok.isSymbol(",") {
		return []string{""}, nil
	}
	t := p.advance().asValue()
	if t.kind != identifierToken {
		return nil, fmt.Errorf("found '%s', expected: identifier", t.text)
	}
	return []string{t.text}, nil
}

// values reads a list in parentheses and returns it as a sorted set.
func (p *selectorParser) values() ([]string, error) {
	if t := p.advance(); !t.isSymbol("(") {
		return nil, fmt.Errorf("found '%s' expected: '('", t.text)
	}
	if t := p.tok.asValue(); t.kind != identifierToken && !t.isSymbol(",") && !t.isSymbol(")") {
		return nil, fmt.Errorf("found '%s', expected: ',', ')' or identifier", t.text)
	}
	var values []string
	for {
		value := "" // when the next token ends a value that is not there
		if p.tok.asValue().kind == identifierToken {
			value = p.advance().text
			if !p.tok.isSymbol(",") && !p.tok.isSymbol(")") {
				return nil, fmt.Errorf("found '%s', expected: ',' or ')'", p.tok.text)
			}
		}
		values = append(values, value)
		switch t := p.advance(); {
		case t.isSymbol(")"):
			slices.Sort(values)
			return slices.Compact(values), nil
		case !t.isSymbol(","):
			return nil, fmt.Errorf("found '%s', expected: ',', or identifier", t.text)
		}
	}
}

// check judges the values and prepares a number for comparing.
func (r *Requirement) check() error {
	var errs fieldErrors
	if r.Operator == GreaterThan || r.Operator == LessThan {
		n, err := strconv.ParseInt(r.Values[0], 10, 64)
		if err != nil {
			errs.add("values[0]", r.Values[0], "for 'Gt', 'Lt' operators, the value must be an integer")
		}
		r.number = n
	}
	for i, v := range r.Values {
		if errs.full() {
			break
		}
		if problem := LabelValueProblem(v); problem != "" {
			errs.add(fmt.Sprintf("values[%d][%s]", i, r.Key), v, problem)
		}
	}
	return errs.err()
}
