package managedfields_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// oneIn is true once in n times.
func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// generator makes objects of a schema. Values are few, so that two objects often
// agree on one and often do not.
type generator struct {
	*rand.Rand
	// sparse is how rarely a field is set: one in so many.
	sparse int
	// nulls is how rarely a value is null, never when it is 0.
	nulls int
	// duplicates is how rarely a list has items that cannot be told apart or at
	// all, never when it is 0.
	duplicates int
}

func (g *generator) value(s *spec.Schema, depth int) any {
	if g.nulls > 0 && oneIn(g.Rand, g.nulls) {
		return nil
	}
	switch typeOf(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.list(s, depth)
	case "integer":
		return pick(g.Rand, int64(0), int64(1), int64(2), int64(1)<<40)
	case "number":
		return pick[any](g.Rand, int64(1), 1.0, 1.5, 1e30)
	case "boolean":
		return oneIn(g.Rand, 2)
	case "string":
		return pick(g.Rand, "", "a", "b", `<"é`)
	default: // int-or-string
		return pick[any](g.Rand, int64(1), "1", "1Gi")
	}
}

func typeOf(s *spec.Schema) string {
	if len(s.Type) == 0 {
		return ""
	}
	return s.Type[0]
}

func (g *generator) object(s *spec.Schema, depth int) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		if !oneIn(g.Rand, g.sparse+1) && !(depth < 2 && oneIn(g.Rand, 2)) {
			continue
		}
		out[name] = g.value(&field, depth+1)
	}
	if p := s.AdditionalProperties; p != nil && p.Schema != nil {
		for range g.IntN(3) {
			// ObjectMeta has no null in its maps.
			plain := generator{Rand: g.Rand, sparse: g.sparse}
			out[pick(g.Rand, "a", "b", "c", "x.y/z", "<k>")] = plain.value(p.Schema, depth+1)
		}
	}
	return out
}

func (g *generator) list(s *spec.Schema, depth int) []any {
	out := []any{}
	kind, _ := s.Extensions.GetString("x-kubernetes-list-type")
	keys, _ := s.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	seen := map[string]bool{}
	for range g.IntN(4) {
		item := g.value(s.Items.Schema, depth+1)
		id := fmt.Sprint(item)
		if object, ok := item.(map[string]any); ok && kind == "map" {
			for i, key := range keys {
				// All keys but one may be left out.
				if i == 0 || !oneIn(g.Rand, 8) {
					field := s.Items.Schema.Properties[key]
					plain := generator{Rand: g.Rand, sparse: g.sparse}
					object[key] = plain.value(&field, depth+1)
				}
			}
			id = ""
			for _, key := range keys {
				id += fmt.Sprintf("%T %v,", object[key], object[key])
			}
		}
		granular := kind == "map" || kind == "set"
		if granular && (item == nil || seen[id]) && !(g.duplicates > 0 && oneIn(g.Rand, g.duplicates)) {
			continue
		}
		seen[id] = true
		out = append(out, item)
	}
	return out
}

// change makes another object of one: fields go, come or change.
func (g *generator) change(s *spec.Schema, v any, depth int) any {
	object, ok := v.(map[string]any)
	if !ok || oneIn(g.Rand, 8) {
		if list, ok := v.([]any); ok && !oneIn(g.Rand, 3) && s.Items != nil {
			return g.changeList(s, list, depth)
		}
		return g.value(s, depth)
	}
	out := maps.Clone(object)
	fresh := g.object(s, depth)
	for range 1 + g.IntN(2) {
		names := slices.Sorted(maps.Keys(out))
		switch {
		case len(names) > 0 && oneIn(g.Rand, 4):
			delete(out, pick(g.Rand, names...))
		case len(fresh) > 0 && oneIn(g.Rand, 2):
			name := pick(g.Rand, slices.Sorted(maps.Keys(fresh))...)
			out[name] = fresh[name]
		case len(names) > 0:
			name := pick(g.Rand, names...)
			if field, ok := s.Properties[name]; ok {
				out[name] = g.change(&field, out[name], depth+1)
			} else if p := s.AdditionalProperties; p != nil && p.Schema != nil {
				out[name] = g.value(p.Schema, depth+1)
			}
		}
	}
	return out
}

func (g *generator) changeList(s *spec.Schema, list []any, depth int) any {
	list = slices.Clone(list)
	kind, _ := s.Extensions.GetString("x-kubernetes-list-type")
	keys, _ := s.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	switch {
	case len(list) > 0 && oneIn(g.Rand, 3):
		i := g.IntN(len(list))
		return slices.Delete(list, i, i+1)
	case oneIn(g.Rand, 3):
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	case len(list) > 0 && kind == "map":
		i := g.IntN(len(list))
		old, ok := list[i].(map[string]any)
		if !ok {
			return list
		}
		item, ok := g.change(s.Items.Schema, old, depth+1).(map[string]any)
		if !ok {
			return list
		}
		for _, key := range keys {
			if delete(item, key); old[key] != nil {
				item[key] = old[key]
			}
		}
		list[i] = item
		return list
	}
	return g.list(s, depth)
}

// subset is some of what an object sets, as somebody applies who owns only a part.
func (g *generator) subset(v any, keys []string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(keys, name) || !oneIn(g.Rand, 3) {
				out[name] = g.subset(v[name], keys)
			}
		}
		return out
	case []any:
		if oneIn(g.Rand, 2) {
			return v
		}
		var out []any
		for _, item := range v {
			if !oneIn(g.Rand, 3) {
				out = append(out, g.subset(item, keys))
			}
		}
		if out == nil {
			return []any{}
		}
		return out
	}
	return v
}
