package kubeconfig

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxValues bounds the memory of decoding, which the YAML engine spends by the
	// value. A cluster with its user and context has about twenty.
	maxValues = 500_000
	// maxMerges is how deeply mappings may merge one another.
	maxMerges = 100
)

// decoder fills structs from YAML or JSON text as kubectl does, which reads YAML
// 1.1 into JSON and that into structs: names are case-sensitive, unknown ones are
// ignored, of repeated ones the last counts, null is the zero value, and a scalar
// must have its member's type. Unlike kubectl it knows the lines.
type decoder struct {
	file string
	left int // how many values may still be read, those behind aliases included
}

// decode reads the first document of a text.
func decode(text []byte, file string, out any) error {
	d := &decoder{file: file, left: 2 * maxValues}
	root, err := d.parse(text)
	if err != nil || root == nil {
		return err
	}
	if target(root).Kind != yaml.MappingNode {
		return d.errorf(root, "", "must be a mapping")
	}
	return d.value(root, reflect.ValueOf(out).Elem(), "")
}

// parse returns the first document's content, nil if it has none.
func (d *decoder) parse(text []byte) (root *yaml.Node, err error) {
	if n := valuesAtMost(text); n > maxValues {
		return nil, fmt.Errorf("%s: has more than %d values", d.file, maxValues)
	}
	defer func() {
		// The engine panics on its own mistakes.
		if recover() != nil {
			root, err = nil, fmt.Errorf("%s: is not YAML", d.file)
		}
	}()
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, d.syntaxError(err)
	}
	if len(document.Content) != 1 {
		return nil, nil
	}
	root = document.Content[0]
	if n := target(root); n.Kind == yaml.ScalarNode {
		if value, err := scalarValue(n); err == nil && value == nil {
			return nil, nil
		}
	}
	return root, nil
}

// valuesAtMost is a cheap upper bound of the values in a text, but for dashes in a
// row, which the engine limits by their depth.
func valuesAtMost(text []byte) int {
	n := 0
	for _, c := range text {
		if c == ',' || c == '\n' || c == '\r' || c == '[' || c == '{' {
			n++
		}
	}
	return n
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError keeps the text of the engine's errors, except of those that repeat a
// part of the file: a token that begins with a star is an alias for YAML.
func (d *decoder) syntaxError(err error) error {
	at, what := position{file: d.file}, "is not YAML"
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		at.line, _ = strconv.Atoi(m[1])
		switch {
		case strings.HasPrefix(m[2], "unknown anchor"):
			what = "has an alias (*name) without an anchor; put values that begin with a star in quotes"
		case !strings.Contains(m[2], "`"):
			what += ": " + m[2]
		}
	}
	return fmt.Errorf("%s: %s", at, what)
}

// errorf makes an error about a node. The path is the member that it is.
func (d *decoder) errorf(n *yaml.Node, path, format string, args ...any) error {
	if path == "" {
		path = "the file"
	}
	return fmt.Errorf("%s: %s %w", position{d.file, n.Line}, path, fmt.Errorf(format, args...))
}

func (d *decoder) spend(n *yaml.Node, path string) error {
	if d.left--; d.left < 0 {
		return d.errorf(n, path, "makes too many values of aliases")
	}
	return nil
}

var (
	positionType = reflect.TypeFor[position]()
	bytesType    = reflect.TypeFor[[]byte]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// value decodes a node into v.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) error {
	n = target(n)
	if err := d.spend(n, path); err != nil {
		return err
	}
	if v.Type() == rawType {
		raw, err := d.rawJSON(n, path)
		v.SetBytes(raw)
		return err
	}
	if n.Kind == yaml.ScalarNode {
		return d.scalar(n, v, path)
	}
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, v.Elem(), path)
	case v.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		return d.structure(n, v, path)
	case v.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		return d.mapping(n, v, path)
	case v.Kind() == reflect.Slice && v.Type() != bytesType && n.Kind == yaml.SequenceNode:
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, element := range n.Content {
			if err := d.value(element, v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	return d.mismatch(n, v, nil, path)
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) error {
	value, err := scalarValue(n)
	if err != nil {
		return d.errorf(n, path, "%w", err)
	}
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		switch {
		case v.Kind() == reflect.String:
			v.SetString(value)
			return nil
		case v.Type() == bytesType:
			data, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				return d.errorf(n, path, "is not base64")
			}
			v.SetBytes(data)
			return nil
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(value)
			return nil
		}
	}
	return d.mismatch(n, v, value, path)
}

