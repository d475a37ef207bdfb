package managedfields_test

import (
	"fmt"
	"time"

	"github.com/vmikit/vmikit/server/managedfields"
)

func Example() {
	machines := managedfields.VirtualMachineInstance
	write := managedfields.Write{Manager: "kubectl", APIVersion: "kubevirt.io/v1", Time: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	live, err := machines.Apply(nil, []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",
		"metadata":{"name":"web","namespace":"vms"},"spec":{"domain":{"cpu":{"cores":2}}}}`), write, false)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(live))

	write.Manager = "autoscaler"
	_, err = machines.Apply(live, []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",
		"metadata":{"name":"web","namespace":"vms"},"spec":{"domain":{"cpu":{"cores":4}}}}`), write, false)
	fmt.Println(err)
	// Output:
	// {"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"managedFields":[{"apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:domain":{"f:cpu":{"f:cores":{}}}}},"manager":"kubectl","operation":"Apply","time":"2026-08-01T12:00:00Z"}],"name":"web","namespace":"vms"},"spec":{"domain":{"cpu":{"cores":2}}}}
	// Apply failed with 1 conflict: conflict with "kubectl": .spec.domain.cpu.cores
}
