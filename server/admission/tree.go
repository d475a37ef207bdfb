package admission

import (
	"encoding/json"
	"strconv"
)

// Values of another type than expected, and null, count as not there.

// child returns a member of members that is an object, nil where there is none.
func child(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		o, _ = o[name].(map[string]any)
	}
	return o
}

// ensure is child, with an empty object put where there is none. What is there and no
// object stays, and what is returned belongs to nothing then.
func ensure(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		next, ok := o[name].(map[string]any)
		if !ok {
			next = make(map[string]any)
			setDefault(o, name, next)
		}
		o = next
	}
	return o
}

// setDefault gives a member a value that it does not have.
func setDefault(o map[string]any, name string, v any) {
	if o[name] == nil {
		o[name] = v
	}
}

// setText is setDefault for a text, where an empty one is none either.
func setText(o map[string]any, name, s string) {
	if o[name] == nil || o[name] == "" {
		o[name] = s
	}
}

// items returns the objects of a list. What is none is nil, so that indexes hold.
func items(o map[string]any, name string) []map[string]any {
	list, _ := o[name].([]any)
	objects := make([]map[string]any, len(list))
	for i, v := range list {
		objects[i], _ = v.(map[string]any)
	}
	return objects
}

// add appends to a list, which is made where there is none.
func add(o map[string]any, name string, v any) {
	list, ok := o[name].([]any)
	if ok || o[name] == nil {
		o[name] = append(list, v)
	}
}

func has(o map[string]any, name string) bool { return o[name] != nil }

func text(o map[string]any, name string) string {
	s, _ := o[name].(string)
	return s
}

func isTrue(o map[string]any, name string) bool { return o[name] == true }

// trueByDefault is a switch that is on unless it is turned off.
func trueByDefault(o map[string]any, name string) bool { return o[name] != false }

// integer is a number, 0 where there is none.
func integer(o map[string]any, name string) int64 {
	n, _ := o[name].(json.Number)
	i, _ := strconv.ParseInt(n.String(), 10, 64)
	return i
}

func number(i int64) json.Number { return json.Number(strconv.FormatInt(i, 10)) }

// count is how many of the members are there.
func count(o map[string]any, names ...string) int {
	n := 0
	for _, name := range names {
		if has(o, name) {
			n++
		}
	}
	return n
}

// clone copies a tree.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for name, member := range v {
			c[name] = clone(member)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = clone(item)
		}
		return c
	}
	return v
}
