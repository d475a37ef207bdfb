package manifest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// WriteYAML writes one JSON value as YAML, in the form of kubectl get -o yaml:
// blocks, members sorted, long text folded at 80 columns. It is written by the
// same engine that reads it, so that what looks like something else, such as the
// text "yes" or "1e3", is in quotes.
//
// Read as YAML it is the same JSON again. Numbers keep their text, where the
// engine alone would write 1.50 as 1.5 and round what no float64 holds; who reads
// them may do so all the same. Of members named twice the last one counts.
//
// An array is written without indentation, as it stands in an object that is not
// indented either: elements that are written one by one make one sequence.
//
// Beyond the decoded value nothing is held in memory: what is nested deeply is a
// text much larger than its JSON.
//
// It fails when value is not one JSON value, before anything is written, and when w
// does.
func WriteYAML(w io.Writer, value []byte) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("write yaml: there is text behind the value")
	}
	var v verbatim
	decoded = v.replace(decoded)
	if v.mark == "" {
		return encodeYAML(w, decoded)
	}
	u := &unmarker{to: bufio.NewWriter(w), mark: []byte(v.mark)}
	if err := encodeYAML(u, decoded); err != nil {
		return err
	}
	return u.flush()
}

func encodeYAML(w io.Writer, value any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			// The engine panics on its own mistakes, whatever they are.
			err = fmt.Errorf("write yaml: the encoder failed: %T", v)
		}
	}()
	e := yaml.NewEncoder(w)
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	return e.Close()
}

// verbatim makes the engine write what it has no words for: numbers other than
// integers of 64 bits, which it rounds, and text that it leaves without quotes
// though it means something else to a reader. Either is given to it as text that
// begins with a mark, which it writes as it is, and the mark is taken out of what
// it has written. The mark is random, so that no value has it in it.
type verbatim struct {
	mark string // "" until it is needed
}

// replace returns a decoded value as it is given to the engine.
func (v *verbatim) replace(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = v.replace(member)
		}
		if member, ok := value[mergeKey]; ok {
			delete(value, mergeKey)
			value[v.marked(`"`+mergeKey+`"`)] = member
		}
	case []any:
		for i, element := range value {
			value[i] = v.replace(element)
		}
	case json.Number:
		text := value.String()
		if i, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
			return i
		}
		return v.marked(text)
	case string:
		if value == mergeKey || isHugeNumber(value) {
			return v.marked(`"` + value + `"`)
		}
	}
	return value
}

func (v *verbatim) marked(text string) string {
	if v.mark == "" {
		v.mark = rand.Text()
	}
	return v.mark + text
}

// mergeKey takes the members of another mapping in, where it is a key without quotes.
const mergeKey = "<<"

// isHugeNumber reports whether a text is a number to YAML that the engine takes for
// text, because it cannot hold it.
func isHugeNumber(text string) bool {
	if strings.Trim(text, "+-._0123456789abcdefxoABCDEFXO") != "" {
		return false
	}
	_, intErr := strconv.ParseInt(text, 0, 64)
	_, floatErr := strconv.ParseFloat(text, 64)
	return errors.Is(intErr, strconv.ErrRange) || errors.Is(floatErr, strconv.ErrRange)
}

// unmarker passes on what is written to it without the marks. What may be the
// beginning of one waits for the rest.
type unmarker struct {
	to   *bufio.Writer
	mark []byte
	held []byte
}

func (u *unmarker) Write(p []byte) (int, error) {
	u.held = append(u.held, p...)
	rest := u.held
	for {
		before, after, found := bytes.Cut(rest, u.mark)
		if !found {
			break
		}
		u.to.Write(before)
		rest = after
	}
	safe := max(0, len(rest)-len(u.mark)+1)
	_, err := u.to.Write(rest[:safe]) // its errors stay
	u.held = append(u.held[:0], rest[safe:]...)
	return len(p), err
}

func (u *unmarker) flush() error {
	u.to.Write(u.held)
	return u.to.Flush()
}