func (d *decoder) mismatch(n *yaml.Node, v reflect.Value, value any, path string) error {
	want, hint := "a mapping", ""
	switch {
	case v.Kind() == reflect.String:
		want = "a string"
		if n.Kind == yaml.ScalarNode {
			hint = "; put it in quotes"
		}
	case v.Kind() == reflect.Bool:
		want = "true or false without quotes"
	case v.Type() == bytesType:
		want = "base64 text"
	case v.Kind() == reflect.Slice:
		want = "a list"
	}
	return d.errorf(n, path, "must be %s, not %s%s", want, kindName(n, value), hint)
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, path string) error {
	members, err := d.members(n, path)
	if err != nil {
		return err
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Type == positionType {
			v.Field(i).Set(reflect.ValueOf(position{d.file, n.Line}))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		member, ok := members[name]
		if !ok {
			continue
		}
		if err := d.value(member, v.Field(i), strings.TrimPrefix(path+"."+name, ".")); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) error {
	members, err := d.members(n, path)
	if err != nil {
		return err
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(members)))
	for name, member := range members {
		element := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(member, element, path+"."+name); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(name), element)
	}
	return nil
}

// members are a mapping's members by name.
func (d *decoder) members(n *yaml.Node, path string) (map[string]*yaml.Node, error) {
	members := make(map[string]*yaml.Node, len(n.Content)/2)
	return members, d.addMembers(members, n, path, 0)
}

// addMembers adds a mapping's members in their order. What is merged takes its
// place in that order too, and so replaces what comes before: the engine that
// kubectl uses has it so, against the specification of YAML.
func (d *decoder) addMembers(to map[string]*yaml.Node, n *yaml.Node, path string, depth int) error {
	if depth > maxMerges {
		return d.errorf(n, path, "merges too deeply")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := d.spend(key, path); err != nil {
			return err
		}
		if key.Tag == "!!merge" {
			if err := d.merge(to, value, path, depth); err != nil {
				return err
			}
			continue
		}
		name, err := keyText(key)
		if err != nil {
			return d.errorf(key, path, "%w", err)
		}
		to[name] = value
	}
	return nil
}

func (d *decoder) merge(to map[string]*yaml.Node, from *yaml.Node, path string, depth int) error {
	sources := []*yaml.Node{from}
	if from.Kind == yaml.SequenceNode {
		sources = from.Content
	}
	for i := len(sources) - 1; i >= 0; i-- { // the first of several wins
		source := target(sources[i])
		if source.Kind != yaml.MappingNode {
			return d.errorf(from, path, "merges something that is no mapping")
		}
		if err := d.addMembers(to, source, path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// decodeKubeconfig reads a kubeconfig file's text.
func decodeKubeconfig(text []byte, name string) (*file, error) {
	f := new(file)
	if err := decode(text, name, f); err != nil {
		return nil, err
	}
	if f.Kind != "" && f.Kind != "Config" || f.APIVersion != "" && f.APIVersion != "v1" {
		return nil, fmt.Errorf("%s: is no kubeconfig: kind must be Config and apiVersion v1", name)
	}
	return f, nil
}

var errNotJSON = errors.New("printed something that is not an ExecCredential in JSON")

// decodeLoosely reads what a plugin printed: JSON, or the YAML that kubectl takes too.
func decodeLoosely(text []byte, out any) error {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		if json.Valid(trimmed) { // YAML has no surrogate pairs, for instance
			if json.Unmarshal(trimmed, out) != nil {
				return errNotJSON
			}
			return nil
		}
	}
	if decode(text, "output", out) != nil { // the text of its errors is about a file
		return errNotJSON
	}
	return nil
}
