package clients_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"
)

var resource = schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}

// config is what client-go makes of the kubeconfig, with another token if one is
// given.
func (s *serving) config(t *testing.T, token string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	require.NoError(t, err)
	if token != "" {
		config.BearerToken = token
	}
	config.QPS = -1 // the client would hold itself back
	return config
}

func (s *serving) machines(t *testing.T, token string) dynamic.NamespaceableResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(s.config(t, token))
	require.NoError(t, err)
	return client.Resource(resource)
}

// TestClientGo reads with the clients of client-go that know no types.
func TestClientGo(t *testing.T) {
	t.Parallel()
	s := serve(t, "--load", corpus)
	want := servedMachines(t)
	ctx := t.Context()
	client := s.machines(t, "")

	t.Run("pages", func(t *testing.T) {
		pages := pagesOf(t, client, 10)
		require.Len(t, pages, (len(want)+9)/10)
		var got []string
		for i, page := range pages {
			assert.Equal(t, pages[0].GetResourceVersion(), page.GetResourceVersion(), "all pages show one state")
			for _, item := range page.Items {
				got = append(got, keyOf(&item))
			}
			if remaining := page.GetRemainingItemCount(); i < len(pages)-1 {
				require.NotNil(t, remaining)
				assert.EqualValues(t, len(want)-len(got), *remaining)
			} else {
				assert.Nil(t, remaining)
			}
		}
		assert.Equal(t, keysOf(want, everything), got)
	})
	t.Run("pager", func(t *testing.T) {
		p := pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtime.Object, error) {
			return client.Namespace("lab").List(ctx, o)
		}))
		p.PageSize = 2
		var got []string
		require.NoError(t, p.EachListItem(ctx, metav1.ListOptions{LabelSelector: "kubevirt.io/nodeName=worker-a"}, func(item runtime.Object) error {
			got = append(got, keyOf(item.(*unstructured.Unstructured)))
			return nil
		}))
		assert.Equal(t, keysOf(labMachines(want), labelled(t, "kubevirt.io/nodeName=worker-a")), got)
		assert.Greater(t, len(got), 2, "more than a page")
	})
	t.Run("get", func(t *testing.T) {
		for _, machine := range want {
			got, err := client.Namespace(namespaceOf(machine)).Get(ctx, machine.GetName(), metav1.GetOptions{})
			require.NoError(t, err)
			assert.Empty(t, differences(machine, got), keyOf(machine))
		}
	})
	t.Run("metadata", func(t *testing.T) {
		client, err := metadata.NewForConfig(s.config(t, ""))
		require.NoError(t, err)
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, len(want))
		for i, machine := range want {
			assert.Equal(t, machine.GetName(), list.Items[i].Name)
			assert.Equal(t, machine.GetLabels(), list.Items[i].Labels)
			one, err := client.Resource(resource).Namespace(namespaceOf(machine)).Get(ctx, machine.GetName(), metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, list.Items[i].ObjectMeta, one.ObjectMeta)
		}
	})
	t.Run("discovery", func(t *testing.T) {
		client, err := discovery.NewDiscoveryClientForConfig(s.config(t, ""))
		require.NoError(t, err)
		for _, c := range []discovery.DiscoveryInterface{client, client.WithLegacy()} {
			lists, err := c.ServerPreferredResources()
			require.NoError(t, err)
			names := map[string][]string{}
			for _, list := range lists {
				for _, r := range list.APIResources {
					names[list.GroupVersion] = append(names[list.GroupVersion], r.Name)
				}
			}
			for _, resources := range names {
				slices.Sort(resources) // old and new discovery have orders of their own
			}
			assert.Equal(t, map[string][]string{
				"v1":                      {"events", "namespaces", "nodes", "persistentvolumeclaims", "pods", "secrets"},
				"apiextensions.k8s.io/v1": {"customresourcedefinitions"},
				"authorization.k8s.io/v1": {"selfsubjectaccessreviews", "selfsubjectrulesreviews"},
				"coordination.k8s.io/v1":  {"leases"},
				"kubevirt.io/v1":          {"kubevirts", "virtualmachineinstances"},
			}, names)
		}
		version, err := client.ServerVersion()
		require.NoError(t, err)
		_, err = strconv.Atoi(version.Minor)
		assert.NoError(t, err)
	})
	t.Run("namespaces", func(t *testing.T) {
		// The typed client asks for protobuf first.
		client, err := kubernetes.NewForConfig(s.config(t, ""))
		require.NoError(t, err)
		list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items)
		for _, n := range list.Items {
			one, err := client.CoreV1().Namespaces().Get(ctx, n.Name, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, n.UID, one.UID)
			assert.False(t, n.CreationTimestamp.IsZero())
		}
		_, err = client.CoreV1().Namespaces().Get(ctx, "nosuch", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

// pagesOf lists everything in pages.
func pagesOf(t *testing.T, client dynamic.ResourceInterface, limit int64) []*unstructured.UnstructuredList {
	t.Helper()
	var pages []*unstructured.UnstructuredList
	options := metav1.ListOptions{Limit: limit}
	for {
		page, err := client.List(t.Context(), options)
		require.NoError(t, err)
		pages = append(pages, page)
		require.LessOrEqual(t, len(pages), 100, "the pages come to no end")
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return pages
		}
	}
}

// TestClientGoErrors is what programs branch on.
func TestClientGoErrors(t *testing.T) {
	t.Parallel()
	s := serveWithUsers(t, "--validate-responses=full")
	ctx := t.Context()
	admin := s.machines(t, "")
	get := func(token, namespace, name string) error {
		_, err := s.machines(t, token).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	}
	list := func(token string, o metav1.ListOptions) error {
		_, err := s.machines(t, token).List(ctx, o)
		return err
	}
	noCredential := func() error {
		config := s.config(t, "")
		config.BearerToken = ""
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		_, err = client.Resource(resource).List(ctx, metav1.ListOptions{})
		return err
	}
	watch := func() error {
		_, err := admin.Watch(ctx, metav1.ListOptions{ResourceVersion: "x"})
		return err
	}
	for name, test := range map[string]struct {
		err error
		is  func(error) bool
	}{
		"not found":         {get("admin-token", "lab", "nosuch"), apierrors.IsNotFound},
		"no namespace":      {get("admin-token", "nosuch", "fedora-agent"), apierrors.IsNotFound},
		"forbidden get":     {get("nobody-token", "lab", "fedora-agent"), apierrors.IsForbidden},
		"forbidden list":    {list("viewer-token", metav1.ListOptions{}), apierrors.IsForbidden},
		"bad token":         {list("wrong-token", metav1.ListOptions{}), apierrors.IsUnauthorized},
		"no credential":     {noCredential(), apierrors.IsUnauthorized},
		"bad selector":      {list("admin-token", metav1.ListOptions{LabelSelector: "a in b"}), apierrors.IsBadRequest},
		"bad field":         {list("admin-token", metav1.ListOptions{FieldSelector: "spec.x=1"}), apierrors.IsBadRequest},
		"bad continue":      {list("admin-token", metav1.ListOptions{Continue: "%"}), apierrors.IsBadRequest},
		"bad version":       {list("admin-token", metav1.ListOptions{ResourceVersion: "x"}), apierrors.IsBadRequest},
		"bad match":         {list("admin-token", metav1.ListOptions{ResourceVersionMatch: "Exact"}), apierrors.IsInvalid},
		"version of a past": {list("admin-token", metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "Exact"}), apierrors.IsResourceExpired},
		"watch":             {watch(), apierrors.IsBadRequest},
		"delete of nothing": {admin.Namespace("lab").Delete(ctx, "nosuch", metav1.DeleteOptions{}), apierrors.IsNotFound},
		"delete, forbidden": {s.machines(t, "viewer-token").Namespace("lab").Delete(ctx, "fedora-agent", metav1.DeleteOptions{}), apierrors.IsForbidden},
		"delete collection": {admin.Namespace("lab").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "a in b"}), apierrors.IsBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, test.err)
			assert.True(t, test.is(test.err), "%T %[1]v", test.err)
			assert.NotContains(t, test.err.Error(), "an error on the server", "client-go could not read the Status")
		})
	}
}

