package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/admission"
)

// stored is a machine that runs.
const stored = `{"metadata":{"name":"a","labels":{"app":"web","kubevirt.io/nodeName":"n1"}},"spec":{
	"domain":{"cpu":{"sockets":1,"maxSockets":4},"memory":{"guest":"1Gi","maxGuest":"4Gi"},"resources":{"requests":{"memory":"1Gi","cpu":"500m"}},
		"features":{},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio","readonly":false}}]}},
	"hostname":"web"},"status":{"phase":"Running","nodeName":"n1"}}`

// updated is what becomes of a change of the stored machine.
func updated(t *testing.T, who, old, new string) (map[string]any, error) {
	t.Helper()
	require.Equal(t, 1, strings.Count(stored, old), old)
	r := request(t, who, stored, strings.Replace(stored, old, new, 1))
	require.NoError(t, admission.Mutate(r))
	err := admission.Validate(r)
	t.Cleanup(func() {
		assert.Equal(t, tree(t, stored), r.Old, "the old object is only looked at, and shares nothing")
	})
	return r.New, err
}

func TestStatusIsKubeVirts(t *testing.T) {
	for _, new := range []string{`"phase":"Failed"`, `"phase":"Running","mine":1`} {
		object, err := updated(t, user, `"phase":"Running"`, new)
		require.NoError(t, err)
		assert.Equal(t, tree(t, stored), object, "the status is put back")
		object["status"].(map[string]any)["phase"] = "Unknown"
		object, err = updated(t, controller, `"phase":"Running"`, new)
		require.NoError(t, err)
		assert.NotEqual(t, tree(t, stored), object)
	}
	gone, err := updated(t, user, `,"status":{"phase":"Running","nodeName":"n1"}`, ``)
	require.NoError(t, err)
	assert.Equal(t, tree(t, stored), gone, "as when it is left out")

	r := request(t, user, `{"spec":{}}`, `{"spec":{},"status":{"phase":"Running"}}`)
	require.NoError(t, admission.Mutate(r))
	assert.NotContains(t, r.New, "status", "there was none")
	r = request(t, user, `{"status":{"phase":"Running"}}`, `{"status":{"phase":"Running","guestOSInfo":{},"runtimeUser":0}}`)
	require.NoError(t, admission.Mutate(r))
	assert.Contains(t, r.New["status"], "guestOSInfo", "the same to Go, so nothing is put back")
}

func TestSpecIsKubeVirts(t *testing.T) {
	for _, c := range []struct {
		old, new string
		allowed  bool
	}{
		{`"hostname":"web"`, `"hostname":"db"`, false},
		{`"hostname":"web"`, `"hostname":"web","mine":1`, false},
		{`"hostname":"web"`, `"hostname":"web","evictionStrategy":"None"`, false},
		{`"sockets":1`, `"sockets":2`, false},
		{`"cpu":"500m"`, `"cpu":"501m"`, false},
		{`"disks":[`, `"autoattachVSOCK":false,"disks":[`, false},
		{`"disks":[`, `"tpm":{},"disks":[`, false},
		{`"app":"web"`, `"app":"db"`, true},
		// What Go writes in another way is no change.
		{`"cpu":"500m"`, `"cpu":"0.5"`, true},
		{`"guest":"1Gi"`, `"guest":"1024Mi"`, true},
		{`,"readonly":false`, ``, true},
		{`"features":{}`, `"features":{"acpi":{}}`, true},
		{`"hostname":"web"`, `"hostname":"web","subdomain":"","networks":[],"affinity":null`, true},
		{`"sockets":1`, `"sockets":1,"dedicatedCpuPlacement":false,"isolateEmulatorThread":false`, true},
		{`"features":{}`, `"features":{"kvm":{"hidden":false},"apic":{"endOfInterrupt":false}}`, false},
	} {
		_, err := updated(t, user, c.old, c.new)
		if c.allowed {
			assert.NoError(t, err, c.new)
			continue
		}
		var refused *admission.Refusal
		require.ErrorAs(t, err, &refused, c.new)
		assert.Equal(t, []admission.Cause{{Reason: "FieldValueNotSupported", Message: "update of VMI object is restricted"}}, refused.Causes)
		assert.EqualError(t, err, `admission webhook "virtualmachineinstances-update-validator.kubevirt.io" denied the request: update of VMI object is restricted`)
		_, err = updated(t, controller, c.old, c.new)
		assert.NoError(t, err, "KubeVirt may: %s", c.new)
	}
}

