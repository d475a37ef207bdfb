package openapi

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// showValue returns raw JSON as it may stand in an issue: short, in one line,
// without the insides of objects and arrays, and nothing that looks secret.
func showValue(path []step, raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || secretPath(path) {
		return ""
	}
	switch raw[0] {
	case '{':
		if len(bytes.TrimSpace(raw[1:max(1, len(raw)-1)])) == 0 {
			return "{}"
		}
		return "{…}"
	case '[':
		if len(bytes.TrimSpace(raw[1:max(1, len(raw)-1)])) == 0 {
			return "[]"
		}
		return "[…]"
	case '"':
		// The head is enough: what is cut off is not shown. Where it is cut there
		// is an error, behind all that could be read.
		head, _ := jsontext.AppendUnquote(nil, raw[:min(len(raw), 4*maxValue)])
		if secretText(string(head)) {
			return ""
		}
	}
	return shorten(raw)
}

// quoteText returns text as a JSON string that may stand in an issue.
func quoteText(name, text string) string {
	text = text[:min(len(text), 4*maxValue)]
	if secretKey(name) || secretText(text) {
		return ""
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		quoted = bytes.ToValidUTF8(quoted, []byte("\uFFFD"))
	}
	return shorten(quoted)
}

// shorten cuts JSON of one scalar to maxValue characters, the last one of which
// then is "…".
func shorten(raw []byte) string {
	head := raw[:min(len(raw), 4*maxValue)]
	runes := []rune(string(bytes.ToValidUTF8(head, []byte("\uFFFD"))))
	if len(runes) <= maxValue && len(head) == len(raw) {
		return string(runes)
	}
	return string(runes[:min(len(runes), maxValue-1)]) + "…"
}
