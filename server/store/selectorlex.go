package store

type tokenKind int

const (
	endToken tokenKind = iota
	identifierToken
	inToken
	notInToken
	symbolToken // one of ( ) , ! = == != < >; the text says which
)

type token struct {
	kind tokenKind
	text string
}

// isSymbol reports whether the token is this symbol.
func (t token) isSymbol(text string) bool {
	return t.kind == symbolToken && t.text == text
}

// asValue is the token in a place where "in" and "notin" are no operators but
// keys or values like others.
func (t token) asValue() token {
	if t.kind == inToken || t.kind == notInToken {
		t.kind = identifierToken
	}
	return t
}

// lexer cuts a label selector into tokens. A NUL is what the parser of
// Kubernetes makes of it: the end of the selector where a token could begin,
// and otherwise the end of the token, swallowed with it.
type lexer struct {
	rest string
}

func (l *lexer) next() token {
	for l.rest != "" && isSpace(l.rest[0]) {
		l.rest = l.rest[1:]
	}
	if l.rest == "" || l.rest[0] == 0 {
		l.rest = ""
		return token{kind: endToken}
	}
	if isSymbolByte(l.rest[0]) {
		return token{kind: symbolToken, text: l.take(symbolLength(l.rest))}
	}
	end := 1
	for end < len(l.rest) && l.rest[end] != 0 && !isSpace(l.rest[end]) && !isSymbolByte(l.rest[end]) {
		end++
	}
	switch text := l.take(end); text {
	case "in":
		return token{kind: inToken, text: text}
	case "notin":
		return token{kind: notInToken, text: text}
	default:
		return token{kind: identifierToken, text: text}
	}
}

// take cuts off a token and the NUL that ends it, if one does.
func (l *lexer) take(n int) string {
	text := l.rest[:n]
	l.rest = l.rest[n:]
	if l.rest != "" && l.rest[0] == 0 {
		l.rest = l.rest[1:]
	}
	return text
}

func symbolLength(s string) int {
	if len(s) > 1 && s[1] == '=' && (s[0] == '=' || s[0] == '!') {
		return 2
	}
	return 1
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

func isSymbolByte(c byte) bool {
	switch c {
	case '(', ')', ',', '!', '=', '<', '>':
		return true
	}
	return false
}
