package openapi_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

func TestFind(t *testing.T) {
	for _, row := range []struct {
		method, path string
		document     string // operationId by the given document, "" for none
		kubevirt     string
		params       map[string]string
	}{
		{"GET", listPath, listID, listID, map[string]string{"namespace": "lab"}},
		{"HEAD", listPath, listID, listID, map[string]string{"namespace": "lab"}},
		{"GET", readPath, readID, readID, map[string]string{"namespace": "lab", "name": "web"}},
		{"GET", listPath + "/", listID, listID, map[string]string{"namespace": "lab"}},
		{"GET", listPath + "//", "", "", nil},
		{"GET", listPath + "/a%2Fb", readID, readID, map[string]string{"namespace": "lab", "name": "a/b"}},
		{"GET", listPath + "/..%2f", readID, readID, map[string]string{"namespace": "lab", "name": "../"}},
		{"GET", listPath + "/%00", readID, readID, map[string]string{"namespace": "lab", "name": "\x00"}},
		{"GET", listPath + "/%zz", "", "", nil},
		{"GET", "/apis/kubevirt.io/v1/namespaces//virtualmachineinstances", "", "", nil},
		{"GET", "/apis/kubevirt.io/v1/virtualmachineinstances", "", "listVirtualMachineInstanceForAllNamespaces", map[string]string{}},
		{"GET", "/apis/kubevirt.io/v1alpha3/namespaces/lab/virtualmachineinstances", "", "", nil},
		{"GET", listPath + "/web/status", "", "", nil},
		{"GET", "/APIS/kubevirt.io/v1", "", "", nil},
		{"GET", "/version", "", "getCodeVersion", map[string]string{}},
		{"GET", "/api", "", "getCoreAPIVersions", map[string]string{}},
		{"GET", "/api/v1/namespaces/lab", "", "readNamespace", map[string]string{"name": "lab"}},
		{"GET", "/", "", "", nil},
		{"GET", "", "", "", nil},
		{"GET", "version", "", "", nil},
		{"get", "/version", "", "", nil},
		{"POST", listPath, "", "", nil},
		{"OPTIONS", listPath, "", "", nil},
		{"TRACE", listPath, "", "", nil},
	} {
		t.Run(row.method+" "+row.path, func(t *testing.T) {
			for p, want := range map[openapi.Profile]string{openapi.ProfileDocument: row.document, openapi.ProfileKubeVirt: row.kubevirt} {
				op, params, ok := load(t, p).Find(row.method, row.path)
				if want == "" {
					assert.False(t, ok)
					continue
				}
				require.True(t, ok)
				assert.Equal(t, want, op.ID())
				assert.Equal(t, row.params, params)
			}
		})
	}
}

func TestOperationsAreThoseOfTheDocument(t *testing.T) {
	d := load(t, openapi.ProfileDocument)
	var got []string
	for _, op := range d.Operations() {
		got = append(got, op.Method()+" "+op.Path()+" "+op.ID())
		assert.Same(t, op, d.Operation(op.ID()))
	}
	assert.Equal(t, []string{
		"GET /apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances " + listID,
		"GET /apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances/{name} " + readID,
	}, got)
	assert.Equal(t, []int{200, 401, 403}, d.Operation(listID).Statuses())
	assert.Nil(t, d.Operation("listPods"))
}

