package clients_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// informing is all that an informer has to be allowed.
var informing = []rbacv1.PolicyRule{may("list,watch", "kubevirt.io", "virtualmachineinstances")}

// patience is how long something that takes a moment may take. The backoff of client-go
// is up to a minute.
const patience = 2 * time.Minute

// listsFirst is a client whose informers list and then watch, as those of client-go
// before 0.35 do.
type listsFirst struct{ dynamic.Interface }

func (listsFirst) IsWatchListSemanticsUnSupported() bool { return true }

// informerModes are the two ways in which informers begin.
var informerModes = map[string]func(dynamic.Interface) dynamic.Interface{
	"watch list":     func(c dynamic.Interface) dynamic.Interface { return c },
	"list and watch": func(c dynamic.Interface) dynamic.Interface { return listsFirst{c} },
}

// follower is an informer behind a wire that can be cut.
type follower struct {
	t        *testing.T
	informer cache.SharedIndexInformer
	wire     *wire

	mu sync.Mutex
	// shadow is what the notifications add up to.
	shadow map[string]*unstructured.Unstructured
	// whole counts the requests for everything, and watches those for what comes next.
	whole, watches int
}

// follow starts an informer as the user client, and waits until it has everything.
func follow(t *testing.T, s *serving, mode func(dynamic.Interface) dynamic.Interface) *follower {
	t.Helper()
	f := &follower{t: t, wire: wireTo(t, s.address), shadow: map[string]*unstructured.Unstructured{}}
	config := s.config(t, clientToken)
	config.Host = "https://" + f.wire.address
	config.Wrap(f.count)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(mode(client), 0)
	f.informer = factory.ForResource(resource).Informer()
	set := func(o any) {
		f.mu.Lock()
		defer f.mu.Unlock()
		machine := o.(*unstructured.Unstructured)
		f.shadow[keyOf(machine)] = machine
	}
	_, err = f.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: set, UpdateFunc: func(_, o any) { set(o) },
		DeleteFunc: func(o any) {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o)
			assert.NoError(t, err)
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.shadow, key)
		},
	})
	require.NoError(t, err)
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), f.informer.HasSynced))
	return f
}

// count is a transport that counts requests.
func (f *follower) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		f.mu.Lock()
		switch {
		case query.Get("watch") == "":
			f.whole++
		case query.Get("sendInitialEvents") == "true":
			f.whole++
			f.watches++
		default:
			f.watches++
		}
		f.mu.Unlock()
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (f *follower) counts() (whole, watches int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.whole, f.watches
}

// sees waits until the informer has an object in this version.
func (f *follower) sees(machine *unstructured.Unstructured) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		o, ok, err := f.informer.GetStore().Get(machine)
		return err == nil && ok && o.(*unstructured.Unstructured).GetResourceVersion() == machine.GetResourceVersion()
	}, patience, time.Millisecond, "the informer does not see %s", keyOf(machine))
}

// agrees waits until what the informer has is what a list has, and compares the objects.
func (f *follower) agrees(client dynamic.ResourceInterface) {
	f.t.Helper()
	list, err := client.List(f.t.Context(), metav1.ListOptions{})
	require.NoError(f.t, err)
	want := map[string]*unstructured.Unstructured{}
	for _, machine := range list.Items {
		want[keyOf(&machine)] = &machine
	}
	require.EventuallyWithT(f.t, func(c *assert.CollectT) {
		cached := map[string]*unstructured.Unstructured{}
		for _, o := range f.informer.GetStore().List() {
			cached[keyOf(o.(*unstructured.Unstructured))] = o.(*unstructured.Unstructured)
		}
		f.mu.Lock()
		shadow := maps.Clone(f.shadow)
		f.mu.Unlock()
		assert.Equal(c, versions(want), versions(cached), "the cache")
		assert.Equal(c, versions(want), versions(shadow), "what the notifications add up to")
	}, patience, 10*time.Millisecond)
	for _, o := range f.informer.GetStore().List() {
		machine := o.(*unstructured.Unstructured)
		assert.Equal(f.t, want[keyOf(machine)], machine)
	}
}

// versions are the objects with their revisions, in order.
func versions(machines map[string]*unstructured.Unstructured) []string {
	var all []string
	for key, machine := range machines {
		all = append(all, key+" "+machine.GetResourceVersion())
	}
	slices.Sort(all)
	return all
}

// machine is a new one in the namespace lab.
func machine(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
		"metadata": map[string]any{"name": name, "namespace": "lab"},
		"spec":     map[string]any{"domain": map[string]any{"devices": map[string]any{}}},
	}}
}

