package client_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/manifest"
)

// read decodes an object that a server sends.
func read(t testing.TB, body string) (*client.VMI, *vmi.VirtualMachineInstance, error) {
	t.Helper()
	vm, err := serve(t, answer(200, "application/json", body)).Get(t.Context(), "vms", "web")
	require.NoError(t, err)
	require.Equal(t, body, string(vm.Raw))
	v, err := vm.View()
	require.NotNil(t, v)
	return vm, v, err
}

// light is what a machine says without its typed view.
func light(vm *client.VMI) []string {
	return []string{vm.Name(), vm.Namespace(), vm.UID(), vm.ResourceVersion(), string(vm.Phase()), vm.NodeName()}
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
		vm, v, err := read(t, string(object.JSON))
		if pointer := bad[file]; pointer != "" {
			var item *client.ItemError
			require.ErrorAs(t, err, &item, file)
			assert.Equal(t, pointer, item.Pointer, file)
			delete(bad, file)
		} else {
			require.NoError(t, err, file)
		}
		var plain struct {
			Metadata struct{ Name, Namespace, UID, ResourceVersion string }
			Spec     struct {
				Domain struct{ Firmware struct{ UUID string } }
			}
			Status struct{ Phase, NodeName string }
		}
		require.NoError(t, json.Unmarshal(object.JSON, &plain))
		m, p := v.Metadata, plain.Metadata
		want := []string{p.Name, p.Namespace, p.UID, p.ResourceVersion, plain.Status.Phase, plain.Status.NodeName}
		assert.Equal(t, want, []string{m.Name, m.Namespace, m.UID, m.ResourceVersion, string(v.Status.Phase), v.Status.NodeName}, file)
		assert.Equal(t, want, light(vm), file)
		if v.Spec.Domain.Firmware != nil {
			assert.Equal(t, plain.Spec.Domain.Firmware.UUID, v.Spec.Domain.Firmware.UUID, file)
		}
	}
	assert.GreaterOrEqual(t, count, 30)
	assert.Empty(t, bad, "no such file")
}

func TestValuesOutsideTheDocumentAreRead(t *testing.T) {
	_, v, err := read(t, object("web", `,"spec":{"evictionStrategy":"Someday","domain":{"firmware":{"uuid":"uuidValue"},`+
		`"cpu":{"cores":-1},"devices":null}},"status":{"phase":"Frozen","conditions":null,"interfaces":[null]}`))
	require.NoError(t, err)
	assert.EqualValues(t, "Someday", v.Spec.EvictionStrategy)
	assert.False(t, v.Spec.EvictionStrategy.Valid())
	assert.Equal(t, "uuidValue", v.Spec.Domain.Firmware.UUID)
	assert.Equal(t, -1, v.Spec.Domain.CPU.Cores)
	assert.Nil(t, v.Spec.Domain.Devices)
	assert.EqualValues(t, "Frozen", v.Status.Phase)
	assert.Len(t, v.Status.Interfaces, 1)
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
		vm, v, err := read(t, object("web", tc.members))
		require.NoError(t, err, tc.members)
		assert.EqualValues(t, tc.phase, v.Status.Phase, tc.members)
		assert.EqualValues(t, tc.phase, vm.Phase(), tc.members)
		assert.Equal(t, "web", vm.Name())
		assert.Equal(t, "web", v.Metadata.Name)
	}
	vm, v, err := read(t, `{"Kind":"X","kind":"VirtualMachineInstance","metadata":{"name":"web","Name":"db",`+
		`"labels":{"Name":"n","name":"m"}},"spec":{"domain":{"devices":{"disks":[`+
		`{"name":"a","cdrom":{"readOnly":true}},{"name":"b","cdrom":{"readonly":false}}]}},`+
		`"volumes":[{"name":"a","persistentVolumeClaim":{"readOnly":true,"readonly":false}}]}}`)
	require.NoError(t, err)
	assert.Equal(t, "web", v.Metadata.Name)
	assert.Equal(t, "web", vm.Name())
	assert.Equal(t, map[string]string{"Name": "n", "name": "m"}, v.Metadata.Labels)
	disks := v.Spec.Domain.Devices.Disks
	assert.Nil(t, disks[0].Cdrom.Readonly)
	assert.Equal(t, new(bool), disks[1].Cdrom.Readonly)
	assert.True(t, v.Spec.Volumes[0].PersistentVolumeClaim.ReadOnly)
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
		// Of several, the first.
		{`,"status":{"phase":7,"nodeName":8}`, "/status/phase: json: cannot unmarshal number into Go value of type vmi.Phase"},
		{`,"status":{"nodeName":8,"phase":7}`, "/status/nodeName: json: cannot unmarshal number into Go value of type string"},
		{`,"status":{"phase":7}`, "/status/phase: json: cannot unmarshal number into Go value of type vmi.Phase"},
		{`,"status":{"phaseTransitionTimestamps":[{"phase":"Running","phaseTransitionTimestamp":"` + long + `"}]}`,
			`/status/phaseTransitionTimestamps/0/phaseTransitionTimestamp: parsing time "` + long[:186] + "..."},
		{`,"spec":{"volumes":[{"name":"a","cloudInitNoCloud":{"userData":{"s3cr3t":1}}}]}`,
			"/spec/volumes/0/cloudInitNoCloud/userData: json: cannot unmarshal object into Go value of type string"},
	} {
		body := object("web", tc.members)
		_, v, err := read(t, body)
		var item *client.ItemError
		require.ErrorAs(t, err, &item, tc.members)
		assert.EqualError(t, err, "vmi vms/web: "+tc.want)
		assert.Equal(t, []any{0, "vms", "web"}, []any{item.Index, item.Namespace, item.Name})
		assert.Equal(t, body, string(item.Raw))
		assert.Equal(t, "web", v.Metadata.Name)
	}

	_, v, err := read(t, object("web", `,"spec":{"nodeSelector":{"a":"x","b":1},"hostname":"h","volumes":[{"name":5},{"name":"b"}]}`))
	require.ErrorContains(t, err, "/spec/nodeSelector/b: ")
	assert.Equal(t, map[string]string{"a": "x"}, v.Spec.NodeSelector)
	assert.Equal(t, "h", v.Spec.Hostname)
	assert.Equal(t, []vmi.Volume{{}, {Name: "b"}}, v.Spec.Volumes)
}

