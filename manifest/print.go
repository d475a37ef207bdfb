package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v2"
)

// maxDepth is the nesting that the YAML engine and jsontext allow in a text.
// Aliases can make a value deeper than its text.
const maxDepth = 10_000

var (
	errDepth     = fmt.Errorf("nested more than %d levels deep", maxDepth)
	errExpansion = errors.New("aliases expand the document too far")
	errKey       = errors.New("a mapping or a sequence is used as a key")
	errNullKey   = errors.New("null is used as a key")
	errFloat     = errors.New("infinity and not-a-number have no JSON form")
	errBigKey    = errors.New("an integer over 63 bits is used as a key without quotes")
)

// printError is a value that cannot be printed.
type printError struct {
	path []string // the value's tokens, the last one first
	err  error
}

func (e *printError) Error() string { return e.err.Error() }
func (e *printError) Unwrap() error { return e.err }

// tokens is the path to the value.
func (e *printError) tokens() []string {
	tokens := slices.Clone(e.path)
	slices.Reverse(tokens)
	return tokens
}

// within notes that a value failed in a member or element of another.
func within(err error, token string) error {
	if e, ok := errors.AsType[*printError](err); ok {
		e.path = append(e.path, token)
	}
	return err
}

// printer writes decoded YAML as JSON, by the rules of sigs.k8s.io/yaml.
type printer struct {
	out   []byte
	limit int
}

// print writes a value that has no merge keys.
func (p *printer) print(value any, depth int) error {
	if err := p.check(depth); err != nil {
		return err
	}
	switch v := value.(type) {
	case yaml.MapSlice:
		p.out = append(p.out, '{')
		for i, item := range v {
			name, err := p.name(item.Key, i)
			if err != nil {
				return err
			}
			start := len(p.out)
			err = p.print(item.Value, depth+1)
			if err != nil && hasKey(v[i+1:], item.Key) {
				err = p.forgive(err, start)
			}
			if err != nil {
				return within(err, name)
			}
		}
		p.out = append(p.out, '}')
		return nil
	case []any:
		p.out = append(p.out, '[')
		for i, element := range v {
			p.comma(i)
			if err := p.print(element, depth+1); err != nil {
				return within(err, strconv.Itoa(i))
			}
		}
		p.out = append(p.out, ']')
		return nil
	}
	return p.scalar(value)
}

// printAs writes a value of a document with merge keys. value has what was
// merged but neither order nor duplicates; shape is the same value with these
// and without what was merged, unless value came by a merge itself.
func (p *printer) printAs(value, shape any, depth int) error {
	if err := p.check(depth); err != nil {
		return err
	}
	switch v := value.(type) {
	case map[any]any:
		mapping, _ := shape.(yaml.MapSlice)
		return p.mapping(v, mapping, depth)
	case []any:
		shapes, _ := shape.([]any)
		p.out = append(p.out, '[')
		for i, element := range v {
			p.comma(i)
			var shape any
			if len(shapes) == len(v) {
				shape = shapes[i]
			}
			if err := p.printAs(element, shape, depth+1); err != nil {
				return within(err, strconv.Itoa(i))
			}
		}
		p.out = append(p.out, ']')
		return nil
	}
	return p.scalar(value)
}

