package server

import (
	"fmt"
	"slices"
	"strings"
)

// standardFinalizers are those that Kubernetes itself has, without a domain: an API
// server warns of none of them.
var standardFinalizers = []string{"foregroundDeletion", "kubernetes", "orphan"}

// warn tells of a version that is deprecated.
func (r *resource) warn(x *exchange) {
	if r.storedAs != "" {
		x.warn(r.apiVersion() + " is now deprecated and will be removed in a future release.")
	}
}

// warnFinalizers tells of finalizers that come with a write and could be anybody's. It
// is a warning, since KubeVirt's own is one, and it is for custom resources only.
func warnFinalizers(x *exchange, meta, old map[string]any) {
	if x.resource.group != group {
		return
	}
	had := finalizers(old)
	for _, f := range slices.Sorted(slices.Values(finalizers(meta))) {
		if strings.Contains(f, "/") || slices.Contains(standardFinalizers, f) || slices.Contains(had, f) {
			continue
		}
		x.warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers", f))
	}
}
