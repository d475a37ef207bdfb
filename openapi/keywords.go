package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// formats are those that kin-openapi leaves to its callers, or checks less
// strictly than the readers of this API.
var formats = openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
	"date-time": openapi3.NewCallbackValidator(checkDateTime),
	"uuid":      openapi3.NewCallbackValidator(checkUUID),
})

var (
	visitOptions = []openapi3.SchemaValidationOption{formats, openapi3.MultiErrors()}
	fitsOptions  = []openapi3.SchemaValidationOption{formats, openapi3.FailFast()}
)

// checkDateTime takes what both RFC 3339 and Go's time package take, since
// Kubernetes and most of its clients read times with the latter: real days,
// seconds up to 59, an upper-case T and Z. Go alone is too generous (see
// https://go.dev/issue/54580), so what it lets pass is looked at first.
func checkDateTime(text string) error {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(text) < shortest || text[13] != ':' || text[shortest-1] == ',' {
		return errNoDateTime
	}
	if text[len(text)-1] != 'Z' {
		zone := text[len(text)-len("+07:00"):]
		if zone[1:3] > "23" || zone[4:6] > "59" {
			return errNoDateTime
		}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return errNoDateTime
	}
	return nil
}

var (
	errNoDateTime = errors.New("no date and time")
	errNoUUID     = errors.New("no uuid")
)

// checkUUID takes the textual form of RFC 9562, section 4, in either case and of
// any version.
func checkUUID(text string) error {
	if len(text) != 36 {
		return errNoUUID
	}
	for i := range len(text) {
		c := text[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if dash && c != '-' || !dash && !hex {
			return errNoUUID
		}
	}
	return nil
}

// broken is one keyword that a value breaks.
type broken struct {
	path    []step
	keyword string
	schema  *openapi3.Schema // of a keyword that kin-openapi enforces
	value   any
	text    string // what is said of the others
}

// visit asks kin-openapi which keywords of the schema a value breaks.
func visit(schema *openapi3.Schema, value any) []broken {
	err := schema.VisitJSON(value, visitOptions...)
	if err == nil {
		return nil
	}
	return appendBroken(nil, err)
}

// fits reports whether a value keeps the keywords of a schema.
func fits(schema *openapi3.Schema, value any) bool {
	return schema.VisitJSON(value, fitsOptions...) == nil
}

func appendBroken(all []broken, err error) []broken {
	if many, ok := err.(openapi3.MultiError); ok {
		for _, e := range many {
			all = appendBroken(all, e)
		}
		return all
	}
	b := broken{keyword: RuleUnjudged, text: "cannot be judged"}
	if e, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		for _, token := range e.JSONPointer() {
			b.path = append(b.path, keyStep(token))
		}
		b.keyword, b.schema, b.value = e.SchemaField, e.Schema, e.Value
		if b.keyword == "nullable" {
			// 3.1, in which the documents are written, has null among the types.
			b.keyword = "type"
		}
	}
	return append(all, b)
}

// message says for people what the keyword asks for.
func (b broken) message() string {
	s := b.schema
	if s == nil {
		return b.text
	}
	switch b.keyword {
	case "type":
		return fmt.Sprintf("must be %s, not %s", typeName(s), kindName(b.value))
	case "enum":
		return "must be one of " + list(s.Enum)
	case "pattern":
		return "must match " + s.Pattern
	case "minimum":
		return fmt.Sprintf("must be at least %v", *s.Min)
	case "maximum":
		return fmt.Sprintf("must be at most %v", *s.Max)
	case "required":
		return "must be there"
	case "format":
		return "must be " + formatName(s.Format)
	case "minLength":
		return fmt.Sprintf("must have at least %d characters", s.MinLength)
	}
	return "must keep the rule " + b.keyword
}

func formatName(format string) string {
	switch format {
	case "date-time":
		return "a date and time such as 2006-01-02T15:04:05Z"
	case "uuid":
		return "a UUID such as 5d307ca9-b3ef-428c-8861-06e72d69f223"
	case "int32":
		return "an integer of 32 bits"
	case "int64":
		return "an integer of 64 bits"
	}
	return "of the format " + format
}

func typeName(s *openapi3.Schema) string {
	if s == nil || s.Type == nil || len(*s.Type) == 0 {
		return "something"
	}
	name := withArticle((*s.Type)[0])
	if s.Nullable {
		name += " or null"
	}
	return name
}

func kindName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case float64:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func list(values []any) string {
	texts := make([]string, 0, len(values))
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("?")
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, ", ")
}
