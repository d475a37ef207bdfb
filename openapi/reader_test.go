package openapi_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// kinRouter reads the given document as OpenAPI 3.0, which changes nothing but
// the time that it takes: it has no types with null.
var kinRouter = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Source(openapi.ProfileDocument))
	if err != nil {
		return nil, err
	}
	doc.Servers, doc.OpenAPI = nil, "3.0.3"
	return legacy.NewRouter(doc)
})

// kinAnswer has kin-openapi alone, without this package, judge an answer of the
// given document, as its users do.
func kinAnswer(t *testing.T, path string, status int, contentType string, body []byte) error {
	t.Helper()
	router, err := kinRouter()
	require.NoError(t, err)
	req := httptest.NewRequest(http.MethodGet, path, nil)
	route, params, err := router.FindRoute(req)
	require.NoError(t, err)
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: route, PathParams: params},
		Status:                 status,
		Header:                 header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{MultiError: true},
	})
}

const (
	listPath = "/apis/kubevirt.io/v1/namespaces/lab/virtualmachineinstances"
	readPath = listPath + "/web"
)

// What kin-openapi lets pass and we do not, or the other way round: one row for
// each finding. Rows are judged by the given document.
func TestTextsThatKinJudgesOtherwise(t *testing.T) {
	spec := func(s string) string { return vmi(`"spec":{` + s + `}`) }
	meta := func(s string) string {
		return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web",` + s + `}}`
	}
	created := func(s string) string { return meta(`"creationTimestamp":"` + s + `"`) }
	cores := func(s string) string { return spec(`"domain":{"cpu":{"cores":` + s + `}}`) }
	uuid := func(s string) string { return spec(`"domain":{"firmware":{"uuid":"` + s + `"}}`) }
	mac := func(s string) string {
		return spec(`"domain":{"devices":{"interfaces":[{"name":"a","macAddress":"` + s + `"}]}}`)
	}
	const (
		coresAt = "/spec/domain/cpu/cores "
		uuidAt  = "/spec/domain/firmware/uuid "
		macAt   = "/spec/domain/devices/interfaces/0/macAddress "
		timeAt  = "/metadata/creationTimestamp "
	)
	deep := func(n int) string {
		return spec(`"affinity":` + strings.Repeat(`{"a":`, n-3) + `{}` + strings.Repeat(`}`, n-3))
	}
	for _, row := range []struct {
		name  string
		text  string
		byKin bool // kin-openapi alone takes it
		want  []string
	}{
		{"plain", vmi(), true, nil},
		{"white space around", " \n" + vmi() + "\r\n\t ", true, nil},

		{"duplicate key", vmi(`"status":{"phase":"Bogus","phase":"Running"}`), true, []string{"/status/phase json-duplicate-key"}},
		{"duplicate key of a map", meta(`"labels":{"a":"1","a":"2"}`), true, []string{"/metadata/labels/a json-duplicate-key"}},
		{"duplicate key, escaped", meta(`"labels":{"a":"1","\u0061":"2"}`), true, []string{"/metadata/labels/a json-duplicate-key"}},
		{"key with an escape", strings.Replace(vmi(`"status":{"phase":"Running"}`), `"kind"`, `"\u006bind"`, 1), true, nil},
		{"key case", vmi(`"status":{"Phase":"Bogus"}`), true, []string{"/status/Phase json-key-case"}},
		{"key case, Kelvin sign", "{\"\u212Aind\":\"Pod\",\"metadata\":{\"name\":\"web\"}}", true, []string{"/\u212Aind json-key-case"}},
		{"key case of a label", meta(`"labels":{"Name":"1","name":"2"}`), true, nil},
		{"key case of a field that KubeVirt has", spec(`"volumes":[{"name":"a","persistentVolumeClaim":{"readOnly":true}}]`), true, nil},
		{"second value", vmi() + vmi(), true, []string{" json-second-value"}},
		{"trailing bytes", vmi() + "}", true, []string{" json-trailing-data"}},
		{"trailing text that begins as a value", vmi() + " nope", true, []string{" json-trailing-data"}},
		{"trailing text", vmi() + " oops", true, []string{" json-trailing-data"}},
		{"invalid UTF-8", meta("\"namespace\":\"a\xff\""), true, []string{"/metadata/namespace json-invalid-utf8"}},
		{"invalid UTF-8 in a key", meta("\"labels\":{\"a\xff\":\"b\"}"), true, []string{"/metadata/labels/a\uFFFD json-invalid-utf8"}},
		{"lone surrogate", meta(`"namespace":"\ud800"`), true, []string{"/metadata/namespace json-invalid-utf8"}},
		{"surrogate pair", meta(`"namespace":"\ud83d\ude00"`), true, nil},
		{"NUL", meta(`"namespace":"a\u0000b"`), true, nil},
		{"byte order mark", "\xEF\xBB\xBF" + vmi(), false, []string{" json-byte-order-mark"}},
		{"byte order mark and more", "\xEF\xBB\xBF" + cores("0"), false, []string{" json-byte-order-mark", coresAt + "minimum"}},
		{"empty", "", false, []string{" json-syntax"}},
		{"white space alone", " \n ", false, []string{" json-syntax"}},
		{"cut off", vmi()[:30], false, []string{" json-syntax"}},
		{"YAML", "kind: VirtualMachineInstance", false, []string{" json-syntax"}},
		{"trailing comma", `{"metadata":{"name":"web",}}`, false, []string{"/metadata json-syntax"}},
		{"comment", `{"kind":/* */"VirtualMachineInstance"}`, false, []string{"/kind json-syntax"}},
		{"nested 1,000 deep", deep(1000), true, nil},
		{"nested 1,001 deep", deep(1001), true, []string{"/spec/affinity" + strings.Repeat("/a", 998) + " json-depth"}},

		{"integer as 1.0", cores("1.0"), true, []string{coresAt + "json-integer-form"}},
		{"integer as 2e0", cores("2e0"), true, []string{coresAt + "json-integer-form"}},
		{"integer as 1E3", cores("1E3"), true, []string{coresAt + "json-integer-form"}},
		{"integer as 1.5", cores("1.5"), false, []string{coresAt + "type"}},
		{"integer of 20 digits", cores("99999999999999999999"), true, []string{coresAt + "json-integer-range"}},
		{"largest integer", cores("9223372036854775807"), true, nil},
		{"one more", cores("9223372036854775808"), true, []string{coresAt + "json-integer-range"}},
		{"smallest integer", cores("-9223372036854775808"), false, []string{coresAt + "minimum"}},
		{"one less", cores("-9223372036854775809"), false, []string{coresAt + "json-integer-range", coresAt + "minimum"}},
		{"1e400", cores("1e400"), false, []string{coresAt + "json-number-range"}},
		{"1e400 where nothing is declared", spec(`"affinity":{"a":1e400}`), true, []string{"/spec/affinity/a json-number-range"}},
		{"1.0 where nothing is declared", spec(`"affinity":{"a":1.0}`), true, nil},
		{"-0", cores("-0"), false, []string{coresAt + "minimum"}},
		{"leading zero", cores("01"), false, []string{"/spec/domain/cpu json-syntax"}},

		{"day that is not", created("2026-02-30T00:00:00Z"), false, []string{timeAt + "format"}},
		{"second 60", created("2016-12-31T23:59:60Z"), true, []string{timeAt + "format"}},
		{"year 0000", created("0000-01-01T00:00:00Z"), true, nil},
		{"lower-case t", created("2026-02-03t00:00:00Z"), false, []string{timeAt + "format"}},
		{"lower-case z", created("2026-02-03T00:00:00z"), false, []string{timeAt + "format"}},
		{"24:00:00", created("2026-02-03T24:00:00Z"), false, []string{timeAt + "format"}},
		{"no zone", created("2026-02-03T00:00:00"), false, []string{timeAt + "format"}},
		{"comma fraction", created("2026-02-03T00:00:00,5Z"), false, []string{timeAt + "format"}},
		{"one digit for the hour", created("2026-02-03T1:00:00Z"), false, []string{timeAt + "format"}},
		{"zone of 24 hours", created("2026-02-03T00:00:00+24:00"), false, []string{timeAt + "format"}},
		{"zone without colon", created("2026-02-03T00:00:00+0200"), false, []string{timeAt + "format"}},
		{"zone with a minute 60", created("2026-02-03T00:00:00-01:60"), false, []string{timeAt + "format"}},
		{"fraction without digits", created("2026-02-03T00:00:00.Z"), false, []string{timeAt + "format"}},
		{"fraction and zone", created("2026-02-03T00:00:00.123456+02:00"), true, nil},
		{"null for a time", meta(`"creationTimestamp":null`), false, []string{timeAt + "type"}},

		{"uuid", uuid("5d307ca9-b3ef-428c-8861-06e72d69f223"), true, nil},
		{"uuid in upper case, version 0", uuid("5D307CA9-B3EF-028C-8861-06E72D69F223"), true, nil},
		{"uuid that is none", uuid("web-1"), true, []string{uuidAt + "format"}},
		{"uuid without dashes", uuid("5d307ca9b3ef428c886106e72d69f223"), true, []string{uuidAt + "format"}},
		{"uuid with a wrong digit", uuid("5d307ca9-b3ef-428c-8861-06e72d69f22g"), true, []string{uuidAt + "format"}},
		{"mac", mac("02:00:5e:00:00:01"), true, nil},
		{"mac with a newline", mac(`02:00:5e:00:00:01\n`), false, []string{macAt + "pattern"}},
		{"mac with dashes", mac("02-00-5e-00-00-01"), false, []string{macAt + "pattern"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			byKin := kinAnswer(t, readPath, http.StatusOK, "application/json", []byte(row.text))
			assert.Equal(t, row.byKin, byKin == nil, "kin-openapi says %v", byKin)
			want := row.want
			if want == nil {
				want = []string{}
			}
			assert.Equal(t, want, lines(load(t, openapi.ProfileDocument).ValidateObject([]byte(row.text))))
		})
	}
}

