package managedfields

import (
	"cmp"
	"slices"
)

const (
	// maxUpdaters is how many entries of operation Update are kept; of more the
	// oldest are joined (Kubernetes documentation, "Server-Side Apply").
	maxUpdaters = 10
	// ancientChanges is the manager of those that were joined.
	ancientChanges = "ancient-changes"
)

// capped joins the oldest entries of operation Update until there are few enough,
// those of each version by themselves.
func (es entries) capped() entries {
	var updaters []entry
	for _, e := range es {
		if e.operation == OperationUpdate {
			updaters = append(updaters, e)
		}
	}
	over := len(updaters) - maxUpdaters
	if over <= 0 {
		return es
	}
	slices.SortFunc(updaters, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.seconds(), b.seconds()), a.id().compare(b.id()))
	})
	oldest := map[string]entry{} // of each version, which waits for a second one
	for _, next := range updaters {
		if over <= 0 {
			break
		}
		first, ok := oldest[next.apiVersion]
		if !ok {
			oldest[next.apiVersion] = next
			continue
		}
		bucket := id{Manager: ancientChanges, Operation: OperationUpdate, APIVersion: next.apiVersion}
		k := es.find(bucket)
		if k < 0 {
			k = es.find(first.id())
			es[k].manager, es[k].subresource = ancientChanges, ""
		}
		i := es.find(next.id())
		es[k].fields = es[k].fields.union(es[i].fields)
		es[k].time = es[i].time
		es = slices.Delete(es, i, i+1)
		over--
	}
	return es
}
