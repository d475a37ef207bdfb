package clients_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// TestInformer has an informer of client-go, which asks for a watch with initial
// events first, follow what others write.
func TestInformer(t *testing.T) {
	t.Parallel()
	s := serve(t, "--load", corpus, "--validate-responses=full")
	client, err := dynamic.NewForConfig(s.config(t, ""))
	require.NoError(t, err)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(resource).Informer()
	seen := make(chan string, 10_000)
	tell := func(what string) func(any) {
		return func(o any) { seen <- what + " " + keyOf(o.(*unstructured.Unstructured)) }
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: tell("add"), UpdateFunc: func(_, o any) { tell("update")(o) }, DeleteFunc: tell("delete"),
	})
	require.NoError(t, err)
	factory.Start(t.Context().Done())
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	assert.Len(t, informer.GetStore().ListKeys(), len(servedMachines(t)))
	for range servedMachines(t) {
		assert.Contains(t, <-seen, "add ")
	}
	next := func() string {
		select {
		case s := <-seen:
			return s
		case <-time.After(time.Minute):
			return "nothing within a minute"
		}
	}
	machines := client.Resource(resource).Namespace("lab")
	_, err = machines.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
		"metadata": map[string]any{"name": "made"}, "spec": map[string]any{"domain": map[string]any{"devices": map[string]any{}}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "add lab/made", next())
	_, err = machines.Patch(t.Context(), "made", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "update lab/made", next())
	require.NoError(t, machines.Delete(t.Context(), "made", metav1.DeleteOptions{}))
	assert.Equal(t, "delete lab/made", next())
}