// mapping writes the members of shape in their order and what was merged
// behind them, sorted. Of duplicates the last one has the value that counts.
func (p *printer) mapping(value map[any]any, shape yaml.MapSlice, depth int) error {
	last := make(map[any]int, len(shape))
	for i, item := range shape {
		if !isKey(item.Key) {
			return &printError{err: errKey}
		}
		last[item.Key] = i
	}
	p.out = append(p.out, '{')
	n := 0
	for i, item := range shape {
		merged, ok := value[item.Key]
		if !ok {
			continue // not-a-number is never found and follows below
		}
		name, err := p.name(item.Key, n)
		if err != nil {
			return err
		}
		n++
		if start := len(p.out); last[item.Key] == i {
			err = p.printAs(merged, item.Value, depth+1)
		} else {
			err = p.forgive(p.print(item.Value, depth+1), start)
		}
		if err != nil {
			return within(err, name)
		}
	}
	var rest yaml.MapSlice
	for key, merged := range value {
		if _, ok := last[key]; !ok {
			rest = append(rest, yaml.MapItem{Key: key, Value: merged})
		}
	}
	slices.SortFunc(rest, func(a, b yaml.MapItem) int {
		return strings.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key))
	})
	for _, item := range rest {
		name, err := p.name(item.Key, n)
		if err != nil {
			return err
		}
		n++
		if err := p.printAs(item.Value, nil, depth+1); err != nil {
			return within(err, name)
		}
	}
	p.out = append(p.out, '}')
	return nil
}

// forgive writes null for a value that has no JSON form and that a later
// duplicate overrides: kubectl never sees it.
func (p *printer) forgive(err error, start int) error {
	if err == nil || errors.Is(err, errDepth) || errors.Is(err, errExpansion) {
		return err
	}
	p.out = append(p.out[:start], "null"...)
	return nil
}

// check keeps to the limits before a value is written.
func (p *printer) check(depth int) error {
	switch {
	case depth > maxDepth:
		return &printError{err: errDepth}
	case len(p.out) > p.limit:
		return &printError{err: errExpansion}
	}
	return nil
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.out = append(p.out, ',')
	}
}

// name writes the name of member i.
func (p *printer) name(key any, i int) (string, error) {
	name, err := keyString(key)
	if err != nil {
		return "", &printError{err: err}
	}
	p.comma(i)
	p.out = append(appendString(p.out, name), ':')
	return name, nil
}

func (p *printer) scalar(value any) error {
	switch v := value.(type) {
	case nil:
		p.out = append(p.out, "null"...)
	case bool:
		p.out = strconv.AppendBool(p.out, v)
	case int:
		p.out = strconv.AppendInt(p.out, int64(v), 10)
	case int64: // where int has 32 bits
		p.out = strconv.AppendInt(p.out, v, 10)
	case uint64:
		p.out = strconv.AppendUint(p.out, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &printError{err: errFloat}
		}
		number, err := json.Marshal(v) // the form sigs.k8s.io/yaml gives it
		if err != nil {
			return &printError{err: err}
		}
		p.out = append(p.out, number...)
	case string:
		p.out = appendString(p.out, v)
	default:
		return &printError{err: fmt.Errorf("a value of type %s has no JSON form", reflect.TypeOf(value))}
	}
	return nil
}

// appendString writes a JSON string, with U+FFFD for invalid UTF-8, which only
// !!binary can bring in.
func appendString(out []byte, s string) []byte {
	out, _ = jsontext.AppendQuote(out, s) // fails for invalid UTF-8 and appends all the same
	return out
}

// isKey reports whether a map can have the key.
func isKey(key any) bool { return key == nil || reflect.TypeOf(key).Comparable() }

// hasKey reports whether a mapping has the key.
func hasKey(mapping yaml.MapSlice, key any) bool {
	return isKey(key) && slices.ContainsFunc(mapping, func(item yaml.MapItem) bool {
		return isKey(item.Key) && item.Key == key
	})
}

// keyString is the JSON name for a key.
func keyString(key any) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case bool:
		return strconv.FormatBool(k), nil
	case float64:
		return floatKey(k), nil
	case uint64:
		return "", errBigKey
	case nil:
		return "", errNullKey
	default:
		return "", errKey
	}
}

// floatKey shortens a float to 32 bits, as sigs.k8s.io/yaml does with keys.
func floatKey(f float64) string {
	switch s := strconv.FormatFloat(f, 'g', -1, 32); s {
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	case "NaN":
		return ".nan"
	default:
		return s
	}
}
