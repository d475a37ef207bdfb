package admission

import "math"

// How far CPUs and memory may grow while a machine runs (pkg/defaults, setupHotplug;
// pkg/liveupdate/memory).
const (
	hotplugRatio = 4
	maxCPUs      = 512

	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// allowHotplug says how much a machine may grow.
func allowHotplug(domain map[string]any, architecture string) {
	cpu := child(domain, "cpu")
	if cpu != nil && integer(cpu, "maxSockets") == 0 {
		if most := maxSockets(uint32(integer(cpu, "sockets")), uint32(integer(cpu, "cores")), uint32(integer(cpu, "threads"))); most != 0 {
			cpu["maxSockets"] = number(int64(most))
		}
	}
	memory := child(domain, "memory")
	if !has(memory, "guest") || has(memory, "maxGuest") {
		return
	}
	if guest := amount(memory, "guest").whole(); memoryMayGrow(domain, guest, architecture) {
		memory["maxGuest"] = binary(guest * hotplugRatio)
	}
}

// maxSockets counts as KubeVirt does, overflow included.
func maxSockets(sockets, cores, threads uint32) uint32 {
	most := sockets * hotplugRatio
	if most*cores*threads > maxCPUs {
		return max(maxCPUs/(cores*threads), sockets)
	}
	return most
}

// memoryMayGrow reports whether memory can be plugged into a machine that has so many
// bytes.
func memoryMayGrow(domain map[string]any, guest int64, architecture string) bool {
	cpu, memory := child(domain, "cpu"), child(domain, "memory")
	block := int64(2 * mebibyte)
	if text(child(memory, "hugepages"), "pageSize") == "1Gi" {
		block = gibibyte
	}
	return architecture == "amd64" && !has(cpu, "realtime") && !has(child(cpu, "numa"), "guestMappingPassthrough") &&
		!has(domain, "launchSecurity") && guest >= gibibyte && guest <= math.MaxInt64/hotplugRatio && guest%block == 0
}
