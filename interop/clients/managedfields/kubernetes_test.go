package managedfields_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// kind is one kind of objects with the schema that Kubernetes has for it.
type kind struct {
	gvk       schema.GroupVersionKind
	root      *spec.Schema
	converter managedfields.TypeConverter
}

// objectMeta is what the OpenAPI document of Kubernetes says of ObjectMeta, as far
// as it has to do with owners (k8s.io/apimachinery, pkg/apis/meta/v1/types.go).
const objectMeta = `{"type":"object","properties":{
	"annotations":{"type":"object","additionalProperties":{"type":"string"}},
	"creationTimestamp":{"type":"string","format":"date-time"},
	"deletionGracePeriodSeconds":{"type":"integer"},
	"deletionTimestamp":{"type":"string","format":"date-time"},
	"finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","x-kubernetes-patch-strategy":"merge"},
	"generateName":{"type":"string"},
	"generation":{"type":"integer"},
	"labels":{"type":"object","additionalProperties":{"type":"string"}},
	"managedFields":{"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"atomic"},
	"name":{"type":"string"},
	"namespace":{"type":"string"},
	"ownerReferences":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["uid"],
		"x-kubernetes-patch-merge-key":"uid","x-kubernetes-patch-strategy":"merge",
		"items":{"type":"object","x-kubernetes-map-type":"atomic","properties":{
			"apiVersion":{"type":"string"},"blockOwnerDeletion":{"type":"boolean"},"controller":{"type":"boolean"},
			"kind":{"type":"string"},"name":{"type":"string"},"uid":{"type":"string"}}}},
	"resourceVersion":{"type":"string"},
	"selfLink":{"type":"string"},
	"uid":{"type":"string"}}}`

func newKind(root *spec.Schema, name string) (*kind, error) {
	k := &kind{gvk: schema.FromAPIVersionAndKind(apiVersion, name), root: root}
	var meta spec.Schema
	if err := json.Unmarshal([]byte(objectMeta), &meta); err != nil {
		return nil, err
	}
	root.Properties["metadata"] = meta
	root.Properties["apiVersion"] = *spec.StringProperty()
	root.Properties["kind"] = *spec.StringProperty()
	models := map[string]*spec.Schema{}
	for i, v := range apiVersions {
		gv, err := schema.ParseGroupVersion(v)
		if err != nil {
			return nil, err
		}
		model := *root
		model.Extensions = spec.Extensions{"x-kubernetes-group-version-kind": []any{
			map[string]any{"group": gv.Group, "version": gv.Version, "kind": name}}}
		models[fmt.Sprintf("%s%d", name, i)] = &model
	}
	var err error
	k.converter, err = managedfields.NewTypeConverter(models, false)
	return k, err
}

const apiVersion = "kubevirt.io/v1"

var apiVersions = []string{apiVersion, "kubevirt.io/v1alpha3"}

// machines are VirtualMachineInstances as KubeVirt's definition has them.
var machines = sync.OnceValues(func() (*kind, error) {
	data, err := os.ReadFile("../../../openapi/testdata/kubevirt-crd.json")
	if err != nil {
		return nil, err
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema spec.Schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &crd); err != nil {
		return nil, err
	}
	if len(crd.Spec.Versions) == 0 {
		return nil, errors.New("the definition has no versions")
	}
	return newKind(&crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "VirtualMachineInstance")
})

// manager is the field manager of a Kubernetes API server for custom resources.
func (k *kind) manager(version string) (*managedfields.FieldManager, error) {
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return nil, err
	}
	return managedfields.NewDefaultCRDFieldManager(k.converter, converter{}, defaulter{}, creater{},
		gv.WithKind(k.gvk.Kind), k.gvk.GroupVersion(), "", nil)
}

// converter converts custom resources whose versions have the same form.
type converter struct{ runtime.ObjectConvertor }

func (converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	if !ok || !slices.Contains(apiVersions, gvk.GroupVersion().String()) {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gvk.GroupVersion())
	}
	out := in.DeepCopyObject().(*unstructured.Unstructured)
	out.SetAPIVersion(gvk.GroupVersion().String())
	return out, nil
}

type defaulter struct{}

func (defaulter) Default(runtime.Object) {}

type creater struct{}

func (creater) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// theirs is what Kubernetes makes of a write, conflicts as sorted lines.
type theirs struct {
	object    *unstructured.Unstructured
	conflicts []string
	message   string
	err       error
}

func (k *kind) apply(live *unstructured.Unstructured, applied []byte, w write) (out theirs) {
	m, err := k.manager(w.version)
	if err != nil {
		return theirs{err: err}
	}
	patch := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(applied, &patch.Object); err != nil {
		return theirs{err: err}
	}
	result, err := m.Apply(k.orNew(live, w), patch, w.manager, w.force)
	var status *apierrors.StatusError
	if errors.As(err, &status) && status.ErrStatus.Reason == metav1.StatusReasonConflict {
		for _, cause := range status.ErrStatus.Details.Causes {
			out.conflicts = append(out.conflicts, cause.Field+" "+cause.Message)
		}
		slices.Sort(out.conflicts)
		out.message = status.ErrStatus.Message
		return out
	}
	if err != nil {
		return theirs{err: err}
	}
	return theirs{object: k.stored(live, result, w)}
}

func (k *kind) update(live *unstructured.Unstructured, object []byte, w write) theirs {
	m, err := k.manager(w.version)
	if err != nil {
		return theirs{err: err}
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(object, &u.Object); err != nil {
		return theirs{err: err}
	}
	// As the handlers and the decoder for custom resources prepare it.
	if fields := u.GetManagedFields(); live == nil || len(fields) == 0 {
		u.SetManagedFields(nil)
	}
	return theirs{object: k.stored(live, m.UpdateNoErrors(k.orNew(live, w), u, w.manager), w)}
}

func (k *kind) orNew(live *unstructured.Unstructured, w write) runtime.Object {
	if live != nil {
		out, err := converter{}.ConvertToVersion(live, schema.FromAPIVersionAndKind(w.version, k.gvk.Kind).GroupVersion())
		if err == nil {
			return out
		}
	}
	u, _ := creater{}.New(schema.FromAPIVersionAndKind(w.version, k.gvk.Kind))
	return u
}

// stored is an object as it is stored: in the version for it, with the time of the
// write where Kubernetes looked at the clock, and with the old times when nothing
// but times changed (k8s.io/apiserver, IgnoreManagedFieldsTimestampsTransformer).
func (k *kind) stored(live *unstructured.Unstructured, object runtime.Object, w write) *unstructured.Unstructured {
	u := object.DeepCopyObject().(*unstructured.Unstructured)
	u.SetAPIVersion(apiVersion)
	fields := u.GetManagedFields()
	for i := range fields {
		if t := fields[i].Time; t != nil && time.Since(t.Time).Abs() < time.Hour {
			fields[i].Time = &metav1.Time{Time: w.time}
		}
	}
	if len(fields) > 0 {
		u.SetManagedFields(fields)
	} else {
		u.SetManagedFields(nil)
	}
	if live != nil && sameBesidesTimes(live, u) {
		return live
	}
	return u
}

func sameBesidesTimes(a, b *unstructured.Unstructured) bool {
	strip := func(u *unstructured.Unstructured) string {
		u = u.DeepCopy()
		fields := u.GetManagedFields()
		for i := range fields {
			fields[i].Time = nil
		}
		u.SetManagedFields(fields)
		data, err := u.MarshalJSON()
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(string(data))
	}
	return len(a.GetManagedFields()) == len(b.GetManagedFields()) && strip(a) == strip(b)
}
