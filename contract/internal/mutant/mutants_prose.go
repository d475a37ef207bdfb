package mutant

import "strings"

// proseMutants break what the document says in words and no keyword says.
func proseMutants() []Mutant {
	label := func(object, from, to string, labels map[string]string) func(*Server) {
		return change(object, func(o Object) Object {
			o = o.Edited(from, to)
			o.Labels = labels
			return o
		})
	}
	history := func(object, from, to string) func(*Server) {
		return change(object, func(o Object) Object {
			i := strings.Index(o.Body, `"phaseTransitionTimestamps"`)
			o.Body = o.Body[:i] + strings.Replace(o.Body[i:], from, to, 1)
			return o
		})
	}
	mutants := of(Prose,
		// an interface and its network (document: Interface.name)
		Mutant{Name: "interface-without-network", Fault: edit("prod/vm02", `"networks":[{"name":"default","pod":{}}]`, `"networks":[]`)},
		Mutant{Name: "interface-without-any-networks", Fault: edit("prod/vm08", `"networks":[{"name":"default","pod":{}}],`, ``)},
		Mutant{Name: "interface-other-network", Fault: edit("stage/vm11", `"networks":[{"name":"default"`, `"networks":[{"name":"other"`)},
		Mutant{Name: "interface-network-other-case", Fault: edit("test/alone", `"networks":[{"name":"default"`, `"networks":[{"name":"Default"`)},
		Mutant{Name: "second-interface-without-network", Fault: edit("prod/vm11", `"interfaces":[{`, `"interfaces":[{"bridge":{},"name":"lan"},{`)},

		// a disk and its volume (document: Disk.name)
		Mutant{Name: "disk-without-volume", Fault: edit("prod/vm00", `{"containerDisk":{"image":"registry.example/fedora:40"},"name":"root"},`, ``)},
		Mutant{Name: "disk-other-volume", Fault: edit("stage/vm15", `fedora:40"},"name":"root"`, `fedora:40"},"name":"boot"`)},
		Mutant{Name: "second-disk-without-volume", Fault: edit("prod/vm05", `"disks":[`, `"disks":[{"disk":{"bus":"sata"},"name":"data"},`)},

		// quantities (document: memory.guest, hugepages.pageSize, emptyDisk.capacity)
		Mutant{Name: "memory-in-gb", Fault: edit("prod/vm03", `"guest":"1Gi"`, `"guest":"1GB"`)},
		Mutant{Name: "memory-with-a-space", Fault: edit("prod/vm10", `"guest":"1Gi"`, `"guest":"1 Gi"`)},
		Mutant{Name: "memory-lower-case-suffix", Fault: edit("stage/vm12", `"guest":"1Gi"`, `"guest":"1gi"`)},
		Mutant{Name: "memory-empty", Fault: edit("test/other", `"guest":"1Gi"`, `"guest":""`)},
		Mutant{Name: "huge-page-size-in-words", Fault: edit("prod/vm06", `"memory":{"guest":"1Gi"}`, `"memory":{"guest":"1Gi","hugepages":{"pageSize":"large"}}`)},
		Mutant{Name: "empty-disk-capacity-comma", Fault: edit("stage/vm13", `"volumes":[`, `"volumes":[{"emptyDisk":{"capacity":"1,5Gi"},"name":"scratch"},`)},

		// label syntax
		Mutant{Name: "label-key-starts-with-a-dash", Fault: label("prod/vm05", `"labels":{}`, `"labels":{"-app":"web"}`, map[string]string{"-app": "web"})},
		Mutant{Name: "label-key-with-a-space", Fault: label("prod/vm11", `"labels":{}`, `"labels":{"my app":"web"}`, map[string]string{"my app": "web"})},
		Mutant{Name: "label-key-two-slashes", Fault: label("stage/vm15", `"labels":{}`, `"labels":{"a/b/c":"web"}`, map[string]string{"a/b/c": "web"})},
		Mutant{Name: "label-key-prefix-upper-case", Fault: label("prod/vm05", `"labels":{}`, `"labels":{"Example.IO/app":"web"}`, map[string]string{"Example.IO/app": "web"})},
		Mutant{Name: "label-value-with-a-space", Fault: label("prod/vm11", `"labels":{}`, `"labels":{"app":"web server"}`, map[string]string{"app": "web server"})},
		Mutant{Name: "label-value-ends-with-a-dot", Fault: label("stage/vm15", `"labels":{}`, `"labels":{"app":"web."}`, map[string]string{"app": "web."})},
		Mutant{Name: "label-value-of-64", Fault: label("prod/vm05", `"labels":{}`, `"labels":{"app":"`+strings.Repeat("w", 64)+`"}`, map[string]string{"app": strings.Repeat("w", 64)})},

		// one device kind on a disk
		Mutant{Name: "disk-and-cdrom", Fault: edit("prod/vm09", `"disk":{"bus":"virtio"},"name":"root"`, `"cdrom":{"bus":"sata"},"disk":{"bus":"virtio"},"name":"root"`)},
		Mutant{Name: "disk-and-lun", Fault: edit("stage/vm10", `"disk":{"bus":"virtio"},"name":"root"`, `"disk":{"bus":"virtio"},"lun":{"bus":"scsi"},"name":"root"`)},

		// the history of phases ends in the phase
		Mutant{Name: "history-ends-before-the-phase", Fault: history("prod/vm07", `,{"phase":"Running","phaseTransitionTimestamp":"2026-05-01T08:01:00Z"}`, ``)},
		Mutant{Name: "history-goes-beyond-the-phase", Fault: history("stage/vm14", `"2026-05-01T08:01:00Z"}]`, `"2026-05-01T08:01:00Z"},{"phase":"Succeeded","phaseTransitionTimestamp":"2026-05-01T09:00:00Z"}]`)},
		Mutant{Name: "phase-without-history-entry", Fault: edit("prod/vm04", `"phase":"Running"`, `"phase":"Failed"`)},

		// uids are unique
		Mutant{Name: "uid-twice-in-a-namespace", Fault: edit("prod/vm08", `-000000000009"`, `-000000000003"`)},
		Mutant{Name: "uid-twice-in-two-namespaces", Fault: edit("stage/vm10", `-000000000013"`, `-000000000011"`)},
		Mutant{Name: "uid-zero-for-all", Fault: func(s *Server) {
			for i, o := range s.Objects {
				from := strings.Index(o.Body, `"uid":"`) + len(`"uid":"`)
				o.Body = o.Body[:from] + "00000000-0000-0000-0000-000000000000" + o.Body[from+36:]
				s.Objects[i] = o
			}
		}},
	)
	for i := range mutants {
		mutants[i].Warns = true
	}
	return mutants
}
