package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// boolWords are the plain words that YAML 1.1 takes for a bool. kubectl reads
// YAML 1.1; the parser used here reads 1.2 and knows true and false only.
var boolWords = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"true": true, "True": true, "TRUE": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	"false": false, "False": false, "FALSE": false,
}

// scalarValue is what kubectl takes a scalar for: nil, a bool, a string, or a
// number as int, int64, uint64 or float64.
func scalarValue(n *yaml.Node) (any, error) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tagged := n.Style&yaml.TaggedStyle != 0
	if !tagged && n.Style&quoted != 0 || tagged && n.Tag == "!!str" {
		return n.Value, nil
	}
	if tagged && !strings.HasPrefix(n.Tag, "!!") {
		return n.Value, nil // a tag of somebody's own says nothing about JSON
	}
	if b, ok := boolWords[n.Value]; ok && (!tagged || n.Tag == "!!bool") {
		return b, nil
	}
	if !tagged && (n.Tag == "!!str" || n.Tag == "!!timestamp") { // as the parser found
		return n.Value, nil
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, errors.New("has a value that does not fit its tag") // the text of err holds the value
	}
	if _, ok := value.(time.Time); ok {
		return n.Value, nil
	}
	return value, nil
}

// keyText is the JSON name of a member.
func keyText(n *yaml.Node) (string, error) {
	n = target(n)
	if n.Kind != yaml.ScalarNode {
		return "", errors.New("has a name that is no scalar")
	}
	value, err := scalarValue(n)
	if err != nil {
		return "", err
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case bool, int, int64:
		return fmt.Sprint(value), nil
	case float64:
		return floatName(value), nil
	}
	return "", errors.New("has a name that cannot be one in JSON")
}

func floatName(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, +1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 32)
}

// kindName names a node's kind for an error, without its value.
func kindName(n *yaml.Node, value any) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch value.(type) {
	case bool:
		return "a bool"
	case string:
		return "a string"
	case nil:
		return "null"
	}
	return "a number"
}

// target follows an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// rawJSON converts any YAML to JSON.
func (d *decoder) rawJSON(n *yaml.Node, at string) (json.RawMessage, error) {
	value, err := d.generic(n, at, 0)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, d.errorf(n, at, "has a number that JSON cannot hold")
	}
	return raw, nil
}

// maxDepth bounds the recursion into values of any form.
const maxDepth = 1000

func (d *decoder) generic(n *yaml.Node, at string, depth int) (any, error) {
	n = target(n)
	if err := d.spend(n, at); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, d.errorf(n, at, "is nested too deeply")
	}
	switch n.Kind {
	case yaml.MappingNode:
		members, err := d.members(n, at)
		if err != nil {
			return nil, err
		}
		object := make(map[string]any, len(members))
		for name, member := range members {
			if object[name], err = d.generic(member, at, depth+1); err != nil {
				return nil, err
			}
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, element := range n.Content {
			var err error
			if list[i], err = d.generic(element, at, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	value, err := scalarValue(n)
	if err != nil {
		return nil, d.errorf(n, at, "%w", err)
	}
	return value, nil
}
