package mutant

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// keep restores what no write changes, and raises the generation with whatever is
// not metadata: the machines of KubeVirt have no status of their own to write to.
func keep(before, after Tree) {
	was, now := metadata(before), metadata(after)
	for _, key := range []string{"name", "namespace", "uid", "creationTimestamp", "generation"} {
		if value, has := was[key]; has {
			now[key] = value
		} else {
			delete(now, key)
		}
	}
	rest := func(t Tree) Tree {
		t = maps.Clone(t)
		delete(t, "metadata")
		return t
	}
	if generation, has := was["generation"].(json.Number); has && !reflect.DeepEqual(rest(before), rest(after)) {
		n, _ := generation.Int64()
		now["generation"] = json.Number(strconv.FormatInt(n+1, 10))
	}
}

// merge does a merge patch (RFC 7396).
func merge(machine, patch Tree) {
	for key, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(machine, key)
		case Tree:
			merge(part(machine, key), v)
		default:
			machine[key] = value
		}
	}
}

// Operation is one operation of a JSON patch (RFC 6902).
type Operation struct {
	Op, Path string
	Value    any
}

// patch does a JSON patch of what is in objects, not in lists. It stops at an error.
func patch(machine Tree, patch []Operation) error {
	for _, o := range patch {
		keys := strings.Split(o.Path, "/")[1:]
		for i := range keys {
			keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(keys[i])
		}
		if len(keys) == 0 {
			return fmt.Errorf("no path in %q", o.Path)
		}
		at, last := machine, keys[len(keys)-1]
		for _, key := range keys[:len(keys)-1] {
			var ok bool
			if at, ok = at[key].(Tree); !ok {
				return fmt.Errorf("%s: nothing there", o.Path)
			}
		}
		switch value, there := at[last]; {
		case o.Op == "add":
			at[last] = o.Value
		case !there:
			return fmt.Errorf("%s: nothing there", o.Path)
		case o.Op == "replace":
			at[last] = o.Value
		case o.Op == "remove":
			delete(at, last)
		case o.Op != "test" || !reflect.DeepEqual(value, o.Value):
			return fmt.Errorf("%s: another value", o.Path)
		}
	}
	return nil
}
