package admission

import (
	"encoding/base64"
	"fmt"
)

// maxCloudInit is how many bytes of cloud-init data an object may carry.
const maxCloudInit = 2048

// volumeSources are what a volume can be made of.
var volumeSources = []string{
	"persistentVolumeClaim", "sysprep", "cloudInitNoCloud", "cloudInitConfigDrive", "containerDisk", "ephemeral", "emptyDisk", "hostDisk",
	"dataVolume", "configMap", "secret", "downwardAPI", "serviceAccount", "downwardMetrics", "memoryDump", "containerPath",
}

// volumeCauses are of volumes that are nothing, or two things at once.
func volumeCauses(spec map[string]any) []Cause {
	var causes []Cause
	first, kinds := make(map[string]int), make(map[string]int)
	for i, volume := range items(spec, "volumes") {
		path := fmt.Sprintf("spec.volumes[%d]", i)
		name := text(volume, "name")
		if j, taken := first[name]; taken {
			causes = append(causes, invalid(path+".name", "%s and spec.volumes[%d] must not have the same Name.", path, j))
		} else {
			first[name] = i
		}
		if has(volume, "dataVolume") && text(child(volume, "dataVolume"), "name") == "" {
			causes = append(causes, required(path+".name", "DataVolume 'name' must be set"))
		}
		if count(volume, volumeSources...) != 1 {
			causes = append(causes, invalid(path, "%s must have exactly one source type set", path))
		}
		for _, source := range []string{"serviceAccount", "downwardMetrics", "memoryDump"} {
			kinds[source] += count(volume, source)
		}
		causes = append(causes, cloudInitCauses(path, volume)...)
		causes = append(causes, sourceCauses(path, volume)...)
	}
	for _, c := range []struct{ source, called string }{
		{"serviceAccount", "serviceAccount"}, {"downwardMetrics", "downwardMetric"}, {"memoryDump", "memory dump"},
	} {
		if kinds[c.source] > 1 {
			causes = append(causes, invalid("spec.volumes", "spec.volumes must have max one %s volume set", c.called))
		}
	}
	return causes
}

// sourceCauses are of sources that do not say which one they are.
func sourceCauses(path string, volume map[string]any) []Cause {
	var causes []Cause
	if disk := child(volume, "hostDisk"); disk != nil {
		if text(disk, "path") == "" {
			causes = append(causes, Cause{"FieldValueNotFound", path + ".hostDisk.path", path + ".hostDisk.path is required for hostDisk volume"})
		}
		kind := text(disk, "type")
		if kind != "Disk" && kind != "DiskOrCreate" {
			causes = append(causes, invalid(path+".hostDisk.type", "%s.hostDisk.type has invalid value '%s', allowed are 'Disk' or 'DiskOrCreate'", path, kind))
		}
		if kind == "Disk" && amount(disk, "capacity").sign() != 0 {
			causes = append(causes, invalid(path+".hostDisk.capacity",
				"%[1]s.hostDisk.capacity is allowed to pass only with %[1]s.hostDisk.type equal to 'DiskOrCreate'", path))
		}
	}
	for _, c := range []struct{ source, member string }{
		{"configMap", "name"}, {"secret", "secretName"}, {"serviceAccount", "serviceAccountName"},
	} {
		if field := path + "." + c.source + "." + c.member; has(volume, c.source) && text(child(volume, c.source), c.member) == "" {
			causes = append(causes, invalid(field, "%s is a required field", field))
		}
	}
	return causes
}

// cloudInitCauses never say what is in the data.
func cloudInitCauses(path string, volume map[string]any) []Cause {
	source := "cloudInitNoCloud"
	if !has(volume, source) {
		source = "cloudInitConfigDrive"
	}
	if !has(volume, source) {
		return nil
	}
	field, data := path+"."+source, child(volume, source)
	users, causes := dataCauses(field, source, data, "secretRef", "userData", "userdatasource", "userdata exceeds %d byte limit. Should use UserDataSecretRef for larger data.")
	networks, more := dataCauses(field, source, data, "networkDataSecretRef", "networkData", "networkdata source", "networkdata exceeds %d byte limit. Should use NetworkDataSecretRef for larger data.")
	causes = append(causes, more...)
	if users == 0 && networks == 0 {
		causes = append(causes, invalid(field, "%s must have at least one userdatasource or one networkdatasource set.", field))
	}
	return causes
}

// dataCauses looks at one of the two data of cloud-init, which comes as a text, as
// base64 or from a secret. It returns in how many of these ways it comes.
func dataCauses(field, source string, data map[string]any, secret, member, called, tooLong string) (sources int, causes []Cause) {
	length := 0
	if text(child(data, secret), "name") != "" {
		sources++
	}
	if encoded := text(data, member+"Base64"); encoded != "" {
		sources++
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			causes = append(causes, invalid(field+"."+member+"Base64", "%[1]s.%[2]sBase64.%[3]s.%[2]sBase64 is not a valid base64 value.", field, member, source))
		}
		length = len(decoded)
	}
	if plain := text(data, member); plain != "" {
		sources++
		length = len(plain)
	}
	if sources > 1 {
		causes = append(causes, invalid(field, "%s must have only one %s set.", field, called))
	}
	if length > maxCloudInit {
		causes = append(causes, invalid(field, "%s "+tooLong, field, maxCloudInit))
	}
	return sources, causes
}
