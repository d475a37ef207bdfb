package clients_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestManager has two managers of controller-runtime, of which one leads, look after the
// corpus and what comes and goes.
func TestManager(t *testing.T) {
	t.Parallel()
	s := serveFor(t, operating, "--load", corpus)
	machines := s.machines(t, "")
	lab := machines.Namespace("lab")
	typed, err := kubernetes.NewForConfig(s.config(t, ""))
	require.NoError(t, err)
	holder := func() string {
		lease, err := typed.CoordinationV1().Leases("kube-system").Get(t.Context(), "machine-operator", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		require.NoError(t, err)
		return *lease.Spec.HolderIdentity
	}

	first := operate(t, s, "first")
	require.Eventually(t, func() bool { return holder() != "" }, patience, 10*time.Millisecond, "somebody leads")
	led := holder()
	second := operate(t, s, "second")

	// What was there gets all of it, and keeps what it had.
	corpusOf := servedMachines(t)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		list, err := machines.List(t.Context(), metav1.ListOptions{})
		assert.NoError(c, err)
		assert.Len(c, list.Items, len(corpusOf))
		for _, machine := range list.Items {
			if machine.GetDeletionTimestamp() == nil { // what is on its way out is let go
				assert.Empty(c, unmanaged(&machine), keyOf(&machine))
			}
		}
	}, patience, 50*time.Millisecond)
	for _, machine := range corpusOf {
		got, err := machines.Namespace(namespaceOf(machine)).Get(t.Context(), machine.GetName(), metav1.GetOptions{})
		require.NoError(t, err)
		is := leaves(got.Object)
		for pointer, value := range leaves(machine.Object) {
			if !changedByWrites[pointer] {
				assert.Equal(t, value, is[pointer], "%s of %s", pointer, keyOf(machine))
			}
		}
	}

	// What comes is seen to, and is let go at its end.
	comesAndGoes := func(name string) {
		_, err := lab.Create(t.Context(), machine(name), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = lab.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			machine, err := lab.Get(t.Context(), name, metav1.GetOptions{})
			assert.NoError(c, err)
			assert.Empty(c, unmanaged(machine))
		}, patience, 10*time.Millisecond)
		managed, err := lab.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, map[string]bool{"Update": true, "Apply": true}, operationsOf(managed, operatorOwner))
		require.NoError(t, lab.Delete(t.Context(), name, metav1.DeleteOptions{}))
		require.Eventually(t, func() bool {
			_, err := lab.Get(t.Context(), name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}, patience, 10*time.Millisecond, "the finalizer is taken off")
		assert.EventuallyWithT(t, func(c *assert.CollectT) {
			events, err := typed.CoreV1().Events("lab").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
			assert.NoError(c, err)
			assert.Equal(c, []string{"CleanedUp", "Phase"}, reasons(events.Items))
		}, patience, 10*time.Millisecond)
	}
	comesAndGoes("made")
	idle, _ := second.outcome()
	assert.Zero(t, idle, "what the one that does not lead has done")

	// The second goes on where the first ends.
	first.stop()
	require.Eventually(t, func() bool { return holder() != led && holder() != "" }, patience, 10*time.Millisecond, "the second leads")
	comesAndGoes("newer")
	second.stop()
	assert.Empty(t, holder(), "the last to lead has released the lease")
	for _, o := range []*operator{first, second} {
		done, errors := o.outcome()
		assert.Positive(t, done, o.name)
		assert.Empty(t, errors, o.name)
	}

	events, err := typed.CoreV1().Events("kube-system").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Lease"})
	require.NoError(t, err)
	assert.Equal(t, []string{"LeaderElection"}, reasons(events.Items))
	assert.GreaterOrEqual(t, len(events.Items), 2)
}

// changedByWrites are the values of machines in files that a write may change: links are
// no longer kept, and where there was nothing there are labels.
var changedByWrites = map[string]bool{
	"/metadata/resourceVersion": true, "/metadata/selfLink": true, "/apiVersion": true,
	"/metadata/labels": true, "/metadata/annotations": true,
}

// unmanaged is what the operator has still to do to a machine.
func unmanaged(machine *unstructured.Unstructured) []string {
	var missing []string
	if !slices.Contains(machine.GetFinalizers(), keptBy) {
		missing = append(missing, "finalizer")
	}
	if machine.GetLabels()[labelPatched] == "" {
		missing = append(missing, "label by patch")
	}
	if phase, _, _ := unstructured.NestedString(machine.Object, "status", "phase"); machine.GetLabels()[labelApplied] != phase {
		missing = append(missing, "label by apply")
	}
	if machine.GetAnnotations()[noteOfMeta] != string(machine.GetUID()) {
		missing = append(missing, "annotation")
	}
	return missing
}

// operationsOf are the ways in which somebody has written an object.
func operationsOf(machine *unstructured.Unstructured, manager string) map[string]bool {
	operations := map[string]bool{}
	for _, entry := range machine.GetManagedFields() {
		if entry.Manager == manager {
			operations[string(entry.Operation)] = true
		}
	}
	return operations
}

// reasons are those of events, each once.
func reasons(events []corev1.Event) []string {
	all := map[string]bool{}
	for _, e := range events {
		all[e.Reason] = true
	}
	return slices.Sorted(maps.Keys(all))
}
