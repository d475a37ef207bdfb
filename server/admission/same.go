package admission

import "reflect"

// KubeVirt compares Go structs, to which some texts of JSON are the same: a client
// that reads a machine into such a struct and writes it back has changed nothing.

// zeroIsNothing are the switches that Go has no "not said" for: false is what they
// are without it (staging/src/kubevirt.io/api/core/v1/schema.go).
var zeroIsNothing = map[string]bool{
	"dedicatedCpuPlacement": true, "isolateEmulatorThread": true, "disableHotplug": true, "reservation": true, "endOfInterrupt": true,
	"hidden": true, "overcommitGuestOverhead": true, "default": true, "hotpluggable": true,
}

// sameSpec reports whether two specs are one to KubeVirt.
func sameSpec(a, b map[string]any) bool {
	return reflect.DeepEqual(plainSpec(a), plainSpec(b))
}

// plainSpec is a spec in one spelling.
func plainSpec(spec map[string]any) any {
	c := clone(spec).(map[string]any)
	quantitiesOf(c, func(o map[string]any, name string) {
		if q, ok := toQuantity(o[name]); ok {
			o[name] = q.value.RatString()
		}
	})
	// These are there in any Go struct, with nothing in them.
	ensure(c, "domain", "devices")
	ensure(c, "domain", "resources")
	if has(child(c, "domain"), "features") {
		ensure(c, "domain", "features", "acpi")
	}
	for _, disk := range items(child(c, "domain", "devices"), "disks") {
		for _, target := range []string{"disk", "lun"} {
			if t := child(disk, target); t["readonly"] == false {
				delete(t, "readonly")
			}
		}
	}
	return plain(c)
}

// plain leaves out what Go does not tell from what is not there.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member = plain(member); member == nil || member == false && zeroIsNothing[name] {
				delete(v, name)
			} else {
				v[name] = member
			}
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = plain(v[i])
		}
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

// sameStatus reports whether two statuses are one to KubeVirt.
func sameStatus(a, b any) bool {
	return reflect.DeepEqual(plainStatus(a), plainStatus(b))
}

func plainStatus(status any) any {
	c, _ := clone(status).(map[string]any)
	if c == nil {
		c = make(map[string]any)
	}
	ensure(c, "guestOSInfo")
	setDefault(c, "runtimeUser", number(0))
	return plain(c)
}
