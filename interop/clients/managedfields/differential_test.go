package managedfields_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/pmezard/go-difflib/difflib"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/vmikit/vmikit/server/managedfields"
)

var (
	sequences = flag.Uint64("sequences", 150, "how many sequences of writes of each kind are compared")
	first     = flag.Uint64("first", 0, "the seed of the first one")
)

// things are small objects with every form that a field can have.
const things = `{"type":"object","properties":{"spec":{"type":"object","properties":{
	"atomicList":{"type":"array","items":{"type":"string"}},
	"atomicObject":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"integer"}}},
	"boolean":{"type":"boolean"},
	"labels":{"type":"object","additionalProperties":{"type":"string"}},
	"number":{"type":"number"},
	"object":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"},"d":{"type":"string"}}}}},
	"objects":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}}},
	"one":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","properties":{
		"name":{"type":"string"},"value":{"type":"string"},
		"atomic":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"}}},
		"inner":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}},
		"nested":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","properties":{"id":{"type":"integer"},"a":{"type":"string"}}}},
		"set":{"type":"array","items":{"type":"integer"},"x-kubernetes-list-type":"set"}}}},
	"set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
	"text":{"type":"string"},
	"two":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{"type":"object","properties":{
		"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"boolean"}}}}
}}}}`

var thingSchema = managedfields.NewSchema("Thing", apiVersions,
	managedfields.Rule{Path: "spec.atomicObject", Atomic: true},
	managedfields.Rule{Path: "spec.objects[].set", Set: true},
	managedfields.Rule{Path: "spec.one", Keys: []string{"name"}},
	managedfields.Rule{Path: "spec.one[].atomic", Atomic: true},
	managedfields.Rule{Path: "spec.one[].nested", Keys: []string{"id"}},
	managedfields.Rule{Path: "spec.one[].set", Set: true},
	managedfields.Rule{Path: "spec.set", Set: true},
	managedfields.Rule{Path: "spec.two", Keys: []string{"a", "b"}},
)

func thingKind(t testing.TB) *kind {
	var root spec.Schema
	require.NoError(t, json.Unmarshal([]byte(things), &root))
	k, err := newKind(&root, "Thing")
	require.NoError(t, err)
	return k
}

// write is one write of a sequence.
type write struct {
	manager string
	version string
	time    time.Time
	force   bool
}

func (w write) ours() managedfields.Write {
	return managedfields.Write{Manager: w.manager, APIVersion: w.version, Time: w.time}
}

// seen counts what happened in a run, so that it can say that it saw everything.
type seen map[string]int

// sequence makes writes to one object, ours and Kubernetes' one, and compares them
// after each.
type sequence struct {
	t      testing.TB
	k      *kind
	schema *managedfields.Schema
	gen    *generator
	live   *unstructured.Unstructured
	clock  time.Time
	seen   seen
	log    []string
	// busy is for an object that many managers write and none applies much.
	busy bool
}

func run(t testing.TB, k *kind, s *managedfields.Schema, seed uint64, seen seen) {
	r := rand.New(rand.NewPCG(seed, 4))
	q := &sequence{t: t, k: k, schema: s, seen: seen, clock: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), gen: &generator{
		Rand: r, sparse: pick(r, 1, 2, 4), nulls: pick(r, 0, 0, 0, 12), duplicates: pick(r, 0, 0, 0, 4),
	}}
	if k.gvk.Kind == "VirtualMachineInstance" {
		q.gen.sparse = pick(r, 3, 6, 12)
	}
	steps := 4 + r.IntN(20)
	if q.busy = seed%6 == 5; q.busy {
		steps += 20
	}
	for range steps {
		q.step()
	}
}

func (q *sequence) step() {
	g := q.gen
	q.clock = q.clock.Add(time.Duration(1+g.IntN(3)) * time.Second)
	w := write{version: apiVersion, time: q.clock, force: oneIn(g.Rand, 3)}
	// Between versions Kubernetes gives up on objects with duplicates.
	if g.duplicates == 0 && oneIn(g.Rand, 4) {
		w.version = apiVersions[1]
	}
	switch {
	case q.busy && !oneIn(g.Rand, 6):
		w.manager = fmt.Sprint("many", g.IntN(30))
		q.update(q.object(w, false), w)
	case q.live == nil && oneIn(g.Rand, 2), q.live != nil && !oneIn(g.Rand, 3):
		w.manager = pick(g.Rand, "a", "b", "c", "kubectl", "")
		q.apply(q.object(w, true), w)
	default:
		w.manager = pick(g.Rand, "a", "u", "v", "<w>", fmt.Sprint("many", g.IntN(20)))
		q.update(q.object(w, false), w)
	}
}

