package client_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/manifest"
)

// read decodes an object as Get does.
func read(t testing.TB, body string) (*client.VMI, error) {
	t.Helper()
	return serve(t, answer(200, "application/json", body)).Get(t.Context(), "vms", "web")
}

func TestCorpusIsReadTypedAndExact(t *testing.T) {
	// By file, where a value is one that Go cannot hold.
	bad := map[string]string{
		"44-mock-stringly-booleans.yaml": "/metadata/ownerReferences/0/blockOwnerDeletion",
	}
	count := 0
	for object, err := range manifest.Walk([]string{"../openapi/testdata/corpus"}, nil) {
		require.NoError(t, err)
		count++
		file := filepath.Base(object.File)
		vm, err := read(t, string(object.JSON))
		if pointer := bad[file]; pointer != "" {
			var item *client.ItemError
			require.ErrorAs(t, err, &item, file)
			assert.Equal(t, pointer, item.Pointer, file)
			delete(bad, file)
		} else {
			require.NoError(t, err, file)
		}
		assert.Equal(t, string(object.JSON), string(vm.Raw), file)
		var plain struct {
			Metadata struct{ Name, UID string }
			Spec     struct {
				Domain struct{ Firmware struct{ UUID string } }
			}
			Status struct{ Phase string }
		}
		require.NoError(t, json.Unmarshal(object.JSON, &plain))
		assert.Equal(t, plain.Metadata.Name, vm.Metadata.Name, file)
		assert.Equal(t, plain.Metadata.UID, vm.Metadata.UID, file)
		assert.EqualValues(t, plain.Status.Phase, vm.Status.Phase, file)
		if vm.Spec.Domain.Firmware != nil {
			assert.Equal(t, plain.Spec.Domain.Firmware.UUID, vm.Spec.Domain.Firmware.UUID, file)
		}
	}
	assert.GreaterOrEqual(t, count, 30)
	assert.Empty(t, bad, "no such file")
}

func TestValuesOutsideTheDocumentAreRead(t *testing.T) {
	vm, err := read(t, object("web", `,"spec":{"evictionStrategy":"Someday","domain":{"firmware":{"uuid":"uuidValue"},`+
		`"cpu":{"cores":-1},"devices":null}},"status":{"phase":"Frozen","conditions":null,"interfaces":[null]}`))
	require.NoError(t, err)
	assert.EqualValues(t, "Someday", vm.Spec.EvictionStrategy)
	assert.False(t, vm.Spec.EvictionStrategy.Valid())
	assert.Equal(t, "uuidValue", vm.Spec.Domain.Firmware.UUID)
	assert.Equal(t, -1, vm.Spec.Domain.CPU.Cores)
	assert.Nil(t, vm.Spec.Domain.Devices)
	assert.EqualValues(t, "Frozen", vm.Status.Phase)
	assert.Len(t, vm.Status.Interfaces, 1)
}