func TestVMIKeepsEveryFieldThroughJSON(t *testing.T) {
	body := `{"kind":"VirtualMachineInstance","metadata":{"name":"web"},"spec":{"x":1.50,"y":[]}}`
	data := []byte(" " + body + "\n")
	made, err := client.NewVMI(data)
	require.NoError(t, err)
	var vm client.VMI
	require.NoError(t, json.Unmarshal(data, &vm))
	clear(data)
	for _, vm := range []*client.VMI{made, &vm, {Raw: []byte(body)}} {
		assert.Equal(t, "web", vm.Name())
		assert.Equal(t, "web", view(t, vm).Metadata.Name)
		assert.Equal(t, body, string(vm.Raw), "a copy")
	}
	out, err := json.Marshal([]*client.VMI{&vm, nil, {}})
	require.NoError(t, err)
	assert.Equal(t, "["+body+",null,null]", string(out))

	for bad, why := range map[string]string{
		"": "the text ends in the middle of a value", "{": "the text ends in", `{"a":"`: "the text ends in",
		`{"a":{"\`: "the text ends in", "nul": "the text ends in", "{}{}": `invalid character '{'`, "{} x": `invalid character 'x'`,
		"[]": "array where an object belongs", "7": "number where an object belongs", "{\x00}": `invalid character '\x00'`,
		strings.Repeat("[", 10_001): "nested too deeply",
	} {
		assert.ErrorContains(t, new(client.VMI).UnmarshalJSON([]byte(bad)), why, "%.20q", bad)
		_, err := client.NewVMI([]byte(bad))
		assert.ErrorContains(t, err, "new vmi: "+why, "%.20q", bad)

		vm := &client.VMI{Raw: []byte(bad)}
		assert.Equal(t, make([]string, 6), light(vm))
		v, err := vm.View()
		assert.Zero(t, *v)
		var item *client.ItemError
		require.ErrorAs(t, err, &item)
		assert.ErrorContains(t, err, "item 0: "+why, "%.20q", bad)
	}
	_, err = client.NewVMI([]byte("null"))
	require.ErrorContains(t, err, "null where an object belongs")
	assert.NoError(t, json.Unmarshal([]byte(" null "), &vm))
	assert.Equal(t, body, string(vm.Raw))

	require.NoError(t, json.Unmarshal([]byte(`{"kind":1,"metadata":{"name":"odd"}}`), &vm))
	assert.Equal(t, "odd", vm.Name(), "nothing is left of the old one")
	v, err := vm.View()
	var item *client.ItemError
	require.ErrorAs(t, err, &item)
	assert.Equal(t, "/kind", item.Pointer)
	assert.Equal(t, "odd", v.Metadata.Name)
}

func TestViewIsOneForAll(t *testing.T) {
	vm := &client.VMI{Raw: recorded(t, "get.json")}
	var all sync.WaitGroup
	views := make([]*vmi.VirtualMachineInstance, 8)
	for i := range views {
		all.Go(func() {
			views[i], _ = vm.View()
			assert.Equal(t, "vm1", vm.Name())
		})
	}
	all.Wait()
	for _, v := range views {
		assert.Same(t, view(t, vm), v)
	}
}

// Without a promise about what happens to who writes into Raw, nothing bad does.
func TestRawThatWasWrittenIntoIsNoPanic(t *testing.T) {
	body := object("web", `,"status":{"phase":"Running"}`)
	for _, spoil := range []func(*client.VMI){
		func(vm *client.VMI) { vm.Raw = vm.Raw[:20] },
		func(vm *client.VMI) { vm.Raw = nil },
		func(vm *client.VMI) { clear(vm.Raw) },
		func(vm *client.VMI) { copy(vm.Raw, strings.Repeat(`"\`, len(vm.Raw))) },
	} {
		vm, err := client.NewVMI([]byte(body))
		require.NoError(t, err)
		spoil(vm)
		light(vm)
		_, err = vm.View()
		assert.Error(t, err)
	}
}