// object makes the next object that is written.
func (q *sequence) object(w write, applied bool) []byte {
	g := q.gen
	var object map[string]any
	switch {
	case q.live == nil || !q.busy && oneIn(g.Rand, 3):
		object = g.object(q.k.root, 0)
	case q.busy && !applied && !oneIn(g.Rand, 8):
		object = q.live.DeepCopy().Object
		label := fmt.Sprint("l", g.IntN(40))
		_ = unstructured.SetNestedField(object, pick(g.Rand, "a", "b"), "metadata", "annotations", label) // not into null
	case applied && oneIn(g.Rand, 2):
		object = g.subset(q.live.DeepCopy().Object, []string{"name", "uid", "a", "id"}).(map[string]any)
	default:
		var ok bool
		if object, ok = g.change(q.k.root, q.live.DeepCopy().Object, 0).(map[string]any); !ok {
			object = map[string]any{}
		}
	}
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
	}
	object["metadata"] = meta
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "namespace", "managedFields", "selfLink"} {
		delete(meta, name)
	}
	object["apiVersion"], object["kind"] = w.version, q.k.gvk.Kind
	meta["name"] = "x"
	if !applied {
		meta["uid"], meta["generation"] = "1-2-3", int64(g.IntN(2))
		q.fields(meta)
		if labels, ok := meta["labels"].(map[string]any); ok {
			maps.DeleteFunc(labels, func(_ string, v any) bool { return v == nil })
		}
		if annotations, ok := meta["annotations"].(map[string]any); ok && oneIn(g.Rand, 3) {
			annotations["kubectl.kubernetes.io/last-applied-configuration"] = q.lastApplied(object)
		}
	}
	data, err := json.Marshal(object)
	require.NoError(q.t, err)
	return data
}

func (q *sequence) lastApplied(object map[string]any) string {
	part, _ := q.gen.subset(object, []string{"apiVersion", "kind", "name", "uid"}).(map[string]any)
	if meta, ok := part["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		delete(meta, "annotations")
	}
	data, _ := json.Marshal(part)
	return string(data)
}

// fields gives an object that is written the managedFields that a client sends:
// mostly those that it read.
func (q *sequence) fields(meta map[string]any) {
	if q.live == nil || oneIn(q.gen.Rand, 5) {
		return
	}
	fields, _, _ := unstructured.NestedSlice(q.live.Object, "metadata", "managedFields")
	if !q.busy && oneIn(q.gen.Rand, 6) {
		fields = q.tamper(fields)
	}
	meta["managedFields"] = fields
}

func (q *sequence) note(format string, args ...any) {
	q.log = append(q.log, fmt.Sprintf(format, args...))
}

func (q *sequence) liveJSON() []byte {
	if q.live == nil {
		return nil
	}
	data, err := json.Marshal(q.live.Object)
	require.NoError(q.t, err)
	return data
}

func (q *sequence) apply(object []byte, w write) {
	q.note("apply by %q %s force=%v: %s", w.manager, w.version, w.force, object)
	want := q.k.apply(q.live, object, w)
	data, err := q.schema.Apply(q.liveJSON(), object, w.ours(), w.force)
	var conflicts managedfields.Conflicts
	var typed *managedfields.TypeError
	switch {
	case want.conflicts != nil:
		q.seen["conflict"]++
		q.require(errors.As(err, &conflicts), "Kubernetes has conflicts: %s, ours: %v", want.message, err)
		var got []string
		for _, c := range conflicts {
			got = append(got, c.Field+" "+c.Message())
		}
		slices.Sort(got)
		require.Equal(q.t, want.conflicts, got, q.log)
		require.Equal(q.t, want.message, conflicts.Error(), q.log)
	case want.err != nil && strings.Contains(want.err.Error(), "failed to prune fields"):
		// With owners that a client wrote, an item can lose the members that tell it.
		// Kubernetes gives up when it meets one between two versions, not before.
		q.seen["prune error"]++
	case want.err != nil:
		q.seen["type error"]++
		q.require(errors.As(err, &typed), "Kubernetes refuses: %v, ours: %v", want.err, err)
		// What of several issues comes first is left to chance there.
		if len(typed.Issues) == 1 && strings.Contains(want.err.Error(), "typed patch object") {
			require.Equal(q.t, want.err.Error(), err.Error(), q.log)
		}
	default:
		q.require(err == nil, "Kubernetes applies, ours: %v", err)
		var got map[string]any
		require.NoError(q.t, utiljson.Unmarshal(data, &got), q.log)
		got["apiVersion"] = apiVersion
		q.compare(want.object, &unstructured.Unstructured{Object: got})
		q.seen["apply"]++
	}
}

