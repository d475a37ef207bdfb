package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
)

// operation is one of a JSON Patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	From  string `json:"from,omitempty"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// MarshalJSON leaves value out where an operation has none; null is one.
func (o operation) MarshalJSON() ([]byte, error) {
	fields := map[string]any{"op": o.Op, "path": o.Path}
	switch o.Op {
	case "move":
		fields["from"] = o.From
	case "add", "replace":
		fields["value"] = o.Value
	}
	return json.Marshal(fields)
}

// differ finds the operations that bring a document to where a typed view of it has
// been brought. There are three trees, all as encoding/json reads JSON into an any:
// the view before, the view after, and the document, which has more than the view.
// What before and after have in common is left alone, whatever the document has
// there: fields that no type names, values that no type could hold, and zeros that
// the view does not tell from nothing.
//
// The Go type of a place goes along for one reason: a struct that is no pointer is left
// out of the JSON of a view when nothing is left in it that the type names, which does
// not mean that it is to go from the document.
type differ struct {
	ops []operation
}

func (d *differ) add(path string, value any) {
	d.append(operation{Op: "add", Path: path, Value: value})
}
func (d *differ) remove(path string) { d.append(operation{Op: "remove", Path: path}) }
func (d *differ) replace(path string, value any) {
	d.append(operation{Op: "replace", Path: path, Value: value})
}
func (d *differ) move(from, path string) { d.append(operation{Op: "move", From: from, Path: path}) }
func (d *differ) append(op operation)    { d.ops = append(d.ops, op) }

// step is the path of a member (RFC 6901, section 3).
func step(path, name string) string { return path + "/" + escapePointer.Replace(name) }

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// value compares at a place that the document has.
func (d *differ) value(path string, before, after, document any, t reflect.Type) {
	if reflect.DeepEqual(before, after) {
		return
	}
	switch after := after.(type) {
	case map[string]any:
		before, was := before.(map[string]any)
		if document, ok := document.(map[string]any); ok && was {
			d.object(path, before, after, document, t)
			return
		}
	case []any:
		before, was := before.([]any)
		// A view has as many elements as the document, or they could not be told apart.
		if document, ok := document.([]any); ok && was && len(before) == len(document) {
			d.array(path, before, after, document, t)
			return
		}
	}
	d.replace(path, after)
}

func (d *differ) object(path string, before, after, document map[string]any, t reflect.Type) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		_, stays := after[name]
		member, there := document[name]
		place := step(path, name)
		switch of := typeAt(t, name); {
		case stays || !there:
		case of != nil && of.Kind() == reflect.Struct && !of.Implements(reflect.TypeFor[json.Marshaler]()):
			d.value(place, before[name], map[string]any{}, member, of)
		default:
			d.remove(place)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		was, had := before[name]
		member, there := document[name]
		place := step(path, name)
		switch {
		case had && there:
			d.value(place, was, after[name], member, typeAt(t, name))
		case there: // a value that no type could hold, or a zero
			d.appear(place, after[name], member, typeAt(t, name))
		case !had || !reflect.DeepEqual(was, after[name]):
			d.add(place, after[name])
		}
	}
}

// appear is for a member that the view got and the document had without the view
// showing it. An object in it may still have what no type names.
func (d *differ) appear(path string, after, document any, t reflect.Type) {
	members, isObject := after.(map[string]any)
	if there, ok := document.(map[string]any); ok && isObject {
		d.object(path, map[string]any{}, members, there, t)
		return
	}
	d.replace(path, after)
}

// array makes the elements those of after, each one taking along what the document
// has in the element that it was before.
func (d *differ) array(path string, before, after, document []any, t reflect.Type) {
	origin := matchElements(before, after)
	// order is what stands where, as positions in before, while operations are added.
	order := make([]int, len(before))
	kept := map[int]bool{}
	for i := range order {
		order[i] = i
	}
	for _, i := range origin {
		kept[i] = true
	}
	for i := len(before) - 1; i >= 0; i-- {
		if !kept[i] {
			d.remove(path + "/" + strconv.Itoa(i))
			order = slices.Delete(order, i, i+1)
		}
	}
	for j, i := range origin {
		place := path + "/" + strconv.Itoa(j)
		if i < 0 {
			d.add(place, after[j])
			order = slices.Insert(order, j, -1)
		} else if at := slices.Index(order, i); at != j {
			d.move(path+"/"+strconv.Itoa(at), place)
			order = slices.Insert(slices.Delete(order, at, at+1), j, i)
		}
	}
	for j, i := range origin {
		if i >= 0 {
			d.value(path+"/"+strconv.Itoa(j), before[i], after[j], document[i], typeAt(t, ""))
		}
	}
}

