package client

import (
	"strings"
	"unicode"
)

// maxNames holds the longest namespace and name that Kubernetes allows, 63 and
// 253 bytes, and the slash between them.
const maxNames = 63 + 1 + 253

// oneLine makes text from outside fit for an error: control characters and line
// ends become single spaces, and more than limit bytes are cut as by shorten.
func oneLine(text string, limit int) string {
	// Cutting first keeps the work small; the rest is at most as long.
	text = shorten(text, limit)
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsGraphic(r)
	}), " ")
}

// shorten cuts text after at most limit bytes, between characters, and marks it.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}
