package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// object is one machine of the servers in these tests.
type object struct {
	namespace, name string
	labels          map[string]string
	body            string
}

// edited returns the object with one text of its JSON replaced.
func (o object) edited(from, to string) object {
	if !strings.Contains(o.body, from) {
		panic("the object has no " + from)
	}
	o.body = strings.Replace(o.body, from, to, 1)
	return o
}

// machine makes an object that all profiles take, with something in it for every
// kind of rule.
func machine(n int, namespace, name string, labels map[string]string) object {
	text, err := json.Marshal(labels)
	if err != nil {
		panic(err)
	}
	body := fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`+
		`"metadata":{"creationTimestamp":"2026-05-01T08:00:%02dZ","labels":%s,"name":%q,"namespace":%q,"resourceVersion":"%d","uid":"00000000-0000-4000-8000-%012d"},`+
		`"spec":{"domain":{"cpu":{"cores":2},"devices":{"disks":[{"bootOrder":1,"disk":{"bus":"virtio"},"name":"root"}],`+
		`"interfaces":[{"macAddress":"02:00:00:00:00:%02x","masquerade":{},"model":"virtio","name":"default","ports":[{"port":22}]}]},`+
		`"memory":{"guest":"1Gi"}},"evictionStrategy":"LiveMigrate","networks":[{"name":"default","pod":{"vmNetworkCIDR":"10.0.2.0/24"}}],`+
		`"volumes":[{"containerDisk":{"image":"registry.example/fedora:40"},"name":"root"},{"emptyDisk":{"capacity":"2Gi"},"name":"scratch"},{"hostDisk":{"path":"/data/vm.img"},"name":"host"},{"cloudInitNoCloud":{"userData":"#cloud-config\npassword: %s\n"},"name":"init"}]},`+
		`"status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-05-01T08:01:00Z","status":"True","type":"Ready"}],"nodeName":"node-1","phase":"Running",`+
		`"phaseTransitionTimestamps":[{"phase":"Pending","phaseTransitionTimestamp":"2026-05-01T08:00:30Z"},{"phase":"Running","phaseTransitionTimestamp":"2026-05-01T08:01:00Z"}]}}`,
		n%60, text, name, namespace, 100+n, n, n%256, cloudInitSecret)
	return object{namespace, name, labels, body}
}

const cloudInitSecret = "hunter2-of-cloud-init"

// fleet is twenty machines in three namespaces. Their labels cut across each
// other and no key is on all of them.
func fleet() []object {
	var objects []object
	n := 0
	add := func(namespace, name string, labels map[string]string) {
		n++
		objects = append(objects, machine(n, namespace, name, maps.Clone(labels)))
	}
	tiers := []map[string]string{
		{"app": "db", "tier": "gold"},
		{"app": "web", "tier": "gold"},
		{"app": "web"},
		{"kubevirt.io/os": "Fedora", "tier": "silver"},
		{"app": "cache", "tier": "silver", "kubevirt.io/os": "Fedora"},
		{},
	}
	for i := range 12 {
		add("prod", fmt.Sprintf("vm%02d", i), tiers[i%len(tiers)])
	}
	for i := range 6 {
		add("stage", fmt.Sprintf("vm%02d", 10+i), tiers[i])
	}
	add("test", "alone", map[string]string{"app": "web"})
	add("test", "other", map[string]string{})
	return objects
}
