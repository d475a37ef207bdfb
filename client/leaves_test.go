package client_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// leaf is a value of a typed view that can be changed. pointer is where it is in the
// JSON of the view.
type leaf struct {
	pointer string
	// change makes it another value and returns its JSON as an any, nil when it is
	// gone from the JSON by that.
	change func() any
}

// leaves are those that are not zero, in the order of the types.
func leaves(view any) []leaf {
	var found []leaf
	collect(reflect.ValueOf(view).Elem(), "", false, &found)
	return found
}

func collect(v reflect.Value, pointer string, always bool, found *[]leaf) {
	if _, ok := v.Interface().(json.RawMessage); ok {
		return
	}
	if moment, ok := v.Interface().(time.Time); ok {
		if later := moment.Add(time.Hour); !moment.IsZero() {
			*found = append(*found, leaf{pointer, func() any {
				v.Set(reflect.ValueOf(later))
				return later.Format(time.RFC3339Nano)
			}})
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			collect(v.Elem(), pointer, true, found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, rest, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			collect(v.Field(i), pointer+"/"+name, !strings.Contains(rest, "omit"), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), fmt.Sprintf("%s/%d", pointer, i), true, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if value, ok := v.MapIndex(key).Interface().(string); ok {
				*found = append(*found, leaf{pointer + "/" + escape(key.String()), func() any {
					v.SetMapIndex(key, reflect.ValueOf(value+"x"))
					return value + "x"
				}})
			}
		}
	case reflect.String:
		if v.Len() > 0 {
			*found = append(*found, leaf{pointer, func() any {
				v.SetString(v.String() + "x")
				return v.String()
			}})
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		*found = append(*found, leaf{pointer, func() any {
			v.SetInt(v.Int() + 1)
			return v.Int()
		}})
	case reflect.Bool:
		*found = append(*found, leaf{pointer, func() any {
			v.SetBool(!v.Bool())
			if !v.Bool() && !always {
				return nil
			}
			return v.Bool()
		}})
	default:
		panic("a leaf of type " + v.Type().String())
	}
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
