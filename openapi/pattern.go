package openapi

import (
	"regexp/syntax"
	"strings"
)

// alternatives returns the alternatives of a pattern that is anchored at both
// ends: of ^(a|b)$ they are a and b, of ^a$ it is a. ok is false for any other
// pattern.
func alternatives(pattern string) (list []string, ok bool) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, false
	}
	inside, begins := strings.CutPrefix(pattern, "^")
	inside, ends := strings.CutSuffix(inside, "$")
	if !begins || !ends || strings.HasSuffix(inside, `\`) {
		return nil, false
	}
	top := splitTop(inside)
	if len(top) > 1 {
		return nil, false // ^a|b$ is anchored at one end each
	}
	if group, ok := strings.CutPrefix(inside, "("); ok && !strings.HasPrefix(group, "?") {
		if group, ok := strings.CutSuffix(group, ")"); ok && balanced(group) {
			return splitTop(group), true
		}
	}
	return top, true
}

// balanced reports whether every parenthesis in the pattern has its partner in
// it, so that those cut off around it were partners, too.
func balanced(pattern string) bool {
	depth := 0
	for token := range tokens(pattern) {
		switch token {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// splitTop splits a pattern at the bars that stand in no group.
func splitTop(pattern string) []string {
	var list []string
	var b strings.Builder
	depth := 0
	for token := range tokens(pattern) {
		switch token {
		case "(":
			depth++
		case ")":
			depth--
		case "|":
			if depth == 0 {
				list = append(list, b.String())
				b.Reset()
				continue
			}
		}
		b.WriteString(token)
	}
	return append(list, b.String())
}

// tokens cuts a pattern into what cannot be cut further when looking for groups:
// an escape, a class, or one byte.
func tokens(pattern string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for pattern != "" {
			n := 1
			switch pattern[0] {
			case '\\':
				n = min(2, len(pattern))
			case '[':
				n = classLen(pattern)
			}
			if !yield(pattern[:n]) {
				return
			}
			pattern = pattern[n:]
		}
	}
}

// classLen returns the length of the class that a pattern begins with.
func classLen(pattern string) int {
	i := 1
	if strings.HasPrefix(pattern[i:], "^") {
		i++
	}
	if strings.HasPrefix(pattern[i:], "]") {
		i++ // a bracket in first place stands for itself
	}
	for i < len(pattern) && pattern[i] != ']' {
		if pattern[i] == '\\' {
			i++
		}
		i++
	}
	return min(i+1, len(pattern))
}
