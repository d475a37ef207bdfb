package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/manifest"
)

// reference decodes an object member by member with encoding/json, into maps, which it
// keeps by exact names and of which the last of several counts. It is what View should
// do, many times slower.
type reference struct {
	bad map[string]string // what does not fit and why, by pointer
}

func (r *reference) decode(raw json.RawMessage, v reflect.Value, pointer string) bool {
	method, own := v.Addr().Interface().(json.Unmarshaler)
	switch kind := v.Kind(); {
	case string(raw) == "null" && !own:
		return true
	case kind == reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if !r.decode(raw, to.Elem(), pointer) {
			return false
		}
		v.Set(to)
	case kind == reflect.Struct && !own:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return r.report(pointer, "object", raw)
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if member, ok := members[name]; ok {
				r.decode(member, v.Field(i), pointer+"/"+name)
			}
		}
	case kind == reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return r.report(pointer, "object", raw)
		}
		v.Set(reflect.MakeMap(v.Type()))
		for name, member := range members {
			value := reflect.New(v.Type().Elem()).Elem()
			if r.decode(member, value, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)) {
				v.SetMapIndex(reflect.ValueOf(name), value)
			}
		}
	case kind == reflect.Slice && !own:
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return r.report(pointer, "array", raw)
		}
		v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
		for i, element := range elements {
			r.decode(element, v.Index(i), pointer+"/"+strconv.Itoa(i))
		}
	default:
		read := func() error { return json.Unmarshal(raw, v.Addr().Interface()) }
		if own { // not by way of encoding/json, whose text differs between versions of Go
			read = func() error { return method.UnmarshalJSON(raw) }
		}
		if err := read(); err != nil {
			v.SetZero()
			r.bad[pointer] = err.Error()
			return false
		}
	}
	return true
}

func (r *reference) report(pointer, belongs string, raw json.RawMessage) bool {
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean"}
	kind := kinds[raw[0]]
	if kind == "" {
		kind = "number"
	}
	r.bad[pointer] = fmt.Sprintf("%s where an %s belongs", kind, belongs)
	return false
}

// repeats reports whether an object has two members of one name somewhere. An error
// about the first of them is one that reference does not see.
func repeats(body string) bool {
	dec := json.NewDecoder(strings.NewReader(body))
	var names []map[any]bool // of the objects that are open, nil for an array
	var isName []bool
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		top := len(names) - 1
		if top >= 0 && names[top] != nil && isName[top] && token != json.Delim('}') {
			if names[top][token] {
				return true
			}
			names[top][token], isName[top] = true, false
			continue
		}
		switch token {
		case json.Delim('}'), json.Delim(']'):
			names, isName = names[:top], isName[:top]
			continue
		}
		if top >= 0 {
			isName[top] = true
		}
		switch token {
		case json.Delim('{'):
			names, isName = append(names, map[any]bool{}), append(isName, true)
		case json.Delim('['):
			names, isName = append(names, nil), append(isName, false)
		}
	}
}

// compare holds View against the reference.
func compare(t testing.TB, body string) {
	t.Helper()
	vm, err := client.NewVMI([]byte(body))
	require.NoError(t, err)
	got, err := vm.View()
	want, r := new(vmi.VirtualMachineInstance), reference{bad: map[string]string{}}
	r.decode(vm.Raw, reflect.ValueOf(want).Elem(), "")
	require.Equal(t, want, got)
	if repeats(body) {
		return
	}
	if len(r.bad) == 0 {
		require.NoError(t, err)
		return
	}
	var item *client.ItemError
	require.ErrorAs(t, err, &item)
	require.Contains(t, r.bad, item.Pointer)
	require.Equal(t, r.bad[item.Pointer], item.Err.Error())
}

// corpus is every object of the corpus, by file.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	objects := map[string]string{}
	for object, err := range manifest.Walk([]string{"../openapi/testdata/corpus"}, nil) {
		require.NoError(t, err)
		objects[filepath.Base(object.File)] = string(object.JSON)
	}
	require.GreaterOrEqual(t, len(objects), 30)
	return objects
}

// The values of each object are replaced by others, of which some fit and some do not.
func TestViewIsWhatEncodingJSONReads(t *testing.T) {
	others := []string{`null`, `true`, `"text"`, `"\u00fc\ud83d\ude00\n"`, `7`, `-0`, `1e2`, `1e999`, `-9223372036854775808`,
		`9223372036854775808`, `{}`, `[]`, `[null]`, `{"name":{"a":[1.5,"x",false,null,{}]}}`, `"2026-12-01T22:07:36+02:00"`, `"2026-13-01T00:00:00Z"`}
	objects := corpus(t)
	for _, file := range slices.Sorted(maps.Keys(objects)) {
		body := objects[file]
		compare(t, body)
		for _, place := range places(body)[1:] {
			for i, other := range others {
				if (place[0]+i)%16 == 0 { // each place meets one, its neighbour another
					compare(t, body[:place[0]]+other+body[place[1]:])
				}
			}
		}
	}
	compare(t, `{"metadata":{"name":"a","labels":{"a":"1","b":"2","a":3}},"metadata":{"namespace":"b"},"spec":{"domain":{"cpu":{"cores":1}}},"spec":{"domain":null}}`)
	compare(t, "{\"metadata\":{\"name\":\"\xff\",\"labels\":{\"\xff\":\"\xed\xa0\x80\",\"\\ud800\":\"\"}}}")
	compare(t, `{"metadata":{"managedFields":[`+strings.Repeat(`{"a":`, 9000)+`1`+strings.Repeat(`}`, 9000)+`]}}`)
}

// places are where the values of an object begin and end.
func places(body string) [][2]int {
	var found [][2]int
	dec := json.NewDecoder(strings.NewReader(body))
	var walk func(json.RawMessage, int)
	walk = func(raw json.RawMessage, begin int) {
		found = append(found, [2]int{begin, begin + len(raw)})
		dec := json.NewDecoder(bytes.NewReader(raw))
		open, _ := dec.Token()
		if open != json.Delim('{') && open != json.Delim('[') {
			return
		}
		for dec.More() {
			if open == json.Delim('{') {
				_, _ = dec.Token()
			}
			var child json.RawMessage
			_ = dec.Decode(&child)
			walk(child, begin+int(dec.InputOffset())-len(child))
		}
	}
	var whole json.RawMessage
	_ = dec.Decode(&whole)
	walk(whole, 0)
	return found
}

func FuzzView(f *testing.F) {
	for _, body := range corpus(f) {
		f.Add(body)
	}
	f.Add(object("web", `,"spec":{"domain":{"cpu":{"cores":"2"}},"nodeSelector":{"a\\":1}}`))
	f.Add(`{"status":{"phase":"Running","Phase":"Failed","conditions":[{"lastProbeTime":null},7,{"lastProbeTime":"x"}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if _, err := client.NewVMI([]byte(body)); err == nil {
			compare(t, body)
		}
	})
}

func TestRepeatsIsSeen(t *testing.T) {
	for body, want := range map[string]bool{
		`{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1}]}`: false,
		`{"a":1,"a":2}`:                  true,
		`{"b":[[],{"a":1,"\u0061":[]}]}`: true,
	} {
		assert.Equal(t, want, repeats(body), body)
	}
}
