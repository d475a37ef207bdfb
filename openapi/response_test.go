package openapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// bodies has a body of every form, taken from an API server with KubeVirt's
// definition of the resource, shortened.
var bodies = map[openapi.Form]string{
	openapi.FormItem: `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web","namespace":"lab","resourceVersion":"12"}}`,
	openapi.FormList: `{"apiVersion":"kubevirt.io/v1","items":[{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"}}],
		"kind":"VirtualMachineInstanceList","metadata":{"continue":"","resourceVersion":"40"}}`,
	openapi.FormTable: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"18"},
		"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"Name of the object.","priority":0}],
		"rows":[{"cells":["web",null],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web"}}}]}`,
	openapi.FormPartialObject: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web"}}`,
	openapi.FormPartialObjectList: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"40"},
		"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web"}}]}`,
	openapi.FormStatus: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`,
	openapi.FormWatchEvent: `{"type":"ADDED","object":{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"}}}
`,
	openapi.FormWatchEventTable: `{"object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"19"},"columnDefinitions":null,
		"rows":[{"cells":["web"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web"}}}]},"type":"MODIFIED"}`,
	openapi.FormWatchEventPartialObject: `{"type":"DELETED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web"}}}`,
}

func servers(t *testing.T) map[string]*openapi.Document {
	t.Helper()
	all := make(map[string]*openapi.Document)
	for _, p := range openapi.Profiles() {
		d, err := openapi.LoadServer(p)
		require.NoError(t, err)
		all["server "+string(p)] = d
	}
	all["kubernetes"] = load(t, openapi.ProfileKubernetes)
	all["kubevirt"] = load(t, openapi.ProfileKubeVirt)
	return all
}

func TestEveryFormFailsAsEveryOtherForm(t *testing.T) {
	for name, d := range servers(t) {
		for wanted := range bodies {
			for given, body := range bodies {
				t.Run(fmt.Sprintf("%s/%s as %s", name, given, wanted), func(t *testing.T) {
					issues := d.ValidateResponse(openapi.Response{Form: wanted, Status: 200, Body: []byte(body)})
					if given == wanted {
						assert.Empty(t, issues)
					} else {
						assert.NotEmpty(t, issues)
					}
				})
			}
		}
	}
}

// The given document says so little that most forms pass as most others; what it
// says is asked for, and no more.
func TestFormsByTheGivenDocument(t *testing.T) {
	d := load(t, openapi.ProfileDocument)
	refused := map[openapi.Form][]openapi.Form{
		openapi.FormItem: {openapi.FormList, openapi.FormTable, openapi.FormPartialObject, openapi.FormPartialObjectList, openapi.FormStatus},
		openapi.FormList: {openapi.FormPartialObjectList},
	}
	for wanted := range bodies {
		for given, body := range bodies {
			issues := d.ValidateResponse(openapi.Response{Form: wanted, Status: 200, Body: []byte(body)})
			assert.Equal(t, slices.Contains(refused[wanted], given), len(issues) > 0, "%s as %s: %v", given, wanted, issues)
		}
		assert.Equal(t, []string{" json-syntax"}, lines(d.ValidateResponse(openapi.Response{Form: wanted, Status: 200, Body: []byte("oops")})))
	}
}

