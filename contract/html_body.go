package contract

import (
	"strings"
)

const (
	// maxPageBody bounds, in bytes, what a page shows of one body.
	maxPageBody = 4 << 10
	// maxIndent is the depth from which on JSON is not indented any deeper.
	maxIndent = 16
)

// indented lays out JSON, right or wrong, on lines of its own, in at most so many
// bytes; what is no JSON stays as it is. whole is false when there is more. Nothing
// but white space between tokens is changed.
func indented(body string, limit int) (text string, whole bool) {
	if start := strings.TrimLeft(body, " \t\r\n"); start != "" && (start[0] == '{' || start[0] == '[') {
		body = layOut(start, limit)
	}
	if len(body) <= limit {
		return body, true
	}
	return strings.ToValidUTF8(body[:limit], ""), false
}

// layOut indents the beginning of JSON: as much as is more than limit bytes, or all.
func layOut(body string, limit int) string {
	var b strings.Builder
	depth := 0
	newLine := func() { b.WriteString("\n" + strings.Repeat("  ", max(0, min(depth, maxIndent)))) }
	var last byte // the last token's last character
	inString, escaped := false, false
	for i := 0; i < len(body) && b.Len() <= limit; i++ {
		c := body[i]
		if inString {
			b.WriteByte(c)
			inString, escaped = escaped || c != '"', c == '\\' && !escaped
			continue
		}
		opened := last == '{' || last == '['
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '}', ']':
			depth--
			if !opened {
				newLine()
			}
		default:
			if opened || last == ',' {
				newLine()
			}
		}
		b.WriteByte(c)
		switch c {
		case '{', '[':
			depth++
		case ':':
			b.WriteByte(' ')
		case '"':
			inString = true
		}
		last = c
	}
	return b.String()
}
