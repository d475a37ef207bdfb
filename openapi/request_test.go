package openapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

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
