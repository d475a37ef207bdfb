package managedfields_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/managedfields"
)

// What a Kubernetes API server was seen to answer to the same writes.
func TestUpdate(t *testing.T) {
	m := newMachine(t)
	m.write("creator", `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","generateName":"a","uid":"1",
		"labels":{"l":"1"},"annotations":{},"finalizers":["a/b"],"ownerReferences":[{"uid":"1","name":"a"}],"generation":1},
		"spec":{"domain":{"devices":{}},"nodeSelector":{"x":"y"},"resourceClaims":[{"name":"c","request":"r"}]},"status":{"phase":"Running"}}`)
	assert.Equal(t, []string{`creator Update 1 {"f:metadata":{"f:annotations":{},"f:finalizers":{".":{},"v:\"a/b\"":{}},"f:generateName":{},` +
		`"f:labels":{".":{},"f:l":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"1\"}":{}}},` +
		`"f:spec":{".":{},"f:domain":{".":{},"f:devices":{}},"f:nodeSelector":{".":{},"f:x":{}},` +
		`"f:resourceClaims":{".":{},"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:request":{}}}},"f:status":{".":{},"f:phase":{}}}`}, m.owners())

	m = newMachine(t)
	m.put("a", `"labels":{"l":"1"}`, `"hostname":"h","nodeSelector":{"x":"y"}`)
	m.put("b", `"labels":{"l":"2","m":"1"}`, `"hostname":"h","nodeSelector":{"x":"y"}`)
	assert.Equal(t, []string{
		`a Update 1 {"f:metadata":{"f:labels":{}},"f:spec":{".":{},"f:hostname":{},"f:nodeSelector":{".":{},"f:x":{}}}}`,
		`b Update 2 {"f:metadata":{"f:labels":{"f:l":{},"f:m":{}}}}`}, m.owners(), "who changes a field owns it")
	before := m.owners()
	m.put("c", `"labels":{"l":"2","m":"1"}`, `"hostname":"h","nodeSelector":{"x":"y"}`)
	assert.Equal(t, before, m.owners(), "who changes nothing owns nothing")
	m.put("a", `"labels":{"l":"3"},"generation":5,"resourceVersion":"7"`, `"nodeSelector":{}`)
	assert.Equal(t, []string{`a Update 4 {"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:spec":{".":{},"f:nodeSelector":{}}}`}, m.owners(),
		"what is gone has no owner, and an owner of nothing no entry")
}

