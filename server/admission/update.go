package admission

// updateCauses is the first thing that is wrong with a change: KubeVirt looks no
// further (vmi-update-admitter.go, Admit).
func updateCauses(r Request) []Cause {
	spec, old := child(r.New, "spec"), child(r.Old, "spec")
	byKubeVirt := r.byKubeVirt()
	switch {
	case sameSpec(spec, old):
	case !byKubeVirt:
		return []Cause{notSupported("", "update of VMI object is restricted")}
	default:
		return hotplugCauses(child(spec, "domain"), child(old, "domain"))
	}
	if !byKubeVirt && !sameReservedLabels(child(r.New, "metadata", "labels"), child(r.Old, "metadata", "labels")) {
		return []Cause{notSupported("", "modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited")}
	}
	return nil
}

// hotplugCauses are of bounds that are there for as long as a machine runs.
func hotplugCauses(domain, old map[string]any) []Cause {
	if integer(child(domain, "cpu"), "maxSockets") != integer(child(old, "cpu"), "maxSockets") {
		return []Cause{invalid("", "CPU topology maxSockets changed")}
	}
	memory, oldMemory := child(domain, "memory"), child(old, "memory")
	if has(memory, "maxGuest") && has(oldMemory, "maxGuest") && amount(memory, "maxGuest").cmp(amount(oldMemory, "maxGuest")) != 0 {
		return []Cause{invalid("", "Memory maxGuest changed")}
	}
	return nil
}

func sameReservedLabels(labels, old map[string]any) bool {
	for _, name := range reservedLabelNames {
		if has(labels, name) != has(old, name) || text(labels, name) != text(old, name) {
			return false
		}
	}
	return true
}