// Find takes the first match; that is right only if there is no other.
func TestNoTwoPathsMatchTheSameRequest(t *testing.T) {
	for _, p := range openapi.Profiles() {
		ops := load(t, p).Operations()
		for i, a := range ops {
			for _, b := range ops[i+1:] {
				x, y := strings.Split(a.Path(), "/"), strings.Split(b.Path(), "/")
				overlap := a.Method() == b.Method() && len(x) == len(y)
				for k := range min(len(x), len(y)) {
					overlap = overlap && (x[k] == y[k] || strings.HasPrefix(x[k], "{") || strings.HasPrefix(y[k], "{"))
				}
				assert.False(t, overlap, "%s and %s", a.Path(), b.Path())
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, path := range []string{"/", "/version", "/version/", listPath, readPath, listPath + "/a%2Fb", "/api/v1/namespaces/%zz", "//", "/apis//v1"} {
		f.Add("GET", path)
	}
	f.Add("HEAD", readPath)
	d, err := openapi.Load(openapi.ProfileKubeVirt)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, method, path string) {
		op, params, ok := d.Find(method, path)
		if !ok {
			return
		}
		// The template filled in with what was found is the path.
		filled := strings.Split(op.Path(), "/")
		given := strings.Split(strings.TrimSuffix(path, "/"), "/")
		require.Len(t, given, len(filled))
		for i, segment := range filled {
			text, err := url.PathUnescape(given[i])
			require.NoError(t, err)
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				require.NotEmpty(t, given[i])
				require.Equal(t, text, params[strings.TrimSuffix(name, "}")])
			} else {
				require.Equal(t, segment, given[i])
			}
		}
	})
}

func TestParameters(t *testing.T) {
	path := map[string]string{"namespace": "lab"}
	for _, row := range []struct {
		query string
		want  openapi.Issues
	}{
		{"", nil},
		{"limit=1", nil},
		{"limit=500&labelSelector=a%3Db&fieldSelector=metadata.name%3Dweb", nil},
		{"limit=0", openapi.Issues{{Pointer: "/query/limit", Rule: "minimum", Value: "0", Message: "must be at least 1"}}},
		{"limit=-5", openapi.Issues{{Pointer: "/query/limit", Rule: "minimum", Value: "-5", Message: "must be at least 1"}}},
		{"limit=", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `""`, Message: "must be an integer"}}},
		{"limit", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `""`, Message: "must be an integer"}}},
		{"limit=abc", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `"abc"`, Message: "must be an integer"}}},
		{"limit=1.5", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `"1.5"`, Message: "must be an integer"}}},
		{"limit=1e3", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `"1e3"`, Message: "must be an integer"}}},
		{"limit=0x10", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `"0x10"`, Message: "must be an integer"}}},
		{"limit=1_000", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `"1_000"`, Message: "must be an integer"}}},
		{"limit=9223372036854775807", nil},
		{"limit=9223372036854775808", openapi.Issues{{Pointer: "/query/limit", Rule: "type", Value: `"9223372036854775808"`, Message: "must be an integer of 64 bits"}}},
		{"limit=2&limit=0", nil},
		{"limit=0&limit=2", openapi.Issues{{Pointer: "/query/limit", Rule: "minimum", Value: "0", Message: "must be at least 1"}}},
		{"Limit=0", nil},
		{"nosuch=0", nil},
		{"labelSelector=", nil},
		{"labelSelector=a%3D%3D%3D", nil},
	} {
		for _, p := range openapi.Profiles() {
			t.Run(row.query+"/"+string(p), func(t *testing.T) {
				query, err := url.ParseQuery(row.query)
				require.NoError(t, err)
				got := load(t, p).Operation(listID).ValidateRequest(openapi.Request{Path: path, Query: query})
				assert.Equal(t, row.want, got)
			})
		}
	}
}

func TestParametersThatOnlyTheKubernetesLayerDeclares(t *testing.T) {
	query := url.Values{"timeoutSeconds": {"soon"}, "limit": {"0"}, "watch": {"maybe"}}
	request := openapi.Request{Path: map[string]string{"namespace": "lab"}, Query: query}
	assert.Equal(t, []string{"/query/limit minimum"}, lines(load(t, openapi.ProfileDocument).Operation(listID).ValidateRequest(request)))
	assert.Equal(t, []string{"/query/limit minimum", "/query/timeoutSeconds type"},
		lines(load(t, openapi.ProfileKubeVirt).Operation(listID).ValidateRequest(request)))
	server, err := openapi.LoadServer(openapi.ProfileDocument)
	require.NoError(t, err)
	assert.Equal(t, []string{"/query/limit minimum", "/query/timeoutSeconds type"}, lines(server.Operation(listID).ValidateRequest(request)))
}