func TestWatchEventsAreJudgedByTheirType(t *testing.T) {
	item := `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"},"status":{"phase":"%s"}}`
	bookmark := `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{%s}}`
	event := func(kind, object string) string { return `{"type":"` + kind + `","object":` + object + `}` }
	status := bodies[openapi.FormStatus]
	for _, row := range []struct {
		name string
		form openapi.Form
		body string
		want []string
	}{
		{"ADDED", openapi.FormWatchEvent, event("ADDED", fmt.Sprintf(item, "Running")), nil},
		{"MODIFIED", openapi.FormWatchEvent, event("MODIFIED", fmt.Sprintf(item, "Runing")), []string{"/object/status/phase enum"}},
		{"DELETED", openapi.FormWatchEvent, event("DELETED", fmt.Sprintf(item, "Runing")), []string{"/object/status/phase enum"}},
		{"object in front", openapi.FormWatchEvent, `{"object":` + fmt.Sprintf(item, "Runing") + `,"type":"ADDED"}`, []string{"/object/status/phase enum"}},
		{"unnamed", openapi.FormWatchEvent, event("ADDED", `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"}`), []string{"/object/metadata/name object-name"}},
		{"key case", openapi.FormWatchEvent, event("ADDED", `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"},"Status":{}}`), []string{"/object/Status json-key-case"}},
		{"Status as ADDED", openapi.FormWatchEvent, event("ADDED", status), []string{"/object/kind enum", "/object/apiVersion enum", "/object/metadata/name required", "/object/status type"}},
		{"BOOKMARK", openapi.FormWatchEvent, event("BOOKMARK", fmt.Sprintf(bookmark, `"resourceVersion":"21","annotations":{"k8s.io/initial-events-end":"true"}`)), nil},
		{"BOOKMARK without resourceVersion", openapi.FormWatchEvent, event("BOOKMARK", fmt.Sprintf(bookmark, ``)), []string{"/object/metadata/resourceVersion required"}},
		{"BOOKMARK with an empty one", openapi.FormWatchEvent, event("BOOKMARK", fmt.Sprintf(bookmark, `"resourceVersion":""`)), []string{"/object/metadata/resourceVersion minLength"}},
		{"BOOKMARK of another kind", openapi.FormWatchEvent, event("BOOKMARK", `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`), []string{"/object/kind enum", "/object/apiVersion enum"}},
		{"BOOKMARK of nothing", openapi.FormWatchEvent, event("BOOKMARK", `{}`), []string{"/object/apiVersion required", "/object/kind required", "/object/metadata required"}},
		{"ERROR", openapi.FormWatchEvent, event("ERROR", status), nil},
		{"ERROR without a Status", openapi.FormWatchEvent, event("ERROR", fmt.Sprintf(item, "Running")), []string{"/object/status enum", "/object/apiVersion enum", "/object/kind enum"}},
		{"ERROR of a table", openapi.FormWatchEventTable, event("ERROR", status), nil},
		{"unknown type", openapi.FormWatchEvent, event("CREATED", `{}`), []string{"/type enum"}},
		{"no type", openapi.FormWatchEvent, `{"object":{}}`, []string{"/type required"}},
		{"type of a wrong type", openapi.FormWatchEvent, `{"type":7,"object":{}}`, []string{"/type enum"}},
		{"no object", openapi.FormWatchEvent, `{"type":"ADDED"}`, []string{"/object required"}},
		{"a list", openapi.FormWatchEvent, `[]`, []string{" type"}},
		{"two events", openapi.FormWatchEvent, event("ERROR", status) + event("ERROR", status), []string{" json-second-value"}},
		{"not JSON", openapi.FormWatchEvent, `{"type":"ADDED","object":`, []string{"/object json-syntax"}},
		{"table row without a name", openapi.FormWatchEventTable, event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],
			"rows":[{"cells":[],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}}]}`), []string{"/object/rows/0/object/metadata/name required"}},
		{"table row with a whole object", openapi.FormWatchEventTable, event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],
			"rows":[{"cells":[],"object":`+fmt.Sprintf(item, "Runing")+`}]}`), []string{"/object/rows/0/object/status/phase enum"}},
		{"table row with a key of another case", openapi.FormWatchEventTable, event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],
			"rows":[{"cells":[],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web","Labels":{}}}}]}`), []string{"/object/rows/0/object/metadata/Labels json-key-case"}},
		{"table row with an unnamed object", openapi.FormWatchEventTable, event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],
			"rows":[{"cells":[],"object":{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"}},{"cells":[]}]}`), []string{"/object/rows/0/object/metadata/name object-name"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			issues := load(t, openapi.ProfileKubeVirt).ValidateResponse(openapi.Response{Form: row.form, Status: 200, Body: []byte(row.body)})
			assert.ElementsMatch(t, row.want, lines(issues))
		})
	}
}

func TestAnswers(t *testing.T) {
	json := http.Header{"Content-Type": {"application/json"}}
	as := func(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }
	unauthorized, list, item := bodies[openapi.FormStatus], bodies[openapi.FormList], bodies[openapi.FormItem]
	const html = "<html>Bad Gateway</html>"
	type answer struct {
		id     string
		form   openapi.Form
		status int
		header http.Header
		body   string
		head   bool
	}
	for _, row := range []struct {
		name string
		answer
		document, kubevirt []string // nil: not asked
	}{
		{"list", answer{listID, openapi.FormList, 200, json, list, false}, []string{}, []string{}},
		{"list as declared", answer{listID, openapi.FormDeclared, 200, json, list, false}, []string{}, []string{}},
		{"item as declared", answer{readID, openapi.FormDeclared, 200, json, item, false}, []string{}, []string{}},
		{"item for a list", answer{listID, openapi.FormDeclared, 200, json, item, false}, []string{},
			[]string{"/items required", "/kind enum"}},
		{"Status for a list", answer{listID, openapi.FormDeclared, 200, json, unauthorized, false}, []string{},
			[]string{"/items required", "/kind enum", "/apiVersion enum"}},
		{"items null", answer{listID, openapi.FormList, 200, json, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{},"items":null}`, false},
			[]string{"/items type"}, []string{"/items type"}},
		{"unnamed item of a list", answer{listID, openapi.FormList, 200, json,
			`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{},"items":[{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"},
			{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":""}},
			{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{}}]}`, false},
			[]string{"/items/2/metadata/name required"},
			[]string{"/items/0/metadata/name object-name", "/items/1/metadata/name object-name", "/items/2/metadata/name required"}},
		{"unnamed item", answer{readID, openapi.FormItem, 200, json, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"}`, false},
			[]string{}, []string{"/metadata/name object-name"}},
		{"empty body", answer{readID, openapi.FormItem, 200, json, "", false}, []string{" json-syntax"}, []string{" json-syntax"}},

		{"undeclared status", answer{listID, openapi.FormList, 202, json, list, false}, []string{" undeclared-status"}, []string{" undeclared-status"}},
		{"redirect", answer{listID, openapi.FormList, 307, http.Header{}, "", false}, []string{" undeclared-status"}, []string{" undeclared-status"}},
		{"not modified", answer{listID, openapi.FormList, 304, http.Header{}, "", false}, []string{" undeclared-status"}, []string{" undeclared-status"}},
		{"403 of get", answer{readID, openapi.FormStatus, 403, json, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`, false},
			[]string{" undeclared-status"}, []string{}},

		{"charset", answer{listID, openapi.FormList, 200, as("application/json; charset=UTF-8"), list, false}, []string{}, []string{}},
		{"other charset", answer{listID, openapi.FormList, 200, as("application/json; charset=latin1"), list, false}, []string{" content-type"}, []string{" content-type"}},
		{"upper case", answer{listID, openapi.FormList, 200, as("Application/JSON"), list, false}, []string{}, []string{}},
		{"no content type", answer{listID, openapi.FormList, 200, http.Header{}, list, false}, []string{" content-type"}, []string{" content-type"}},
		{"text/plain", answer{listID, openapi.FormList, 200, as("text/plain"), list, false}, []string{" content-type"}, []string{" content-type"}},
		{"two types", answer{listID, openapi.FormList, 200, as("application/json, text/plain"), list, false}, []string{" content-type"}, []string{" content-type"}},
		{"problem+json", answer{listID, openapi.FormList, 200, as("application/problem+json"), list, false}, []string{" content-type"}, []string{" content-type"}},
		{"as=Table for a list", answer{listID, openapi.FormDeclared, 200, as("application/json;as=Table;v=v1;g=meta.k8s.io"), list, false},
			[]string{" content-type"}, []string{"/apiVersion enum", "/columnDefinitions required", "/kind enum", "/rows required"}},
		{"stream=watch for a list", answer{listID, openapi.FormDeclared, 200, as("application/json;stream=watch"), list, false},
			[]string{" content-type"}, []string{"/object required", "/type required"}},

		{"401 with a Status", answer{listID, openapi.FormList, 401, json, unauthorized, false}, []string{}, []string{}},
		{"401 with HTML", answer{listID, openapi.FormList, 401, as("text/html"), html, false}, []string{}, []string{" content-type"}},
		{"401 with HTML called JSON", answer{listID, openapi.FormList, 401, json, html, false}, []string{}, []string{" json-syntax"}},
		{"401 with another code", answer{listID, openapi.FormTable, 401, json, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`, false},
			[]string{}, []string{"/code status-code"}},
		{"401 without a code", answer{listID, openapi.FormStatus, 401, json, `{"kind":"Status","apiVersion":"v1","status":"Failure"}`, false},
			[]string{}, []string{"/code status-code"}},
		{"401 with a list", answer{listID, openapi.FormList, 401, json, list, false}, []string{},
			[]string{"/apiVersion enum", "/code status-code", "/kind enum", "/status required"}},
		{"200 with a Status", answer{readID, openapi.FormStatus, 200, json, `{"kind":"Status","apiVersion":"v1","status":"Success"}`, false}, []string{}, []string{}},

		{"HEAD", answer{readID, openapi.FormItem, 200, json, "", true}, []string{}, []string{}},
		{"HEAD with an undeclared status", answer{readID, openapi.FormItem, 202, json, "", true}, []string{" undeclared-status"}, []string{" undeclared-status"}},

		{"version", answer{"getCodeVersion", openapi.FormDeclared, 200, json, `{"major":1}`, false}, nil,
			[]string{"/buildDate required", "/compiler required", "/gitCommit required", "/gitTreeState required", "/gitVersion required",
				"/goVersion required", "/major type", "/minor required", "/platform required"}},
		{"aggregated discovery", answer{"getAPIVersions", openapi.FormDeclared, 200, as("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
			`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}`, false}, nil, []string{}},
		{"health", answer{"getHealthz", openapi.FormDeclared, 200, as("text/plain; charset=utf-8"), "ok", false}, nil, []string{}},
		{"health as JSON", answer{"getHealthz", openapi.FormDeclared, 200, json, `"ok"`, false}, nil, []string{" content-type"}},
	} {
		for p, want := range map[openapi.Profile][]string{openapi.ProfileDocument: row.document, openapi.ProfileKubeVirt: row.kubevirt} {
			if want == nil {
				continue
			}
			t.Run(row.name+"/"+string(p), func(t *testing.T) {
				d := load(t, p)
				op := d.Operation(row.id)
				require.NotNil(t, op)
				issues := d.ValidateResponse(openapi.Response{
					Operation: op, Form: row.form, Status: row.status, Header: row.header, Body: []byte(row.body), Head: row.head,
				})
				assert.ElementsMatch(t, want, lines(issues))
			})
		}
	}
}

// A server that judges objects by the given document answers as any other in all
// that is not the object.
func TestServerOfTheGivenDocument(t *testing.T) {
	d, err := openapi.LoadServer(openapi.ProfileDocument)
	require.NoError(t, err)
	assert.Equal(t, openapi.ProfileDocument, d.Profile())
	assert.NotEqual(t, load(t, openapi.ProfileDocument).Digest(), d.Digest())
	assert.Len(t, d.Operations(), len(load(t, openapi.ProfileKubernetes).Operations()))

	op := d.Operation(listID)
	json := http.Header{"Content-Type": {"application/json"}}
	list := func(item string) []byte {
		return []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{},"items":[` + item + `]}`)
	}
	external := vmi(`"spec":{"evictionStrategy":"External"}`)
	assert.Equal(t, []string{"/spec/evictionStrategy enum"}, lines(d.ValidateObject([]byte(external))))
	assert.Equal(t, []string{"/items/0/spec/evictionStrategy enum"}, lines(d.ValidateResponse(openapi.Response{
		Operation: op, Form: openapi.FormList, Status: 200, Header: json, Body: list(external)})))
	assert.Equal(t, []string{"/object/spec/evictionStrategy enum"}, lines(d.ValidateResponse(openapi.Response{
		Operation: op, Form: openapi.FormWatchEvent, Status: 200, Header: json, Body: []byte(`{"type":"ADDED","object":` + external + `}`)})))
	// The condition is one by the given document, not by the Kubernetes layer.
	bare := vmi(`"status":{"conditions":[{}]}`)
	assert.Empty(t, d.ValidateObject([]byte(bare)))
	assert.Empty(t, d.ValidateResponse(openapi.Response{Operation: op, Form: openapi.FormList, Status: 200, Header: json, Body: list(bare)}))
	assert.NotEmpty(t, load(t, openapi.ProfileKubernetes).ValidateObject([]byte(bare)))
	// Errors are those of the Kubernetes layer.
	assert.Equal(t, []string{" json-syntax"}, lines(d.ValidateResponse(openapi.Response{
		Operation: op, Form: openapi.FormStatus, Status: 401, Header: json, Body: []byte("Unauthorized")})))

	for _, p := range []openapi.Profile{openapi.ProfileKubernetes, openapi.ProfileKubeVirt} {
		server, err := openapi.LoadServer(p)
		require.NoError(t, err)
		assert.Same(t, load(t, p), server)
	}
	_, err = openapi.LoadServer("none")
	assert.Error(t, err)
}
