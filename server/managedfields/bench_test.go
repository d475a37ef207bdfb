package managedfields_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/managedfields"
)

// benchMachine is a machine of 6 kB with the owners that one in a cluster has:
// who applied it and who writes its status.
func benchMachine(b *testing.B) []byte {
	var disks, volumes, conditions []string
	for i := range 12 {
		disks = append(disks, fmt.Sprintf(`{"bootOrder":%d,"disk":{"bus":"virtio"},"name":"disk%d"}`, i+1, i))
		volumes = append(volumes, fmt.Sprintf(`{"name":"disk%d","persistentVolumeClaim":{"claimName":"claim-with-a-longer-name-%d"}}`, i, i))
		conditions = append(conditions, fmt.Sprintf(`{"lastProbeTime":null,"lastTransitionTime":"2026-08-01T12:00:%02dZ","message":"a message of ordinary length that says what there is to say","status":"True","type":"Condition%d"}`, i, i))
	}
	spec := `"domain":{"cpu":{"cores":2,"model":"host-model","sockets":1,"threads":1},"devices":{"disks":[` + strings.Join(disks, ",") +
		`],"interfaces":[{"bridge":{},"macAddress":"02:00:00:00:00:01","model":"virtio","name":"default"}],"rng":{}},"features":{"acpi":{"enabled":true},"smm":{"enabled":true}},` +
		`"firmware":{"uuid":"5d307ca9-b3ef-428c-8861-06e72d69f223"},"machine":{"type":"q35"},"memory":{"guest":"4Gi"},"resources":{"requests":{"memory":"4Gi"}}},` +
		`"evictionStrategy":"LiveMigrate","networks":[{"name":"default","pod":{}}],"nodeSelector":{"zone":"a","pool":"b"},"terminationGracePeriodSeconds":180,"volumes":[` + strings.Join(volumes, ",") + `]`
	meta := `"labels":{"app":"web","tier":"front"},"annotations":{"kubevirt.io/latest-observed-api-version":"v1","kubevirt.io/storage-observed-api-version":"v1"},"uid":"1"`
	w := managedfields.Write{Manager: "kubectl", APIVersion: v1, Time: when}
	live, err := managedfields.VirtualMachineInstance.Apply(nil, []byte(manifest(meta, spec)), w, false)
	require.NoError(b, err)
	status := `,"status":{"activePods":{"9b3c":"node-1"},"conditions":[` + strings.Join(conditions, ",") + `],"guestOSInfo":{"id":"fedora","kernelRelease":"6.1"},` +
		`"interfaces":[{"ipAddress":"10.0.0.1","mac":"02:00:00:00:00:01","name":"default"}],"nodeName":"node-1","phase":"Running","qosClass":"Burstable"}}`
	object := append(bytes.TrimSuffix(live, []byte("}")), status...)
	w.Manager = "virt-controller"
	fields, err := managedfields.VirtualMachineInstance.Update(live, object, w)
	require.NoError(b, err)
	start, end := bytes.Index(object, []byte(`"managedFields":`)), bytes.Index(object, []byte(`,"name":"a"`))
	machine := bytes.Join([][]byte{object[:start], []byte(`"managedFields":`), fields, object[end:]}, nil)
	require.InDelta(b, 6000, len(machine), 400)
	return machine
}

func BenchmarkUpdate(b *testing.B) {
	live := benchMachine(b)
	object := bytes.Replace(live, []byte(`"phase":"Running"`), []byte(`"phase":"Failed"`), 1)
	w := managedfields.Write{Manager: "virt-handler", APIVersion: v1, Time: when}
	b.SetBytes(int64(len(object)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := managedfields.VirtualMachineInstance.Update(live, object, w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	live := benchMachine(b)
	applied := []byte(manifest(`"labels":{"app":"web","tier":"back"}`, `"domain":{"cpu":{"cores":4}},"nodeSelector":{"zone":"a"}`))
	w := managedfields.Write{Manager: "kubectl", APIVersion: v1, Time: when}
	b.SetBytes(int64(len(live)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := managedfields.VirtualMachineInstance.Apply(live, applied, w, false); err != nil {
			b.Fatal(err)
		}
	}
}
