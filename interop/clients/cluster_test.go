package clients_test

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

// contents are the two ways in which clients of Kubernetes' own objects write bodies.
var contents = map[string]rest.ContentConfig{
	"json":     {},
	"protobuf": {ContentType: "application/vnd.kubernetes.protobuf", AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json"},
}

// TestClientGoEvents records events about a machine. The same event again is a patch of
// the first.
func TestClientGoEvents(t *testing.T) {
	t.Parallel()
	s := serveFor(t, []rbacv1.PolicyRule{may("create,patch", "", "events")}, "--load", corpus, "--validate-responses=full")
	machine, err := s.machines(t, "").Namespace("lab").Get(t.Context(), "fedora-agent", metav1.GetOptions{})
	require.NoError(t, err)
	admin, err := kubernetes.NewForConfig(s.config(t, ""))
	require.NoError(t, err)
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := s.config(t, clientToken)
			config.ContentConfig = content
			var patches sync.Map
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPatch {
						patches.Store(r.Header.Get("Content-Type"), true)
					}
					return next.RoundTrip(r)
				})
			})
			client, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			broadcaster := record.NewBroadcaster()
			defer broadcaster.Shutdown()
			broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
			recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name, Host: "node-1"})
			for range 3 {
				recorder.AnnotatedEventf(machine, map[string]string{"note": "x"}, corev1.EventTypeNormal, "Started", "it runs on %s", "node-1")
			}
			recorder.Event(machine, corev1.EventTypeWarning, "Slow", "it takes its time")

			counts := map[string]int32{}
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				list, err := admin.CoreV1().Events("lab").List(t.Context(), metav1.ListOptions{
					FieldSelector: "involvedObject.uid=" + string(machine.GetUID()) + ",source=" + name,
				})
				assert.NoError(c, err)
				for _, event := range list.Items {
					counts[event.Reason+": "+event.Message] = event.Count
					assert.Equal(c, "VirtualMachineInstance", event.InvolvedObject.Kind)
					assert.Equal(c, "kubevirt.io/v1", event.InvolvedObject.APIVersion)
					assert.Equal(c, corev1.EventSource{Component: name, Host: "node-1"}, event.Source)
					assert.False(c, event.LastTimestamp.Before(&event.FirstTimestamp))
				}
				assert.Equal(c, map[string]int32{"Started: it runs on node-1": 3, "Slow: it takes its time": 1}, counts)
			}, patience, 10*time.Millisecond)
			_, strategic := patches.Load("application/strategic-merge-patch+json")
			assert.True(t, strategic, "a series is a patch")
		})
	}
}

// TestClientGoLeaderElection has candidates take turns.
func TestClientGoLeaderElection(t *testing.T) {
	t.Parallel()
	s := serveFor(t, []rbacv1.PolicyRule{may("get,create,update", "coordination.k8s.io", "leases")}, "--validate-responses=full")
	admin, err := kubernetes.NewForConfig(s.config(t, ""))
	require.NoError(t, err)
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := s.config(t, clientToken)
			config.ContentConfig = content
			client, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			leads := make(chan string)
			stand := func(who string) (retire func()) {
				ctx, cancel := context.WithCancel(t.Context())
				elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
					Lock: &resourcelock.LeaseLock{
						LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: who},
					},
					LeaseDuration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: 50 * time.Millisecond, ReleaseOnCancel: true,
					Callbacks: leaderelection.LeaderCallbacks{
						OnStartedLeading: func(context.Context) { leads <- who },
						OnStoppedLeading: func() {},
					},
				})
				require.NoError(t, err)
				var running sync.WaitGroup
				running.Go(func() { elector.Run(ctx) })
				return func() { cancel(); running.Wait() }
			}
			retire := stand("a")
			require.Equal(t, "a", <-leads)
			retireB := stand("b")
			for i := range 3 { // each leaves while the other waits
				before, after := "a", "b"
				if i%2 == 1 {
					before, after = after, before
				}
				select {
				case who := <-leads:
					require.Fail(t, "two lead", "%s beside %s", who, before)
				case <-time.After(200 * time.Millisecond):
				}
				retire()
				require.Equal(t, after, <-leads)
				retire, retireB = retireB, stand(before)
			}
			retire()
			<-leads
			retireB()
			lease, err := admin.CoordinationV1().Leases("default").Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Empty(t, *lease.Spec.HolderIdentity)
			assert.GreaterOrEqual(t, *lease.Spec.LeaseTransitions, int32(4))
		})
	}
}

// TestClientGoDiscoveryCache finds the machines by their short name, from the disk after
// the first time.
func TestClientGoDiscoveryCache(t *testing.T) {
	t.Parallel()
	s := serveFor(t, nil)
	config := s.config(t, clientToken)
	var mu sync.Mutex
	asked := map[string]int{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[r.URL.Path]++
			return next.RoundTrip(r)
		})
	})
	dir := t.TempDir()
	for range 2 {
		client, err := disk.NewCachedDiscoveryClientForConfig(config, filepath.Join(dir, "discovery"), filepath.Join(dir, "http"), time.Hour)
		require.NoError(t, err)
		for _, name := range []string{"vmi", "vmis", "virtualmachineinstance", "virtualmachineinstances"} {
			mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client, nil)
			found, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: name})
			require.NoError(t, err)
			assert.Equal(t, resource, found)
		}
		kind, err := restmapper.NewDeferredDiscoveryRESTMapper(client).KindFor(resource)
		require.NoError(t, err)
		assert.Equal(t, resource.GroupVersion().WithKind("VirtualMachineInstance"), kind)
		mu.Lock()
		assert.Equal(t, map[string]int{"/api": 1, "/apis": 1}, asked)
		mu.Unlock()
	}
}
