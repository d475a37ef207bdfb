package admission_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/admission"
)

const (
	user       = "jane"
	controller = "system:serviceaccount:kubevirt:kubevirt-controller"
)

// tree decodes JSON as the server does.
func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	var object map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&object), text)
	return object
}

func request(t testing.TB, who, old, object string) admission.Request {
	r := admission.Request{
		User: who, New: tree(t, object),
		Now:   time.Date(2026, 8, 22, 10, 0, 0, 500, time.FixedZone("", 3600)),
		NewID: func() string { return "0b7f2fd8-3c7b-4b9a-8d6c-2f0c7c1f5a11" },
	}
	if old != "" {
		r.Old = tree(t, old)
	}
	return r
}

// created is a new machine with some spec, as it is stored.
func created(t *testing.T, spec string) map[string]any {
	t.Helper()
	r := request(t, user, "", `{"metadata":{"name":"a"},"spec":`+spec+`}`)
	require.NoError(t, admission.Mutate(r))
	return r.New
}

// at is the JSON of a place in an object, "" where there is nothing.
func at(t *testing.T, object map[string]any, path string) string {
	t.Helper()
	var v any = object
	for name := range strings.SplitSeq(path, " ") {
		if name == "0" || name == "1" {
			list, _ := v.([]any)
			require.Greater(t, len(list), int(name[0]-'0'), path)
			v = list[name[0]-'0']
			continue
		}
		members, _ := v.(map[string]any)
		if v = members[name]; v == nil {
			return ""
		}
	}
	var buf bytes.Buffer
	require.NoError(t, json.NewEncoder(&buf).Encode(v))
	return strings.TrimSpace(buf.String())
}

// A machine that says only how much memory it wants gets all the rest.
func TestDefaultsOfAMinimalMachine(t *testing.T) {
	object := created(t, `{"domain":{"resources":{"requests":{"memory":"2Gi"}}},"volumes":[{"name":"root","containerDisk":{"image":"quay.io/os:9"}}]}`)
	want := tree(t, `{
		"metadata":{"name":"a","annotations":{"kubevirt.io/pci-topology-version":"v3"},"finalizers":["kubevirt.io/foregroundDeleteVirtualMachine"]},
		"spec":{
			"architecture":"amd64","evictionStrategy":"None",
			"domain":{
				"machine":{"type":"q35"},
				"resources":{"requests":{"memory":"2Gi"}},
				"memory":{"guest":"2Gi","maxGuest":"8Gi"},
				"cpu":{"cores":1,"sockets":1,"threads":1,"maxSockets":4,"model":"host-model"},
				"features":{"acpi":{"enabled":true}},
				"firmware":{"uuid":"0b7f2fd8-3c7b-4b9a-8d6c-2f0c7c1f5a11"},
				"devices":{"disks":[{"name":"root","disk":{"bus":"sata"}}],"interfaces":[{"name":"default","bridge":{}}]}},
			"networks":[{"name":"default","pod":{}}],
			"volumes":[{"name":"root","containerDisk":{"image":"quay.io/os:9","imagePullPolicy":"IfNotPresent"}}]},
		"status":{
			"phase":"Pending","phaseTransitionTimestamps":[{"phase":"Pending","phaseTransitionTimestamp":"2026-08-22T09:00:00Z"}],
			"currentCPUTopology":{"cores":1,"sockets":1,"threads":1},
			"memory":{"guestAtBoot":"2Gi","guestCurrent":"2Gi","guestRequested":"2Gi"},
			"runtimeUser":107,"guestOSInfo":{}}}`)
	assert.Equal(t, want, object)
}