func TestUUIDIsFreeInKubeVirt(t *testing.T) {
	text := []byte(vmi(`"spec":{"domain":{"firmware":{"uuid":"web-1"}}}`))
	assert.True(t, load(t, openapi.ProfileDocument).ValidateObject(text).Has("format"))
	assert.True(t, load(t, openapi.ProfileKubernetes).ValidateObject(text).Has("format"))
	assert.Empty(t, load(t, openapi.ProfileKubeVirt).ValidateObject(text))
}

func TestAllIssuesInTheOrderOfTheText(t *testing.T) {
	text := vmi(
		`"status":{"phase":"Runing","Phase":"Running","migrationState":{"completed":"yes"}}`,
		`"spec":{"terminationGracePeriodSeconds":-1,"domain":{"cpu":{"cores":0,"sockets":1.0},
			"devices":{"disks":[{"bootOrder":"1"},{"name":7}],"interfaces":[{"name":"a","ports":[{"port":70000,"protocol":"ICMP"}]}]}}}`,
		`"kind":"Pod"`,
	)
	assert.Equal(t, []string{
		"/status/phase enum",
		"/status/Phase json-key-case",
		"/status/migrationState/completed type",
		"/spec/terminationGracePeriodSeconds minimum",
		"/spec/domain/cpu/cores minimum",
		"/spec/domain/cpu/sockets json-integer-form",
		"/spec/domain/devices/disks/0/name required",
		"/spec/domain/devices/disks/0/bootOrder type",
		"/spec/domain/devices/disks/1/name type",
		"/spec/domain/devices/interfaces/0/ports/0/port maximum",
		"/spec/domain/devices/interfaces/0/ports/0/protocol enum",
		"/kind json-duplicate-key",
		"/kind enum",
	}, lines(load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(text))))
}

