package admission

import (
	"slices"
	"strings"
	"time"
)

// What a cluster without settings gives new machines (pkg/virt-config,
// defaultClusterConfig).
const (
	defaultArchitecture     = "amd64"
	defaultEvictionStrategy = "None"
	defaultCPUModel         = "host-model"

	finalizer = "kubevirt.io/foregroundDeleteVirtualMachine"
	// pciTopology says how a machine's PCI bus is laid out, where it has one.
	pciTopology        = "kubevirt.io/pci-topology-version"
	pciTopologyVersion = "v3"
	// nonRoot is the user of the process that runs a machine.
	nonRoot = 107
)

// complete gives a new machine what it does not say, in the order in which KubeVirt
// does it, since one default follows from another (vmi-mutator.go,
// ApplyNewVMIMutations; pkg/defaults, SetDefaultVirtualMachineInstance).
func complete(r Request) {
	spec, status := ensure(r.New, "spec"), ensure(r.New, "status")
	domain := ensure(spec, "domain")
	devices, resources, cpu := ensure(domain, "devices"), ensure(domain, "resources"), ensure(domain, "cpu")

	setText(spec, "architecture", defaultArchitecture)
	architecture := text(spec, "architecture")
	setText(ensure(domain, "machine"), "type", machineType(architecture))
	completeResources(resources)
	completeMemory(domain, resources)
	completeCPU(cpu, resources)
	completePullPolicies(spec)
	setDefault(spec, "evictionStrategy", defaultEvictionStrategy)
	completeNetwork(spec, devices)
	completeDisks(spec, devices)

	completeFeatures(domain, architecture)
	setText(ensure(domain, "firmware"), "uuid", r.NewID())
	completeDevices(devices, architecture)
	for _, probe := range []string{"readinessProbe", "livenessProbe"} {
		completeProbe(child(spec, probe))
	}
	if architecture == "arm64" {
		completeARM(domain, cpu)
	}
	setText(cpu, "model", defaultCPUModel)

	completeStatus(status, domain)
	if architecture != "arm64" {
		allowHotplug(domain, architecture)
	}
	meta := ensure(r.New, "metadata")
	if hasPCIe(architecture, text(child(domain, "machine"), "type")) {
		setDefault(ensure(meta, "annotations"), pciTopology, pciTopologyVersion)
	}
	begin(status, r.Now)
	// KubeVirt appends it to one that is there already.
	if list, _ := meta["finalizers"].([]any); !slices.Contains(list, any(finalizer)) {
		add(meta, "finalizers", finalizer)
	}
}

// begin is the first phase of a machine, whatever its status says.
func begin(status map[string]any, now time.Time) {
	status["phase"] = "Pending"
	add(status, "phaseTransitionTimestamps", map[string]any{
		"phase": "Pending", "phaseTransitionTimestamp": now.UTC().Format(time.RFC3339),
	})
	status["runtimeUser"] = number(nonRoot)
	// Go writes the empty struct that it is.
	ensure(status, "guestOSInfo")
}

func machineType(architecture string) string {
	switch architecture {
	case "arm64":
		return "virt"
	case "s390x":
		return "s390-ccw-virtio"
	}
	return "q35"
}

func hasPCIe(architecture, machine string) bool {
	return (architecture == "amd64" || architecture == "arm64") &&
		(strings.Contains(machine, "q35") || strings.HasPrefix(machine, "virt"))
}

// completeResources asks for as much CPU as may be used at most.
func completeResources(resources map[string]any) {
	limits, requests := child(resources, "limits"), child(resources, "requests")
	if amount(limits, "cpu").sign() != 0 && amount(requests, "cpu").sign() == 0 {
		ensure(resources, "requests")["cpu"] = limits["cpu"]
	}
}

// completeMemory gives the guest what the resources or huge pages say.
func completeMemory(domain, resources map[string]any) {
	memory := ensure(domain, "memory")
	if has(memory, "guest") {
		return
	}
	for _, kind := range []string{"requests", "limits"} {
		if of := child(resources, kind); amount(of, "memory").sign() != 0 {
			memory["guest"] = written(of["memory"])
			return
		}
	}
	if size := child(memory, "hugepages")["pageSize"]; size != nil {
		if _, ok := toQuantity(size); ok {
			memory["guest"] = written(size)
		}
	}
}

// written is a quantity as a text, which a bare number is not.
func written(v any) string {
	q, _ := toQuantity(v)
	return q.text
}

