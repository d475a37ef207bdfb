package mutant

import "strings"

// schemaMutants break a keyword of the document in one of the twenty machines,
// wherever it is served, unless the name says where.
func schemaMutants() []Mutant {
	const (
		cores    = `"cpu":{"cores":2}`
		disk     = `{"bootOrder":1,"disk":{"bus":"virtio"},"name":"root"}`
		network  = `{"name":"default","pod":{}}`
		image    = `{"image":"registry.example/fedora:40"}`
		running  = `"phase":"Running"`
		eviction = `"evictionStrategy":"LiveMigrate"`
		spec     = `"spec":{`
		status   = `"status":{"conditions"`
	)
	volume := func(object, source string) func(*Server) {
		return edit(object, `"volumes":[`, `"volumes":[{"name":"extra",`+source+`},`)
	}
	inStatus := func(object, members string) func(*Server) {
		return edit(object, status, `"status":{`+members+`,"conditions"`)
	}
	return of(Schema,
		// enum
		Mutant{Name: "phase-not-in-enum", Fault: change("prod/vm07", func(o Object) Object {
			o.Body = strings.ReplaceAll(o.Body, running, `"phase":"Paused"`)
			return o
		})},
		Mutant{Name: "phase-lower-case", Fault: change("stage/vm15", func(o Object) Object {
			o.Body = strings.ReplaceAll(o.Body, running, `"phase":"running"`)
			return o
		})},
		Mutant{Name: "eviction-strategy-not-in-enum", Fault: edit("prod/vm03", eviction, `"evictionStrategy":"Live"`)},
		Mutant{Name: "eviction-strategy-empty", Fault: edit("test/other", eviction, `"evictionStrategy":""`)},
		Mutant{Name: "interface-model-not-in-enum", Fault: edit("prod/vm11", `"model":"virtio"`, `"model":"virtio-net"`)},
		Mutant{Name: "disk-bus-not-in-enum", Fault: edit("stage/vm10", `"bus":"virtio"`, `"bus":"nvme"`)},
		Mutant{Name: "cdrom-bus-ide", Fault: edit("prod/vm00", `"bus":"sata"`, `"bus":"ide"`)},
		Mutant{Name: "port-protocol-not-in-enum", Fault: edit("prod/vm02", `{"port":22}`, `{"port":22,"protocol":"tcp"}`)},
		Mutant{Name: "image-pull-policy-not-in-enum", Fault: edit("prod/vm05", image, `{"image":"registry.example/fedora:40","imagePullPolicy":"Sometimes"}`)},
		Mutant{Name: "host-disk-type-not-in-enum", Fault: volume("stage/vm13", `"hostDisk":{"path":"/images/a.img","type":"File"}`)},
		Mutant{Name: "cpu-feature-policy-not-in-enum", Fault: edit("prod/vm08", cores, `"cpu":{"cores":2,"features":[{"name":"vmx","policy":"mandatory"}]}`)},
		Mutant{Name: "kind-of-one-item", Fault: edit("stage/vm12", `"kind":"VirtualMachineInstance"`, `"kind":"VirtualMachine"`)},
		Mutant{Name: "api-version-of-one-item", Fault: edit("prod/vm10", `"apiVersion":"kubevirt.io/v1"`, `"apiVersion":"kubevirt.io/v1alpha3"`)},
		Mutant{Name: "condition-status-not-in-enum", Fault: edit("prod/vm04", `"status":"True"`, `"status":"true"`)},

		// pattern
		Mutant{Name: "mac-five-groups", Fault: edit("prod/vm09", `"02:00:00:00:00:0a"`, `"02:00:00:00:0a"`)},
		Mutant{Name: "mac-seven-groups", Fault: edit("prod/vm09", `"02:00:00:00:00:0a"`, `"02:00:00:00:00:0a:00"`)},
		Mutant{Name: "mac-no-hexadecimal", Fault: edit("stage/vm11", `"02:00:00:00:00:0e"`, `"02:00:00:00:00:0g"`)},
		Mutant{Name: "mac-newline-at-the-end", Fault: edit("stage/vm11", `"02:00:00:00:00:0e"`, `"02:00:00:00:00:0e\n"`)},
		Mutant{Name: "mac-mixed-separators", Fault: edit("prod/vm01", `"02:00:00:00:00:02"`, `"02:00:00-00:00:02"`)},
		Mutant{Name: "mac-empty", Fault: edit("prod/vm01", `"02:00:00:00:00:02"`, `""`)},

		// minimum and maximum
		Mutant{Name: "cores-zero", Fault: edit("prod/vm06", `"cores":2`, `"cores":0`)},
		Mutant{Name: "sockets-negative", Fault: edit("stage/vm14", cores, `"cpu":{"cores":2,"sockets":-1}`)},
		Mutant{Name: "threads-zero", Fault: edit("prod/vm10", cores, `"cpu":{"cores":2,"threads":0}`)},
		Mutant{Name: "boot-order-zero", Fault: edit("test/alone", `"bootOrder":1`, `"bootOrder":0`)},
		Mutant{Name: "port-zero", Fault: edit("prod/vm04", `{"port":22}`, `{"port":0}`)},
		Mutant{Name: "port-65536", Fault: edit("prod/vm04", `{"port":22}`, `{"port":65536}`)},
		Mutant{Name: "second-port-negative", Fault: edit("stage/vm15", `{"port":22}`, `{"port":22},{"port":-22}`)},
		Mutant{Name: "grace-period-negative", Fault: add("prod/vm07", spec, `"terminationGracePeriodSeconds":-1`)},

		// type
		Mutant{Name: "cores-string", Fault: edit("prod/vm02", `"cores":2`, `"cores":"2"`)},
		Mutant{Name: "cores-fraction", Fault: edit("prod/vm02", `"cores":2`, `"cores":2.5`)},
		Mutant{Name: "port-string", Fault: edit("stage/vm10", `{"port":22}`, `{"port":"22"}`)},
		Mutant{Name: "grace-period-fraction", Fault: add("prod/vm11", spec, `"terminationGracePeriodSeconds":30.5`)},
		Mutant{Name: "grace-period-duration-string", Fault: add("prod/vm11", spec, `"terminationGracePeriodSeconds":"30s"`)},
		Mutant{Name: "memory-number", Fault: edit("prod/vm08", `"guest":"1Gi"`, `"guest":1073741824`)},
		Mutant{Name: "phase-number", Fault: edit("prod/vm05", running, `"phase":3`)},
		Mutant{Name: "phase-null", Fault: edit("prod/vm05", running, `"phase":null`)},
		Mutant{Name: "node-name-null", Fault: edit("stage/vm13", `"nodeName":"node-1"`, `"nodeName":null`)},
		Mutant{Name: "node-name-object", Fault: edit("stage/vm13", `"nodeName":"node-1"`, `"nodeName":{"name":"node-1"}`)},
		Mutant{Name: "label-value-number", Fault: edit("prod/vm03", `"tier":"silver"`, `"tier":1`)},
		Mutant{Name: "label-value-null", Fault: edit("prod/vm03", `"tier":"silver"`, `"tier":null`)},
		Mutant{Name: "annotation-value-boolean", Fault: add("prod/vm00", `"metadata":{`, `"annotations":{"example.io/managed":true}`)},
		Mutant{Name: "empty-labels-as-array", Fault: edit("prod/vm05", `"labels":{}`, `"labels":[]`)},
		Mutant{Name: "empty-masquerade-as-array", Fault: func(s *Server) {
			for i, o := range s.Objects {
				s.Objects[i] = o.Edited(`"masquerade":{}`, `"masquerade":[]`)
			}
		}},
		Mutant{Name: "uid-number", Fault: edit("test/other", `"uid":"00000000-0000-4000-8000-000000000020"`, `"uid":20`)},
		Mutant{Name: "resource-version-number", Fault: func(s *Server) {
			s.InList = func(o Object) string {
				return strings.Replace(o.Body, `"resourceVersion":"101"`, `"resourceVersion":101`, 1)
			}
			s.InGet = s.InList
		}},
		Mutant{Name: "metadata-array", Fault: change("stage/vm12", func(o Object) Object {
			return o.Edited(`"metadata":{`, `"metadata":[{`).Edited(`},"spec"`, `}],"spec"`)
		})},
		Mutant{Name: "spec-null", Fault: change("prod/vm01", func(o Object) Object {
			from, to := strings.Index(o.Body, `"spec":`), strings.Index(o.Body, `,"status":{`)
			o.Body = o.Body[:from] + `"spec":null` + o.Body[to:]
			return o
		})},
		Mutant{Name: "status-string", Fault: change("stage/vm14", func(o Object) Object {
			o.Body = o.Body[:strings.Index(o.Body, status)] + `"status":"Running"}`
			return o
		})},
		Mutant{Name: "networks-null", Fault: edit("prod/vm06", `"networks":[`+network+`]`, `"networks":null`)},
		Mutant{Name: "networks-by-name", Fault: edit("prod/vm06", `"networks":[`+network+`]`, `"networks":{"default":{"name":"default","pod":{}}}`)},
		Mutant{Name: "disk-null-in-array", Fault: edit("prod/vm09", `"disks":[`, `"disks":[null,`)},
		Mutant{Name: "conditions-by-type", Fault: change("stage/vm11", func(o Object) Object {
			return o.Edited(`"conditions":[{`, `"conditions":{"Ready":{`).Edited(`"type":"Ready"}]`, `"type":"Ready"}}`)
		})},
		Mutant{Name: "tolerations-strings", Fault: add("prod/vm00", spec, `"tolerations":["NoSchedule"]`)},
		Mutant{Name: "affinity-array", Fault: add("prod/vm00", spec, `"affinity":[]`)},
		Mutant{Name: "node-selector-boolean", Fault: add("prod/vm08", spec, `"nodeSelector":{"kubevirt.io/schedulable":true}`)},
		Mutant{Name: "claim-read-only-string", Fault: volume("prod/vm02", `"persistentVolumeClaim":{"claimName":"data","readOnly":"false"}`)},
		Mutant{Name: "empty-disk-capacity-number", Fault: volume("prod/vm10", `"emptyDisk":{"capacity":2}`)},
		Mutant{Name: "dedicated-cpu-string", Fault: edit("stage/vm15", cores, `"cpu":{"cores":2,"dedicatedCpuPlacement":"yes"}`)},
		Mutant{Name: "secure-boot-null", Fault: add("stage/vm10", `"domain":{`, `"firmware":{"bootloader":{"efi":{"secureBoot":null}}}`)},
		Mutant{Name: "multus-default-number", Fault: edit("prod/vm04", `"networks":[`, `"networks":[{"name":"second","multus":{"networkName":"lan","default":0}},`)},
		Mutant{Name: "ip-addresses-string", Fault: inStatus("prod/vm07", `"interfaces":[{"name":"default","ipAddresses":"10.0.2.2"}]`)},
		Mutant{Name: "guest-os-info-string", Fault: inStatus("prod/vm03", `"guestOSInfo":"Fedora Linux 40"`)},
		Mutant{Name: "migration-completed-string", Fault: inStatus("stage/vm12", `"migrationState":{"completed":"true"}`)},
		Mutant{Name: "readonly-cdrom-string", Fault: edit("prod/vm11", `"cdrom":{"bus":"sata"}`, `"cdrom":{"bus":"sata","readonly":"true"}`)},

		// format
		Mutant{Name: "created-without-zone", Fault: edit("prod/vm06", `"2026-05-01T08:00:07Z"`, `"2026-05-01T08:00:07"`)},
		Mutant{Name: "created-without-time", Fault: edit("prod/vm06", `"2026-05-01T08:00:07Z"`, `"2026-05-01"`)},
		Mutant{Name: "created-30-february", Fault: edit("test/alone", `"2026-05-01T08:00:19Z"`, `"2026-02-30T08:00:19Z"`)},
		Mutant{Name: "created-hour-25", Fault: edit("test/alone", `"2026-05-01T08:00:19Z"`, `"2026-05-01T25:00:19Z"`)},
		Mutant{Name: "created-as-number", Fault: edit("stage/vm14", `"2026-05-01T08:00:17Z"`, `1777622417`)},
		Mutant{Name: "phase-time-with-a-space", Fault: edit("prod/vm01", `"phaseTransitionTimestamp":"2026-05-01T08:00:10Z"`, `"phaseTransitionTimestamp":"2026-05-01 08:00:10"`)},
		Mutant{Name: "migration-start-in-words", Fault: inStatus("prod/vm09", `"migrationState":{"startTimestamp":"3 minutes ago"}`)},
		Mutant{Name: "condition-time-empty", Fault: edit("prod/vm05", `"lastTransitionTime":"2026-05-01T08:01:00Z"`, `"lastTransitionTime":""`)},

		// required
		Mutant{Name: "metadata-without-name", Fault: edit("stage/vm13", `"name":"vm13",`, ``)},
		Mutant{Name: "disk-without-name", Fault: edit("prod/vm00", disk, `{"bootOrder":1,"disk":{"bus":"virtio"}}`)},
		Mutant{Name: "interface-without-name", Fault: edit("prod/vm00", `"model":"virtio","name":"default"`, `"model":"virtio"`)},
		Mutant{Name: "network-without-name", Fault: edit("prod/vm08", network, network+`,{"multus":{"networkName":"lan"}}`)},
		Mutant{Name: "volume-without-name", Fault: edit("stage/vm11", `"volumes":[`, `"volumes":[{"emptyDisk":{"capacity":"1Gi"}},`)},
		Mutant{Name: "condition-without-type", Fault: edit("prod/vm02", `"status":"True","type":"Ready"`, `"status":"True"`)},

		// in one kind of answer only
		Mutant{Name: "get-without-kind", Fault: func(s *Server) { s.InGet = editEach(`"kind":"VirtualMachineInstance",`, ``) }},
		Mutant{Name: "items-without-api-version-and-kind", Fault: func(s *Server) {
			s.InList = editEach(`"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`, ``)
		}},
		Mutant{Name: "get-wrapped", Fault: body(isGet, func(b string) string { return `{"data":` + b + `}` })},
		Mutant{Name: "get-as-list", Fault: func(s *Server) {
			s.InGet = func(o Object) string { return s.Envelope(o.Body, `{"resourceVersion":"1000","continue":""}`) }
		}},
	)
}

