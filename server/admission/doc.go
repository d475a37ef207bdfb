// Package admission does to VirtualMachineInstances what KubeVirt's webhooks do to
// those of a cluster: it completes new ones, refuses what could never run, and keeps
// users away from what is KubeVirt's to write.
//
//	r := admission.Request{User: "jane", New: object, Now: now, NewID: uuid.NewString}
//	err := admission.Mutate(r)   // fills r.New in
//	…                            // the schema has its say
//	err = admission.Validate(r)  // a *admission.Refusal, or nil
//
// Objects are trees as encoding/json decodes them, numbers as [encoding/json.Number].
// They are meant to be valid by a schema already; one that is not is never a panic,
// and may be refused or pass.
//
// # Which cluster
//
// The webhooks ask their cluster's configuration much. Here it is that of a KubeVirt
// CR without settings, on amd64, installed in the namespace kubevirt, with one
// exception: no refusal is made that a feature gate or a setting could lift
// (HostDisk, VSOCK, HostDevices, persistent reservations, emulated machines, …), since
// this package cannot know what a cluster has turned on.
//
// # Which refusals
//
// Those that people meet, and that the object alone decides: no memory, amounts that
// contradict each other, disks without volumes and the other way round, buses, names,
// volumes with no source or two, cloud-init data that is too long, networks and
// interfaces that do not fit together, boot orders, probes, firmware, reserved labels.
// Not made: affinity, topology spread, NUMA, real time, dedicated CPUs but for
// isolateEmulatorThread, launch security, access credentials, DNS settings, DRA,
// sound, video, panic devices, ACPI tables, block sizes, PCI addresses, DHCP options;
// and on updates by KubeVirt itself, what hot-plugged volumes may change and what
// virt-handler may do to machines of other nodes. Presets are not applied.
//
// The behaviour and the messages are those of KubeVirt at commit
// d923fdb815cd2016ddaebdaaa51db04133576d72: pkg/virt-api/webhooks, pkg/defaults,
// pkg/storage/admitters, pkg/network/admitter. Unlike there, what a client wrote stays
// as it was written: KubeVirt decodes the spec into Go types, which drops fields that
// they do not have and respells quantities.
package admission
