package manifest

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// trailingError is about text that follows a complete document, which kubectl
// does not look at. cause is how the engine fails at it, if it does.
type trailingError struct{ cause error }

func (*trailingError) Error() string {
	return "text after the end of the document; a line of --- must separate documents"
}

// lineOfError is how the engine begins an error that has a line.
var lineOfError = regexp.MustCompile(`^line ([0-9]+): `)

// locate turns an error of the engine or the printer into one that has a line
// of the file, where that is known, and no value of it.
func (s *yamlSource) locate(err error) error {
	if e, ok := errors.AsType[*printError](err); ok {
		return &Error{Line: s.lineOf(nil, e.tokens(), s.firstLine()), Err: e}
	}
	cause := err
	if e, ok := errors.AsType[*trailingError](err); ok {
		if e.cause == nil {
			return &Error{Err: e}
		}
		cause = e.cause
	}
	message := strings.TrimPrefix(cause.Error(), "yaml: ")
	line := 0
	if match := lineOfError.FindStringSubmatch(message); match != nil {
		message = message[len(match[0]):]
		n, _ := strconv.Atoi(match[1])
		line = s.fileLine(n)
		switch {
		case isParserMessage(message):
			line = s.fileLine(n + 1) // counted from 0
		case message == "could not find expected ':'":
			line = s.textBefore(line) // noticed at what follows the text
		}
		line = min(line, s.lastLine()) // the end of the text may count as a line
	} else if at := badByte(s.text); at >= 0 {
		line = s.line + bytes.Count(s.text[:at], newline)
	}
	if cause == err {
		err = errors.New(withoutValues(message))
	}
	return &Error{Line: line, Err: err}
}

// textBefore is the last line with content before a line of the file.
func (s *yamlSource) textBefore(line int) int {
	found, at := s.line, s.line
	for text := range bytes.Lines(s.text) {
		if at >= line {
			break
		}
		if !isBlank(text) {
			found = at
		}
		at++
	}
	return found
}

// isParserMessage tells the messages of the engine's parser from those of its
// scanner. They have lines counted from 0 and from 1.
func isParserMessage(message string) bool {
	for _, prefix := range []string{
		"did not find expected <", "did not find expected node content",
		"did not find expected '-' indicator", "did not find expected key",
		"did not find expected ','", "found undefined tag handle",
		"found duplicate %", "found incompatible",
	} {
		if strings.HasPrefix(message, prefix) {
			return true
		}
	}
	return false
}

// withoutValues rewrites the messages that quote the file. What looks like an
// anchor may be a password that begins with *.
func withoutValues(message string) string {
	switch {
	case strings.HasPrefix(message, "unknown anchor "):
		return "an alias names an anchor that the document does not define"
	case strings.HasPrefix(message, "anchor "):
		return "the value of an anchor contains itself"
	case strings.HasPrefix(message, "invalid map key"):
		return errKey.Error()
	}
	// cannot decode !!str `value` as a !!int
	before, rest, _ := strings.Cut(message, " `")
	if i := strings.LastIndexByte(rest, '`'); i >= 0 {
		message = before + rest[i+1:]
	}
	message, _, _ = strings.Cut(message, "\n")
	return message
}

// badByte is the place of the first byte that YAML does not allow, or -1. The
// engine refuses it without saying where.
func badByte(text []byte) int {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return -1 // UTF-16
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1,
			r < ' ' && r != '\t' && r != '\n' && r != '\r',
			r >= 0x7f && r < 0xa0 && r != 0x85,
			r == 0xfffe || r == 0xffff:
			return i
		}
		i += size
	}
	return -1
}