func TestUpdateOfManagedFields(t *testing.T) {
	start := func() *machine {
		m := newMachine(t)
		m.mustApply("live", "", `"hostname":"h"`)
		return m
	}
	live := `live Apply 1 {"f:spec":{"f:hostname":{}}}`
	entry := func(members string) string { return `"managedFields":[{` + members + `}]` }
	const good = `"manager":"x","operation":"Update","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":`
	for _, c := range []struct {
		name, fields string
		want         []string
	}{
		{"null", `"managedFields":null`, []string{live}},
		{"an empty list", `"managedFields":[]`, []string{live}},
		{"a list of an empty entry", `"managedFields":[{}]`, nil},
		{"a list of null", `"managedFields":[null]`, nil},
		{"two empty entries", `"managedFields":[{},{}]`, []string{live}},
		{"no list", `"managedFields":"x"`, []string{live}},
		{"a list of no objects", `"managedFields":[5]`, []string{live}},
		{"an operation that is none", entry(`"manager":"x","operation":"Foo","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1"`), []string{live}},
		{"no apiVersion", entry(`"operation":"Apply","fieldsType":"FieldsV1"`), []string{live}},
		{"an apiVersion that is none", entry(`"operation":"Apply","apiVersion":"kubevirt.io/v9","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}`), []string{live}},
		{"no fieldsType", entry(`"operation":"Apply","apiVersion":"kubevirt.io/v1"`), []string{live}},
		{"a time that is none", entry(`"time":"yesterday",` + good + `{"f:spec":{}}`), []string{live}},
		{"a manager that is a number", entry(`"manager":5,"operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1"`), []string{live}},
		{"fields that are text", entry(good + `"x"`), []string{live}},
		{"fields without a kind", entry(good + `{"spec":{}}`), []string{live}},
		{"a field that is a number", entry(good + `{"f:spec":{"f:hostname":5}}`), []string{live}},
		{"a key that is no JSON", entry(good + `{"f:spec":{"k:{":{}}}`), []string{live}},
		{"a key that is no object", entry(good + `{"f:spec":{"k:1":{}}}`), []string{live}},
		{"an index that is no number", entry(good + `{"f:spec":{"i:x":{}}}`), []string{live}},
		{"no fields", entry(good + `null`), nil},
		{"empty fields", entry(good + `{}`), nil},
		{"fields of a later kind", entry(good + `{"z:spec":{},"f:spec":{"f:hostname":{}}}`), []string{`x Update - {"f:spec":{"f:hostname":{}}}`}},
		{"fields that no object has", entry(good + `{"f:spec":{"f:nosuch":{"f:x":{}}}}`), []string{`x Update - {"f:spec":{"f:nosuch":{"f:x":{}}}}`}},
		{"fields that nobody owns", entry(good + `{"f:kind":{},"f:metadata":{"f:name":{}}}`), []string{`x Update - {"f:kind":{},"f:metadata":{"f:name":{}}}`}},
		{"items of lists with one owner", entry(good + `{"f:spec":{"f:volumes":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}},"f:domain":{"f:devices":{"f:disks":{"i:0":{}}}}}}`),
			[]string{`x Update - {"f:spec":{"f:domain":{"f:devices":{"f:disks":{}}},"f:volumes":{}}}`}},
		{"members of an object with one owner", entry(good + `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"1\"}":{"f:name":{}}}}}`),
			[]string{`x Update - {"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"1\"}":{}}}}`}},
		{"all kinds of elements", entry(good + `{"f:metadata":{"f:finalizers":{"v:\"b\"":{},".":{},"v:1":{},"v:1.0":{},"v:true":{},"v:null":{},"v:{\"a\":1}":{},` +
			`"v:[1]":{},"i:3":{},"k:{\"b\":1,\"a\":\"x\"}":{},"k:{}":{},"f:z":{},"v:9007199254740993":{},"v:1e3":{},"v:\"<é\\u0041\"":{}}}}`),
			[]string{`x Update - {"f:metadata":{"f:finalizers":{".":{},"f:z":{},"i:3":{},"k:{\"a\":\"x\",\"b\":1}":{},"k:{}":{},"v:\"\\u003céA\"":{},"v:\"b\"":{},` +
				`"v:1":{},"v:1000":{},"v:9007199254740992":{},"v:[1]":{},"v:null":{},"v:true":{},"v:{\"a\":1}":{}}}}`}},
		{"the same manager twice", `"managedFields":[{` + good + `{"f:spec":{"f:a":{}}}},{` + good + `{"f:spec":{"f:b":{}}}}]`, []string{`x Update - {"f:spec":{"f:b":{}}}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := start()
			m.put("writer", c.fields, `"hostname":"h"`)
			if c.want == nil {
				c.want = []string{}
			}
			assert.Equal(t, c.want, m.owners())
		})
	}
}

func TestUpdateOfTimes(t *testing.T) {
	m := newMachine(t)
	m.mustApply("live", "", `"hostname":"h"`)
	before := m.fields()
	m.put("writer", `"managedFields":`+strings.Replace(before, "2026", "2030", 1), `"hostname":"h"`)
	assert.Equal(t, before, m.fields(), "a write of other times alone changes nothing")
	m.put("writer", `"managedFields":`+strings.Replace(before, "2026-08-01T12:01:00Z", "2025-01-01T02:00:00.7+02:00", 1), `"hostname":"g"`)
	assert.Equal(t, `[{"apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:hostname":{}}},"manager":"writer","operation":"Update","time":"2026-08-01T12:03:00Z"}]`, m.fields())
}

func TestForgottenOwners(t *testing.T) {
	m := newMachine(t)
	m.put("a", "", `"hostname":"h"`)
	m.put("b", `"managedFields":[{}]`, `"hostname":"h"`)
	m.put("c", "", `"hostname":"i"`)
	assert.Empty(t, m.owners(), "nobody owns what is written as a whole …")
	m.mustApply("d", "", `"subdomain":"s"`)
	assert.Equal(t, []string{`d Apply 4 {"f:spec":{"f:subdomain":{}}}`, `before-first-apply Update 4 {"f:spec":{".":{},"f:hostname":{}}}`}, m.owners(),
		"… before somebody applies")
}

func TestManyUpdaters(t *testing.T) {
	m := newMachine(t)
	var labels []string
	for i := range 13 {
		labels = append(labels, fmt.Sprintf(`"l%02d":""`, i))
		m.put(fmt.Sprintf("m%02d", i), `"labels":{`+strings.Join(labels, ",")+`}`, "")
	}
	owners := m.owners()
	require.Len(t, owners, 10)
	assert.Equal(t, `ancient-changes Update 4 {"f:metadata":{"f:labels":{".":{},"f:l00":{},"f:l01":{},"f:l02":{},"f:l03":{}}},"f:spec":{}}`, owners[0])
	assert.Equal(t, `m04 Update 5 {"f:metadata":{"f:labels":{"f:l04":{}}}}`, owners[1])
}

func TestOwnersOfUnreadableLists(t *testing.T) {
	m := newMachine(t)
	m.put("a", "", `"hostname":"h"`)
	before := m.fields()
	m.put("b", "", `"hostname":"i","resourceClaims":[{"request":"no name"}]`)
	assert.Equal(t, before, m.fields())

	m = newMachine(t)
	m.put("a", `"finalizers":["x/y","x/y"]`, `"resourceClaims":[{"name":"c"},{"name":"c"}]`)
	m.put("b", `"finalizers":["x/y"]`, `"resourceClaims":[{"name":"c"},{"name":"c","request":"r"}]`)
	assert.Equal(t, []string{`a Update 1 {"f:metadata":{"f:finalizers":{}},"f:spec":{".":{},"f:resourceClaims":{}}}`,
		`b Update 2 {"f:metadata":{"f:finalizers":{"v:\"x/y\"":{}}},"f:spec":{"f:resourceClaims":{"k:{\"name\":\"c\"}":{}}}}`}, m.owners(),
		"duplicates have one owner")
}

func TestNumbersByValue(t *testing.T) {
	m := newMachine(t)
	m.put("a", "", `"terminationGracePeriodSeconds":10,"x":9007199254740993,"y":1e400`)
	before := m.owners()
	m.put("b", "", `"terminationGracePeriodSeconds":1.0e1,"x":9007199254740993,"y":1e401`)
	assert.Equal(t, before, m.owners())
	m.put("b", "", `"terminationGracePeriodSeconds":10,"x":9007199254740992,"y":1e400`)
	assert.Equal(t, `b Update 3 {"f:spec":{"f:x":{}}}`, m.owners()[1])
}

func TestUpdateOfNoObjects(t *testing.T) {
	for _, object := range []string{``, `null`, `[]`, `"x"`, `5`, `{`, `{}}`, `{"a":1,}`, `{"a":01}`, `{"a":"\x"}`} {
		_, err := managedfields.VirtualMachineInstance.Update(nil, []byte(object), managedfields.Write{})
		assert.ErrorContains(t, err, "new object: ", object)
		_, err = managedfields.VirtualMachineInstance.Update([]byte(object), []byte(`{}`), managedfields.Write{})
		assert.ErrorContains(t, err, "live object: ", object)
	}
	for depth, good := range map[int]bool{9999: true, 10000: false} {
		_, err := managedfields.VirtualMachineInstance.Update(nil, []byte(`{"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`), managedfields.Write{})
		assert.Equal(t, good, err == nil, "%d: %v", depth, err)
	}
}