// listSchemaMutants break the envelope of a list.
func listSchemaMutants() []Mutant {
	const (
		listKind = `"kind":"VirtualMachineInstanceList"`
		noItems  = `"items":[]`
	)
	return of(Schema,
		Mutant{Name: "list-kind-list", Fault: replace(isList, listKind, `"kind":"List"`)},
		Mutant{Name: "list-kind-missing", Fault: replace(isList, `,`+listKind, ``)},
		Mutant{Name: "list-kind-of-an-item", Fault: replace(isList, listKind, `"kind":"VirtualMachineInstance"`)},
		Mutant{Name: "list-kind-wrong-for-all-namespaces", Fault: replace(isAll, listKind, `"kind":"List"`)},
		Mutant{Name: "list-api-version-v1", Fault: body(isList, func(b string) string {
			return strings.Replace(b, `{"apiVersion":"kubevirt.io/v1","items"`, `{"apiVersion":"v1","items"`, 1)
		})},
		Mutant{Name: "list-api-version-missing", Fault: replace(isList, `{"apiVersion":"kubevirt.io/v1","items"`, `{"items"`)},
		Mutant{Name: "list-metadata-missing", Fault: body(isList, func(b string) string {
			return b[:strings.LastIndex(b, `,"metadata":`)] + "}"
		})},
		Mutant{Name: "list-metadata-null", Fault: body(isList, func(b string) string {
			return b[:strings.LastIndex(b, `,"metadata":`)] + `,"metadata":null}`
		})},
		Mutant{Name: "empty-list-null", Fault: replace(isList, noItems, `"items":null`)},
		Mutant{Name: "empty-list-without-items", Fault: replace(isList, noItems+",", ``)},
		Mutant{Name: "empty-list-as-object", Fault: replace(isList, noItems, `"items":{}`)},
		Mutant{Name: "single-item-not-in-an-array", Fault: func(s *Server) {
			s.Envelope = func(items, meta string) string {
				if strings.Count(items, `"kind":"VirtualMachineInstance"`) != 1 {
					items = "[" + items + "]"
				}
				return `{"apiVersion":"kubevirt.io/v1","items":` + items + `,"kind":"VirtualMachineInstanceList","metadata":` + meta + "}\n"
			}
		}},
		Mutant{Name: "null-behind-the-items", Fault: func(s *Server) {
			envelope := s.Envelope
			s.Envelope = func(items, meta string) string {
				if items != "" {
					items += ",null"
				}
				return envelope(items, meta)
			}
		}},
		Mutant{Name: "bare-array-as-list", Fault: func(s *Server) { s.Envelope = func(items, _ string) string { return "[" + items + "]" } }},
		Mutant{Name: "items-nested-twice", Fault: func(s *Server) {
			envelope := s.Envelope
			s.Envelope = func(items, meta string) string { return envelope("["+items+"]", meta) }
		}},
		Mutant{Name: "items-capitalised", Fault: replace(isList, `"items":`, `"Items":`)},
		Mutant{Name: "list-resource-version-number", Fault: replace(isList, `"resourceVersion":"1000"`, `"resourceVersion":1000`)},
		Mutant{Name: "last-page-continue-null", Fault: replace(isList, `"continue":""`, `"continue":null`)},
		Mutant{Name: "remaining-item-count-string", Fault: body(isList, func(b string) string {
			before, after, has := strings.Cut(b, `"remainingItemCount":`)
			if !has {
				return b
			}
			digits := strings.IndexAny(after, ",}")
			return before + `"remainingItemCount":"` + after[:digits] + `"` + after[digits:]
		})},
		Mutant{Name: "continue-token-number", Fault: both(
			func(s *Server) { s.Token = func(next int) string { return tokenDigits(next) } },
			func(s *Server) { s.Start = digitsToken },
			body(isList, func(b string) string {
				before, after, has := strings.Cut(b, `"continue":"`)
				token, rest, _ := strings.Cut(after, `"`)
				if !has || token == "" {
					return b
				}
				return before + `"continue":` + token + rest
			}),
		)},
		Mutant{Name: "status-instead-of-an-empty-list", Fault: body(isList, func(b string) string {
			if !strings.Contains(b, noItems) {
				return b
			}
			return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
		})},
	)
}