func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct{ spec, path, want string }{
		"sockets from a limit":         {`{"domain":{"resources":{"limits":{"cpu":"1500m"}}}}`, "spec domain cpu sockets", "2"},
		"sockets from a request":       {`{"domain":{"resources":{"requests":{"cpu":"3"}}}}`, "spec domain cpu sockets", "3"},
		"no sockets of no CPU":         {`{"domain":{"resources":{"limits":{"cpu":"0"}}}}`, "spec domain cpu sockets", ""},
		"no sockets beside cores":      {`{"domain":{"cpu":{"cores":2}}}`, "spec domain cpu sockets", ""},
		"topology beside cores":        {`{"domain":{"cpu":{"cores":2}}}`, "status currentCPUTopology", `{"cores":2}`},
		"request from the limit":       {`{"domain":{"resources":{"limits":{"cpu":"2"}}}}`, "spec domain resources requests", `{"cpu":"2"}`},
		"request kept":                 {`{"domain":{"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}}}`, "spec domain resources requests", `{"cpu":"1"}`},
		"memory from a limit":          {`{"domain":{"resources":{"limits":{"memory":"1Gi"}}}}`, "spec domain memory guest", `"1Gi"`},
		"memory from a number":         {`{"domain":{"resources":{"requests":{"memory":1073741824}}}}`, "spec domain memory guest", `"1073741824"`},
		"memory from huge pages":       {`{"domain":{"memory":{"hugepages":{"pageSize":"2Mi"}}}}`, "spec domain memory guest", `"2Mi"`},
		"memory as it is said":         {`{"domain":{"memory":{"guest":"3G"},"resources":{"requests":{"memory":"1Gi"}}}}`, "spec domain memory guest", `"3G"`},
		"small memory does not grow":   {`{"domain":{"memory":{"guest":"512Mi"}}}`, "spec domain memory maxGuest", ""},
		"a gibibyte grows":             {`{"domain":{"memory":{"guest":"1Gi"}}}`, "spec domain memory maxGuest", `"4Gi"`},
		"crooked memory does not grow": {`{"domain":{"memory":{"guest":"2000000001"}}}`, "spec domain memory maxGuest", ""},
		"memory by the mebibyte":       {`{"domain":{"memory":{"guest":"1026Mi"}}}`, "spec domain memory maxGuest", `"4104Mi"`},
		"huge pages by the gibibyte":   {`{"domain":{"memory":{"guest":"3Gi","hugepages":{"pageSize":"1Gi"}}}}`, "spec domain memory maxGuest", `"12Gi"`},
		"half a huge page":             {`{"domain":{"memory":{"guest":"1536Mi","hugepages":{"pageSize":"1Gi"}}}}`, "spec domain memory maxGuest", ""},
		"encrypted does not grow":      {`{"domain":{"memory":{"guest":"2Gi"},"launchSecurity":{"sev":{}}}}`, "spec domain memory maxGuest", ""},
		"arm does not grow":            {`{"architecture":"arm64","domain":{"memory":{"guest":"2Gi"}}}`, "spec domain memory maxGuest", ""},
		"arm has no more sockets":      {`{"architecture":"arm64"}`, "spec domain cpu maxSockets", ""},
		"many CPUs":                    {`{"domain":{"cpu":{"sockets":200,"cores":1,"threads":1}}}`, "spec domain cpu maxSockets", "512"},
		"more CPUs than grow":          {`{"domain":{"cpu":{"sockets":200,"cores":2,"threads":2}}}`, "spec domain cpu maxSockets", "200"},
		"sockets as they are said":     {`{"domain":{"cpu":{"sockets":2,"maxSockets":2}}}`, "spec domain cpu maxSockets", "2"},

		"latest is pulled":        {`{"volumes":[{"name":"a","containerDisk":{"image":"os:latest"}}]}`, "spec volumes 0 containerDisk imagePullPolicy", `"Always"`},
		"no version is pulled":    {`{"volumes":[{"name":"a","containerDisk":{"image":"os"}}]}`, "spec volumes 0 containerDisk imagePullPolicy", `"Always"`},
		"pull policy kept":        {`{"volumes":[{"name":"a","containerDisk":{"image":"os","imagePullPolicy":"Never"}}]}`, "spec volumes 0 containerDisk imagePullPolicy", `"Never"`},
		"disk for a volume":       {`{"domain":{"devices":{"disks":[{"name":"b","lun":{}}]}},"volumes":[{"name":"a"}]}`, "spec domain devices disks", `[{"lun":{"bus":"sata"},"name":"b"},{"disk":{"bus":"sata"},"name":"a"}]`},
		"no disk for a directory": {`{"domain":{"devices":{"filesystems":[{"name":"a"}]}},"volumes":[{"name":"a"}]}`, "spec domain devices disks", ""},
		"CD-ROM":                  {`{"domain":{"devices":{"disks":[{"name":"a","cdrom":{}}]}}}`, "spec domain devices disks 0 cdrom", `{"bus":"sata","readonly":true,"tray":"closed"}`},
		"null is nothing":         {`{"domain":{"devices":{"disks":[{"name":"a","disk":null}]}}}`, "spec domain devices disks 0 disk", `{"bus":"sata"}`},
		"block size":              {`{"domain":{"devices":{"disks":[{"name":"a","blockSize":{"matchVolume":{}}}]}}}`, "spec domain devices disks 0 blockSize", `{"matchVolume":{"enabled":true}}`},
		"arm disks":               {`{"architecture":"arm64","domain":{"devices":{"disks":[{"name":"a"}]}}}`, "spec domain devices disks 0 disk bus", `"virtio"`},
		"s390x disks":             {`{"architecture":"s390x","domain":{"devices":{"disks":[{"name":"a"}]}}}`, "spec domain devices disks 0 disk bus", `"virtio"`},
		"input":                   {`{"domain":{"devices":{"inputs":[{"name":"a"}]}}}`, "spec domain devices inputs 0", `{"bus":"usb","name":"a","type":"tablet"}`},
		"watchdog":                {`{"domain":{"devices":{"watchdog":{"name":"a"}}}}`, "spec domain devices watchdog i6300esb", `{"action":"reset"}`},
		"s390x watchdog":          {`{"architecture":"s390x","domain":{"devices":{"watchdog":{"name":"a"}}}}`, "spec domain devices watchdog diag288", `{"action":"reset"}`},
		"display of a GPU":        {`{"domain":{"devices":{"gpus":[{"name":"a","virtualGPUOptions":{"display":{"ramFB":{}}}}]}}}`, "spec domain devices gpus 0 virtualGPUOptions display ramFB", `{"enabled":true}`},

		"no network wanted":   {`{"domain":{"devices":{"autoattachPodInterface":false}}}`, "spec networks", ""},
		"a network is there":  {`{"networks":[{"name":"a","pod":{}}]}`, "spec domain devices interfaces", ""},
		"eviction as said":    {`{"evictionStrategy":"LiveMigrate"}`, "spec evictionStrategy", `"LiveMigrate"`},
		"probe":               {`{"livenessProbe":{"exec":{},"periodSeconds":5}}`, "spec livenessProbe", `{"exec":{},"failureThreshold":3,"periodSeconds":5,"successThreshold":1,"timeoutSeconds":1}`},
		"arm":                 {`{"architecture":"arm64"}`, "spec domain firmware bootloader", `{"efi":{"secureBoot":false}}`},
		"arm model":           {`{"architecture":"arm64"}`, "spec domain cpu model", `"host-passthrough"`},
		"arm machine":         {`{"architecture":"arm64"}`, "spec domain machine type", `"virt"`},
		"arm with BIOS":       {`{"architecture":"arm64","domain":{"firmware":{"bootloader":{"bios":{}}}}}`, "spec domain firmware bootloader", `{"bios":{}}`},
		"arm with PCIe":       {`{"architecture":"arm64"}`, "metadata annotations", `{"kubevirt.io/pci-topology-version":"v3"}`},
		"s390x machine":       {`{"architecture":"s390x"}`, "spec domain machine type", `"s390-ccw-virtio"`},
		"s390x without ACPI":  {`{"architecture":"s390x"}`, "spec domain features acpi", `{"enabled":false}`},
		"s390x without PCIe":  {`{"architecture":"s390x"}`, "metadata annotations", ""},
		"old machine":         {`{"domain":{"machine":{"type":"pc-i440fx-2.10"}}}`, "metadata annotations", ""},
		"uuid kept":           {`{"domain":{"firmware":{"uuid":"mine"}}}`, "spec domain firmware uuid", `"mine"`},
		"features":            {`{"domain":{"features":{"smm":{},"apic":{"endOfInterrupt":true},"acpi":{"enabled":false}}}}`, "spec domain features", `{"acpi":{"enabled":false},"apic":{"enabled":true,"endOfInterrupt":true},"smm":{"enabled":true}}`},
		"spinlocks":           {`{"domain":{"features":{"hyperv":{"spinlocks":{}}}}}`, "spec domain features hyperv spinlocks", `{"enabled":true,"spinlocks":4096}`},
		"spinlocks off":       {`{"domain":{"features":{"hyperv":{"spinlocks":{"enabled":false}}}}}`, "spec domain features hyperv spinlocks", `{"enabled":false}`},
		"what a timer needs":  {`{"domain":{"features":{"hyperv":{"synictimer":{"direct":{}}}}}}`, "spec domain features hyperv", `{"synic":{"enabled":true},"synictimer":{"direct":{"enabled":true},"enabled":true},"vpindex":{"enabled":true}}`},
		"what evmcs needs":    {`{"domain":{"cpu":{"features":[{"name":"vmx","policy":"disable"}]},"features":{"hyperv":{"evmcs":{}}}}}`, "spec domain cpu features", `[{"name":"vmx","policy":"require"}]`},
		"nothing after a no":  {`{"domain":{"features":{"hyperv":{"synic":{},"vpindex":{"enabled":false},"ipi":{},"evmcs":{}}}}}`, "spec domain cpu features", ""},
		"evmcs alone":         {`{"domain":{"features":{"hyperv":{"evmcs":{}}}}}`, "spec domain cpu features", `[{"name":"vmx","policy":"require"}]`},
		"evmcs off":           {`{"domain":{"features":{"hyperv":{"evmcs":{"enabled":false}}}}}`, "spec domain cpu features", ""},
		"clock":               {`{"domain":{"clock":{"timer":{"hpet":{"present":false},"pit":{"tickPolicy":"delay"}}}}}`, "spec domain clock timer", `{"hpet":{"present":false},"pit":{"present":true,"tickPolicy":"delay"}}`},
		"unknown fields kept": {`{"domain":{"mine":{"a":[]}}}`, "spec domain mine", `{"a":[]}`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, at(t, created(t, c.spec), c.path)) })
	}
}

