package openapi

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Redacted stands in place of what [Redact] keeps back.
const Redacted = "[redacted]"

// Redact returns a body as a report may show it: as it is, but for the values that
// look secret, which are the string [Redacted]: what stands under keys of
// cloud-init data, passwords, tokens and keys, and texts that look like them
// wherever they stand. JSON that breaks off or breaks a rule of JSON is shown up to
// there and ends in "…". What is no JSON is text, of which the lines that look
// secret are replaced, and everything from the first place on that speaks of
// cloud-init data.
func Redact(body []byte) string {
	var out strings.Builder
	for {
		start := bytes.TrimLeft(body, "\ufeff \t\r\n")
		if len(start) == 0 || start[0] != '{' && start[0] != '[' {
			redactText(&out, string(body))
			return out.String()
		}
		out.Write(body[:len(body)-len(start)])
		n, ok := redactValue(&out, start)
		if !ok {
			out.WriteString("…")
			return out.String()
		}
		body = start[n:]
	}
}

// redactValue writes one object or array and returns how long it is. ok is false
// when it has no end.
func redactValue(out *strings.Builder, body []byte) (n int, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	written := 0
	replace := func(from int, with string) {
		out.Write(body[written:from])
		out.WriteString(with)
		written = int(dec.InputOffset())
	}
	for {
		kind, count := dec.StackIndex(dec.StackDepth())
		name := kind == '{' && count%2 == 0
		var err error
		if dec.PeekKind() != '"' {
			_, err = dec.ReadToken()
		} else {
			var raw jsontext.Value
			raw, err = dec.ReadValue()
			begin, end := int(dec.InputOffset())-len(raw), int(dec.InputOffset())
			text, _ := jsontext.AppendUnquote(nil, raw)
			switch {
			case err != nil:
			case name && secretKey(string(text)):
				err = dec.SkipValue()
				replace(end, `:"`+Redacted+`"`)
			case !name && secretText(string(text)):
				replace(begin, `"`+Redacted+`"`)
			}
		}
		n = int(dec.InputOffset())
		if err != nil {
			out.Write(body[written:max(written, n)])
			return 0, false
		}
		if dec.StackDepth() == 0 {
			out.Write(body[written:n])
			return n, true
		}
	}
}

// redactText is Redact for what is no JSON.
func redactText(out *strings.Builder, text string) {
	lower := strings.ToLower(text)
	for _, word := range []string{"userdata", "networkdata", "cloudinit", "ignition", "-----begin"} {
		if i := strings.Index(lower, word); i >= 0 && i <= len(text) {
			lower, text = lower[:i], text[:i]+Redacted
		}
	}
	for line := range strings.Lines(text) {
		if secretText(line) {
			line = Redacted + "\n"
		}
		out.WriteString(line)
	}
}