// TestClientGoExpired goes on with a token of a server that is gone: 410, with a
// token that leads through the rest of whatever there is now.
func TestClientGoExpired(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	old := serve(t, "--load", corpus)
	first, err := old.machines(t, "").List(ctx, metav1.ListOptions{Limit: 10})
	require.NoError(t, err)
	require.NotEmpty(t, first.GetContinue())
	old.stop()

	client := serve(t, "--load", corpus).machines(t, "")
	_, err = client.List(ctx, metav1.ListOptions{Limit: 10, Continue: first.GetContinue()})
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
	assert.NotContains(t, err.Error(), first.GetContinue())
	fresh := err.(apierrors.APIStatus).Status().Continue
	require.NotEmpty(t, fresh)
	rest, err := client.List(ctx, metav1.ListOptions{Continue: fresh})
	require.NoError(t, err)

	var got []string
	for _, item := range append(first.Items, rest.Items...) {
		got = append(got, keyOf(&item))
	}
	assert.Equal(t, keysOf(servedMachines(t), everything), got)

	// The pager of client-go starts over by itself.
	p := pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, o)
	}))
	all, paginated, err := p.List(ctx, metav1.ListOptions{Limit: 10, Continue: first.GetContinue()})
	require.NoError(t, err)
	assert.False(t, paginated)
	assert.Equal(t, len(got), meta.LenList(all))
}
