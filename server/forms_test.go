package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
)

const (
	asTable       = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"
	asPartial     = "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asPartialList = "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	kubectlTable  = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)

func (r reply) table(t *testing.T) vmi.Table {
	t.Helper()
	require.Equal(t, http.StatusOK, r.StatusCode, "body: %s", r.body)
	var table vmi.Table
	require.NoError(t, json.Unmarshal(r.body, &table))
	require.Equal(t, "Table", table.Kind)
	return table
}

func TestTable(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	f := start(t, server.WithClock(func() time.Time { return now })).create("vms/a x=1", "vms/b")
	now = now.Add(53 * time.Second)

	table := f.get(inVMs+"?limit=1", kubectlTable).table(t)
	assert.Equal(t, "meta.k8s.io/v1", table.APIVersion)
	var columns []string
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, c.Name)
	}
	assert.Equal(t, []string{"Name", "Age", "Phase", "IP", "NodeName", "Ready", "Live-Migratable", "Paused"}, columns)
	require.Len(t, table.Rows, 1)
	assert.Equal(t, []any{"a", "53s", "Running", "192.0.2.10", "node-1", "True", "False", nil}, table.Rows[0].Cells)
	assert.Equal(t, "PartialObjectMetadata", table.Rows[0].Object["kind"])
	assert.NotEmpty(t, table.Metadata.Continue)

	one := f.get(inVMs+"/a", "Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io").table(t)
	assert.Equal(t, "meta.k8s.io/v1beta1", one.APIVersion)
	assert.Len(t, one.Rows, 1)
	assert.NotEmpty(t, one.Metadata.ResourceVersion)

	empty := f.get("/apis/kubevirt.io/v1/namespaces/nosuch/virtualmachineinstances", asTable)
	assert.Empty(t, empty.table(t).Rows)
	assert.Contains(t, string(empty.body), `"rows":[]`)

	assert.Nil(t, f.get(inVMs+"?includeObject=None", asTable).table(t).Rows[0].Object)
	assert.Equal(t, "VirtualMachineInstance", f.get(inVMs+"?includeObject=Object", asTable).table(t).Rows[0].Object["kind"])
	bad := f.get(inVMs+"?includeObject=Bad", asTable).status(t)
	assert.Equal(t, `Unable to convert to Table as requested: includeObject: Invalid value: "Bad": must be 'Metadata', 'Object', 'None', or empty`, bad.Message)
	assert.Len(t, f.get(inVMs+"?includeObject=Bad").list(t).Items, 2, "only a table looks at it")
	assert.Equal(t, "NotFound", f.get(inVMs+"/nosuch", asTable).status(t).Reason)
}

func TestPartialObjects(t *testing.T) {
	f := start(t).create("vms/a x=1", "vms/b")
	var one vmi.PartialObjectMetadata
	require.NoError(t, json.Unmarshal(f.get(inVMs+"/a", asPartial).body, &one))
	assert.Equal(t, "PartialObjectMetadata", one.Kind)
	assert.Equal(t, map[string]string{"x": "1"}, one.Metadata.Labels)

	var list vmi.PartialObjectMetadataList
	require.NoError(t, json.Unmarshal(f.get(inVMs+"?limit=1", asPartialList).body, &list))
	assert.Equal(t, "PartialObjectMetadataList", list.Kind)
	assert.Len(t, list.Items, 1)
	assert.NotEmpty(t, list.Metadata.Continue)

	crossed := f.get(inVMs, asPartial).status(t)
	assert.Equal(t, "you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)", crossed.Message)
	assert.Equal(t, "NotAcceptable", f.get(inVMs+"/a", asPartialList).status(t).Reason)
}

func TestAccept(t *testing.T) {
	f := start(t).create("vms/a")
	for accept, want := range map[string]int{
		"":                               200,
		"*/*":                            200,
		"application/*":                  200,
		"application/json;charset=utf-8": 200,
		"application/json;profile=x":     200,
		"application/json;stream=watch":  200,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": 200,
		"application/vnd.kubernetes.protobuf,application/json":            200,
		"application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json":   200,
		"application/json;as=Bogus;v=v1;g=meta.k8s.io":                    406,
		"application/json;as=Table;v=v2;g=meta.k8s.io":                    406,
		"text/html":                           406,
		"text/*":                              406,
		"json":                                406,
		"APPLICATION/JSON":                    406,
		"application/vnd.api+json":            406,
		"application/vnd.kubernetes.protobuf": 406,
		"application/json;q=0":                406,
		";;;,,,\"":                            406,
	} {
		r := f.get(inVMs+"/a", "Accept: "+accept)
		assert.Equal(t, want, r.StatusCode, "Accept: %s", accept)
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		if want == 406 {
			assert.Contains(t, r.status(t).Message, "only the following media types are accepted: application/json")
		}
	}
}

