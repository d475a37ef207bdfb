package contract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// errUnstable says that objects changed faster than they could be compared.
var errUnstable = errors.New("unstable: too much changed while it was compared, twice")

// claim is a fault that one look showed. It is believed when the object that it
// is about did not change meanwhile.
type claim struct {
	Finding
	// object is the key of the machine; "" for a fault of the whole answer.
	object string
	// fragile says that a change of any object may explain the fault, as where
	// pages are cut at positions. Nothing can be said then. Otherwise a fault of
	// the whole answer is explained by no change.
	fragile bool
}

// shaken returns a test for claims that nothing but their being fragile explains.
func shaken(changed map[string]bool) func(claim) bool {
	return func(c claim) bool { return c.fragile && len(changed) > 0 && !changed[c.object] }
}

// explained reports whether objects that changed explain a claim.
func (c claim) explained(changed map[string]bool) bool {
	return changed[c.object] || shaken(changed)(c)
}

// probe asks something whose right answer follows from the full list of a scope.
type probe struct {
	scope scope
	ask   func(ctx context.Context, full *listing) ([]claim, error)
}

// suspicion is a probe that showed faults, and the list that it went by.
type suspicion struct {
	probe
	full   *listing
	claims []claim
}

// relate asks the probes. Where one shows a fault it lists again. When the list
// is as before, a fault is a finding; when it is not, the objects that changed
// are left out. What is left then, or is about an object that neither list has,
// is asked for once more, between two lists of its own, and is a finding if it is
// still there. When more objects changed than did not, or any did and the claim is
// fragile, the second time as well, the error is errUnstable. There may be findings
// beside an error.
func (r *run) relate(ctx context.Context, probes []probe) (findings, error) {
	var confirmed findings
	suspicions, askErr := r.suspect(ctx, probes)
	later := make(map[*listing]*listing)
	unstable := false
	for _, s := range suspicions {
		now := later[s.full]
		if now == nil {
			var err error
			if now, err = r.again(ctx, s.scope); err != nil {
				return confirmed, cmp.Or(askErr, err)
			}
			later[s.full] = now
		}
		changed := moved(s.full, now)
		solid, excused := part(s.claims, func(c claim) bool { return !c.explained(changed) })
		switch passing := slices.ContainsFunc(solid, func(c claim) bool { return c.phantom(s.full, now) }); {
		case len(changed) == 0 && !passing:
			r.confirm(&confirmed, solid)
			continue
		case len(solid) == 0 && calm(s.full, changed) && !slices.ContainsFunc(excused, shaken(changed)):
			r.leaveOut(excused, changed)
			continue
		}
		ok, err := r.reconsider(ctx, s, &confirmed)
		if err != nil {
			return confirmed, cmp.Or(askErr, err)
		}
		unstable = unstable || !ok
	}
	if unstable && len(confirmed) == 0 {
		return nil, cmp.Or(askErr, errUnstable)
	}
	return confirmed, askErr
}

// phantom reports whether a claim is about an object that no list has. It may
// have come and gone in between.
func (c claim) phantom(before, after *listing) bool {
	return c.object != "" && before.byKey[c.object] == nil && after.byKey[c.object] == nil
}

// calm reports whether most objects of a list stayed as they were.
func calm(full *listing, changed map[string]bool) bool { return 2*len(changed) <= len(full.byKey) }

// part splits claims into those that are to be kept and the others.
func part(claims []claim, keep func(claim) bool) (kept, others []claim) {
	for _, c := range claims {
		if keep(c) {
			kept = append(kept, c)
		} else {
			others = append(others, c)
		}
	}
	return kept, others
}

// leaveOut notes the objects that a check says nothing about.
func (r *run) leaveOut(claims []claim, changed map[string]bool) {
	for _, c := range claims {
		if changed[c.object] {
			r.leftOut[c.object] = true
		}
	}
}

// suspect asks the probes and returns those that showed faults, also when not
// all of them could be asked.
func (r *run) suspect(ctx context.Context, probes []probe) ([]suspicion, error) {
	var found []suspicion
	for _, p := range probes {
		full, err := r.full(ctx, p.scope)
		if err != nil {
			return found, err
		}
		claims, err := p.ask(ctx, full)
		if err != nil {
			return found, err
		}
		if len(claims) > 0 {
			found = append(found, suspicion{p, full, claims})
		}
	}
	return found, nil
}

// reconsider asks a probe for the second time, between two lists. It confirms
// what changing objects do not explain, and reports whether they explained so
// much that nothing can be said.
func (r *run) reconsider(ctx context.Context, first suspicion, confirmed *findings) (ok bool, err error) {
	suspicions, err := r.suspect(ctx, []probe{first.probe})
	if err != nil || len(suspicions) == 0 {
		return true, err
	}
	s := suspicions[0]
	now, err := r.again(ctx, s.scope)
	if err != nil {
		return true, err
	}
	changed := moved(s.full, now)
	solid, excused := part(s.claims, func(c claim) bool {
		if c.explained(changed) {
			return false
		}
		// A phantom that was there the first time as well does not come and go.
		return !c.phantom(s.full, now) || slices.ContainsFunc(first.claims, func(f claim) bool { return f.object == c.object })
	})
	r.confirm(confirmed, solid)
	r.leaveOut(excused, changed)
	return len(excused) == 0 || calm(s.full, changed) && !slices.ContainsFunc(excused, shaken(changed)), nil
}

func (r *run) confirm(confirmed *findings, claims []claim) {
	for _, c := range claims {
		f := c.Finding
		f.Outcome = cmp.Or(f.Outcome, Fail)
		if c.object != "" {
			f.Objects = []string{c.object}
		}
		confirmed.add(r.caller.redact, f)
	}
}

// again is relist for when nothing but a list helps.
func (r *run) again(ctx context.Context, sc scope) (*listing, error) {
	l, err := r.relist(ctx, sc)
	if err == nil && l.status != http.StatusOK {
		err = fmt.Errorf("%w: the full list is answered with status %d", errUnreadable, l.status)
	}
	return l, err
}

// moved returns the keys of the objects that are not the same in two lists: they
// came, went, were made anew or have another resourceVersion. A target without
// resourceVersions is compared by content.
func moved(before, after *listing) map[string]bool {
	changed := make(map[string]bool)
	for key, b := range before.byKey {
		a := after.byKey[key]
		switch {
		case a == nil, a.uid != b.uid, a.resourceVersion != b.resourceVersion:
			changed[key] = true
		case a.resourceVersion == "":
			if len(differences(a.raw, b.raw)) > 0 {
				changed[key] = true
			}
		}
	}
	for key := range after.byKey {
		if before.byKey[key] == nil {
			changed[key] = true
		}
	}
	return changed
}
