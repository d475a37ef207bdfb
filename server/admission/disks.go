package admission

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const maxSerial = 256

var diskSerial = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

func diskPath(i int, member string) string {
	path := fmt.Sprintf("spec.domain.devices.disks[%d]", i)
	if member != "" {
		path += "." + member
	}
	return path
}

// bootCauses: disks stand for volumes, and no two devices are booted from first.
func bootCauses(spec map[string]any) []Cause {
	var causes []Cause
	volumes, orders := make(map[string]map[string]any), make(map[int64]bool)
	for _, volume := range items(spec, "volumes") {
		volumes[text(volume, "name")] = volume
	}
	taken := func(device map[string]any, path string) {
		if !has(device, "bootOrder") {
			return
		}
		order := integer(device, "bootOrder")
		if orders[order] {
			causes = append(causes, invalid(path, "Boot order for %s already set for a different device.", path))
		}
		orders[order] = true
	}
	devices := child(spec, "domain", "devices")
	for i, disk := range items(devices, "disks") {
		volume, found := volumes[text(disk, "name")]
		// A CD-ROM drive may be empty.
		if !found && !has(disk, "cdrom") {
			causes = append(causes, invalid(diskPath(i, "name"), "%s '%s' not found.", diskPath(i, "Name"), text(disk, "name")))
		}
		if found && has(disk, "lun") && count(volume, "persistentVolumeClaim", "dataVolume") == 0 {
			causes = append(causes, invalid(diskPath(i, "lun"), "%s can only be mapped to a DataVolume or PersistentVolumeClaim volume.", diskPath(i, "lun")))
		}
		taken(disk, diskPath(i, "bootOrder"))
	}
	for i, nic := range items(devices, "interfaces") {
		taken(nic, interfacePath(i, "bootOrder"))
	}
	return causes
}

// diskCauses are of each disk by itself (pkg/storage/admitters/disks.go).
func diskCauses(spec map[string]any) []Cause {
	var causes []Cause
	first := make(map[string]int)
	for i, disk := range items(child(spec, "domain", "devices"), "disks") {
		name := text(disk, "name")
		if j, taken := first[name]; taken {
			causes = append(causes, invalid(diskPath(i, "name"), "%s and %s must not have the same Name.", diskPath(i, ""), diskPath(j, "")))
		} else {
			first[name] = i
		}
		if count(disk, "disk", "lun", "cdrom") > 1 {
			causes = append(causes, invalid(diskPath(i, ""), "%s can only have a single target type defined", diskPath(i, "")))
		}
		causes = append(causes, busCauses(i, disk)...)
		causes = append(causes, serialCauses(i, text(disk, "serial"))...)
		// The name of a disk becomes that of a container.
		for _, problem := range labelProblems(name) {
			causes = append(causes, invalid("spec.domain.devices.disks."+diskPath(i, "name")[len("spec."):], "%s", problem))
		}
	}
	return causes
}

// busCauses: which device sits on which bus.
func busCauses(i int, disk map[string]any) []Cause {
	var causes []Cause
	for _, kind := range []string{"disk", "lun", "cdrom"} {
		if !has(disk, kind) {
			continue
		}
		field, target := diskPath(i, kind+".bus"), child(disk, kind)
		bus := text(target, "bus")
		switch {
		case bus == "":
			return nil
		case bus == "ide":
			causes = append(causes, invalid(field, "IDE bus is not supported"))
		case bus == "virtio" && kind == "cdrom":
			causes = append(causes, invalid(field, "Bus type virtio is invalid for CD-ROM device"))
		case bus == "sata" && kind == "disk" && isTrue(target, "readonly"):
			causes = append(causes, invalid(field, "sata hard-disks do not support read-only."))
		case bus != "virtio" && bus != "sata" && bus != "scsi" && bus != "usb":
			causes = append(causes, invalid(field, "%s is set with an unrecognized bus %s, must be one of: [virtio scsi sata usb]", diskPath(i, ""), bus))
		}
		if isTrue(disk, "dedicatedIOThread") && bus != "virtio" {
			causes = append(causes, notSupported("spec.domain.devices.disks."+diskPath(i, "")[len("spec."):], "IOThreads are not supported for disks on a %s bus", bus))
		}
		break
	}
	return causes
}

func serialCauses(i int, serial string) []Cause {
	var causes []Cause
	if serial != "" && !diskSerial.MatchString(serial) {
		causes = append(causes, invalid(diskPath(i, "serial"), "%s must be made up of the following characters [A-Za-z0-9_.+-], if specified", diskPath(i, "")))
	}
	if len([]rune(serial)) > maxSerial {
		causes = append(causes, invalid(diskPath(i, "serial"), "%s must be less than or equal to %d in length, if specified", diskPath(i, ""), maxSerial))
	}
	return causes
}

// containerDiskCauses: the path of a disk within its image is one that goes straight.
func containerDiskCauses(spec map[string]any) []Cause {
	var causes []Cause
	for i, volume := range items(spec, "volumes") {
		field := fmt.Sprintf("spec.volumes[%d].containerDisk", i)
		switch file := text(child(volume, "containerDisk"), "path"); {
		case file == "":
		case file == "/":
			causes = append(causes, invalid(field, "%s must not point to root", field))
		case path.Join("/", file) != strings.TrimSuffix(file, "/"):
			causes = append(causes, invalid(field, "%s must be an absolute path to a file without relative components", field))
		}
	}
	return causes
}
