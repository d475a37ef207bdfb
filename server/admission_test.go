package server_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
)

const (
	asJane       = "Authorization: Bearer jane"
	asController = "Authorization: Bearer controller"

	noMemory  = "no memory requested, at least one of 'spec.domain.memory.guest', 'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set"
	finalizer = "kubevirt.io/foregroundDeleteVirtualMachine"
)

// admitting is a server that admits as KubeVirt does, to a user and to KubeVirt.
func admitting(t *testing.T, opts ...server.Option) *fixture {
	t.Helper()
	users, err := server.ReadTokens(strings.NewReader("jane,jane,1\ncontroller,system:serviceaccount:kubevirt:kubevirt-controller,2\n"))
	require.NoError(t, err)
	return start(t, append(opts, server.WithAdmission(server.AdmissionKubeVirt), server.WithTokens(users))...)
}

// Differs: KubeVirt's webhooks
func TestAdmissionIsNoneUnlessAsked(t *testing.T) {
	f := start(t)
	w := f.send("POST", inVMs, strings.Replace(vm("a"), `"spec"`, `"status":{"phase":"Running"},"spec"`, 1)).written(t, 201)
	assert.Equal(t, "Running", w.Status.Phase)
	assert.Empty(t, w.Metadata.Finalizers)
	w = f.send("PATCH", inVMs+"/a", `{"spec":{"hostname":"b"},"status":{"phase":"Failed"}}`).written(t, 200)
	assert.Equal(t, "Failed", w.Status.Phase)
}

func TestAdmittedMachineIsCompleted(t *testing.T) {
	for _, p := range openapi.Profiles() {
		f := admitting(t, server.WithProfile(p))
		for _, query := range []string{"?dryRun=All", ""} {
			r := f.send("POST", inVMs+query, vm("a", `"finalizers":["mine.example/f"]`), asJane)
			w := r.written(t, 201)
			assert.Equal(t, "Pending", w.Status.Phase)
			assert.Equal(t, []string{"mine.example/f", finalizer}, w.Metadata.Finalizers)
			assert.Equal(t, 1, w.Metadata.Generation)
			assert.Contains(t, string(r.body), `"machine":{"type":"q35"}`)
			// A webhook changes an object when it has been written down who owns what.
			require.Len(t, w.Metadata.ManagedFields, 1)
			assert.NotContains(t, string(r.body), `"f:machine"`)
			assert.NotContains(t, string(r.body), `"v:\"`+finalizer)
		}
		named := f.send("POST", inVMs, vm("", `"generateName":"gen-"`), asJane).written(t, 201)
		assert.Equal(t, []string{finalizer}, named.Metadata.Finalizers)
	}
	f := admitting(t)
	w := f.send("PATCH", inVMs+"/b?fieldManager=m", vm("b"), asJane, "Content-Type: application/apply-patch+yaml").written(t, 201)
	assert.Equal(t, "Pending", w.Status.Phase)
	assert.Equal(t, []string{finalizer}, w.Metadata.Finalizers)
	again := f.send("PATCH", inVMs+"/b?fieldManager=m", vm("b"), asJane, "Content-Type: application/apply-patch+yaml").written(t, 200)
	assert.Equal(t, w.Metadata.ResourceVersion, again.Metadata.ResourceVersion, "the same once more changes nothing")
}

// The Status is the webhook's: no name, group or kind in its details.
func TestRefusedCreation(t *testing.T) {
	f := admitting(t)
	nothing := strings.Replace(vm("a"), `"memory":"64Mi"`, ``, 1)
	for _, send := range []func() reply{
		func() reply { return f.send("POST", inVMs, nothing, asJane) },
		func() reply { return f.send("POST", inVMs+"?dryRun=All", nothing, asJane) },
		func() reply {
			return f.send("PATCH", inVMs+"/a?fieldManager=m", nothing, asJane, "Content-Type: application/apply-patch+yaml")
		},
	} {
		r := send()
		assert.Equal(t, 422, r.StatusCode)
		assert.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
			"message":"admission webhook \"virtualmachineinstances-create-validator.kubevirt.io\" denied the request: `+noMemory+`",
			"reason":"Invalid","details":{"causes":[{"reason":"FieldValueRequired","message":"`+noMemory+`"}]},"code":422}`, string(r.body))
		assert.Equal(t, 404, f.get(inVMs+"/a", asJane).StatusCode)
	}
	r := f.send("POST", inVMs, strings.Replace(vm("a"), "64Mi", "64MB", 1), asJane)
	assert.Equal(t, 400, r.StatusCode)
	assert.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":400,
		"message":"admission webhook \"virtualmachineinstances-mutator.kubevirt.io\" denied the request: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"}`, string(r.body))
	bad := f.send("POST", inVMs, strings.Replace(vm("a"), `"devices":{}`, `"cpu":{"cores":0}`, 1), asJane).status(t)
	assert.Equal(t, "VirtualMachineInstance", bad.Details.Kind, "the document comes first")
}