// completeCPU gives a machine that says nothing of its CPUs as many sockets as the
// resources have CPUs.
func completeCPU(cpu, resources map[string]any) {
	if integer(cpu, "cores") != 0 || integer(cpu, "sockets") != 0 || integer(cpu, "threads") != 0 {
		return
	}
	sockets := int64(1)
	for _, kind := range []string{"limits", "requests"} {
		if of := child(resources, kind); has(of, "cpu") {
			sockets = amount(of, "cpu").whole()
			break
		}
	}
	delete(cpu, "sockets")
	if s := uint32(sockets); sockets > 0 && s > 0 { // Go leaves a zero out; what is below is refused.
		cpu["sockets"] = number(int64(s))
	}
	cpu["cores"], cpu["threads"] = number(1), number(1)
}

// completePullPolicies is Kubernetes' own rule for images: what has no version, or
// the latest, is always pulled.
func completePullPolicies(spec map[string]any) {
	for _, volume := range items(spec, "volumes") {
		disk := child(volume, "containerDisk")
		if disk == nil {
			continue
		}
		policy, image := "IfNotPresent", text(disk, "image")
		if strings.HasSuffix(image, ":latest") || !strings.ContainsAny(image, ":@") {
			policy = "Always"
		}
		setText(disk, "imagePullPolicy", policy)
	}
}

// completeNetwork connects a machine that says nothing of networks to that of its pod.
func completeNetwork(spec, devices map[string]any) {
	if devices["autoattachPodInterface"] == false || len(items(spec, "networks")) > 0 || len(items(devices, "interfaces")) > 0 {
		return
	}
	devices["interfaces"] = []any{map[string]any{"name": "default", "bridge": map[string]any{}}}
	spec["networks"] = []any{map[string]any{"name": "default", "pod": map[string]any{}}}
}

// completeDisks makes a disk of each volume that is neither a disk nor a file system.
func completeDisks(spec, devices map[string]any) {
	names := make(map[string]bool)
	for _, kind := range []string{"disks", "filesystems"} {
		for _, device := range items(devices, kind) {
			names[text(device, "name")] = true
		}
	}
	for _, volume := range items(spec, "volumes") {
		if name := text(volume, "name"); !names[name] {
			add(devices, "disks", map[string]any{"name": name})
		}
	}
}

// completeDevices says what disks, inputs and watchdogs are where that is left open.
func completeDevices(devices map[string]any, architecture string) {
	bus := "virtio"
	if architecture != "arm64" && architecture != "s390x" {
		bus = "sata"
	}
	for _, disk := range items(devices, "disks") {
		if disk == nil {
			continue
		}
		if count(disk, "disk", "cdrom", "lun") == 0 {
			disk["disk"] = map[string]any{}
		}
		for _, target := range []string{"disk", "cdrom", "lun"} {
			if t := child(disk, target); t != nil {
				setText(t, "bus", bus)
			}
		}
		if cdrom := child(disk, "cdrom"); cdrom != nil {
			setDefault(cdrom, "readonly", true)
			setText(cdrom, "tray", "closed")
		}
		enable(child(disk, "blockSize", "matchVolume"), "enabled")
	}
	for _, input := range items(devices, "inputs") {
		if input != nil {
			setText(input, "bus", "usb")
			setText(input, "type", "tablet")
		}
	}
	for _, gpu := range items(devices, "gpus") {
		enable(child(gpu, "virtualGPUOptions", "display", "ramFB"), "enabled")
	}
	completeWatchdog(child(devices, "watchdog"), architecture)
}

func completeWatchdog(watchdog map[string]any, architecture string) {
	switch {
	case watchdog == nil, architecture == "arm64":
	case architecture == "s390x":
		setText(ensure(watchdog, "diag288"), "action", "reset")
	default:
		setText(ensure(watchdog, "i6300esb"), "action", "reset")
	}
}

func completeProbe(probe map[string]any) {
	if probe == nil {
		return
	}
	for name, least := range map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3} {
		if integer(probe, name) < 1 {
			probe[name] = number(least)
		}
	}
}

// completeARM is what arm64 has no choice about: the host's CPU, and UEFI.
func completeARM(domain, cpu map[string]any) {
	setText(cpu, "model", "host-passthrough")
	firmware := ensure(domain, "firmware")
	if !has(firmware, "bootloader") {
		firmware["bootloader"] = map[string]any{"efi": map[string]any{}}
	}
	if efi := child(firmware, "bootloader", "efi"); efi != nil {
		setDefault(efi, "secureBoot", false)
	}
}

// completeStatus is what a machine begins with, which hot-plugging changes later.
func completeStatus(status, domain map[string]any) {
	if guest := child(domain, "memory")["guest"]; guest != nil {
		size := written(guest)
		status["memory"] = map[string]any{"guestAtBoot": size, "guestCurrent": size, "guestRequested": size}
	}
	if !has(status, "currentCPUTopology") {
		topology := ensure(status, "currentCPUTopology")
		for _, name := range []string{"cores", "sockets", "threads"} {
			if n := integer(child(domain, "cpu"), name); n != 0 {
				topology[name] = number(n)
			}
		}
	}
}
