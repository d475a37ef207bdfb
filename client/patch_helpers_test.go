package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// parsed is JSON with its numbers as text.
func parsed(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	require.NoError(t, dec.Decode(&value), text)
	return value
}

// set is a copy of a tree with another value at a pointer, nil for none.
func set(t testing.TB, tree any, pointer string, value any) any {
	t.Helper()
	text, err := json.Marshal(tree)
	require.NoError(t, err)
	op := map[string]any{"op": "add", "path": pointer, "value": value}
	if last := pointer[strings.LastIndex(pointer, "/")+1:]; value == nil {
		op["op"] = "remove"
	} else if _, err := strconv.Atoi(last); err == nil {
		op["op"] = "replace"
	}
	changed, err := patched(parsed(t, string(text)), op)
	require.NoError(t, err, pointer)
	text, err = json.Marshal(changed)
	require.NoError(t, err)
	return parsed(t, string(text))
}

// store is a server with one object that takes JSON patches as API servers do.
type store struct {
	t        testing.TB
	mu       sync.Mutex
	object   any
	revision int
	// patches are the bodies that came.
	patches []string
	// before is called ahead of a patch, to be faster than it.
	before func(s *store)
}

func newStore(t testing.TB, object string) *store {
	s := &store{t: t, object: parsed(t, object), revision: 7}
	s.put(s.object)
	return s
}

// put stores a next revision.
func (s *store) put(object any) {
	s.revision++
	s.object = set(s.t, object, "/metadata/resourceVersion", strconv.Itoa(s.revision))
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPatch {
		body, _ := io.ReadAll(r.Body)
		s.patches = append(s.patches, string(body))
		if s.before != nil {
			s.before(s)
		}
		if !s.patch(w, body) {
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.object)
}

func (s *store) patch(w http.ResponseWriter, body []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var ops []map[string]any
	if err := dec.Decode(&ops); err != nil {
		refuse(w, 400, "BadRequest", err.Error())
		return false
	}
	text, _ := json.Marshal(s.object)
	object := parsed(s.t, string(text))
	for _, op := range ops {
		var err error
		if object, err = patched(object, op); err != nil {
			refuse(w, 422, "Invalid", err.Error())
			return false
		}
	}
	if got := object.(map[string]any)["metadata"].(map[string]any)["resourceVersion"]; got != strconv.Itoa(s.revision) {
		refuse(w, 409, "Conflict", "the object has been modified")
		return false
	}
	s.put(object)
	return true
}

func refuse(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{},
		"status": "Failure", "reason": reason, "message": message, "code": status})
}

// patched does one operation of RFC 6902, in place where it can.
func patched(tree any, op map[string]any) (any, error) {
	path, _ := op["path"].(string)
	value := op["value"]
	if op["op"] == "move" {
		var taken any
		var err error
		if tree, err = at(tree, op["from"].(string), func(any) (any, bool) { return nil, false }, &taken, false); err != nil {
			return nil, err
		}
		value = taken
	}
	var had any
	switch op["op"] {
	case "add", "move":
		return at(tree, path, func(any) (any, bool) { return value, true }, &had, true)
	case "replace":
		return at(tree, path, func(any) (any, bool) { return value, true }, &had, false)
	case "remove":
		return at(tree, path, func(any) (any, bool) { return nil, false }, &had, false)
	}
	return nil, fmt.Errorf("operation %v", op["op"])
}

// at replaces what is at a path, or removes it, or makes it where add says so.
func at(tree any, path string, with func(any) (any, bool), had *any, add bool) (any, error) {
	if path == "" {
		*had = tree
		value, _ := with(tree)
		return value, nil
	}
	name, rest, deeper := strings.Cut(path[1:], "/")
	name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	if deeper {
		rest = "/" + rest
	}
	switch t := tree.(type) {
	case map[string]any:
		member, there := t[name]
		if !there && (deeper || !add) {
			return nil, fmt.Errorf("no member %s", name)
		}
		value, stays := any(nil), true
		var err error
		if deeper {
			value, err = at(member, rest, with, had, add)
		} else {
			*had = member
			value, stays = with(member)
		}
		if t[name] = value; !stays {
			delete(t, name)
		}
		return t, err
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i > len(t) || i == len(t) && (deeper || !add) {
			return nil, fmt.Errorf("no element %s", name)
		}
		if deeper {
			t[i], err = at(t[i], rest, with, had, add)
			return t, err
		}
		if add {
			value, _ := with(nil)
			return slices.Insert(t, i, value), nil
		}
		*had = t[i]
		if value, stays := with(t[i]); stays {
			t[i] = value
			return t, nil
		}
		return slices.Delete(t, i, i+1), nil
	}
	return nil, fmt.Errorf("no place %s in a %s", path, reflect.TypeOf(tree))
}
