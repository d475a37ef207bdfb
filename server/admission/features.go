package admission

import "strings"

// completeFeatures turns on what is named without saying so, and what that needs
// (staging/src/kubevirt.io/api/core/v1/defaults.go, pkg/defaults/hyperv.go).
func completeFeatures(domain map[string]any, architecture string) {
	features := ensure(domain, "features")
	// s390x has no ACPI.
	setDefault(ensure(features, "acpi"), "enabled", architecture != "s390x")
	for _, path := range []string{
		"apic", "smm", "pvspinlock", "hyperv relaxed", "hyperv vapic", "hyperv spinlocks", "hyperv vpindex", "hyperv runtime",
		"hyperv synic", "hyperv synictimer", "hyperv synictimer direct", "hyperv reset", "hyperv vendorid", "hyperv frequencies",
		"hyperv reenlightenment", "hyperv tlbflush", "hyperv tlbflush direct", "hyperv tlbflush extended", "hyperv ipi", "hyperv evmcs",
	} {
		enable(child(features, strings.Fields(path)...), "enabled")
	}
	if spinlocks := child(features, "hyperv", "spinlocks"); isTrue(spinlocks, "enabled") {
		setDefault(spinlocks, "spinlocks", number(4096))
	}
	for _, timer := range []string{"hpet", "kvm", "pit", "rtc", "hyperv"} {
		enable(child(domain, "clock", "timer", timer), "present")
	}
	completeHyperV(domain)
}

// enable turns on what is there and says nothing of it.
func enable(feature map[string]any, name string) {
	if feature != nil {
		setDefault(feature, name, true)
	}
}

// hyperVNeeds are which features need which, those first that nothing needs.
var hyperVNeeds = []struct{ feature, needs string }{
	{"evmcs", "vapic"}, {"ipi", "vpindex"}, {"tlbflush", "vpindex"}, {"synictimer", "synic"}, {"synic", "vpindex"},
}

// completeHyperV turns on what features of Hyper-V need. It stops at one that is
// turned off, which is refused later.
func completeHyperV(domain map[string]any) {
	hyperV := child(domain, "features", "hyperv")
	for _, n := range hyperVNeeds {
		if !isTrue(child(hyperV, n.feature), "enabled") {
			continue
		}
		if setDefault(ensure(hyperV, n.needs), "enabled", true); !isTrue(child(hyperV, n.needs), "enabled") {
			return
		}
	}
	if isTrue(child(hyperV, "evmcs"), "enabled") {
		requireVMX(ensure(domain, "cpu"))
	}
}

// requireVMX asks for the CPU feature that evmcs stands on.
func requireVMX(cpu map[string]any) {
	for _, feature := range items(cpu, "features") {
		if text(feature, "name") == "vmx" {
			feature["policy"] = "require"
			return
		}
	}
	add(cpu, "features", map[string]any{"name": "vmx", "policy": "require"})
}

// hyperVCauses are the features that need another which is turned off.
func hyperVCauses(spec map[string]any) []Cause {
	var causes []Cause
	features := child(spec, "domain", "features")
	hyperV := child(features, "hyperv")
	// The path has its own beginning twice in KubeVirt as well.
	const path = "spec.domain.features.hyperv.domain.features.hyperv."
	for _, n := range hyperVNeeds {
		if isTrue(child(hyperV, n.feature), "enabled") && !isTrue(child(hyperV, n.needs), "enabled") {
			causes = append(causes, invalid(path+n.feature, "'%s%s' requires '%s%s', which was disabled.", path, n.feature, path, n.needs))
		}
	}
	if hyperV != nil && has(features, "hypervPassthrough") {
		causes = append(causes, invalid("spec.domain.features.hyperv",
			"Cannot explicitly set hyperV features if HypervPassthrough is being used. Please use either HyperV or HypervPassthrough."))
	}
	return causes
}