func TestNewMachineBeginsPending(t *testing.T) {
	r := request(t, user, "", `{
		"metadata":{"name":"a","finalizers":["kubevirt.io/foregroundDeleteVirtualMachine","mine.example/f"],"annotations":{"kubevirt.io/pci-topology-version":"v2"}},
		"spec":{},"status":{"phase":"Running","nodeName":"n","phaseTransitionTimestamps":[{"phase":"Running"}],"currentCPUTopology":{"cores":8}}}`)
	require.NoError(t, admission.Mutate(r))
	assert.Equal(t, `"Pending"`, at(t, r.New, "status phase"))
	assert.Equal(t, `"n"`, at(t, r.New, "status nodeName"), "what else a status says is kept")
	assert.Equal(t, `{"cores":8}`, at(t, r.New, "status currentCPUTopology"))
	assert.Equal(t, `"Running"`, at(t, r.New, "status phaseTransitionTimestamps 0 phase"))
	assert.Equal(t, `"Pending"`, at(t, r.New, "status phaseTransitionTimestamps 1 phase"))
	assert.Equal(t, `["kubevirt.io/foregroundDeleteVirtualMachine","mine.example/f"]`, at(t, r.New, "metadata finalizers"))
	assert.Equal(t, `"v2"`, at(t, r.New, "metadata annotations kubevirt.io/pci-topology-version"))
}

