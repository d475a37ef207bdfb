package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

func TestFind(t *testing.T) {
	doc, err := openapi.Load(openapi.ProfileKubeVirt)
	require.NoError(t, err)
	const all = "/apis/kubevirt.io/v1/virtualmachineinstances"
	const in = "/apis/kubevirt.io/v1/namespaces/vms/virtualmachineinstances"
	for _, test := range []struct {
		method, path, id string
		parameters       map[string]string
	}{
		{"GET", all, "listVirtualMachineInstanceForAllNamespaces", map[string]string{}},
		{"GET", all + "/", "listVirtualMachineInstanceForAllNamespaces", map[string]string{}},
		{"GET", in, "listNamespacedVirtualMachineInstance", map[string]string{"namespace": "vms"}},
		{"HEAD", in, "listNamespacedVirtualMachineInstance", map[string]string{"namespace": "vms"}},
		{"GET", in + "/a%62", "readNamespacedVirtualMachineInstance", map[string]string{"namespace": "vms", "name": "ab"}},
		{"GET", in + "/a%2Fb", "readNamespacedVirtualMachineInstance", map[string]string{"namespace": "vms", "name": "a/b"}},
		{"GET", in + "/a/status", "", nil},
		{"GET", in + "/%zz", "", nil},
		{"GET", in + "//", "", nil},
		{"GET", "/apis/kubevirt.io/v1/namespaces//virtualmachineinstances", "", nil},
		{"TRACE", in, "", nil},
		{"GET", "/apis/kubevirt.io/v1/virtualmachines", "", nil},
		{"GET", "", "", nil},
	} {
		op, parameters := doc.Find(test.method, test.path)
		if test.id == "" {
			assert.Nil(t, op, test.path)
			continue
		}
		require.NotNil(t, op, test.path)
		assert.Equal(t, test.id, op.ID(), test.path)
		assert.Equal(t, test.parameters, parameters, test.path)
	}
}

func TestNegotiate(t *testing.T) {
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	for _, profile := range openapi.Profiles() {
		doc, err := openapi.Load(profile)
		require.NoError(t, err)
		list, read := doc.Operation("listNamespacedVirtualMachineInstance"), doc.Operation("readNamespacedVirtualMachineInstance")
		for _, test := range []struct {
			op     *openapi.Operation
			accept string
			watch  bool
			want   []openapi.Form
		}{
			{list, "", false, []openapi.Form{openapi.FormList}},
			{read, "*/*", false, []openapi.Form{openapi.FormItem}},
			{list, table, false, []openapi.Form{openapi.FormTable, openapi.FormList}},
			{read, table, false, []openapi.Form{openapi.FormTable, openapi.FormItem}},
			{list, table, true, []openapi.Form{openapi.FormWatchEventTable, openapi.FormWatchEvent}},
			{list, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", true, []openapi.Form{openapi.FormWatchEventPartialObject}},
			{list, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", false, nil},
			{list, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", false, []openapi.Form{openapi.FormPartialObjectList}},
			{read, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", false, []openapi.Form{openapi.FormPartialObject}},
			{read, "application/json;as=Table;v=v2;g=meta.k8s.io", false, nil},
			{read, "application/yaml", false, nil},
			{read, "application/vnd.kubernetes.protobuf,application/json", false, []openapi.Form{openapi.FormItem}},
			{list, "application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9", false, []openapi.Form{openapi.FormTable, openapi.FormList}},
			{list, "application/json;q=0, */*;q=x", false, nil},
		} {
			assert.Equal(t, test.want, doc.Negotiate(test.op, test.accept, test.watch), "%s %s %q watch %t", profile, test.op.ID(), test.accept, test.watch)
		}
	}
	doc, err := openapi.Load(openapi.ProfileKubernetes)
	require.NoError(t, err)
	assert.Equal(t, []openapi.Form{openapi.FormDeclared}, doc.Negotiate(doc.Operation("getAPIVersions"), "", false))
}

func FuzzFind(f *testing.F) {
	f.Add("GET", "/apis/kubevirt.io/v1/namespaces/vms/virtualmachineinstances/a%2fb/", "application/json;as=Table;v=v1;g=meta.k8s.io")
	f.Add("HEAD", "/apis//%zz", ";q=,*/*;q=0.1")
	f.Fuzz(func(t *testing.T, method, path, accept string) {
		doc, err := openapi.Load(openapi.ProfileKubeVirt)
		require.NoError(t, err)
		op, parameters := doc.Find(method, path)
		if op == nil {
			assert.Nil(t, parameters)
			op = doc.Operations()[0]
		}
		for _, form := range doc.Negotiate(op, accept, true) {
			assert.NotEqual(t, "unknown", form.String())
		}
		for name, value := range parameters {
			assert.NotEmpty(t, value, name)
		}
	})
}
