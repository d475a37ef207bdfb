package admission

import (
	"fmt"
	"slices"
	"strings"
)

// createCauses is all that is wrong with a new machine, in the order in which KubeVirt
// finds it (vmi-create-admitter.go, Admit).
func createCauses(r Request) []Cause {
	spec, meta := child(r.New, "spec"), child(r.New, "metadata")
	return slices.Concat(
		discontinuedCauses(spec),
		nameCauses(spec),
		memoryCauses(spec),
		cpuCauses(spec),
		strategyCauses(spec),
		networkCauses(spec),
		bootCauses(spec),
		inputCauses(spec),
		probeCauses(spec),
		diskCauses(spec),
		firmwareCauses(spec),
		volumeCauses(spec),
		containerDiskCauses(spec),
		missingMemory(spec),
		reservedLabels(r, meta),
		hyperVCauses(spec),
		architectureCauses(spec),
	)
}

// nameCauses are of the names that a machine has in DNS.
func nameCauses(spec map[string]any) []Cause {
	var causes []Cause
	if name := text(spec, "hostname"); name != "" {
		if problems := labelProblems(name); len(problems) > 0 {
			causes = append(causes, invalid("spec.hostname", "spec.hostname does not conform to the kubernetes DNS_LABEL rules : %s", strings.Join(problems, ", ")))
		}
	}
	if name := text(spec, "subdomain"); name != "" {
		if problems := subdomainProblems(name); len(problems) > 0 {
			causes = append(causes, invalid("spec.subdomain", "spec.subdomain does not conform to the kubernetes DNS_SUBDOMAIN rules : %s", strings.Join(problems, ", ")))
		}
	}
	return causes
}

// strategyCauses: a machine that starts paused would fail its probe.
func strategyCauses(spec map[string]any) []Cause {
	switch strategy := text(spec, "startStrategy"); {
	case strategy == "":
		return nil
	case strategy != "Paused":
		return []Cause{invalid("spec.startStrategy", "spec.startStrategy is set with an unrecognized option: %s", strategy)}
	case has(spec, "livenessProbe"):
		return []Cause{invalid("spec.startStrategy",
			"either spec.startStrategy or spec.livenessProbe should be provided.Pausing VMI with LivenessProbe is not supported")}
	}
	return nil
}

func inputCauses(spec map[string]any) []Cause {
	var causes []Cause
	for i, input := range items(child(spec, "domain", "devices"), "inputs") {
		path := fmt.Sprintf("spec.domain.devices.inputs[%d].", i)
		if bus := text(input, "bus"); bus != "virtio" && bus != "usb" && bus != "" {
			causes = append(causes, invalid(path+"bus", "Input device can have only virtio or usb bus."))
		}
		if text(input, "type") != "tablet" {
			causes = append(causes, invalid(path+"type", "Input device can have only tablet type."))
		}
	}
	return causes
}

func probeCauses(spec map[string]any) []Cause {
	var causes []Cause
	probes := []string{"readinessProbe", "livenessProbe"}
	for _, name := range probes {
		probe, path := child(spec, name), "spec."+name
		if probe == nil {
			continue
		}
		switch handlers := count(probe, "httpGet", "tcpSocket", "exec", "guestAgentPing"); {
		case handlers > 1:
			causes = append(causes, invalid(path, "%s must have exactly one probe type set", path))
		case handlers < 1:
			causes = append(causes, required(path, "either %[1]s.tcpSocket, %[1]s.exec or %[1]s.httpGet must be set if a %[1]s is specified", path))
		}
	}
	if slices.ContainsFunc(items(spec, "networks"), func(n map[string]any) bool { return has(n, "pod") }) {
		return causes
	}
	for _, name := range probes {
		for _, handler := range []string{"httpGet", "tcpSocket"} {
			if path := "spec." + name + "." + handler; has(child(spec, name), handler) {
				causes = append(causes, invalid(path, "%s is only allowed if the Pod Network is attached", path))
			}
		}
	}
	return causes
}

func firmwareCauses(spec map[string]any) []Cause {
	var causes []Cause
	domain := child(spec, "domain")
	bootloader := child(domain, "firmware", "bootloader")
	if has(bootloader, "efi") && has(bootloader, "bios") {
		const path = "spec.domain.firmware.bootloader"
		causes = append(causes, invalid(path, "%s has both EFI and BIOS configured, but they are mutually exclusive.", path))
	}
	secure := has(bootloader, "efi") && trueByDefault(child(bootloader, "efi"), "secureBoot")
	smm := has(child(domain, "features"), "smm") && trueByDefault(child(domain, "features", "smm"), "enabled")
	if secure && !smm && !has(child(domain, "launchSecurity"), "tdx") {
		causes = append(causes, invalid("spec.domain", "spec.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled."))
	}
	return causes
}

func architectureCauses(spec map[string]any) []Cause {
	switch architecture := text(spec, "architecture"); architecture {
	case "amd64", "arm64", "s390x":
		return nil
	default:
		return []Cause{invalid("spec.architecture", "unsupported architecture: %s", architecture)}
	}
}

// reservedLabelNames are the labels that say what KubeVirt does with a machine.
var reservedLabelNames = []string{
	"kubevirt.io/created-by", "kubevirt.io/migrationJobUID", "kubevirt.io/nodeName",
	"kubevirt.io/migrationTargetNodeName", "kubevirt.io/schedulable", "kubevirt.io/install-strategy",
}

func reservedLabels(r Request, meta map[string]any) []Cause {
	labels := child(meta, "labels")
	if r.byKubeVirt() || !slices.ContainsFunc(reservedLabelNames, func(name string) bool { return has(labels, name) }) {
		return nil
	}
	return []Cause{notSupported("metadata.labels", "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited")}
}
