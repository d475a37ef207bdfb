package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/admission"
)

// refusal is what is said of a machine that somebody wants to make; nil where it is
// admitted.
func refusal(t testing.TB, who, object string) *admission.Refusal {
	t.Helper()
	r := request(t, who, "", object)
	require.NoError(t, admission.Mutate(r))
	err := admission.Validate(r)
	if err == nil {
		return nil
	}
	var refused *admission.Refusal
	require.ErrorAs(t, err, &refused)
	return refused
}

// good is a machine that is admitted, for the tests to break.
const good = `{"metadata":{"name":"a","labels":{"app":"web"}},"spec":{
	"hostname":"web","subdomain":"a.b",
	"domain":{
		"cpu":{"cores":2},"memory":{"guest":"1Gi"},"resources":{"requests":{"memory":"1Gi","cpu":"1"},"limits":{"memory":"2Gi","cpu":"2"}},
		"firmware":{"bootloader":{"efi":{"secureBoot":false}}},
		"devices":{
			"disks":[{"name":"root","bootOrder":1,"disk":{"bus":"virtio"},"serial":"S-1"},{"name":"seed","cdrom":{"bus":"sata"}}],
			"interfaces":[{"name":"default","masquerade":{},"bootOrder":2},{"name":"lan","bridge":{},"state":"up"}],
			"inputs":[{"name":"t","type":"tablet","bus":"virtio"}]}},
	"networks":[{"name":"default","pod":{}},{"name":"lan","multus":{"networkName":"lan"}}],
	"readinessProbe":{"tcpSocket":{"port":22}},
	"volumes":[{"name":"root","persistentVolumeClaim":{"claimName":"c"}},{"name":"seed","cloudInitNoCloud":{"userData":"#cloud-config"}}]}}`

func TestGoodMachineIsAdmitted(t *testing.T) {
	assert.Nil(t, refusal(t, user, good))
	assert.Nil(t, refusal(t, controller, good))
}