// encoding/json takes the last of these for the declared member.
func TestNamesAreMatchedExactly(t *testing.T) {
	for _, tc := range []struct{ members, phase string }{
		{`,"status":{"phase":"Running","Phase":"Failed"}`, "Running"},
		{`,"status":{"Phase":"Failed","phase":"Running"}`, "Running"},
		{`,"status":{"PHASE":"Failed"}`, ""},
		{`,"status":{"phase":"Running","pha\u017fe":"Failed"}`, "Running"},
		{`,"status":{"phase":"Running","phaſe":"Failed"}`, "Running"},
		{`,"status":{"phase":"Running","\u0050hase":"Failed"}`, "Running"},
		{`,"status":{"\u0070hase":"Running"}`, "Running"},
		{`,"status" : {"phase":"Running" , "Phase" : "Failed"}`, "Running"},
		{`,"status":{"phase":"Running"},"Status":{"phase":"Failed"}`, "Running"},
		{`,"status":{"phase":"Running"},"STATUS":null`, "Running"},
		{`,"status":{"phase":"Running","x\\\":{\"Phase":"Failed"}`, "Running"},
		{`,"status":{"phase":"Running","x":"\",\"Phase\":\"Failed"}`, "Running"},
	} {
		vm, err := read(t, object("web", tc.members))
		require.NoError(t, err, tc.members)
		assert.EqualValues(t, tc.phase, vm.Status.Phase, tc.members)
		assert.Equal(t, "web", vm.Metadata.Name)
	}
	vm, err := read(t, `{"Kind":"X","kind":"VirtualMachineInstance","metadata":{"name":"web","Name":"db",`+
		`"labels":{"Name":"n","name":"m"}},"spec":{"domain":{"devices":{"disks":[`+
		`{"name":"a","cdrom":{"readOnly":true}},{"name":"b","cdrom":{"readonly":false}}]}},`+
		`"volumes":[{"name":"a","persistentVolumeClaim":{"readOnly":true,"readonly":false}}]}}`)
	require.NoError(t, err)
	assert.Equal(t, "web", vm.Metadata.Name)
	assert.Equal(t, map[string]string{"Name": "n", "name": "m"}, vm.Metadata.Labels)
	disks := vm.Spec.Domain.Devices.Disks
	assert.Nil(t, disks[0].Cdrom.Readonly)
	assert.Equal(t, new(bool), disks[1].Cdrom.Readonly)
	assert.True(t, vm.Spec.Volumes[0].PersistentVolumeClaim.ReadOnly)
}

func TestBadValuesAreFoundAndTheRestIsRead(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct{ members, want string }{
		{`,"spec":{"domain":{"cpu":{"cores":"2"}}}`, "/spec/domain/cpu/cores: json: cannot unmarshal string into Go value of type int"},
		{`,"spec":{"domain":{"cpu":{"cores":2.0}}}`, "/spec/domain/cpu/cores: json: cannot unmarshal number 2.0 into Go value of type int"},
		{`,"spec":{"terminationGracePeriodSeconds":99999999999999999999}`,
			"/spec/terminationGracePeriodSeconds: json: cannot unmarshal number 99999999999999999999 into Go value of type int"},
		{`,"spec":{"domain":[]}`, "/spec/domain: array where an object belongs"},
		{`,"spec":{"domain":{"devices":7}}`, "/spec/domain/devices: number where an object belongs"},
		{`,"spec":{"volumes":{"name":"root"}}`, "/spec/volumes: object where an array belongs"},
		{`,"spec":{"volumes":[{"name":"a"},"b"]}`, "/spec/volumes/1: string where an object belongs"},
		{`,"spec":{"nodeSelector":{"b/c~d":1,"z":false}}`, "/spec/nodeSelector/b~1c~0d: json: cannot unmarshal number into Go value of type string"},
		{`,"spec":{"nodeSelector":true}`, "/spec/nodeSelector: boolean where an object belongs"},
		// Of several, the first in the order of the typed view.
		{`,"status":{"phase":7,"nodeName":8}`, "/status/nodeName: json: cannot unmarshal number into Go value of type string"},
		{`,"status":{"phase":7}`, "/status/phase: json: cannot unmarshal number into Go value of type vmi.Phase"},
		{`,"status":{"phaseTransitionTimestamps":[{"phase":"Running","phaseTransitionTimestamp":"` + long + `"}]}`,
			`/status/phaseTransitionTimestamps/0/phaseTransitionTimestamp: parsing time "` + long[:186] + "..."},
		{`,"spec":{"volumes":[{"name":"a","cloudInitNoCloud":{"userData":{"s3cr3t":1}}}]}`,
			"/spec/volumes/0/cloudInitNoCloud/userData: json: cannot unmarshal object into Go value of type string"},
	} {
		body := object("web", tc.members)
		vm, err := read(t, body)
		var item *client.ItemError
		require.ErrorAs(t, err, &item, tc.members)
		assert.EqualError(t, err, "vmi vms/web: "+tc.want)
		assert.Equal(t, []any{0, "vms", "web"}, []any{item.Index, item.Namespace, item.Name})
		assert.Equal(t, body, string(item.Raw))
		require.NotNil(t, vm)
		assert.Equal(t, body, string(vm.Raw))
		assert.Equal(t, "web", vm.Metadata.Name)
	}

	vm, err := read(t, object("web", `,"spec":{"nodeSelector":{"a":"x","b":1},"hostname":"h","volumes":[{"name":5},{"name":"b"}]}`))
	require.ErrorContains(t, err, "/spec/nodeSelector/b: ")
	assert.Equal(t, map[string]string{"a": "x"}, vm.Spec.NodeSelector)
	assert.Equal(t, "h", vm.Spec.Hostname)
	assert.Equal(t, []vmi.Volume{{}, {Name: "b"}}, vm.Spec.Volumes)
}