func (q *sequence) update(object []byte, w write) {
	q.note("update by %q %s: %s", w.manager, w.version, object)
	want := q.k.update(q.live, object, w)
	fields, err := q.schema.Update(q.liveJSON(), object, w.ours())
	q.require(err == nil && want.err == nil, "%v, %v", want.err, err)
	var got unstructured.Unstructured
	require.NoError(q.t, utiljson.Unmarshal(object, &got.Object))
	got.SetAPIVersion(apiVersion)
	got.SetManagedFields(nil)
	if fields != nil {
		var list []any
		require.NoError(q.t, utiljson.Unmarshal(fields, &list), q.log)
		require.NoError(q.t, unstructured.SetNestedSlice(got.Object, list, "metadata", "managedFields"))
	}
	q.compare(want.object, &got)
	q.seen["update"]++
}

func (q *sequence) compare(want, got *unstructured.Unstructured) {
	for _, u := range []*unstructured.Unstructured{want, got} {
		for _, e := range u.GetManagedFields() {
			q.seen["entry of "+e.Manager]++
		}
	}
	wantJSON, err := json.MarshalIndent(want.Object, "", " ")
	require.NoError(q.t, err)
	gotJSON, err := json.MarshalIndent(got.Object, "", " ")
	require.NoError(q.t, err)
	if string(wantJSON) != string(gotJSON) {
		diff, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(string(wantJSON)), B: difflib.SplitLines(string(gotJSON)), FromFile: "Kubernetes", ToFile: "ours", Context: 3})
		q.require(false, "%s", diff)
	}
	q.live = want.DeepCopy()
	q.live.SetUID("1-2-3")
}

func (q *sequence) require(ok bool, format string, args ...any) {
	q.t.Helper()
	if !ok {
		live, _ := json.Marshal(q.live)
		require.Fail(q.t, fmt.Sprintf(format, args...), "live: %s\nlast: %s", live, q.log[len(q.log)-1])
	}
}

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // it tells of each write whose managedFields it gives up on
	m.Run()
}

func TestThings(t *testing.T) {
	runAll(t, thingKind(t), thingSchema)
}

func TestMachines(t *testing.T) {
	k, err := machines()
	require.NoError(t, err)
	runAll(t, k, managedfields.VirtualMachineInstance)
}

// kept are seeds that found something once: fields that come back version by
// version (1557, 1864, 2396, 5586), items that lost what tells them (3044),
// duplicates before an item that cannot be told (84), annotations that are null (21).
var kept = []uint64{21, 84, 1557, 1864, 2396, 3044, 5586}

func runAll(t *testing.T, k *kind, s *managedfields.Schema) {
	seen := seen{}
	seeds := slices.Clone(kept)
	for i := range *sequences {
		seeds = append(seeds, *first+i)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { run(t, k, s, seed, seen) })
	}
	t.Log(seen)
	for _, what := range []string{"apply", "update", "conflict", "type error", "entry of before-first-apply", "entry of ancient-changes", "entry of kubectl", "entry of x"} {
		require.NotZero(t, seen[what], "no sequence had: %s", what)
	}
}

func FuzzThings(f *testing.F) {
	k := thingKind(f)
	fuzz(f, k, thingSchema)
}

func FuzzMachines(f *testing.F) {
	k, err := machines()
	require.NoError(f, err)
	fuzz(f, k, managedfields.VirtualMachineInstance)
}

func fuzz(f *testing.F, k *kind, s *managedfields.Schema) {
	for _, seed := range kept {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { run(t, k, s, seed, seen{}) })
}