func TestQuantities(t *testing.T) {
	for text, sockets := range map[string]string{
		"1": "1", "1.2": "2", "0.1": "1", "1e1": "10", "12E0": "12", "1k": "1000", "1Ki": "1024", "2000m": "2", "+3": "3", "1n": "1", "007": "7", " 4 ": "4", ".5": "1",
		"1e-99999999999999999999": "1", "1000u": "1", "4294967296": "",
	} {
		object := created(t, `{"domain":{"resources":{"limits":{"cpu":"`+text+`"}}}}`)
		assert.Equal(t, sockets, at(t, object, "spec domain cpu sockets"), "%q", text)
	}
	// What no machine has is no more than that.
	for _, text := range []string{"1e99999999999999999999", strings.Repeat("9", 1000), "9." + strings.Repeat("9", 1000) + "Ei"} {
		created(t, `{"domain":{"memory":{"guest":"`+text+`"},"resources":{"limits":{"cpu":"`+text+`"}}}}`)
	}
	for text, problem := range map[string]string{
		"": "must match", "1GB": "must match", "1.2.3": "must match", "--1": "suffix", "1i": "suffix", "1MM": "suffix", "abc": "must match",
	} {
		for _, spec := range []string{
			`{"domain":{"memory":{"guest":"%"}}}`, `{"domain":{"resources":{"requests":{"any":"%"}}}}`, `{"volumes":[{"emptyDisk":{"capacity":"%"}}]}`,
		} {
			r := request(t, user, "", `{"spec":`+strings.Replace(spec, "%", text, 1)+`}`)
			err := admission.Mutate(r)
			var refusal *admission.Refusal
			require.ErrorAs(t, err, &refusal, "%q in %s", text, spec)
			assert.Equal(t, 400, refusal.Code)
			assert.Empty(t, refusal.Reason)
			assert.Contains(t, err.Error(), `admission webhook "virtualmachineinstances-mutator.kubevirt.io" denied the request: `)
			assert.Contains(t, err.Error(), problem)
		}
	}
}
