package clients_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// operating is all that the operator has to be allowed.
var operating = []rbacv1.PolicyRule{
	may("get,list,watch,patch", "kubevirt.io", "virtualmachineinstances"),
	may("get,create,update", "coordination.k8s.io", "leases"),
	may("create,patch", "", "events"),
}

// What the operator puts on machines.
const (
	keptBy        = "operator.example/cleanup"
	labelPatched  = "operator.example/patched"
	labelApplied  = "operator.example/phase"
	noteOfMeta    = "operator.example/seen"
	operatorOwner = "machine-operator"
)

// operator is a manager of controller-runtime with three controllers of machines: one
// that knows no types, one with KubeVirt's own, and one that sees metadata alone.
type operator struct {
	name   string
	client client.Client
	events record.EventRecorder

	// stop ends the manager and waits for it.
	stop func()

	mu sync.Mutex
	// errors are what reconciles came to, beside conflicts, which are tried again.
	errors []error
	done   int
}

// operate starts a manager that works once it is the leader.
func operate(t *testing.T, s *serving, name string) *operator {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, kubevirtv1.AddToScheme(scheme))
	manager, err := ctrl.NewManager(s.config(t, clientToken), ctrl.Options{
		Scheme:                        scheme,
		Logger:                        logr.Discard(),
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		Controller:                    config.Controller{SkipNameValidation: ptr.To(true)}, // there are two managers here
		LeaderElection:                true,
		LeaderElectionID:              "machine-operator",
		LeaderElectionNamespace:       "kube-system",
		LeaderElectionReleaseOnCancel: true,
		RetryPeriod:                   ptr.To(200 * time.Millisecond),
	})
	require.NoError(t, err)
	o := &operator{name: name, client: client.WithFieldOwner(manager.GetClient(), operatorOwner), events: manager.GetEventRecorderFor(name)} // GetEventRecorder is for events.k8s.io, which the server does not have

	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(kubevirtv1.VirtualMachineInstanceGroupVersionKind)
	require.NoError(t, ctrl.NewControllerManagedBy(manager).Named("untyped").For(untyped).Complete(o.reconciler(o.patch)))
	require.NoError(t, ctrl.NewControllerManagedBy(manager).Named("typed").For(&kubevirtv1.VirtualMachineInstance{}).Complete(o.reconciler(o.apply)))
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(kubevirtv1.VirtualMachineInstanceGroupVersionKind)
	require.NoError(t, ctrl.NewControllerManagedBy(manager).Named("metadata").For(partial, builder.OnlyMetadata).Complete(o.reconciler(o.annotate)))

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended, "manager %s", name)
	})
	t.Cleanup(o.stop)
	return o
}

// reconciler keeps the errors of a function that brings one machine in order.
func (o *operator) reconciler(do func(context.Context, client.ObjectKey) error) reconcile.Reconciler {
	return reconcileFunc(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
		err := do(ctx, r.NamespacedName)
		if apierrors.IsNotFound(err) { // gone since
			err = nil
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.done++
		if err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
			o.errors = append(o.errors, err)
		}
		return ctrl.Result{}, err
	})
}

type reconcileFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f reconcileFunc) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	return f(ctx, r)
}

// outcome is how many reconciles there were, and what went wrong in them.
func (o *operator) outcome() (done int, errors []error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done, o.errors
}

// patch keeps a machine until it was cleaned up after, and labels it, with merge patches
// that fail when somebody else was quicker.
func (o *operator) patch(ctx context.Context, key client.ObjectKey) error {
	machine := &unstructured.Unstructured{}
	machine.SetGroupVersionKind(kubevirtv1.VirtualMachineInstanceGroupVersionKind)
	if err := o.client.Get(ctx, key, machine); err != nil {
		return err
	}
	before := client.MergeFromWithOptions(machine.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !machine.GetDeletionTimestamp().IsZero() {
		if !controllerutil.RemoveFinalizer(machine, keptBy) {
			return nil
		}
		o.events.Event(machine, corev1.EventTypeNormal, "CleanedUp", "nothing is left of it")
		return o.client.Patch(ctx, machine, before)
	}
	changed := controllerutil.AddFinalizer(machine, keptBy)
	if labels := machine.GetLabels(); labels[labelPatched] == "" {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[labelPatched] = "yes"
		machine.SetLabels(labels)
		changed = true
	}
	if !changed {
		return nil
	}
	return o.client.Patch(ctx, machine, before)
}

// apply labels a machine with its phase, by server-side apply, and tells of it.
func (o *operator) apply(ctx context.Context, key client.ObjectKey) error {
	machine := &kubevirtv1.VirtualMachineInstance{}
	if err := o.client.Get(ctx, key, machine); err != nil {
		return err
	}
	phase := string(machine.Status.Phase)
	if phase == "" || machine.Labels[labelApplied] == phase || machine.DeletionTimestamp != nil {
		return nil
	}
	label := &unstructured.Unstructured{}
	label.SetGroupVersionKind(kubevirtv1.VirtualMachineInstanceGroupVersionKind)
	label.SetNamespace(key.Namespace)
	label.SetName(key.Name)
	label.SetLabels(map[string]string{labelApplied: phase})
	if err := o.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(label)); err != nil {
		return err
	}
	o.events.Eventf(machine, corev1.EventTypeNormal, "Phase", "it is %s, says %s", phase, o.name)
	return nil
}

// annotate notes on a machine that its metadata was seen.
func (o *operator) annotate(ctx context.Context, key client.ObjectKey) error {
	machine := &metav1.PartialObjectMetadata{}
	machine.SetGroupVersionKind(kubevirtv1.VirtualMachineInstanceGroupVersionKind)
	if err := o.client.Get(ctx, key, machine); err != nil {
		return err
	}
	if machine.Annotations[noteOfMeta] != "" || machine.DeletionTimestamp != nil {
		return nil
	}
	before := client.MergeFrom(machine.DeepCopy())
	metav1.SetMetaDataAnnotation(&machine.ObjectMeta, noteOfMeta, string(machine.UID))
	return o.client.Patch(ctx, machine, before)
}