func FuzzVMI(f *testing.F) {
	f.Add(string(recorded(f, "get.json")))
	f.Add(object("web", `,"status":{"phase":"Running","Phase":"Failed"}`))
	f.Add(object("web", `,"spec":{"domain":{"cpu":{"cores":"2"}},"nodeSelector":{"a\\":1}}`))
	f.Add(`{"metadata":{"name":"web","Name":"db"},"METADATA":{"name":"db"}}`)
	f.Add(`{"metadata":{"name":"a","uid":"1"},"metadata":{"name":"\u0062"},"status":{"phase":"x"},"status":null}`)
	f.Add(`{"pha\u017fe":{"\"":[null]}}`)
	f.Add("{\"metadata\":{\"name\":\"\xff\\ud800\"}}")
	for _, text := range []string{`null`, `[1e999]`, `[-0.5e+7]`, `[01]`, `[1.]`, `[-]`, `{"a":tru}`, `{"a" "b"}`, `[1,]`, `{,}`, `["\u12g4"]`, `["\uD83d\u00e9"]`, "[\"\\ud\x1800\"]", "[\"\t\"]"} {
		f.Add(text)
		f.Add(`{"a":` + text + `}`)
	}
	f.Fuzz(func(t *testing.T, body string) {
		vm, err := client.NewVMI([]byte(body))
		trimmed := strings.Trim(body, " \t\r\n")
		if err != nil {
			require.False(t, json.Valid([]byte(body)) && trimmed[0] == '{', "%v", err)
			return
		}
		require.True(t, json.Valid([]byte(body)))
		require.Equal(t, trimmed, string(vm.Raw))
		require.Equal(t, exact(body), light(vm))
		if _, err := vm.View(); err != nil {
			var item *client.ItemError
			require.ErrorAs(t, err, &item)
			require.NotContains(t, err.Error(), "\n")
		}
	})
}

// exact is what light should say, by way of encoding/json, which matches the keys of
// a map exactly and takes the last of several.
func exact(body string) []string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &members)
	var metadata, status map[string]json.RawMessage
	_ = json.Unmarshal(members["metadata"], &metadata)
	_ = json.Unmarshal(members["status"], &status)
	var found []string
	for _, raw := range []json.RawMessage{
		metadata["name"], metadata["namespace"], metadata["uid"], metadata["resourceVersion"], status["phase"], status["nodeName"],
	} {
		var s string
		_ = json.Unmarshal(raw, &s)
		found = append(found, s)
	}
	return found
}
