package contract

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// maxNamespaces is how many namespaces are looked into one by one.
const maxNamespaces = 8

var clauseNamespace = Clause{596, "description: The Kubernetes namespace of the resource."}

func namespaceChecks() []Check {
	return []Check{
		{
			ID: "namespace.items", Clause: clauseNamespace, Needs: []Need{needAnything},
			Explain: "The list of a namespace has the objects of that namespace only, and every object says which one that is.",
			run:     namespaceItems,
		}, {
			ID:      "namespace.union",
			Clause:  Clause{0, "the list without a namespace in its path has the objects of all namespaces"},
			Needs:   []Need{needConventions, needAllNamespaces, needObject},
			Explain: "The lists of the namespaces together are the list of all namespaces.",
			run:     namespaceUnion,
		}, {
			ID: "namespace.foreign", Clause: clauseNamespace, Needs: []Need{needObject},
			Explain: "An object is not there in a namespace that it is not in.",
			run:     namespaceForeign,
		},
	}
}

func (r *run) someNamespaces() []string {
	return sample(r.rand("namespaces"), r.namespaces, maxNamespaces)
}

func namespaceItems(ctx context.Context, r *run) (verdict, error) {
	v := passed("%s", number(len(r.someNamespaces()), "namespace"))
	say := func(f Finding, it *item, l *listing) {
		f.Outcome, f.Objects, f.Curl, f.source = Fail, []string{it.key()}, l.curl(), l.first
		v.add(r, f)
	}
	homeless := func(it *item, l *listing) {
		if !it.namespaced && r.conventions() {
			say(Finding{
				Message: "an object does not say which namespace it is in", Expected: "a metadata.namespace", Got: "none",
			}, it, l)
		}
	}
	for _, ns := range r.someNamespaces() {
		l, err := r.full(ctx, scope(ns))
		if err != nil {
			return v, err
		}
		for _, it := range l.items {
			if it.namespace != ns {
				say(Finding{
					Message: "a list has objects of another namespace", Expected: "objects of namespace " + ns, Got: "one of namespace " + it.namespace,
				}, it, l)
			}
			homeless(it, l)
		}
	}
	if l := r.latest[r.widest]; r.target.Namespace == "" {
		for _, it := range l.items {
			homeless(it, l)
		}
	}
	return v, nil
}

// namespaceUnion compares the list of each namespace with that part of the list
// of all namespaces.
func namespaceUnion(ctx context.Context, r *run) (verdict, error) {
	var probes []probe
	for _, ns := range r.someNamespaces() {
		probes = append(probes, probe{r.widest, func(ctx context.Context, full *listing) ([]claim, error) {
			want := slices.DeleteFunc(full.all(), func(it *item) bool { return it.namespace != ns })
			got, err := r.expect(ctx, scope(ns), nil, len(want))
			if err != nil {
				return nil, err
			}
			return compare(want, got), nil
		}})
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d of %d namespaces", len(probes), len(r.namespaces))
	v.findings = found
	return v, err
}

// namespaceForeign looks for an object in namespaces that it is not in: one that does
// not exist, and one that does. What is answered there is a fault when it is that
// very object; another one of that name may have been made meanwhile.
func namespaceForeign(ctx context.Context, r *run) (verdict, error) {
	var v verdict
	full, err := r.full(ctx, r.widest)
	if err != nil {
		return v, err
	}
	it := sample(r.rand("namespace.foreign"), full.all(), 1)[0]
	elsewhere := []string{r.nobody()}
	for _, ns := range r.namespaces {
		if full.byKey[ns+"/"+it.name] == nil {
			elsewhere = append(elsewhere, ns)
			break
		}
	}
	v.message = fmt.Sprintf("%d other namespaces", len(elsewhere))
	for _, ns := range elsewhere {
		ex, err := r.read(ctx, ns, it.name, withToken)
		if err != nil {
			return v, err
		}
		if got, ok := readItem(ex.body, ns); !refused(ex.status) && !(ok && got.at(ns) && ns != r.nobody() && got.uid != it.uid) {
			f := fault(ex, Fail, "an object is there in another namespace than its own", "status 404", fmt.Sprintf("status %d", ex.status))
			f.Objects = []string{it.key()}
			v.add(r, f)
		}
	}
	l, err := r.list(ctx, scope(r.nobody()), nil, 1)
	if err != nil {
		return v, err
	}
	if l.status == http.StatusOK && len(l.items) > 0 {
		f := fault(l.first, Fail, "a namespace that does not exist has objects", "an empty list", number(len(l.items), "object"))
		f.Objects = []string{l.items[0].key()}
		v.add(r, f)
	}
	return v, nil
}

// at reports whether an object says itself that it is in a namespace.
func (it *item) at(namespace string) bool { return it.namespaced && it.namespace == namespace }
