package client

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// plans are those of the types asked for so far, by reflect.Type.
var plans sync.Map

func planOf(t reflect.Type) plan {
	if known, ok := plans.Load(t); ok {
		return known.(plan)
	}
	p := makePlan(t)
	plans.Store(t, p)
	return p
}

// later looks a plan up when it is first needed, for types that contain themselves.
func later(t reflect.Type) plan {
	find := sync.OnceValue(func() plan { return planOf(t) })
	return func(d *decoder, v reflect.Value) (bool, error) { return find()(d, v) }
}

func makePlan(t reflect.Type) plan {
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return pointerPlan(t)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return ownMethod
	case kind == reflect.String:
		return decodeString
	case kind == reflect.Bool:
		return decodeBool
	case kind >= reflect.Int && kind <= reflect.Int64:
		return decodeInt
	case t == reflect.TypeFor[any]():
		return decodeAny
	case kind == reflect.Struct:
		return structPlan(t)
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return slicePlan(t)
	case t == reflect.TypeFor[map[string]string]():
		return decodeStringMap
	case kind == reflect.Map && t.Key() == reflect.TypeFor[string]():
		return mapPlan(t)
	}
	return standard
}

// pointerPlan leaves nil where what is pointed to cannot hold the value.
func pointerPlan(t reflect.Type) plan {
	elem := later(t.Elem())
	return func(d *decoder, v reflect.Value) (bool, error) {
		if d.next() == 'n' {
			return true, d.word("null")
		}
		to := reflect.New(t.Elem())
		fits, err := elem(d, to.Elem())
		if fits {
			v.Set(to)
		}
		return fits, err
	}
}

// slicePlan keeps a place for each element, so that positions agree with the text.
func slicePlan(t reflect.Type) plan {
	elem := later(t.Elem())
	return func(d *decoder, v reflect.Value) (bool, error) {
		if d.next() != '[' {
			return d.wrong("array")
		}
		n := 0
		err := d.elements(func() error {
			if n == v.Cap() {
				v.Grow(1)
			}
			n++
			v.SetLen(n)
			_, err := elem(d, v.Index(n-1))
			return err
		})
		if n == 0 {
			v.Set(reflect.MakeSlice(t, 0, 0)) // [] is not null
		}
		return true, err
	}
}

// mapPlan leaves out members that do not fit: an empty text is a value, too.
func mapPlan(t reflect.Type) plan {
	elem := later(t.Elem())
	return func(d *decoder, v reflect.Value) (bool, error) {
		if d.next() != '{' {
			return d.wrong("object")
		}
		v.Set(reflect.MakeMap(t))
		value := reflect.New(t.Elem()).Elem()
		return true, d.members(func(quoted []byte) error {
			name := reflect.ValueOf(unquote(quoted))
			value.SetZero()
			fits, err := elem(d, value)
			if fits {
				v.SetMapIndex(name, value)
			} else {
				v.SetMapIndex(name, reflect.Value{}) // what an earlier one of that name has left
			}
			return err
		})
	}
}

// decodeStringMap is mapPlan for labels and annotations, of which every object has many.
func decodeStringMap(d *decoder, v reflect.Value) (bool, error) {
	if d.next() != '{' {
		return d.wrong("object")
	}
	m := map[string]string{}
	v.Set(reflect.ValueOf(m))
	return true, d.members(func(quoted []byte) error {
		name := unquote(quoted)
		if d.next() == '"' {
			value, err := d.string()
			m[name] = value
			return err
		}
		value := new(string)
		fits, err := standard(d, reflect.ValueOf(value).Elem())
		if m[name] = *value; !fits {
			delete(m, name)
		}
		return err
	})
}

type field struct {
	index int
	plan  plan
}

// structPlan matches names exactly. Types with more than names in their tags are left
// to encoding/json; the generated ones have none.
func structPlan(t reflect.Type) plan {
	fields := make(map[string]field, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" || strings.Contains(options, "string") || i >= 64 {
			return standard
		}
		fields[name] = field{i, later(f.Type)}
	}
	return func(d *decoder, v reflect.Value) (bool, error) {
		if d.next() != '{' {
			return d.wrong("object")
		}
		seen := uint64(0)
		return true, d.members(func(quoted []byte) error {
			name := quoted[1 : len(quoted)-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = []byte(unquote(quoted))
			}
			f, known := fields[string(name)]
			if !known {
				return d.value(nowhere, 1)
			}
			if bit := uint64(1) << f.index; seen&bit != 0 {
				v.Field(f.index).SetZero()
			} else {
				seen |= bit
			}
			_, err := f.plan(d, v.Field(f.index))
			return err
		})
	}
}
