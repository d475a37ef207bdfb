package managedfields_test

import (
	"encoding/json"
	"strings"
)

// tamper is what a client may do to managedFields before it writes them back.
func (q *sequence) tamper(fields []any) []any {
	g := q.gen
	text := pick(g.Rand,
		`[{}]`,
		`[]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:text":{},"f:one":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:inner":{"f:a":{}}}}}}}]`,
		`[{"manager":"x","operation":"Update","apiVersion":"kubevirt.io/v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{".":{},"f:name":{},"f:labels":{"f:a":{}}},"f:kind":{}}}]`,
		`[{"manager":"y","operation":"Update","apiVersion":"kubevirt.io/v1","subresource":"status","time":"2020-01-01T00:00:00.5+02:00","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:set":{".":{},"v:\"a\"":{},"v:\"b\"":{}},"f:one":{"k:{\"name\":\"b\"}":{}}}}}]`,
		`[{"manager":"z","operation":"Update","apiVersion":"kubevirt.io/v1alpha3","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:atomicObject":{"f:a":{}},"f:objects":{"k:{\"name\":\"a\"}":{".":{}}},"f:atomicList":{"i:0":{}}}}}]`,
		`[{"manager":"b","operation":"Apply","apiVersion":"kubevirt.io/v1alpha3","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:object":{".":{},"f:a":{},"f:nosuch":{"f:a":{}}},"f:one":{"k:{\"name\":\"a\"}":{"f:nested":{".":{},"k:{\"id\":1}":{"f:a":{}},"k:{\"id\":2.0}":{"f:a":{}}},"f:set":{"v:1":{},"v:2":{}}}}}}}]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v9","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]`,
		`[{"manager":"x","operation":"Foo","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]`,
		`[{"manager":"x","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsV1":{"f:spec":{}}}]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"spec":{}}}]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"z:spec":{},"f:spec":{"z:a":{}}}}]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:text":5}}}]`,
		`[{"manager":"x","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1"}]`,
		`[{"manager":"x","operation":"Update","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"b\"":{},".":{},"v:1":{},"v:1.0":{},"v:true":{},"v:null":{},"v:{\"a\":1}":{},"v:[1]":{},"i:3":{},"k:{\"b\":1,\"a\":\"x\"}":{},"k:{}":{},"f:z":{},"v:9007199254740993":{},"v:1e3":{},"v:10":{},"v:9":{},"v:\"<é\\u0041\"":{}}}}}]`,
	)
	if g.duplicates > 0 {
		text = strings.ReplaceAll(text, apiVersions[1], apiVersion)
	}
	if q.k.gvk.Kind != "Thing" {
		if strings.Contains(text, "f:set") || strings.Contains(text, "f:nested") {
			text = `[{}]`
		}
		text = strings.NewReplacer("f:one", "f:utilityVolumes", "f:text", "f:hostname", "f:objects", "f:volumes",
			"f:atomicList", "f:tolerations", "f:atomicObject", "f:domain").Replace(text)
	}
	var more []any
	if err := json.Unmarshal([]byte(text), &more); err != nil {
		panic(err)
	}
	switch {
	case len(fields) == 0 || oneIn(g.Rand, 3):
		return more
	case oneIn(g.Rand, 3): // one goes
		i := g.IntN(len(fields))
		return append(fields[:i:i], fields[i+1:]...)
	case oneIn(g.Rand, 3): // one changes its time alone
		if e, ok := fields[g.IntN(len(fields))].(map[string]any); ok {
			e["time"] = pick(g.Rand, "2019-01-01T00:00:00Z", "2030-01-01T00:00:00Z")
		}
		return fields
	}
	return append(fields, more...)
}