// What admission makes of a machine is held against the document like what a client
// writes.
func TestAdmittedMachineIsJudged(t *testing.T) {
	f := admitting(t, server.WithProfile(openapi.ProfileDocument), server.WithIDs(func() string { return "no-uuid" }))
	s := f.send("POST", inVMs, vm("a"), asJane).status(t)
	assert.Contains(t, s.Message, "spec.domain.firmware.uuid: Invalid value")
}

func TestChangesOfUsers(t *testing.T) {
	f := admitting(t)
	before := f.send("POST", inVMs, vm("a"), asJane).written(t, 201)
	const denied = `admission webhook "virtualmachineinstances-update-validator.kubevirt.io" denied the request: update of VMI object is restricted`
	for _, c := range []struct{ method, path, body, media string }{
		{"PATCH", "", `{"spec":{"hostname":"b"}}`, ""},
		{"PATCH", "?dryRun=All", `{"spec":{"hostname":"b"}}`, ""},
		{"PATCH", "", `[{"op":"add","path":"/spec/hostname","value":"b"}]`, ""},
		{"PATCH", "?fieldManager=m&force=true", strings.Replace(vm("a"), `"domain"`, `"hostname":"b","domain"`, 1), "Content-Type: application/apply-patch+yaml"},
		{"PUT", "", strings.Replace(vm("a", `"resourceVersion":"`+before.Metadata.ResourceVersion+`"`), `"domain"`, `"hostname":"b","domain"`, 1), ""},
	} {
		headers := []string{asJane, c.media}
		if c.media == "" {
			headers = headers[:1]
		}
		s := f.send(c.method, inVMs+"/a"+c.path, c.body, headers...).status(t)
		assert.Equal(t, denied, s.Message, c.body)
		assert.EqualValues(t, 422, s.Code)
		assert.Equal(t, "Invalid", s.Reason)
		require.Len(t, s.Details.Causes, 1)
		assert.Equal(t, "FieldValueNotSupported", s.Details.Causes[0].Reason)
	}
	label := f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"kubevirt.io/nodeName":"n"}}}`, asJane).status(t)
	assert.Contains(t, label.Message, "denied the request: modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited")

	own := f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"app":"web"}}}`, asJane).written(t, 200)
	assert.Equal(t, 1, own.Metadata.Generation)
}

// A user's status is put back without a word. That the user wanted it is written down
// all the same, as in a cluster: managedFields come first.
func TestStatusIsPutBack(t *testing.T) {
	f := admitting(t)
	f.send("POST", inVMs, vm("a"), asJane).written(t, 201)
	r := f.send("PATCH", inVMs+"/a", `{"status":{"phase":"Running","nodeName":"n"}}`, asJane)
	w := r.written(t, 200)
	assert.Equal(t, "Pending", w.Status.Phase)
	assert.Equal(t, 1, w.Metadata.Generation)
	assert.NotContains(t, string(r.body), `"nodeName":"n"`)
	assert.Contains(t, string(r.body), `"f:nodeName":{}`)
}

func TestKubeVirtMay(t *testing.T) {
	f := admitting(t)
	f.send("POST", inVMs, vm("a", `"labels":{"kubevirt.io/created-by":"uid"}`), asController).written(t, 201)
	w := f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"kubevirt.io/nodeName":"n"}},"spec":{"hostname":"b"},"status":{"phase":"Running"}}`, asController).written(t, 200)
	assert.Equal(t, "Running", w.Status.Phase)
	assert.Equal(t, 2, w.Metadata.Generation)
	s := f.send("PATCH", inVMs+"/a", `{"spec":{"domain":{"cpu":{"maxSockets":8}}}}`, asController).status(t)
	assert.Contains(t, s.Message, "denied the request: CPU topology maxSockets changed")
	// What is in the process stands for KubeVirt and is not asked.
	f.create("vms/in-process")
	f.update("vms/in-process app=web")
}

// A machine that was loaded from elsewhere has nothing that admission gives; who writes
// it back as it was has changed nothing.
func TestLoadedMachineTakesChangesOfItsMetadata(t *testing.T) {
	f := admitting(t).create("vms/a")
	w := f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"app":"db"}},"spec":{"domain":{"devices":{},"resources":{}}}}`, asJane).written(t, 200)
	assert.Equal(t, "db", w.Metadata.Labels["app"])
	assert.Empty(t, w.Metadata.Finalizers, "an update completes nothing")
}

