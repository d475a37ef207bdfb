package clients_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	kubevirtv1 "kubevirt.io/api/core/v1"
)

// typedMachines is a client of machines with KubeVirt's own types, as kubevirt.io/client-go
// has one that is generated.
func (s *serving) typedMachines(t *testing.T, token, namespace string) *gentype.ClientWithList[*kubevirtv1.VirtualMachineInstance, *kubevirtv1.VirtualMachineInstanceList] {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, kubevirtv1.AddToScheme(scheme))
	metav1.AddToGroupVersion(scheme, kubevirtv1.GroupVersion)
	config := s.config(t, token)
	config.APIPath, config.GroupVersion = "/apis", &kubevirtv1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	return gentype.NewClientWithList[*kubevirtv1.VirtualMachineInstance, *kubevirtv1.VirtualMachineInstanceList](
		"virtualmachineinstances", client, runtime.NewParameterCodec(scheme), namespace,
		func() *kubevirtv1.VirtualMachineInstance { return &kubevirtv1.VirtualMachineInstance{} },
		func() *kubevirtv1.VirtualMachineInstanceList { return &kubevirtv1.VirtualMachineInstanceList{} })
}

// TestTypedClient does everything with KubeVirt's types.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	s := serveFor(t, []rbacv1.PolicyRule{
		may("get,list,watch,create,update,patch,delete,deletecollection", "kubevirt.io", "virtualmachineinstances"),
	}, "--load", corpus, "--validate-responses=full")
	ctx := t.Context()

	t.Run("reads", func(t *testing.T) {
		t.Parallel()
		all, err := s.typedMachines(t, clientToken, "").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		want := servedMachines(t)
		require.Len(t, all.Items, len(want))
		for i, machine := range want {
			got := all.Items[i]
			assert.Equal(t, keyOf(machine), got.Namespace+"/"+got.Name)
			assert.Equal(t, machine.GetLabels(), got.Labels)
			// What the types know is there: what they make of the file is what they make of the answer.
			var typed kubevirtv1.VirtualMachineInstance
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(machine.Object, &typed), keyOf(machine))
			assert.Equal(t, typed.Spec, got.Spec, keyOf(machine))
			assert.Equal(t, typed.Status, got.Status, keyOf(machine))
			one, err := s.typedMachines(t, clientToken, got.Namespace).Get(ctx, got.Name, metav1.GetOptions{})
			require.NoError(t, err)
			one.TypeMeta = got.TypeMeta
			assert.Equal(t, &got, one)
		}
	})
	t.Run("writes", func(t *testing.T) {
		t.Parallel()
		client := s.typedMachines(t, clientToken, "typed")
		watching, err := client.Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		defer watching.Stop()
		next := func(kind watch.EventType) *kubevirtv1.VirtualMachineInstance {
			event, ok := <-watching.ResultChan()
			require.True(t, ok, "the watch has ended")
			require.Equal(t, kind, event.Type, "%v", event.Object)
			return event.Object.(*kubevirtv1.VirtualMachineInstance)
		}

		memory := quantity.MustParse("1Gi")
		made, err := client.Create(ctx, &kubevirtv1.VirtualMachineInstance{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "typed-", Labels: map[string]string{"app": "typed"}},
			Spec: kubevirtv1.VirtualMachineInstanceSpec{
				Domain: kubevirtv1.DomainSpec{
					Memory: &kubevirtv1.Memory{Guest: &memory},
					CPU:    &kubevirtv1.CPU{Cores: 2},
					Devices: kubevirtv1.Devices{
						Disks: []kubevirtv1.Disk{{Name: "root", DiskDevice: kubevirtv1.DiskDevice{Disk: &kubevirtv1.DiskTarget{Bus: kubevirtv1.DiskBusVirtio}}}},
					},
				},
				Volumes: []kubevirtv1.Volume{{Name: "root", VolumeSource: kubevirtv1.VolumeSource{ContainerDisk: &kubevirtv1.ContainerDiskSource{Image: "example/disk"}}}},
			},
		}, metav1.CreateOptions{FieldManager: "typed", FieldValidation: metav1.FieldValidationStrict})
		require.NoError(t, err)
		assert.Regexp(t, `^typed-.{5}$`, made.Name)
		assert.EqualValues(t, 1, made.Generation)
		assert.Equal(t, made.UID, next(watch.Added).UID)

		running := made.DeepCopy()
		running.Status.Phase = kubevirtv1.Running
		running, err = client.Update(ctx, running, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, kubevirtv1.Running, next(watch.Modified).Status.Phase)

		_, err = client.Update(ctx, made, metav1.UpdateOptions{})
		assert.True(t, apierrors.IsConflict(err), "%v", err)
		same, err := client.Update(ctx, running, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, running.ResourceVersion, same.ResourceVersion, "nothing was changed")

		patched, err := client.Patch(ctx, made.Name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/domain/cpu/cores","value":4}]`), metav1.PatchOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 4, patched.Spec.Domain.CPU.Cores)
		assert.EqualValues(t, 4, next(watch.Modified).Spec.Domain.CPU.Cores)

		applied, err := client.Patch(ctx, made.Name, types.ApplyPatchType, []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`+
			`"metadata":{"annotations":{"note":"x"}}}`), metav1.PatchOptions{FieldManager: "applier"})
		require.NoError(t, err)
		assert.Equal(t, "x", applied.Annotations["note"])
		assert.Equal(t, "x", next(watch.Modified).Annotations["note"])

		_, err = client.Patch(ctx, made.Name, types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
		assert.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
		patched.Name, patched.ResourceVersion = "UPPER", ""
		_, err = client.Create(ctx, patched, metav1.CreateOptions{})
		assert.True(t, apierrors.IsInvalid(err), "%v", err)

		require.NoError(t, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=typed"}))
		assert.Equal(t, made.UID, next(watch.Deleted).UID)
		_, err = client.Get(ctx, made.Name, metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}
