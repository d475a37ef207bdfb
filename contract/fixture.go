package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/vmikit/vmikit/manifest"
)

// Fixture is an object that was made before the run and is known to be there.
type Fixture struct {
	// Object is the machine as JSON, as it was applied: the target may have added
	// to it.
	Object []byte
	// Source says where it comes from, e.g. FILE:LINE; for reports.
	Source string
}

// FixturesIn reads fixtures from manifests: files, and directories as kubectl
// apply -f reads them. Objects of other kinds are left out. A manifest that cannot
// be read is an error of the run, and so are manifests without a machine.
func FixturesIn(paths ...string) func(context.Context) ([]Fixture, error) {
	return func(ctx context.Context) ([]Fixture, error) {
		var fixtures []Fixture
		for object, err := range manifest.Walk(paths, nil) {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			if object.Kind == "VirtualMachineInstance" {
				fixtures = append(fixtures, Fixture{object.JSON, fmt.Sprintf("%s:%d", object.File, object.Line)})
			}
		}
		if len(fixtures) == 0 {
			return nil, fmt.Errorf("no VirtualMachineInstance in %q", paths)
		}
		return fixtures, nil
	}
}

// known is a fixture as a run looks for it.
type known struct {
	*item
	source string
}

// readFixtures reads the fixtures that are in the namespaces of the run.
func (r *run) readFixtures(ctx context.Context) error {
	if r.target.Fixtures == nil {
		return nil
	}
	fixtures, err := r.target.Fixtures(ctx)
	if err != nil {
		return fmt.Errorf("fixtures: %w", err)
	}
	for i, f := range fixtures {
		source := cmp.Or(f.Source, "fixture "+strconv.Itoa(i+1))
		it, ok := readItem(f.Object, cmp.Or(r.target.Namespace, "default"))
		if !ok {
			return fmt.Errorf("fixtures: %s: no JSON object with a metadata.name", printable(source))
		}
		if r.target.Namespace == "" || it.namespace == r.target.Namespace {
			r.fixtures = append(r.fixtures, known{it, source})
		}
	}
	if len(r.fixtures) == 0 {
		return errors.New("fixtures: none of them is in the namespace of the run")
	}
	return nil
}

var needFixtures = Need{"fixtures", func(r *run) (Outcome, string) {
	return unless(len(r.fixtures) > 0, Skipped, "no objects were named that are known to be there")
}}

func fixtureChecks() []Check {
	return []Check{
		{
			ID: "fixture.listed", Clause: Clause{37, "description: List of VirtualMachineInstances"}, Needs: []Need{needFixtures},
			Explain: "What is known to be there is listed. A list that hides an object is noticed by nothing else.",
			run:     fixturesListed,
		}, {
			ID: "fixture.get", Clause: Clause{58, "description: VirtualMachineInstance details"}, Needs: []Need{needFixtures},
			Explain: "What is known to be there can be got, with the labels and the spec that it was made with. What was added to it is nobody's fault; a value that was given is kept.",
			run:     fixturesGot,
		},
	}
}

func fixturesListed(ctx context.Context, r *run) (verdict, error) {
	scopes := []scope{r.widest}
	for _, f := range r.fixtures {
		if sc := scope(f.namespace); !slices.Contains(scopes, sc) && len(scopes) <= maxNamespaces {
			scopes = append(scopes, sc)
		}
	}
	var probes []probe
	for _, sc := range scopes {
		probes = append(probes, probe{sc, func(_ context.Context, full *listing) ([]claim, error) {
			var claims []claim
			for _, f := range r.fixtures {
				if (sc == r.widest || sc == scope(f.namespace)) && full.byKey[f.key()] == nil {
					finding := fault(full.first, Fail, "an object that is known to be there is not listed", "an object of "+f.source, "none of its name")
					finding.Diff = []DiffLine{{"-", f.key()}}
					claims = append(claims, claim{object: f.key(), Finding: finding})
				}
			}
			return claims, nil
		}})
	}
	// A list of the run may be older than the object.
	for _, sc := range scopes {
		if _, err := r.again(ctx, sc); err != nil {
			return verdict{}, err
		}
	}
	found, err := r.relate(ctx, probes)
	v := passed("%s in %s", number(len(r.fixtures), "fixture"), number(len(scopes), "list"))
	v.findings = found
	return v, err
}

func fixturesGot(ctx context.Context, r *run) (verdict, error) {
	picked := sample(r.rand("fixture.get"), r.fixtures, max(1, r.config.maxRequests/8))
	v := passed("%d of %s", len(picked), number(len(r.fixtures), "fixture"))
	for _, f := range picked {
		ex, err := r.read(ctx, f.namespace, f.name, withToken)
		if err != nil {
			return v, err
		}
		say := func(message, expected, got string, diff ...DiffLine) {
			finding := fault(ex, Fail, message, expected, got)
			finding.Objects, finding.Diff = []string{f.key()}, diff
			v.add(r, finding)
		}
		if ex.status != http.StatusOK {
			say("an object that is known to be there cannot be got", "the object of "+f.source, fmt.Sprintf("status %d", ex.status))
			continue
		}
		got, _ := decode(ex.body)
		want, _ := decode(f.raw)
		for _, pointer := range []string{"/metadata/labels", "/spec"} {
			var d diffs
			d.within(node{want}.at(pointer).value, node{got}.at(pointer).value, pointer)
			if len(d) > 0 {
				say(pointer+" of an object is not what it was made with", "what "+f.source+" has", d.String(), d.lines()...)
			}
		}
	}
	return v, nil
}

// within compares what is wanted and leaves alone what is there besides.
func (d *diffs) within(want, got any, pointer string) {
	switch w := want.(type) {
	case nil:
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			d.add(pointer, want, orAbsent(got))
			return
		}
		for key, wv := range w {
			if gv, ok := g[key]; ok {
				d.within(wv, gv, pointer+"/"+escaped(key))
			} else if wv != nil {
				d.add(pointer+"/"+escaped(key), wv, absent{})
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) < len(w) {
			d.add(pointer, want, orAbsent(got))
			return
		}
		for i := range w {
			d.within(w[i], g[i], pointer+"/"+strconv.Itoa(i))
		}
	case json.Number:
		d.compare(want, got, pointer)
	default:
		if want != got && !sameAmount(want, got) {
			d.add(pointer, want, orAbsent(got))
		}
	}
}

// sameAmount reports whether two values are the same quantity: whoever stores an
// object through Go's types writes 1024Mi as 1Gi.
func sameAmount(a, b any) bool {
	as, aok := a.(string)
	bs, bok := b.(string)
	if !aok || !bok {
		return false
	}
	an, aok := amountOf(as)
	bn, bok := amountOf(bs)
	return aok && bok && an.Cmp(bn) == 0
}

func orAbsent(v any) any {
	if v == nil {
		return absent{}
	}
	return v
}
