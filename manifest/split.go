package manifest

import "bytes"

// yamlList is a block style List cut into its items.
type yamlList struct {
	before, after []byte // the items
	items         []piece
}

// piece is a part of a text and the number of lines before it.
type piece struct {
	span
	line int
}

// splitList cuts a document at the dashes of the block sequence under its
// top-level key items. It knows lines and indentation only; see readList for
// what makes sure that they mean what they seem to.
func splitList(text []byte) (yamlList, bool) {
	var (
		l      yamlList
		indent = -1 // of the dashes
		found  = false
		n      = 0 // lines seen
	)
	for start := 0; start < len(text); n++ {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := text[start:end]
		switch {
		case isItemsKey(line):
			if found {
				return l, false
			}
			found = true
		case !found || l.after != nil || isBlank(line):
		default:
			width := len(line) - len(bytes.TrimLeft(line, " "))
			dash := isDash(line[width:])
			if indent < 0 {
				if !dash {
					return l, false
				}
				indent = width
			}
			switch {
			case width > indent:
			case width == indent && dash:
				l.items = append(l.items, piece{span: span{start: start}, line: n})
			case width == 0 && line[0] != '\t':
				l.after = text[start:]
			default:
				return l, false
			}
		}
		start = end
	}
	if len(l.items) == 0 || len(l.items) > maxValues {
		return l, false
	}
	l.before = text[:l.items[0].start]
	if bytes.IndexByte(l.before, '&') >= 0 {
		return l, false // an alias behind the items may mean an anchor in them
	}
	for i := range l.items {
		if i+1 < len(l.items) {
			l.items[i].end = l.items[i+1].start
		} else {
			l.items[i].end = len(text) - len(l.after)
		}
	}
	return l, true
}

// isItemsKey recognizes the line "items:".
func isItemsKey(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("items:"))
	return ok && isBlank(rest)
}

// isBlank recognizes a line without content. Behind a key a comment needs
// white space before it.
func isBlank(line []byte) bool {
	rest := bytes.TrimLeft(line, whiteSpace)
	return len(rest) == 0 || rest[0] == '#'
}

// isDash recognizes the begin of an item.
func isDash(line []byte) bool {
	return len(line) > 0 && line[0] == '-' &&
		(len(line) == 1 || bytes.IndexByte([]byte(whiteSpace), line[1]) >= 0)
}