// TestInformerSurvivesCuts breaks the connection again and again while machines come,
// change and go. The informer goes on where it was, and never lists again.
func TestInformerSurvivesCuts(t *testing.T) {
	t.Parallel()
	for name, mode := range informerModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveFor(t, informing, "--load", corpus)
			admin := s.machines(t, "")
			lab := admin.Namespace("lab")
			f := follow(t, s, mode)
			const cuts = 20
			for i := range cuts {
				made, err := lab.Create(t.Context(), machine(fmt.Sprintf("made-%d", i)), metav1.CreateOptions{})
				require.NoError(t, err)
				f.sees(made)
				assert.Positive(t, f.wire.cut(), "connections that were cut")
				_, err = lab.Patch(t.Context(), made.GetName(), types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{})
				require.NoError(t, err)
				if i%3 == 0 {
					require.NoError(t, lab.Delete(t.Context(), made.GetName(), metav1.DeleteOptions{}))
				}
			}
			f.agrees(admin)
			whole, watches := f.counts()
			assert.Equal(t, 1, whole, "requests for everything")
			assert.GreaterOrEqual(t, watches, cuts, "watches")
		})
	}
}

// TestInformerSurvivesRestarts has the server forget what was written: the informer
// lists again, and lets go what is gone.
func TestInformerSurvivesRestarts(t *testing.T) {
	t.Parallel()
	for name, mode := range informerModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveFor(t, informing, "--load", corpus)
			f := follow(t, s, mode)
			for _, unplugged := range []bool{true, false} { // refused while there is no server, or let in and cut off
				made, err := s.machines(t, "").Namespace("lab").Create(t.Context(), machine("made"), metav1.CreateOptions{})
				require.NoError(t, err)
				f.sees(made)
				before, _ := f.counts()
				if unplugged {
					f.wire.unplug()
				}
				s.restart(t)
				if unplugged {
					f.wire.mend(t)
				}
				admin := s.machines(t, "")
				_, err = admin.Namespace("lab").Create(t.Context(), machine("other"), metav1.CreateOptions{})
				require.NoError(t, err)
				f.agrees(admin)
				assert.NotContains(t, f.informer.GetStore().ListKeys(), "lab/made")
				after, _ := f.counts()
				assert.Greater(t, after, before, "requests for everything")

				// And it follows the new server.
				made, err = admin.Namespace("lab").Create(t.Context(), machine("newest"), metav1.CreateOptions{})
				require.NoError(t, err)
				f.sees(made)
			}
		})
	}
}

// TestInformerSurvivesExpiry has more written, while the informer is cut off, than the
// server remembers: 410, and the informer lists again.
func TestInformerSurvivesExpiry(t *testing.T) {
	t.Parallel()
	for name, mode := range informerModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveFor(t, informing, "--load", corpus, "--history-bytes", "64Ki")
			admin := s.machines(t, "")
			lab := admin.Namespace("lab")
			f := follow(t, s, mode)
			for round := range 2 {
				made, err := lab.Create(t.Context(), machine(fmt.Sprintf("made-%d", round)), metav1.CreateOptions{})
				require.NoError(t, err)
				f.sees(made)
				before, _ := f.counts()
				last := f.informer.LastSyncResourceVersion()

				f.wire.hold()
				require.NoError(t, lab.Delete(t.Context(), made.GetName(), metav1.DeleteOptions{}))
				for i := range 200 {
					patch := fmt.Sprintf(`{"metadata":{"annotations":{"turn":"%d-%d"}}}`, round, i)
					_, err := lab.Patch(t.Context(), "router-lab", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
					require.NoError(t, err)
				}
				if round > 0 { // another machine of that name; at first there is none at the end
					_, err = lab.Create(t.Context(), machine(made.GetName()), metav1.CreateOptions{})
					require.NoError(t, err)
				}
				assert.True(t, isExpired(t, admin, last), "what the informer has seen last is too old")
				f.wire.release()

				f.agrees(admin)
				after, _ := f.counts()
				assert.Equal(t, before+1, after, "requests for everything")
			}
		})
	}
}

// isExpired reports whether a watch from there begins with 410.
func isExpired(t *testing.T, client dynamic.ResourceInterface, version string) bool {
	t.Helper()
	w, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
	require.NoError(t, err)
	defer w.Stop()
	select {
	case event := <-w.ResultChan():
		return event.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(event.Object))
	case <-time.After(patience):
		return false
	}
}
