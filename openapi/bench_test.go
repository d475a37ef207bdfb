package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// Each benchmark has the package against openapi3filter on the OpenAPI 3.1
// document as it is, which is how kin-openapi is used when one follows its
// documentation. The metric times-slower says how many times longer that takes.

const listQuery = "limit=500&labelSelector=app%3Dweb&fieldSelector=metadata.name%3Dweb"

// asIs is kin-openapi on the untouched document.
type asIs struct {
	router routers.Router
}

func newAsIs(b *testing.B) asIs {
	b.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Source(openapi.ProfileKubeVirt))
	require.NoError(b, err)
	doc.Servers = nil
	router, err := legacy.NewRouter(doc)
	require.NoError(b, err)
	return asIs{router}
}

func (k asIs) request(b *testing.B, target string) *openapi3filter.RequestValidationInput {
	req := httptest.NewRequest(http.MethodGet, target, nil)
	route, params, err := k.router.FindRoute(req)
	require.NoError(b, err)
	return &openapi3filter.RequestValidationInput{Request: req, Route: route, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
}

func (k asIs) validateRequest(b *testing.B) {
	require.NoError(b, openapi3filter.ValidateRequest(context.Background(), k.request(b, listPath+"?"+listQuery)))
}

func (k asIs) validateResponse(b *testing.B, target string, body []byte) {
	require.NoError(b, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: k.request(b, target),
		Status:                 http.StatusOK,
		Header:                 http.Header{"Content-Type": {"application/json"}},
		Body:                   io.NopCloser(bytes.NewReader(body)),
	}))
}

// against runs ours as the benchmark and theirs a few times beside it.
func against(b *testing.B, ours, theirs func()) {
	b.Helper()
	const rounds = 5
	theirs()
	start := time.Now()
	for range rounds {
		theirs()
	}
	slow := time.Since(start) / rounds
	b.ReportAllocs()
	for b.Loop() {
		ours()
	}
	b.ReportMetric(float64(slow)/(float64(b.Elapsed())/float64(b.N)), "times-slower")
}

func BenchmarkValidateRequest(b *testing.B) {
	op := load(b, openapi.ProfileKubeVirt).Operation(listID)
	path := map[string]string{"namespace": "lab"}
	kin := newAsIs(b)
	against(b, func() {
		query, err := url.ParseQuery(listQuery)
		if err != nil {
			b.Fatal(err)
		}
		if issues := op.ValidateRequest(openapi.Request{Path: path, Query: query}); issues != nil {
			b.Fatal(issues)
		}
	}, func() { kin.validateRequest(b) })
}

// realMachine is a machine of about 4 KB as a cluster answers it.
func realMachine(b *testing.B) []byte {
	b.Helper()
	var text bytes.Buffer
	require.NoError(b, json.Compact(&text, corpusJSON(b)["11-wire-ocpv-instancetype-2026.yaml"]))
	return text.Bytes()
}

func BenchmarkValidateObject(b *testing.B) {
	d, data, kin := load(b, openapi.ProfileKubeVirt), realMachine(b), newAsIs(b)
	b.SetBytes(int64(len(data)))
	against(b, func() {
		if issues := d.ValidateObject(data); issues != nil {
			b.Fatal(issues)
		}
	}, func() { kin.validateResponse(b, readPath, data) })
}

func BenchmarkValidateEnvelope(b *testing.B) {
	d, kin := load(b, openapi.ProfileKubeVirt), newAsIs(b)
	body := []byte(`{"apiVersion":"kubevirt.io/v1","items":[],"kind":"VirtualMachineInstanceList","metadata":{"continue":"","resourceVersion":"40"}}`)
	answer := openapi.Response{Operation: d.Operation(listID), Form: openapi.FormList, Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
	against(b, func() {
		if issues := d.ValidateResponse(answer); issues != nil {
			b.Fatal(issues)
		}
	}, func() { kin.validateResponse(b, listPath, body) })
}

func BenchmarkValidateWatchEvent(b *testing.B) {
	d := load(b, openapi.ProfileKubeVirt)
	body := []byte(`{"type":"ADDED","object":` + string(realMachine(b)) + "}\n")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if issues := d.ValidateResponse(openapi.Response{Form: openapi.FormWatchEvent, Status: http.StatusOK, Body: body}); issues != nil {
			b.Fatal(issues)
		}
	}
}