func TestVMIKeepsEveryFieldThroughJSON(t *testing.T) {
	body := `{"kind":"VirtualMachineInstance","metadata":{"name":"web"},"spec":{"x":1.50,"y":[]}}`
	var vm client.VMI
	data := []byte(body)
	require.NoError(t, json.Unmarshal(data, &vm))
	clear(data)
	assert.Equal(t, "web", vm.Metadata.Name)
	assert.Equal(t, body, string(vm.Raw), "a copy")
	out, err := json.Marshal([]*client.VMI{&vm})
	require.NoError(t, err)
	assert.Equal(t, "["+body+"]", string(out))

	var own client.VMI
	own.Kind, own.Metadata.Name = "VirtualMachineInstance", "web"
	out, err = json.Marshal(own)
	require.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion":"","kind":"VirtualMachineInstance","metadata":{"name":"web"}}`, string(out))

	for _, bad := range []string{"", "{", `{"a":"`, `{"a":{"\`, "[", "nul"} {
		assert.Error(t, vm.UnmarshalJSON([]byte(bad)), "%q", bad)
	}
	assert.NoError(t, json.Unmarshal([]byte(" null "), &vm))
	assert.Equal(t, body, string(vm.Raw))

	var item *client.ItemError
	require.ErrorAs(t, json.Unmarshal([]byte(`{"kind":1,"metadata":{"name":"odd"}}`), &vm), &item)
	assert.Equal(t, "/kind", item.Pointer)
	assert.Equal(t, "odd", vm.Metadata.Name)
}

func FuzzVMI(f *testing.F) {
	f.Add(string(recorded(f, "get.json")))
	f.Add(object("web", `,"status":{"phase":"Running","Phase":"Failed"}`))
	f.Add(object("web", `,"spec":{"domain":{"cpu":{"cores":"2"}},"nodeSelector":{"a\\":1}}`))
	f.Add(`{"metadata":{"name":"web","Name":"db"},"METADATA":{"name":"db"}}`)
	f.Add(`{"pha\u017fe":{"\"":[null]}}`)
	f.Add(`null`)
	f.Add(`[1e999]`)
	f.Fuzz(func(t *testing.T, body string) {
		var vm client.VMI
		err := json.Unmarshal([]byte(body), &vm)
		if !json.Valid([]byte(body)) {
			return
		}
		trimmed := strings.Trim(body, " \t\r\n")
		if trimmed == "null" {
			return // encoding/json's convention: nothing is done
		}
		require.Equal(t, trimmed, string(vm.Raw))
		var item *client.ItemError
		if err != nil {
			require.ErrorAs(t, err, &item)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		// What was read is what stands under the exact name.
		var members, metadata map[string]json.RawMessage
		var name string
		require.NoError(t, json.Unmarshal([]byte(body), &members))
		_ = json.Unmarshal(members["metadata"], &metadata)
		_ = json.Unmarshal(metadata["name"], &name)
		if strings.Count(body, `"metadata"`) == 1 && strings.Count(body, `"name"`) == 1 {
			require.Equal(t, name, vm.Metadata.Name)
		}
	})
}
