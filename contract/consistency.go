package contract

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

func consistencyChecks() []Check {
	return []Check{
		{
			ID: "consistency.list", Clause: Clause{37, "description: List of VirtualMachineInstances"},
			Explain: "A list without selectors is answered, and has every object once.",
			run:     listOnce,
		}, {
			ID: "consistency.get", Clause: Clause{50, "description: Returns the specified VirtualMachineInstance including its phase, network interfaces, volumes, node assignment, and guest OS information."},
			Needs:   []Need{needObject},
			Explain: "What is listed can be got by its name, and is the same object.",
			run:     getListed,
		}, {
			ID: "consistency.head", Clause: Clause{0, "HEAD is answered like GET, without the body"},
			Needs:   []Need{needConventions},
			Explain: "Load balancers and scripts ask HEAD; another status than that of GET misleads them.",
			run:     headLikeGet,
		},
	}
}

func listOnce(ctx context.Context, r *run) (verdict, error) {
	var v verdict
	full, err := r.full(ctx, r.widest)
	if err != nil {
		return v, err
	}
	if full.first == nil && r.caller.stopped != "" {
		return v, errStopped // before there was a list
	}
	seen := make(map[string]bool)
	for _, it := range full.items {
		if seen[it.key()] && it.namespace != "" {
			f := fault(full.first, Fail, messageTwice, "every object once", "a second one of the same name")
			f.Objects = []string{it.key()}
			v.add(r, f)
		}
		seen[it.key()] = true
	}
	if full.status != http.StatusOK {
		v.add(r, fault(full.first, Fail, "the list is not answered", "status 200", fmt.Sprintf("status %d", full.status)))
	}
	v.message = fmt.Sprintf("%d objects", len(seen))
	if full.status != http.StatusOK || !r.conventions() || len(full.sizes) > 1 {
		return v, nil
	}
	// The full list has a limit. One without must be the same.
	found, err := r.relate(ctx, []probe{{r.widest, func(ctx context.Context, full *listing) ([]claim, error) {
		got, err := r.list(ctx, r.widest, nil, 1)
		if err != nil {
			return nil, err
		}
		return compare(full.all(), got), nil
	}}})
	v.findings = append(v.findings, found...)
	return v, err
}

// getListed gets listed objects, all of them when requests suffice.
func getListed(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.widest)
	if err != nil {
		return verdict{}, err
	}
	// What does not say where it is, which namespace.items tells, has no path.
	items := slices.DeleteFunc(full.all(), func(it *item) bool { return it.namespace == "" })
	picked := sample(r.rand("consistency.get"), items, max(1, r.config.maxRequests/10))
	var probes []probe
	for _, it := range picked {
		probes = append(probes, probe{r.widest, func(ctx context.Context, full *listing) ([]claim, error) {
			listed := full.byKey[it.key()]
			if listed == nil {
				return nil, nil // gone since
			}
			return r.getLike(ctx, listed, full.curl())
		}})
	}
	found, err := r.relate(ctx, probes)
	v := passed("%d of %d objects", len(picked), len(items))
	v.findings = found
	return v, err
}

// getLike gets an object and compares it with the item of the list.
func (r *run) getLike(ctx context.Context, listed *item, list string) ([]claim, error) {
	ex, err := r.read(ctx, listed.namespace, listed.name, withToken)
	if err != nil {
		return nil, err
	}
	if ex.status != http.StatusOK {
		f := fault(ex, Fail, "a listed object cannot be got", "status 200", fmt.Sprintf("status %d", ex.status))
		return []claim{{object: listed.key(), Finding: f}}, nil
	}
	if ex.unread != "" {
		return nil, errUnreadable
	}
	diff := differences(listed.raw, ex.body)
	if len(diff) == 0 {
		return nil, nil
	}
	f := fault(ex, Fail, "an object got is not the same as the one listed", "the item of "+list, diff.String())
	f.Diff = diff.lines()
	return []claim{{object: listed.key(), Finding: f}}, nil
}

func headLikeGet(ctx context.Context, r *run) (verdict, error) {
	requests := []request{
		r.listRequest(r.primary, nil),
		r.readRequest(string(r.primary), r.nobody(), withToken),
	}
	if items := r.latest[r.primary].all(); len(items) > 0 {
		requests = append(requests, r.readRequest(items[0].namespace, items[0].name, withToken))
	}
	v := passed("%d requests", len(requests))
	for _, get := range requests {
		want, got, err := r.getAndHead(ctx, get)
		if err == nil && got.status != want.status {
			// Once more: the object may have come or gone between the two.
			want, got, err = r.getAndHead(ctx, get)
		}
		if err != nil {
			return v, err
		}
		if got.status != want.status {
			v.add(r, fault(got, Fail, "HEAD is answered with another status than GET", fmt.Sprintf("status %d", want.status), fmt.Sprintf("status %d", got.status)))
			continue
		}
		if err := r.headHeader(ctx, &v, want, got); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (r *run) getAndHead(ctx context.Context, req request) (get, head *exchange, err error) {
	if get, err = r.ask(ctx, req); err != nil {
		return nil, nil, err
	}
	req.method = http.MethodHead
	head, err = r.ask(ctx, req)
	return get, head, err
}