func TestIssuesSayWhatWasExpectedAndFound(t *testing.T) {
	text := vmi(`"status":{"phase":"Runing","nodeName":{"a":"b"},"conditions":[{"type":"Ready","status":true}]}`,
		`"spec":{"domain":{"cpu":{"cores":0,"threads":70000000000000000000},"firmware":{"serial":[]}}}`)
	assert.Equal(t, openapi.Issues{
		{Pointer: "/status/phase", Rule: "enum", Value: `"Runing"`,
			Message: `must be one of "Pending", "Scheduling", "Scheduled", "Running", "Succeeded", "Failed", "Unknown"`},
		{Pointer: "/status/nodeName", Rule: "type", Value: "{…}", Message: "must be a string, not an object"},
		{Pointer: "/status/conditions/0/status", Rule: "enum", Value: "true", Message: `must be one of "True", "False", "Unknown"`},
		{Pointer: "/spec/domain/cpu/cores", Rule: "minimum", Value: "0", Message: "must be at least 1"},
		{Pointer: "/spec/domain/cpu/threads", Rule: "json-integer-range", Value: "70000000000000000000", Message: "must fit into 64 bits"},
		{Pointer: "/spec/domain/firmware/serial", Rule: "type", Value: "[]", Message: "must be a string, not an array"},
	}, load(t, openapi.ProfileKubernetes).ValidateObject([]byte(text)))
}

func TestValuesAreShort(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", 78):  `"` + strings.Repeat("x", 78) + `"`,
		strings.Repeat("x", 79):  `"` + strings.Repeat("x", 78) + "…",
		strings.Repeat("ä", 500): `"` + strings.Repeat("ä", 78) + "…",
		strings.Repeat("𝛼", 500): `"` + strings.Repeat("𝛼", 78) + "…",
	} {
		issues := load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(vmi(`"status":{"phase":"` + text + `"}`)))
		require.Len(t, issues, 1)
		assert.Equal(t, want, issues[0].Value)
	}
}

func TestPointersEscape(t *testing.T) {
	issues := load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","labels":{"example.com/a~b":1}}}`))
	assert.Equal(t, []string{"/metadata/labels/example.com~1a~0b type"}, lines(issues))
	assert.Equal(t, "1", issues[0].Value)
}

func TestIssuesAsError(t *testing.T) {
	d := load(t, openapi.ProfileKubeVirt)
	assert.NoError(t, d.ValidateObject([]byte(vmi())).Err())
	assert.EqualError(t, d.ValidateObject([]byte(vmi(`"status":{"nodeName":7}`))).Err(),
		`/status/nodeName: must be a string, not a number, got 7 (type)`)
	assert.EqualError(t, d.ValidateObject([]byte(vmi(`"status":{"nodeName":7,"migrationState":{"failed":0,"completed":1}}`))).Err(),
		`/status/nodeName: must be a string, not a number, got 7 (type), and 2 more`)
}