func TestPathParametersAreRequired(t *testing.T) {
	op := load(t, openapi.ProfileDocument).Operation(readID)
	assert.Equal(t, []string{"/path/namespace required", "/path/name required"},
		lines(op.ValidateRequest(openapi.Request{Header: http.Header{}})))
	assert.Empty(t, op.ValidateRequest(openapi.Request{Path: map[string]string{"namespace": "lab", "name": "web"}}))
}

func TestLongParametersAreCut(t *testing.T) {
	op := load(t, openapi.ProfileDocument).Operation(listID)
	issues := op.ValidateRequest(openapi.Request{
		Path: map[string]string{"namespace": "lab"}, Query: url.Values{"limit": {strings.Repeat("9", 100_000)}}})
	require.Len(t, issues, 1)
	assert.Equal(t, `"`+strings.Repeat("9", 78)+"…", issues[0].Value)
}

func TestNegotiate(t *testing.T) {
	const (
		table       = "application/json;as=Table;v=v1;g=meta.k8s.io"
		partial     = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
		partialList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	)
	forms := func(f ...openapi.Form) []openapi.Form { return f }
	for _, row := range []struct {
		id, accept string
		watch      bool
		document   []openapi.Form
		kubevirt   []openapi.Form
	}{
		{listID, "", false, forms(openapi.FormList), forms(openapi.FormList)},
		{listID, "*/*", false, forms(openapi.FormList), forms(openapi.FormList)},
		{listID, "text/html, application/xhtml+xml, */*;q=0.8", false, forms(openapi.FormList), forms(openapi.FormList)},
		{listID, "application/json;charset=utf-8", false, forms(openapi.FormList), forms(openapi.FormList)},
		{listID, table + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", false,
			forms(openapi.FormList), forms(openapi.FormTable, openapi.FormList)},
		{listID, "application/json;q=0.5," + table, false, forms(openapi.FormList), forms(openapi.FormTable, openapi.FormList)},
		{listID, table + ";q=0,application/json", false, forms(openapi.FormList), forms(openapi.FormList)},
		{listID, "application/json;as=Table;v=v2;g=meta.k8s.io", false, nil, nil},
		{listID, partialList, false, nil, forms(openapi.FormPartialObjectList)},
		{listID, partial, false, nil, nil},
		{listID, partial, true, nil, forms(openapi.FormWatchEventPartialObject)},
		{listID, partialList, true, nil, forms(openapi.FormWatchEventPartialObject)},
		{listID, "application/json;stream=watch", true, forms(openapi.FormWatchEvent), forms(openapi.FormWatchEvent)},
		{listID, table, true, nil, forms(openapi.FormWatchEventTable)},
		{listID, "application/yaml", false, nil, nil},
		{listID, "application/json;q=x", false, nil, nil},
		{readID, partial + ",application/json", false, forms(openapi.FormItem), forms(openapi.FormPartialObject, openapi.FormItem)},
		{readID, table, false, nil, forms(openapi.FormTable)},
	} {
		for p, want := range map[openapi.Profile][]openapi.Form{openapi.ProfileDocument: row.document, openapi.ProfileKubeVirt: row.kubevirt} {
			got := load(t, p).Operation(row.id).Negotiate(row.accept, row.watch)
			assert.True(t, slices.Equal(want, got), "%s, %s, %v: want %v, got %v", p, row.accept, row.watch, want, got)
		}
	}
	assert.Equal(t, forms(openapi.FormDeclared), load(t, openapi.ProfileKubeVirt).Operation("getCodeVersion").Negotiate("", false))
}
