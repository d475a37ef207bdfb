package admission

import (
	"fmt"
	"regexp"
)

// reservedMAC is that of the bridge within the pod (pkg/network/link).
const reservedMAC = "02:00:00:00:00:00"

var interfaceName = regexp.MustCompile(`^[A-Za-z0-9-_]+$`)

func interfacePath(i int, member string) string {
	path := fmt.Sprintf("spec.domain.devices.interfaces[%d]", i)
	if member != "" {
		path += "." + member
	}
	return path
}

// discontinuedCauses are the bindings that KubeVirt has no more.
func discontinuedCauses(spec map[string]any) []Cause {
	var causes []Cause
	for i, nic := range items(child(spec, "domain", "devices"), "interfaces") {
		for _, old := range []struct{ binding, message string }{
			{"slirp", "Slirp interface support has been discontinued since v1.3"},
			{"passt", "Passt network binding has been discontinued since v1.3"},
			{"macvtap", "Macvtap network binding has been discontinued since v1.3"},
		} {
			if has(nic, old.binding) {
				causes = append(causes, invalid(interfacePath(i, old.binding), "%s", old.message))
			}
		}
	}
	return causes
}

// networkCauses: networks and interfaces go together in pairs, by name
// (pkg/network/admitter).
func networkCauses(spec map[string]any) []Cause {
	networks, nics := items(spec, "networks"), items(child(spec, "domain", "devices"), "interfaces")
	causes := append(defaultNetworkCauses(networks), networkSourceCauses(networks)...)
	byName := make(map[string]map[string]any)
	for i := len(networks) - 1; i >= 0; i-- {
		byName[text(networks[i], "name")] = networks[i]
	}
	causes = append(causes, stateCauses(networks, nics)...)
	causes = append(causes, bindingCauses(nics, byName)...)
	return append(causes, pairCauses(networks, nics)...)
}

func isMultusDefault(network map[string]any) bool { return isTrue(child(network, "multus"), "default") }

// defaultNetworkCauses: a machine has one network that is its pod's.
func defaultNetworkCauses(networks []map[string]any) []Cause {
	var causes []Cause
	pods, defaults := 0, 0
	for _, network := range networks {
		if has(network, "pod") {
			pods++
		}
		if isMultusDefault(network) {
			defaults++
		}
	}
	if pods > 1 {
		causes = append(causes, duplicate("spec.interfaces", "more than one interface is connected to a pod network in spec.interfaces"))
	}
	if defaults > 1 {
		causes = append(causes, invalid("spec.networks", "Multus CNI should only have one default network"))
	}
	if pods > 0 && defaults > 0 {
		causes = append(causes, invalid("spec.networks", "Pod network cannot be defined when Multus default network is defined"))
	}
	return causes
}

func networkSourceCauses(networks []map[string]any) []Cause {
	var causes []Cause
	for i, network := range networks {
		path := fmt.Sprintf("spec.networks[%d]", i)
		switch sources := count(network, "pod", "multus", "resourceClaim"); {
		case sources == 0:
			causes = append(causes, required(path, "should have a network type"))
		case sources > 1:
			causes = append(causes, required(path, "should have only one network type"))
		}
	}
	for i, network := range networks {
		if has(network, "multus") && text(child(network, "multus"), "networkName") == "" {
			return append(causes, required(fmt.Sprintf("spec.networks[%d]", i), "CNI delegating plugin must have a networkName"))
		}
	}
	return causes
}

// stateCauses are of links that are up, down or unplugged.
func stateCauses(networks, nics []map[string]any) []Cause {
	var causes []Cause
	byDefault := ""
	for _, network := range networks {
		if has(network, "pod") || isMultusDefault(network) {
			byDefault = text(network, "name")
			break
		}
	}
	for i, nic := range nics {
		state, name := text(nic, "state"), text(nic, "name")
		add := func(message string, args ...any) {
			causes = append(causes, invalid(interfacePath(i, "state"), message, args...))
		}
		if state != "" && state != "absent" && state != "up" && state != "down" {
			add("logical %s interface state value is unsupported: %s", name, state)
		}
		if has(nic, "sriov") && (state == "up" || state == "down") {
			add("%q interface's state %q is not supported for SR-IOV NICs", name, state)
		}
		if state == "absent" && !has(nic, "bridge") {
			add("%q interface's state %q is supported only for bridge binding", name, state)
		}
		if state == "absent" && byDefault == name {
			add("%q interface's state %q is not supported on default networks", name, state)
		}
	}
	return causes
}

// bindingCauses: an interface is bound to its network in one way.
func bindingCauses(nics []map[string]any, networks map[string]map[string]any) []Cause {
	var causes []Cause
	for i, nic := range nics {
		if count(nic, "bridge", "masquerade", "sriov", "passtBinding", "binding") != 1 {
			causes = append(causes, invalid(interfacePath(i, ""), "logical %s interface must have exactly one binding method or binding plugin", text(nic, "name")))
		}
		if !has(nic, "masquerade") {
			continue
		}
		if !has(networks[text(nic, "name")], "pod") {
			causes = append(causes, invalid(interfacePath(i, "name"), "Masquerade interface only implemented with pod network"))
		}
		if text(nic, "macAddress") == reservedMAC {
			causes = append(causes, invalid(interfacePath(i, "macAddress"),
				"The requested MAC address is reserved for the in-pod bridge. Please choose another one."))
		}
	}
	return causes
}

// pairCauses: each network has one interface, and each interface a network.
func pairCauses(networks, nics []map[string]any) []Cause {
	var twice, alone, shared, loose, misnamed []Cause
	hasNetwork, hasNIC := make(map[string]bool), make(map[string]bool)
	for i, nic := range nics {
		name := text(nic, "name")
		if hasNIC[name] {
			shared = append(shared, duplicate(interfacePath(i, "name"), "Only one interface can be connected to one specific network"))
		}
		hasNIC[name] = true
	}
	for i, network := range networks {
		name, path := text(network, "name"), fmt.Sprintf("spec.networks[%d].name", i)
		if hasNetwork[name] {
			twice = append(twice, duplicate(path, "Network with name %q already exists, every network must have a unique name", name))
		}
		hasNetwork[name] = true
		if !hasNIC[name] {
			alone = append(alone, required(path, "%s '%s' not found.", path, name))
		}
	}
	for i, nic := range nics {
		name, path := text(nic, "name"), interfacePath(i, "name")
		if !hasNetwork[name] {
			loose = append(loose, invalid(path, "%s '%s' not found.", path, name))
		}
		if !interfaceName.MatchString(name) {
			misnamed = append(misnamed, invalid(path, "Network interface name can only contain alphabetical characters, numbers, dashes (-) or underscores (_)"))
		}
	}
	causes := append(twice, alone...)
	causes = append(causes, shared...)
	causes = append(causes, loose...)
	return append(causes, misnamed...)
}
