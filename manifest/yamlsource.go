package manifest

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// yamlSource is the text of a YAML document or of an item of one, which is
// parsed for lines when they are asked for.
type yamlSource struct {
	text []byte
	line int // of the text in the file

	parse sync.Once
	node  *yaml.Node // nil when it cannot be parsed

	count     sync.Once
	fileLines []int // see fileLines; nil when YAML counts lines as the file does
}

// firstLine is the line where the document's content begins, or its first line
// if it has none.
func (s *yamlSource) firstLine() int {
	line := s.line
	for text := range bytes.Lines(bytes.TrimPrefix(s.text, []byte("\ufeff"))) {
		if !isBlank(text) && !bytes.HasPrefix(text, []byte("---")) {
			return line
		}
		line++
	}
	return s.line
}

// lastLine is the line where the text ends.
func (s *yamlSource) lastLine() int {
	return s.line + bytes.Count(bytes.TrimSuffix(s.text, newline), newline)
}

// lineOf is the line of the value that the tokens lead to from root, or of its
// nearest ancestor; line is that of root itself, and the answer if the text
// cannot be parsed.
func (s *yamlSource) lineOf(root, tokens []string, line int) int {
	node, found := s.find(root), 0
	for _, token := range tokens {
		if node == nil {
			break
		}
		var at int
		if node, at = nodeChild(node, token); node != nil {
			found = at
		}
	}
	if found == 0 {
		return line
	}
	return s.fileLine(found)
}

// find is the node that the tokens lead to, nil if there is none.
func (s *yamlSource) find(tokens []string) *yaml.Node {
	s.parse.Do(func() {
		// Lines come from another version of the engine, which reads nearly
		// the same language, and panics on its own mistakes like the other.
		defer func() { _ = recover() }()
		var document yaml.Node
		if yaml.Unmarshal(s.text, &document) == nil && len(document.Content) == 1 {
			s.node = document.Content[0]
		}
	})
	node := s.node
	for _, token := range tokens {
		if node == nil {
			break
		}
		node, _ = nodeChild(node, token)
	}
	return node
}

// elementLine is the line of an element of a sequence that find found, or
// another if the text could not be parsed.
func (s *yamlSource) elementLine(sequence *yaml.Node, i, line int) int {
	if sequence == nil || sequence.Kind != yaml.SequenceNode || i >= len(sequence.Content) {
		return line
	}
	return s.fileLine(target(sequence.Content[i]).Line)
}

// nodeChild finds a member or an element of a node, and its line: that of the
// name, or of the anchor that an alias stands for.
func nodeChild(node *yaml.Node, token string) (*yaml.Node, int) {
	node = target(node)
	switch node.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(node.Content) {
			return nil, 0
		}
		element := target(node.Content[i])
		return element, element.Line
	case yaml.MappingNode:
		budget := maxMerges
		return nodeMember(node, token, &budget)
	}
	return nil, 0
}

// maxMerges is how many merged mappings are searched for a name. Mappings that
// merge each other twice would be searched for ever.
const maxMerges = 100

func nodeMember(node *yaml.Node, name string, budget *int) (*yaml.Node, int) {
	for i := len(node.Content) - 2; i >= 0; i -= 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !isMerge(key) && keyName(key) == name {
			if value.Kind == yaml.AliasNode {
				value = target(value)
				return value, value.Line
			}
			return value, key.Line
		}
	}
	for i := len(node.Content) - 2; i >= 0; i -= 2 {
		if !isMerge(node.Content[i]) {
			continue
		}
		sources := []*yaml.Node{node.Content[i+1]}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, source := range sources {
			if source = target(source); source.Kind != yaml.MappingNode || *budget == 0 {
				continue
			}
			*budget--
			if value, line := nodeMember(source, name, budget); value != nil {
				return value, line
			}
		}
	}
	return nil, 0
}

// target follows an alias.
func target(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Tag == "!!merge"
}

// keyName is the JSON name that conversion gives a key.
func keyName(key *yaml.Node) string {
	key = target(key)
	if key.Kind != yaml.ScalarNode || key.Style != 0 || key.Value == "" ||
		!strings.ContainsRune("yYnNtTfFoO.+-0123456789", rune(key.Value[0])) {
		return key.Value // a string, by its quotes or its first letter
	}
	var value any
	if yamlv2.Unmarshal([]byte(key.Value), &value) != nil {
		return key.Value
	}
	if name, err := keyString(value); err == nil {
		return name
	}
	return key.Value
}

// fileLine turns a line of the text as YAML counts it, from 1, into a line of
// the file. Besides the line feed, YAML has five more line breaks.
func (s *yamlSource) fileLine(yamlLine int) int {
	s.count.Do(func() { s.fileLines = fileLines(s.text) })
	yamlLine-- // from 0
	if last := len(s.fileLines) - 1; last >= 0 {
		yamlLine = s.fileLines[min(yamlLine, last)]
	}
	return s.line + yamlLine
}

// fileLines has the line in the file for each line of YAML, both counted from
// 0. It is nil where they are the same.
func fileLines(text []byte) []int {
	if !hasOtherBreaks(text) {
		return nil
	}
	line, lines := 0, []int{0}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case r == '\n':
			line++
		case r == '\r' && (i == len(text) || text[i] != '\n'), r == '\u0085', r == '\u2028', r == '\u2029':
		default:
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// hasOtherBreaks reports whether a text has line breaks that only YAML counts.
func hasOtherBreaks(text []byte) bool {
	return bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) ||
		bytes.Contains(text, []byte("\u0085")) ||
		bytes.Contains(text, []byte("\u2028")) || bytes.Contains(text, []byte("\u2029"))
}
