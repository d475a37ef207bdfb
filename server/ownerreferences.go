package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
)

// ownersOf are the owner references of an object, in their order.
func ownersOf(meta map[string]any) []map[string]any {
	list, _ := meta["ownerReferences"].([]any)
	owners := make([]map[string]any, len(list))
	for i, o := range list {
		owners[i] = asObject(o)
	}
	return owners
}

// checkOwners is what Kubernetes demands of owner references beside what the document
// does (k8s.io/apimachinery, ValidateOwnerReferences).
func checkOwners(meta map[string]any) []vmi.StatusCause {
	var causes []vmi.StatusCause
	controller := ""
	for i, o := range ownersOf(meta) {
		at := fmt.Sprintf("metadata.ownerReferences[%d]", i)
		apiVersion, kind, name := text(o, "apiVersion"), text(o, "kind"), text(o, "name")
		groupless := apiVersion[strings.IndexByte(apiVersion, '/')+1:]
		switch {
		case apiVersion == "":
			causes = append(causes, requiredField(at+".apiVersion", "must not be empty"))
		case groupless == "", strings.Contains(groupless, "/"):
			causes = append(causes, invalidField(at+".apiVersion", quote(apiVersion), "must be <group>/<version> or <version>"))
		}
		for _, member := range []string{"kind", "name", "uid"} {
			if text(o, member) == "" {
				causes = append(causes, requiredField(at+"."+member, "must not be empty"))
			}
		}
		if apiVersion == "v1" && kind == "Event" {
			causes = append(causes, invalidField(at, "{…}", "/v1, Kind=Event is disallowed from being an owner"))
		}
		if o["controller"] != true {
			continue
		}
		if is := kind + "/" + name; controller == "" {
			controller = is
		} else {
			causes = append(causes, invalidField("metadata.ownerReferences", "[…]",
				fmt.Sprintf(`Only one reference can have Controller set to true. Found "true" in references for %s and %s`, shown(controller), shown(is))))
		}
	}
	return causes
}

// dropRepeatedOwners takes out of the metadata the owner references that are there
// twice, with the same members, as a Kubernetes API server does, and tells of them in its
// words; when is what it has found it after.
func dropRepeatedOwners(x *exchange, meta map[string]any, when string) {
	list, _ := meta["ownerReferences"].([]any)
	if len(list) < 2 {
		return
	}
	var kept []any
	var repeated []string
	for _, o := range list {
		if slices.ContainsFunc(kept, func(k any) bool { return sameTree(k, o) }) {
			repeated = append(repeated, text(asObject(o), "uid"))
			continue
		}
		kept = append(kept, o)
	}
	if len(repeated) == 0 {
		return
	}
	meta["ownerReferences"] = kept
	x.warn(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, shown(strings.Join(repeated, ", "))))
}