func TestBoundsOfHotplugStay(t *testing.T) {
	_, err := updated(t, controller, `"maxSockets":4`, `"maxSockets":8`)
	assert.ErrorContains(t, err, "denied the request: CPU topology maxSockets changed")
	_, err = updated(t, controller, `"maxGuest":"4Gi"`, `"maxGuest":"8Gi"`)
	assert.ErrorContains(t, err, "denied the request: Memory maxGuest changed")
	for _, c := range []struct{ old, new string }{
		{`"guest":"1Gi","maxGuest":"4Gi"`, `"guest":"2Gi","maxGuest":"4096Mi"`}, {`,"maxGuest":"4Gi"`, ``}, {`"sockets":1`, `"sockets":4`},
	} {
		_, err = updated(t, controller, c.old, c.new)
		assert.NoError(t, err, c.new)
	}
}

func TestReservedLabelsStay(t *testing.T) {
	const message = "denied the request: modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited"
	for _, c := range []struct{ old, new string }{
		{`"kubevirt.io/nodeName":"n1"`, `"kubevirt.io/nodeName":"n2"`}, {`,"kubevirt.io/nodeName":"n1"`, ``}, {`"app":"web"`, `"kubevirt.io/schedulable":""`},
	} {
		_, err := updated(t, user, c.old, c.new)
		assert.ErrorContains(t, err, message, c.new)
		_, err = updated(t, controller, c.old, c.new)
		assert.NoError(t, err, c.new)
	}
	_, err := updated(t, user, `"app":"web"`, `"kubevirt.io/domain":"a"`)
	assert.NoError(t, err)
}

// Whatever JSON comes, there is an answer, and a machine that was admitted once is not
// changed by a second time.
func FuzzAdmission(f *testing.F) {
	for _, seed := range []string{good, stored, `{}`, `{"spec":null,"status":[],"metadata":1}`,
		`{"spec":{"domain":[],"volumes":[1,null,{"name":1}],"networks":{}}}`,
		`{"spec":{"domain":{"cpu":{"cores":1e9},"features":[],"devices":{"disks":[[]],"interfaces":[null]},"resources":{"limits":{"cpu":"1e9"},"requests":[]}}}}`,
		`{"spec":{"domain":{"memory":{"hugepages":{"pageSize":"0"},"guest":"-1"}}},"metadata":{"finalizers":{},"annotations":[]}}`,
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, old, new string) {
		var objects [2]map[string]any
		for i, text := range []string{old, new} {
			dec := json.NewDecoder(strings.NewReader(text))
			dec.UseNumber()
			if dec.Decode(&objects[i]) != nil || objects[i] == nil {
				return
			}
		}
		for _, who := range []string{user, controller} {
			r := request(t, who, old, new)
			if admission.Mutate(r) == nil {
				_ = admission.Validate(r)
			}
		}
		r := request(t, user, "", new)
		if admission.Mutate(r) != nil {
			return
		}
		_ = admission.Validate(r)
		same := admission.Request{User: user, Old: r.New, New: r.New}
		require.NoError(t, admission.Mutate(same))
		require.NoError(t, admission.Validate(same), "what has not changed may stay")
	})
}

// Switches that Go has no "not said" for are off when nothing is said of them.
func TestFalseIsNothing(t *testing.T) {
	for _, c := range []struct{ said, unsaid string }{
		{`{"domain":{"cpu":{"dedicatedCpuPlacement":false,"isolateEmulatorThread":false}}}`, `{"domain":{"cpu":{}}}`},
		{`{"domain":{"devices":{"disableHotplug":false}}}`, `{}`},
		{`{"domain":{"devices":{"disks":[{"lun":{"reservation":false,"readonly":false}}]}}}`, `{"domain":{"devices":{"disks":[{"lun":{}}]}}}`},
		{`{"domain":{"features":{"apic":{"endOfInterrupt":false},"kvm":{"hidden":false}}}}`, `{"domain":{"features":{"apic":{},"kvm":{}}}}`},
		{`{"domain":{"resources":{"overcommitGuestOverhead":false}}}`, `{}`},
		{`{"networks":[{"multus":{"default":false}}]}`, `{"networks":[{"multus":{}}]}`},
		{`{"volumes":[{"dataVolume":{"hotpluggable":false}}]}`, `{"volumes":[{"dataVolume":{}}]}`},
	} {
		r := request(t, user, `{"spec":`+c.said+`}`, `{"spec":`+c.unsaid+`}`)
		assert.NoError(t, admission.Validate(r), c.said)
		r = request(t, user, `{"spec":`+strings.ReplaceAll(c.said, "false", "true")+`}`, `{"spec":`+c.unsaid+`}`)
		assert.Error(t, admission.Validate(r), c.said)
	}
	cdrom := request(t, user, `{"spec":{"domain":{"devices":{"disks":[{"cdrom":{"readonly":false}}]}}}}`, `{"spec":{"domain":{"devices":{"disks":[{"cdrom":{}}]}}}}`)
	assert.Error(t, admission.Validate(cdrom), "a CD-ROM is read-only unless it is said")
}