// Nothing here removes the finalizer, so who deletes a machine only marks it.
func TestDeletionWaitsForTheFinalizer(t *testing.T) {
	f := admitting(t)
	f.send("POST", inVMs, vm("a"), asJane).written(t, 201)
	w := f.send(http.MethodDelete, inVMs+"/a", "", asJane).written(t, 200)
	assert.NotEmpty(t, w.Metadata.DeletionTimestamp)
	assert.Equal(t, 200, f.get(inVMs+"/a", asJane).StatusCode)
	f.send("PATCH", inVMs+"/a", `{"metadata":{"finalizers":null}}`, asJane).written(t, 200)
	assert.Equal(t, 404, f.get(inVMs+"/a", asJane).StatusCode)
}

// corpusRefusals are the machines of the corpus that KubeVirt would not take as they
// are, with what it says. They are parts of machines, or made up.
var corpusRefusals = map[string]string{
	"17-ocpv-centos7-startpaused.yaml": "logical default-2 interface must have exactly one binding method or binding plugin, " +
		"spec.domain.devices.interfaces[1].name 'default-2' not found., spec.domain.devices.disks[1].Name 'cloudinitdisk' not found.",
	"31-arm64-host-passthrough-head.yaml": "spec.domain.devices.disks[0].Name 'system' not found., " + noMemory,
	"32-arm64-efi-nosecureboot-head.yaml": "spec.domain.devices.interfaces[0].name 'pod-net' not found., " +
		"spec.domain.devices.disks[0].Name 'image' not found., spec.domain.devices.disks[1].Name 'seed' not found., " + noMemory,
	"34-instancetype-clock-head.yaml":                             noMemory,
	"35-deleting-migrating-head.yaml":                             noMemory,
	"37-harvester-selflink-head.yaml":                             noMemory,
	"47-mock-v2v-unknown-fields.yaml":                             "should have a network type, Masquerade interface only implemented with pod network",
	"49-plugin-nic-enable-passt.yaml":                             noMemory,
	"50-plugin-nic-update-model.yaml":                             noMemory,
	"52-plugin-nic-update-network-virtio.yaml":                    noMemory,
	"53-plugin-nic-remove-by-delete-type-bridge.yaml":             noMemory,
	"55-plugin-nic-remove-type-bridge-automigration-blocked.yaml": noMemory,
	"56-plugin-nic-remove-newly-added.yaml":                       noMemory,
}

// Each machine of the corpus that the document takes is taken by admission as well, or
// refused for a reason that stands here.
func TestCorpusIsAdmitted(t *testing.T) {
	f := admitting(t)
	seen, admitted := map[string]bool{}, 0
	for object, err := range manifest.Walk([]string{filepath.Join("..", "openapi", "testdata", "corpus")}, nil) {
		require.NoError(t, err)
		file := filepath.Base(object.File)
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		var members map[string]any
		require.NoError(t, json.Unmarshal(object.JSON, &members))
		meta, _ := members["metadata"].(map[string]any)
		if meta == nil {
			continue
		}
		delete(meta, "resourceVersion")
		meta["namespace"] = "vms"
		if members["apiVersion"] == "kubevirt.io/v1alpha3" {
			members["apiVersion"] = "kubevirt.io/v1"
		}
		body, err := json.Marshal(members)
		require.NoError(t, err)
		r := f.send("POST", inVMs+"?fieldValidation=Ignore", string(body), asController)
		var status struct{ Message string }
		_ = json.Unmarshal(r.body, &status)
		if r.StatusCode == http.StatusCreated {
			admitted++
		}
		_, reason, webhook := strings.Cut(status.Message, "denied the request: ")
		if want := corpusRefusals[file]; webhook || want != "" {
			assert.Equal(t, want, reason, file)
			seen[file] = true
		}
	}
	assert.Len(t, seen, len(corpusRefusals))
	assert.Equal(t, 20, admitted)
}