// Each line breaks the good machine at one place; what KubeVirt says of it is the
// only cause.
//
// Differs: which refusals (`--admission=kubevirt`)
func TestRefusals(t *testing.T) {
	const disks, nics = "spec.domain.devices.disks", "spec.domain.devices.interfaces"
	for _, c := range []struct{ old, new, reason, field, message string }{
		{`"hostname":"web"`, `"hostname":"Web"`, "Invalid", "spec.hostname", "spec.hostname does not conform to the kubernetes DNS_LABEL rules : a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
		{`"hostname":"web"`, `"hostname":"w.b"`, "Invalid", "spec.hostname", "spec.hostname does not conform to the kubernetes DNS_LABEL rules : must not contain dots"},
		{`"hostname":"web"`, `"hostname":"` + strings.Repeat("w", 64) + `"`, "Invalid", "spec.hostname", "spec.hostname does not conform to the kubernetes DNS_LABEL rules : must be no more than 63 characters"},
		{`"subdomain":"a.b"`, `"subdomain":"a..b"`, "Invalid", "spec.subdomain", "spec.subdomain does not conform to the kubernetes DNS_SUBDOMAIN rules : a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},

		{`"requests":{"memory":"1Gi"`, `"requests":{"memory":"-1Gi"`, "Invalid", "spec.domain.resources.requests.memory", "spec.domain.resources.requests.memory '-1Gi': must be greater than or equal to 0."},
		{`"requests":{"memory":"1Gi"`, `"requests":{"memory":"64k"`, "Invalid", "spec.domain.resources.requests.memory", "spec.domain.resources.requests.memory '64k': must be greater than or equal to 1M."},
		{`"limits":{"memory":"2Gi"`, `"limits":{"memory":"-2Gi"`, "Invalid", "spec.domain.resources.limits.memory", "spec.domain.resources.limits.memory '-2Gi': must be greater than or equal to 0."},
		{`"limits":{"memory":"2Gi"`, `"limits":{"memory":"512Mi"`, "Invalid", "spec.domain.resources.requests.memory", "spec.domain.resources.requests.memory '1Gi' is greater than spec.domain.resources.limits.memory '512Mi'"},
		{`"memory":{"guest":"1Gi"}`, `"memory":{"hugepages":{"pageSize":"2Gi"}}`, "Invalid", "spec.domain.resources.requests.memory", "spec.domain.resources.requests.memory '1Gi' must be equal to or larger than page size spec.domain.memory.hugepages.pageSize '2Gi'"},
		{`"memory":{"guest":"1Gi"}`, `"memory":{"hugepages":{"pageSize":"3Mi"}}`, "Invalid", "spec.domain.resources.requests.memory", "spec.domain.resources.requests.memory '1Gi' is not a multiple of the page size spec.domain.memory.hugepages.pageSize '3Mi'"},
		{`"memory":{"guest":"1Gi"}`, `"memory":{"hugepages":{"pageSize":"big"}}`, "Invalid", "spec.domain.memory.hugepages.pageSize", "spec.domain.memory.hugepages.pageSize 'big': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{`"cpu":"1"}`, `"cpu":"-1"}`, "Invalid", "spec.domain.resources.requests.cpu", "spec.domain.resources.requests.cpu '-1': must be greater than or equal to 0."},
		{`"cpu":"2"}`, `"cpu":"-2"}`, "Invalid", "spec.domain.resources.limits.cpu", "spec.domain.resources.limits.cpu '-2': must be greater than or equal to 0."},
		{`"cpu":"2"}`, `"cpu":"500m"}`, "Invalid", "spec.domain.resources.requests.cpu", "spec.domain.resources.requests.cpu '1' is greater than spec.domain.resources.limits.cpu '500m'"},
		{`"cpu":{"cores":2}`, `"cpu":{"cores":2,"isolateEmulatorThread":true}`, "Invalid", "spec.domain.cpu.isolateEmulatorThread", "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement"},
		{`"cpu":{"cores":2}`, `"cpu":{"sockets":2,"maxSockets":1}`, "Invalid", "spec.domain.cpu.sockets", "Number of sockets in CPU topology is greater than the maximum sockets allowed"},
		{`"hostname":"web"`, `"startStrategy":"Later"`, "Invalid", "spec.startStrategy", "spec.startStrategy is set with an unrecognized option: Later"},
		{`"hostname":"web"`, `"startStrategy":"Paused","livenessProbe":{"exec":{}}`, "Invalid", "spec.startStrategy", "either spec.startStrategy or spec.livenessProbe should be provided.Pausing VMI with LivenessProbe is not supported"},

		{`"name":"lan","multus":{"networkName":"lan"}`, `"name":"lan","pod":{}`, "Duplicate", "spec.interfaces", "more than one interface is connected to a pod network in spec.interfaces"},
		{`"multus":{"networkName":"lan"}`, `"multus":{"networkName":"lan","default":true}`, "Invalid", "spec.networks", "Pod network cannot be defined when Multus default network is defined"},
		{`"name":"lan","multus":{"networkName":"lan"}`, `"name":"lan"`, "Required", "spec.networks[1]", "should have a network type"},
		{`"multus":{"networkName":"lan"}`, `"multus":{"networkName":"lan"},"resourceClaim":{}`, "Required", "spec.networks[1]", "should have only one network type"},
		{`"multus":{"networkName":"lan"}`, `"multus":{"networkName":""}`, "Required", "spec.networks[1]", "CNI delegating plugin must have a networkName"},
		{`"bridge":{},"state":"up"`, `"bridge":{},"state":"sideways"`, "Invalid", nics + "[1].state", "logical lan interface state value is unsupported: sideways"},
		{`"bridge":{},"state":"up"`, `"sriov":{},"state":"up"`, "Invalid", nics + "[1].state", `"lan" interface's state "up" is not supported for SR-IOV NICs`},
		{`"bridge":{},"state":"up"`, `"sriov":{},"state":"absent"`, "Invalid", nics + "[1].state", `"lan" interface's state "absent" is supported only for bridge binding`},
		{`"masquerade":{}`, `"bridge":{},"state":"absent"`, "Invalid", nics + "[0].state", `"default" interface's state "absent" is not supported on default networks`},
		{`"bridge":{},"state":"up"`, `"state":"up"`, "Invalid", nics + "[1]", "logical lan interface must have exactly one binding method or binding plugin"},
		{`"bridge":{},"state":"up"`, `"bridge":{},"sriov":{}`, "Invalid", nics + "[1]", "logical lan interface must have exactly one binding method or binding plugin"},
		{`"bridge":{},"state":"up"`, `"masquerade":{}`, "Invalid", nics + "[1].name", "Masquerade interface only implemented with pod network"},
		{`"masquerade":{}`, `"masquerade":{},"macAddress":"02:00:00:00:00:00"`, "Invalid", nics + "[0].macAddress", "The requested MAC address is reserved for the in-pod bridge. Please choose another one."},
		{`"bridge":{},"state":"up"`, `"bridge":{},"slirp":{}`, "Invalid", nics + "[1].slirp", "Slirp interface support has been discontinued since v1.3"},
		{`"bridge":{},"state":"up"`, `"bridge":{},"passt":{}`, "Invalid", nics + "[1].passt", "Passt network binding has been discontinued since v1.3"},
		{`"bridge":{},"state":"up"`, `"bridge":{},"macvtap":{}`, "Invalid", nics + "[1].macvtap", "Macvtap network binding has been discontinued since v1.3"},
		{`,{"name":"lan","multus":{"networkName":"lan"}}`, ``, "Invalid", nics + "[1].name", nics + "[1].name 'lan' not found."},
		{`,{"name":"lan","bridge":{},"state":"up"}`, ``, "Required", "spec.networks[1].name", "spec.networks[1].name 'lan' not found."},
		{`{"name":"lan","bridge":{},"state":"up"}`, `{"name":"lan","bridge":{}},{"name":"lan","bridge":{}}`, "Duplicate", nics + "[2].name", "Only one interface can be connected to one specific network"},
		{`{"name":"lan","multus":{"networkName":"lan"}}`, `{"name":"lan","multus":{"networkName":"lan"}},{"name":"lan","multus":{"networkName":"lan"}}`, "Duplicate", "spec.networks[2].name", `Network with name "lan" already exists, every network must have a unique name`},

		{`{"name":"root","persistentVolumeClaim":{"claimName":"c"}},`, ``, "Invalid", disks + "[0].name", disks + "[0].Name 'root' not found."},
		{`"cdrom":{"bus":"sata"}`, `"lun":{"bus":"sata"}`, "Invalid", disks + "[1].lun", disks + "[1].lun can only be mapped to a DataVolume or PersistentVolumeClaim volume."},
		{`"cdrom":{"bus":"sata"}`, `"cdrom":{"bus":"sata"},"bootOrder":1`, "Invalid", disks + "[1].bootOrder", "Boot order for " + disks + "[1].bootOrder already set for a different device."},
		{`"bootOrder":2`, `"bootOrder":1`, "Invalid", nics + "[0].bootOrder", "Boot order for " + nics + "[0].bootOrder already set for a different device."},
		{`"type":"tablet","bus":"virtio"`, `"type":"tablet","bus":"ps2"`, "Invalid", "spec.domain.devices.inputs[0].bus", "Input device can have only virtio or usb bus."},
		{`"type":"tablet","bus":"virtio"`, `"type":"mouse"`, "Invalid", "spec.domain.devices.inputs[0].type", "Input device can have only tablet type."},
		{`{"name":"seed","cdrom"`, `{"name":"root","cdrom"`, "Invalid", disks + "[1].name", disks + "[1] and " + disks + "[0] must not have the same Name."},
		{`"disk":{"bus":"virtio"}`, `"disk":{"bus":"virtio"},"lun":{"bus":"virtio"}`, "Invalid", disks + "[0]", disks + "[0] can only have a single target type defined"},
		{`"disk":{"bus":"virtio"}`, `"disk":{"bus":"ide"}`, "Invalid", disks + "[0].disk.bus", "IDE bus is not supported"},
		{`"cdrom":{"bus":"sata"}`, `"cdrom":{"bus":"virtio"}`, "Invalid", disks + "[1].cdrom.bus", "Bus type virtio is invalid for CD-ROM device"},
		{`"disk":{"bus":"virtio"}`, `"disk":{"bus":"sata","readonly":true}`, "Invalid", disks + "[0].disk.bus", "sata hard-disks do not support read-only."},
		{`"disk":{"bus":"virtio"}`, `"lun":{"bus":"nvme"}`, "Invalid", disks + "[0].lun.bus", disks + "[0] is set with an unrecognized bus nvme, must be one of: [virtio scsi sata usb]"},
		{`"disk":{"bus":"virtio"}`, `"disk":{"bus":"scsi"},"dedicatedIOThread":true`, "NotSupported", disks + ".domain.devices.disks[0]", "IOThreads are not supported for disks on a scsi bus"},
		{`"serial":"S-1"`, `"serial":"S 1"`, "Invalid", disks + "[0].serial", disks + "[0] must be made up of the following characters [A-Za-z0-9_.+-], if specified"},
		{`"serial":"S-1"`, `"serial":"` + strings.Repeat("s", 257) + `"`, "Invalid", disks + "[0].serial", disks + "[0] must be less than or equal to 256 in length, if specified"},
		{`"secureBoot":false`, `"secureBoot":true`, "Invalid", "spec.domain", "spec.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled."},
		{`{"efi":{"secureBoot":false}}}`, `{"efi":{}}},"features":{"smm":{"enabled":false}}`, "Invalid", "spec.domain", "spec.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled."},
		{`"efi":{"secureBoot":false}`, `"efi":{"secureBoot":false},"bios":{}`, "Invalid", "spec.domain.firmware.bootloader", "spec.domain.firmware.bootloader has both EFI and BIOS configured, but they are mutually exclusive."},

		{`{"tcpSocket":{"port":22}}`, `{"tcpSocket":{"port":22},"exec":{}}`, "Invalid", "spec.readinessProbe", "spec.readinessProbe must have exactly one probe type set"},
		{`{"tcpSocket":{"port":22}}`, `{}`, "Required", "spec.readinessProbe", "either spec.readinessProbe.tcpSocket, spec.readinessProbe.exec or spec.readinessProbe.httpGet must be set if a spec.readinessProbe is specified"},

		{`"name":"seed","cloudInitNoCloud":{"userData":"#cloud-config"}`, `"name":"seed"`, "Invalid", "spec.volumes[1]", "spec.volumes[1] must have exactly one source type set"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"persistentVolumeClaim":{"claimName":"c"},"emptyDisk":{"capacity":"1Gi"}`, "Invalid", "spec.volumes[0]", "spec.volumes[0] must have exactly one source type set"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"dataVolume":{}`, "Required", "spec.volumes[0].name", "DataVolume 'name' must be set"},
		{`{"name":"root","persistentVolumeClaim"`, `{"name":"seed","emptyDisk":{}},{"name":"root","persistentVolumeClaim"`, "Invalid", "spec.volumes[2].name", "spec.volumes[2] and spec.volumes[0] must not have the same Name."},
		{`"userData":"#cloud-config"`, `"userData":"` + strings.Repeat("x", 2049) + `"`, "Invalid", "spec.volumes[1].cloudInitNoCloud", "spec.volumes[1].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use UserDataSecretRef for larger data."},
		{`"userData":"#cloud-config"`, `"networkData":"` + strings.Repeat("x", 2049) + `"`, "Invalid", "spec.volumes[1].cloudInitNoCloud", "spec.volumes[1].cloudInitNoCloud networkdata exceeds 2048 byte limit. Should use NetworkDataSecretRef for larger data."},
		{`"userData":"#cloud-config"`, `"userData":"x","secretRef":{"name":"s"}`, "Invalid", "spec.volumes[1].cloudInitNoCloud", "spec.volumes[1].cloudInitNoCloud must have only one userdatasource set."},
		{`"userData":"#cloud-config"`, `"networkData":"x","networkDataBase64":"eA=="`, "Invalid", "spec.volumes[1].cloudInitNoCloud", "spec.volumes[1].cloudInitNoCloud must have only one networkdata source set."},
		{`"userData":"#cloud-config"`, `"userDataBase64":"???"`, "Invalid", "spec.volumes[1].cloudInitNoCloud.userDataBase64", "spec.volumes[1].cloudInitNoCloud.userDataBase64.cloudInitNoCloud.userDataBase64 is not a valid base64 value."},
		{`"cloudInitNoCloud":{"userData":"#cloud-config"}`, `"cloudInitConfigDrive":{}`, "Invalid", "spec.volumes[1].cloudInitConfigDrive", "spec.volumes[1].cloudInitConfigDrive must have at least one userdatasource or one networkdatasource set."},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"hostDisk":{"type":"Disk"}`, "NotFound", "spec.volumes[0].hostDisk.path", "spec.volumes[0].hostDisk.path is required for hostDisk volume"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"hostDisk":{"type":"New","path":"/d"}`, "Invalid", "spec.volumes[0].hostDisk.type", "spec.volumes[0].hostDisk.type has invalid value 'New', allowed are 'Disk' or 'DiskOrCreate'"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"hostDisk":{"type":"Disk","path":"/d","capacity":"1Gi"}`, "Invalid", "spec.volumes[0].hostDisk.capacity", "spec.volumes[0].hostDisk.capacity is allowed to pass only with spec.volumes[0].hostDisk.type equal to 'DiskOrCreate'"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"configMap":{}`, "Invalid", "spec.volumes[0].configMap.name", "spec.volumes[0].configMap.name is a required field"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"secret":{}`, "Invalid", "spec.volumes[0].secret.secretName", "spec.volumes[0].secret.secretName is a required field"},
		{`{"name":"root","persistentVolumeClaim"`, `{"name":"m1","memoryDump":{}},{"name":"m2","memoryDump":{}},{"name":"root","persistentVolumeClaim"`, "Invalid", "spec.volumes", "spec.volumes must have max one memory dump volume set"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"containerDisk":{"image":"a:1","path":"/"}`, "Invalid", "spec.volumes[0].containerDisk", "spec.volumes[0].containerDisk must not point to root"},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"containerDisk":{"image":"a:1","path":"/a/../b"}`, "Invalid", "spec.volumes[0].containerDisk", "spec.volumes[0].containerDisk must be an absolute path to a file without relative components"},

		{`"labels":{"app":"web"}`, `"labels":{"kubevirt.io/nodeName":"n"}`, "NotSupported", "metadata.labels", "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited"},
		{`"hostname":"web"`, `"architecture":"riscv64"`, "Invalid", "spec.architecture", "unsupported architecture: riscv64"},
		{`"firmware"`, `"features":{"hyperv":{"synic":{},"vpindex":{"enabled":false}}},"firmware"`, "Invalid", "spec.domain.features.hyperv.domain.features.hyperv.synic", "'spec.domain.features.hyperv.domain.features.hyperv.synic' requires 'spec.domain.features.hyperv.domain.features.hyperv.vpindex', which was disabled."},
		{`"firmware"`, `"features":{"hyperv":{},"hypervPassthrough":{}},"firmware"`, "Invalid", "spec.domain.features.hyperv", "Cannot explicitly set hyperV features if HypervPassthrough is being used. Please use either HyperV or HypervPassthrough."},
	} {
		t.Run(c.new, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(good, c.old), c.old)
			refused := refusal(t, user, strings.Replace(good, c.old, c.new, 1))
			require.NotNil(t, refused)
			reason := "FieldValue" + c.reason
			assert.Equal(t, []admission.Cause{{Reason: reason, Field: c.field, Message: c.message}}, refused.Causes)
			assert.Equal(t, `admission webhook "virtualmachineinstances-create-validator.kubevirt.io" denied the request: `+c.message, refused.Error())
			assert.Equal(t, 422, refused.Code)
			assert.Equal(t, "Invalid", refused.Reason)
		})
	}
}

func TestMachineWithoutMemory(t *testing.T) {
	for spec, refused := range map[string]bool{
		`{"domain":{"devices":{}}}`: true,
		`{}`:                        true,
		`{"domain":{"resources":{"requests":{"memory":"0"}}}}`:        true,
		`{"domain":{"resources":{"requests":{"memory":"64Mi"}}}}`:     false,
		`{"domain":{"resources":{"limits":{"memory":"64Mi"}}}}`:       false,
		`{"domain":{"memory":{"guest":"64Mi"}}}`:                      false,
		`{"domain":{"memory":{"hugepages":{"pageSize":"2Mi"}}}}`:      false,
		`{"domain":{"memory":{"guest":null},"resources":{}}}`:         true,
		`{"domain":{"memory":{"hugepages":null},"resources":null}}`:   true,
		`{"domain":{"resources":{"requests":{"memory":1073741824}}}}`: false,
	} {
		got := refusal(t, user, `{"spec":`+spec+`}`)
		require.Equal(t, refused, got != nil, spec)
		if refused {
			assert.Equal(t, `admission webhook "virtualmachineinstances-create-validator.kubevirt.io" denied the request: no memory requested, `+
				`at least one of 'spec.domain.memory.guest', 'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set`, got.Error())
			assert.Empty(t, got.Causes[0].Field)
		}
	}
}

// Without a request it is the guest's memory that pages hold, then the limit.
func TestHugepagesOfOtherMemory(t *testing.T) {
	for memory, whole := range map[string]bool{
		`"memory":{"guest":"4Mi","hugepages":{"pageSize":"2Mi"}}`: true, `"memory":{"guest":"3Mi","hugepages":{"pageSize":"2Mi"}}`: false,
		`"memory":{"guest":"0","hugepages":{"pageSize":"2Mi"}},"resources":{"limits":{"memory":"4Mi"}}`: true,
		`"memory":{"guest":"0","hugepages":{"pageSize":"2Mi"}},"resources":{"limits":{"memory":"3Mi"}}`: false,
	} {
		assert.Equal(t, whole, refusal(t, user, `{"spec":{"domain":{`+memory+`}}}`) == nil, memory)
	}
}

// What is the other way round is in order.
func TestAdmitted(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`"secureBoot":false`, `"secureBoot":true}}},"features":{"smm":{"of":{`},
		{`"cdrom":{"bus":"sata"}`, `"cdrom":{"bus":"usb"},"dedicatedIOThread":false`},
		{`{"name":"seed","cdrom":{"bus":"sata"}}`, `{"name":"seed","cdrom":{"bus":"sata"}},{"name":"empty","cdrom":{}}`},
		{`"disk":{"bus":"virtio"}`, `"lun":{"bus":"scsi"}`},
		{`"bridge":{},"state":"up"`, `"bridge":{},"state":"absent"`},
		{`"bridge":{},"state":"up"`, `"binding":{"name":"l2bridge"}`},
		{`"hostname":"web"`, `"startStrategy":"Paused"`},
		{`"hostname":"web"`, `"livenessProbe":{"guestAgentPing":{}}`},
		{`"limits":{"memory":"2Gi"`, `"limits":{"memory":"1048576Ki"`},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"hostDisk":{"type":"DiskOrCreate","path":"/d","capacity":"1Gi"}`},
		{`"persistentVolumeClaim":{"claimName":"c"}`, `"containerDisk":{"image":"a:1","path":"/disk/a.img"}`},
		{`"requests":{"memory":"1Gi"`, `"requests":{"memory":"1M"`},
		{`"userData":"#cloud-config"`, `"userData":"` + strings.Repeat("x", 2048) + `"`},
		{`"userData":"#cloud-config"`, `"userDataBase64":"I2Nsb3VkLWNvbmZpZw=="`},
		{`"userData":"#cloud-config"`, `"secretRef":{"name":"s"},"networkDataSecretRef":{"name":"n"}`},
		{`"labels":{"app":"web"}`, `"labels":{"kubevirt.io/domain":"a","kubevirt.io/vm":"a"}`},
	} {
		require.Equal(t, 1, strings.Count(good, c.old), c.old)
		assert.Nil(t, refusal(t, user, strings.Replace(good, c.old, c.new, 1)), c.new)
	}
}

func TestKubeVirtMayCreateReservedLabels(t *testing.T) {
	labelled := strings.Replace(good, `"labels":{"app":"web"}`, `"labels":{"kubevirt.io/created-by":"uid"}`, 1)
	assert.Nil(t, refusal(t, controller, labelled))
	for _, who := range []string{user, "", "system:serviceaccount:kubevirt:kubevirt-operator", "system:serviceaccount:default:kubevirt-controller", "kubevirt-controller"} {
		assert.NotNil(t, refusal(t, who, labelled), who)
	}
}

func TestProbesNeedThePodNetwork(t *testing.T) {
	got := refusal(t, user, `{"spec":{"domain":{"memory":{"guest":"1Gi"},"devices":{"interfaces":[{"name":"lan","bridge":{}}]}},
		"networks":[{"name":"lan","multus":{"networkName":"lan"}}],"readinessProbe":{"httpGet":{}},"livenessProbe":{"tcpSocket":{}}}}`)
	require.NotNil(t, got)
	assert.Equal(t, []admission.Cause{
		{Reason: "FieldValueInvalid", Field: "spec.readinessProbe.httpGet", Message: "spec.readinessProbe.httpGet is only allowed if the Pod Network is attached"},
		{Reason: "FieldValueInvalid", Field: "spec.livenessProbe.tcpSocket", Message: "spec.livenessProbe.tcpSocket is only allowed if the Pod Network is attached"},
	}, got.Causes)
}

// Names that pair up may still be none.
func TestNamesOfDevices(t *testing.T) {
	got := refusal(t, user, `{"spec":{"domain":{"memory":{"guest":"1Gi"},"devices":{
		"disks":[{"name":"a.b","disk":{}}],"interfaces":[{"name":"a.b","bridge":{}}]}},
		"networks":[{"name":"a.b","pod":{}}],"volumes":[{"name":"a.b","emptyDisk":{"capacity":"1Gi"}}]}}`)
	require.NotNil(t, got)
	assert.Equal(t, []admission.Cause{
		{Reason: "FieldValueInvalid", Field: "spec.domain.devices.interfaces[0].name",
			Message: "Network interface name can only contain alphabetical characters, numbers, dashes (-) or underscores (_)"},
		{Reason: "FieldValueInvalid", Field: "spec.domain.devices.disks.domain.devices.disks[0].name", Message: "must not contain dots"},
	}, got.Causes)
}

func TestTwoDefaultNetworks(t *testing.T) {
	got := refusal(t, user, `{"spec":{"domain":{"memory":{"guest":"1Gi"},"devices":{"interfaces":[{"name":"a","bridge":{}},{"name":"b","bridge":{}}]}},
		"networks":[{"name":"a","multus":{"networkName":"a","default":true}},{"name":"b","multus":{"networkName":"b","default":true}}]}}`)
	require.NotNil(t, got)
	assert.Equal(t, []admission.Cause{{Reason: "FieldValueInvalid", Field: "spec.networks", Message: "Multus CNI should only have one default network"}}, got.Causes)
}

// Ten causes are told, the others counted.
func TestManyCauses(t *testing.T) {
	var disks []string
	for i := range 13 {
		disks = append(disks, fmt.Sprintf(`{"name":"d%d","disk":{}}`, i))
	}
	got := refusal(t, user, `{"spec":{"domain":{"memory":{"guest":"1Gi"},"devices":{"disks":[`+strings.Join(disks, ",")+`]}}}}`)
	require.NotNil(t, got)
	assert.Len(t, got.Causes, 10)
	assert.Contains(t, got.Error(), "disks[8].Name 'd8' not found., spec.domain.devices.disks[9].Name 'd9' not found., and 3 more validation errors")
	assert.NotContains(t, got.Error(), "d10")
}

// Cloud-init data has passwords in it.
func TestRefusalsTellNoSecrets(t *testing.T) {
	for _, data := range []string{`"userData":"hunter2%"`, `"userDataBase64":"hunter2%"`, `"networkData":"hunter2%","networkDataBase64":"hunter2"`} {
		data = strings.Replace(data, "%", strings.Repeat("?", 3000), 1)
		got := refusal(t, user, strings.Replace(good, `"userData":"#cloud-config"`, data, 1))
		require.NotNil(t, got)
		assert.NotContains(t, fmt.Sprint(got.Error(), got.Causes), "hunter2")
	}
}
