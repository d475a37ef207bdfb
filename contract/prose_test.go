package contract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// What only words forbid is a warning of the check that is about it.
func TestProse(t *testing.T) {
	for _, c := range []struct{ id, from, to, at, got string }{
		{"prose.interface-network", `"networks":[{"name":"default"`, `"networks":[{"name":"other"`, "/spec/domain/devices/interfaces/*/name", `"default"`},
		{"prose.interface-network", `"networks":[{"name":"default","pod":{}}],`, ``, "/spec/domain/devices/interfaces/*/name", `"default"`},
		{"prose.disk-volume", `fedora:40"},"name":"root"`, `fedora:40"},"name":"boot"`, "/spec/domain/devices/disks/*/name", `"root"`},
		{"prose.device-kind", `"disk":{"bus":"virtio"}`, `"disk":{"bus":"virtio"},"cdrom":{"bus":"sata"}`, "/spec/domain/devices/disks/*", "disk and cdrom"},
		{"prose.notation", `"guest":"1Gi"`, `"guest":"1 GB"`, "/spec/domain/memory/guest", `"1 GB"`},
		{"prose.notation", `"volumes":[`, `"volumes":[{"emptyDisk":{"capacity":"2gi"},"name":"scratch"},`, "/spec/volumes/*/emptyDisk/capacity", `"2gi"`},
		{"prose.notation", `"pod":{}`, `"pod":{"vmNetworkCIDR":"10.0.2.0"}`, "/spec/networks/*/pod/vmNetworkCIDR", `"10.0.2.0"`},
		{"prose.notation", `"volumes":[`, `"volumes":[{"hostDisk":{"path":"data/vm.img"},"name":"host"},`, "/spec/volumes/*/hostDisk/path", `"data/vm.img"`},
		{"prose.label", `"labels":{`, `"labels":{"not a key":"x",`, "/metadata/labels", `"not a key"`},
		{"prose.label", `"labels":{`, `"labels":{"key":"-x",`, "/metadata/labels", `"-x"`},
		{"prose.phase-history", `"phase":"Running",`, `"phase":"Succeeded",`, "/status/phaseTransitionTimestamps/*/phase", `"Running"`},
		{"prose.unique-uid", `-8000-000000000004"`, `-8000-000000000005"`, "two objects have the same uid", "the same"},
	} {
		s := mutant.New(mutant.Fleet())
		everywhere("vm03", c.from, c.to)(s)
		report := run(t, targetOf(t, s))
		assert.Equal(t, []string{c.id}, with(report, contract.Warning), text(t, report))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		f := result(t, report, c.id).Findings[0]
		assert.True(t, strings.HasPrefix(f.Message, c.at), f.Message)
		assert.Equal(t, c.got, f.Got)
		require.NotEmpty(t, f.Objects)
	}
}

// A rule about what no machine has is not exercised.
func TestProseOfNothing(t *testing.T) {
	objects := []mutant.Object{mutant.Machine(1, "a", "one", map[string]string{}).Edited(`"phase":"Running",`, ``)}
	report := run(t, targetOf(t, mutant.New(objects)))
	assert.Subset(t, with(report, contract.NotExercised), []string{"prose.label", "prose.phase-history"})
	assert.Contains(t, with(report, contract.Pass), "prose.notation")
}

// Whatever a machine is made of, the rules read it.
func TestProseOfAnything(t *testing.T) {
	for _, change := range [][2]string{
		{`"disks":[`, `"disks":[null,1,"x",[],{"name":7},`},
		{`"labels":{`, `"labels":7,"x":{`},
		{`"networks":[`, `"networks":7,"x":[`},
		{`"spec":{`, `"spec":null,"x":{`},
	} {
		s := mutant.New(mutant.Fleet())
		everywhere("vm03", change[0], change[1])(s)
		report := run(t, targetOf(t, s))
		assert.Empty(t, with(report, contract.Error), text(t, report))
		assert.Contains(t, with(report, contract.Fail), "schema.object")
	}
}
