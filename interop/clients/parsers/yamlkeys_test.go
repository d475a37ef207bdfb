package parsers_test

import (
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v2"
)

// keysAreUnclear reports whether a document has a mapping with two keys that
// are one member in JSON, or a key that is not a number and so equals nothing.
func keysAreUnclear(text []byte) bool {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return false
	}
	return unclear(value)
}

func unclear(value any) bool {
	switch v := value.(type) {
	case map[any]any:
		names := make(map[string]bool, len(v))
		for key, value := range v {
			name := memberName(key)
			if names[name] || name == "NaN" || unclear(value) {
				return true
			}
			names[name] = true
		}
	case []any:
		for _, element := range v {
			if unclear(element) {
				return true
			}
		}
	}
	return false
}

func memberName(key any) string {
	if f, ok := key.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 32)
	}
	return fmt.Sprint(key)
}

// keysRepeat reports whether a document that can be read has a key twice.
func keysRepeat(text []byte) bool {
	var value any
	_, repeated := errors.AsType[*yaml.TypeError](yaml.UnmarshalStrict(text, &value))
	return repeated
}