func TestDiscovery(t *testing.T) {
	f := start(t).create("vms/a", "other/b")
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for path, kind := range map[string]string{
		"/api": "APIVersions", "/apis": "APIGroupList", "/apis/kubevirt.io": "APIGroup", "/apis/kubevirt.io/": "APIGroup",
		"/apis/kubevirt.io/v1": "APIResourceList", "/api/v1": "APIResourceList",
		"/api/v1/namespaces": "NamespaceList", "/api/v1/namespaces/vms": "Namespace",
	} {
		r := f.get(path, "Accept: application/vnd.kubernetes.protobuf,application/json")
		require.Equal(t, 200, r.StatusCode, path)
		assert.Contains(t, string(r.body), `"kind":"`+kind+`"`, path)
	}
	for _, path := range []string{"/api", "/apis"} {
		r := f.get(path, "Accept: "+aggregated+",application/json")
		assert.Equal(t, aggregated, r.Header.Get("Content-Type"))
		assert.NotEmpty(t, r.Header.Get("Etag"))
		assert.Equal(t, "Accept", r.Header.Get("Vary"))
		assert.Contains(t, string(r.body), `"kind":"APIGroupDiscoveryList"`)
		assert.Equal(t, 406, f.get(path, "Accept: application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList").StatusCode)
	}
	assert.Contains(t, string(f.get("/apis/kubevirt.io/v1").body), `"storageVersionHash":"1DClFQM6+os="`, "as KubeVirt's own")
	assert.Contains(t, string(f.get("/version").body), "\n  \"gitVersion\"", "indented")
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		assert.Equal(t, "ok", string(f.get(path, "Accept: application/json").body))
	}
	var l vmi.NamespaceList
	require.NoError(t, json.Unmarshal(f.get("/api/v1/namespaces?fieldSelector=metadata.name%3Dvms").body, &l))
	require.Len(t, l.Items, 1)
	assert.Equal(t, "vms", l.Items[0].Metadata.Name)
	require.NoError(t, json.Unmarshal(f.get("/api/v1/namespaces?labelSelector=kubernetes.io/metadata.name!%3Dvms").body, &l))
	require.Len(t, l.Items, 4, "default, kube-system, kubevirt, other")
	assert.Equal(t, `namespaces "nosuch" not found`, f.get("/api/v1/namespaces/nosuch").status(t).Message)
}

func TestAgeIsWordedAsByKubectl(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	born := now
	f := start(t, server.WithClock(func() time.Time { return now })).create("vms/a")
	for after, want := range map[time.Duration]string{
		0:                               "0s",
		119 * time.Second:               "119s",
		2 * time.Minute:                 "2m",
		5*time.Minute + 30*time.Second:  "5m30s",
		10*time.Minute + 30*time.Second: "10m",
		179 * time.Minute:               "179m",
		3 * time.Hour:                   "3h",
		7*time.Hour + 5*time.Minute:     "7h5m",
		47*time.Hour + 59*time.Minute:   "47h",
		48 * time.Hour:                  "2d",
		7*24*time.Hour + 23*time.Hour:   "7d23h",
		300 * 24 * time.Hour:            "300d",
		(3*365 + 100) * 24 * time.Hour:  "3y100d",
		9 * 365 * 24 * time.Hour:        "9y",
		-time.Second:                    "0s",
		-time.Hour:                      "<invalid>",
	} {
		now = born.Add(after)
		assert.Equal(t, want, f.get(inVMs, asTable).table(t).Rows[0].Cells[1], after)
	}
}

func TestPreferenceGoesByQ(t *testing.T) {
	f := start(t).create("vms/a")
	table := "application/json;as=Table;v=v1;g=meta.k8s.io"
	assert.Contains(t, string(f.get(inVMs+"/a", "Accept: "+table+";q=0.5,application/json;q=0.4").body), `"kind":"Table"`)
	assert.Contains(t, string(f.get(inVMs+"/a", "Accept: "+table+";q=0.5,application/json;q=0.6").body), `"kind":"VirtualMachineInstance"`)
	assert.Contains(t, string(f.get(inVMs+"/a", "Accept: "+table+",application/json").body), `"kind":"Table"`, "the first of equals")
}

// What was taken as an object can be answered in every form, also where the
// document leaves open what the other layers type.
func TestOddObjectsInEveryForm(t *testing.T) {
	for _, p := range openapi.Profiles() {
		f := start(t, server.WithProfile(p))
		taken := 0
		for i, odd := range []string{
			`"status":{"conditions":[{"type":"Ready","status":true}]}`,
			`"status":{"conditions":[{"Type":5},{"type":5},7]}`,
			`"status":{"conditions":[{"type":"Ready"}],"interfaces":[{"ipAddress":"192.0.2.1"}]}`,
			`"metadata":{"name":"NAME","ownerReferences":"x"}`,
			`"metadata":{"name":"NAME","generation":null}`,
			`"metadata":{"name":"NAME","generation":1.5,"managedFields":5}`,
			`"metadata":{"name":"NAME","finalizers":[5],"deletionTimestamp":"x","selfLink":5}`,
			`"status":{"unknown":{"deep":[null,{}]}}`,
		} {
			name := fmt.Sprintf("m%d", i)
			if !strings.Contains(odd, "metadata") {
				odd = `"metadata":{"name":"NAME"},` + odd
			}
			object := `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",` + strings.ReplaceAll(odd, "NAME", name) + "}"
			if _, err := f.writer.Create(t.Context(), []byte(object)); err != nil {
				continue
			}
			taken++
			for _, accept := range []string{"Accept: application/json", asTable, asPartial} {
				r := f.get("/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/"+name, accept)
				assert.Equal(t, 200, r.StatusCode, "%s %s %s: %s", p, odd, accept, r.body)
			}
		}
		assert.NotZero(t, taken)
		for _, accept := range []string{"Accept: application/json", asTable, asPartialList} {
			assert.Equal(t, 200, f.get(all, accept).StatusCode, "%s %s", p, accept)
		}
	}
}