// matchElements says for each element of after which one of before it is, -1 for a
// new one: the one of the same name where all have names of their own, as in
// Kubernetes' lists that are maps; or else what matchInOrder finds.
func matchElements(before, after []any) []int {
	for _, key := range []string{"name", "type", "uid"} {
		was, ok := byKey(before, key)
		if !ok {
			continue
		}
		if is, ok := byKey(after, key); ok {
			return matchByKey(before, after, was, is, key)
		}
	}
	return matchInOrder(before, after)
}

// matchByKey also takes an element for the one at the same place when the key is all
// that is different: it has been renamed.
func matchByKey(before, after []any, was, is map[string]int, key string) []int {
	origin := make([]int, len(after))
	for i := range origin {
		origin[i] = -1
	}
	for id, j := range is {
		if i, there := was[id]; there {
			origin[j] = i
		} else if j < len(before) {
			old, renamed := before[j].(map[string]any), maps.Clone(after[j].(map[string]any))
			renamed[key] = old[key]
			if _, stays := is[old[key].(string)]; !stays && reflect.DeepEqual(old, renamed) {
				origin[j] = j
			}
		}
	}
	return origin
}

// byKey finds elements by a member that each has, and none the same as another.
func byKey(elements []any, key string) (map[string]int, bool) {
	found := make(map[string]int, len(elements))
	for i, element := range elements {
		members, _ := element.(map[string]any)
		id, _ := members[key].(string)
		if _, twice := found[id]; id == "" || twice {
			return nil, false
		}
		found[id] = i
	}
	return found, true
}

// maxCompared bounds the work of matchInOrder, which is the product of two lengths.
const maxCompared = 1 << 20

// matchInOrder keeps the longest run of equal elements in the same order, takes equal
// ones out of order next, and pairs the rest by position between those in order.
func matchInOrder(before, after []any) []int {
	origin := make([]int, len(after))
	for i := range origin {
		origin[i] = -1
	}
	taken := make([]bool, len(before))
	take := func(i, j int) { origin[j], taken[i] = i, true }
	inOrder := [][2]int{}
	if len(before) > 0 && len(after) <= maxCompared/len(before) {
		inOrder = commonElements(before, after)
		for _, pair := range inOrder {
			take(pair[0], pair[1])
		}
		for j := range after {
			for i := range before {
				if origin[j] < 0 && !taken[i] && reflect.DeepEqual(before[i], after[j]) {
					take(i, j)
				}
			}
		}
	}
	i, j := 0, 0
	for _, end := range append(inOrder, [2]int{len(before), len(after)}) {
		for {
			for i < end[0] && taken[i] {
				i++
			}
			for j < end[1] && origin[j] >= 0 {
				j++
			}
			if i == end[0] || j == end[1] {
				break
			}
			take(i, j)
		}
		i, j = end[0], end[1]
	}
	return origin
}

// commonElements is a longest common subsequence of a and b, as pairs of positions.
func commonElements(a, b []any) [][2]int {
	lengths := commonLengths(a, b)
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch lengths[i][j] {
		case lengths[i+1][j]:
			i++
		case lengths[i][j+1]:
			j++
		default:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		}
	}
	return pairs
}

// commonLengths has at [i][j] the length of the longest common subsequence of a
// from i and b from j.
func commonLengths(a, b []any) [][]int32 {
	lengths := make([][]int32, len(a)+1)
	for i := range lengths {
		lengths[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if reflect.DeepEqual(a[i], b[j]) {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
}

var viewType = reflect.TypeFor[vmi.VirtualMachineInstance]()

// typeAt is the type of a member or an element of a type, nil where it has none.
func typeAt(t reflect.Type, name string) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			// Every generated field has a name for JSON.
			if of, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); of == name {
				return t.Field(i).Type
			}
		}
	case t.Kind() == reflect.Map || t.Kind() == reflect.Slice:
		return t.Elem()
	}
	return nil
}

// tree reads JSON with its numbers as text.
func tree(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	return value, err
}
