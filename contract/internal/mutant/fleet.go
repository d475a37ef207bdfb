package mutant

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// CloudInitSecret is in the cloud-init data of every machine. Nothing that is
// printed or reported may contain it.
const CloudInitSecret = "hunter2-of-cloud-init"

// Object is one machine: its JSON as served, and what of it a server needs to
// find and to select it.
type Object struct {
	Namespace, Name string
	Labels          map[string]string
	Body            string
}

// Edited returns the object with one text of its JSON replaced, the first if
// there are several. It panics when the text is not there: the edit would be no
// fault.
func (o Object) Edited(from, to string) Object {
	if !strings.Contains(o.Body, from) {
		panic("the object has no " + from)
	}
	o.Body = strings.Replace(o.Body, from, to, 1)
	return o
}

// Machine makes an object that every profile takes, with something in it for
// each kind of rule. The number n goes into what is different in every machine:
// uid, MAC address, resourceVersion and time of creation.
func Machine(n int, namespace, name string, labels map[string]string) Object {
	if labels == nil {
		labels = map[string]string{}
	}
	text, err := json.Marshal(labels)
	if err != nil {
		panic(err)
	}
	body := fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`+
		`"metadata":{"creationTimestamp":"2026-05-01T08:00:%02dZ","labels":%s,"name":%q,"namespace":%q,"resourceVersion":"%d","uid":"00000000-0000-4000-8000-%012d"},`+
		`"spec":{"domain":{"cpu":{"cores":2},"devices":{"disks":[{"bootOrder":1,"disk":{"bus":"virtio"},"name":"root"},{"cdrom":{"bus":"sata"},"name":"init"}],`+
		`"interfaces":[{"macAddress":"02:00:00:00:%02x:%02x","masquerade":{},"model":"virtio","name":"default","ports":[{"port":22}]}]},`+
		`"memory":{"guest":"1Gi"}},"evictionStrategy":"LiveMigrate","networks":[{"name":"default","pod":{}}],`+
		`"volumes":[{"containerDisk":{"image":"registry.example/fedora:40"},"name":"root"},{"cloudInitNoCloud":{"userData":"#cloud-config\npassword: %s\n"},"name":"init"}]},`+
		`"status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-05-01T08:01:00Z","status":"True","type":"Ready"}],"nodeName":"node-1","phase":"Running",`+
		`"phaseTransitionTimestamps":[{"phase":"Pending","phaseTransitionTimestamp":"2026-05-01T08:00:00Z"},{"phase":"Scheduling","phaseTransitionTimestamp":"2026-05-01T08:00:10Z"},`+
		`{"phase":"Scheduled","phaseTransitionTimestamp":"2026-05-01T08:00:30Z"},{"phase":"Running","phaseTransitionTimestamp":"2026-05-01T08:01:00Z"}]}}`,
		n%60, text, name, namespace, 100+n, n, n/256%256, n%256, CloudInitSecret)
	return Object{namespace, name, labels, body}
}

// Fleet is twenty machines in three namespaces. Their labels cut across each
// other and no key is on all of them; one has an empty value; two names are in
// two namespaces.
func Fleet() []Object {
	var objects []Object
	add := func(namespace, name string, labels map[string]string) {
		objects = append(objects, Machine(len(objects)+1, namespace, name, maps.Clone(labels)))
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
	add("test", "other", map[string]string{"canary": ""})
	return objects
}
