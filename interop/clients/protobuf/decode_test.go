package protobuf_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kubeprotobuf "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/vmikit/vmikit/internal/kubeproto"
)

// kinds are those that package kubeproto reads.
var kinds = []schema.GroupVersionKind{
	authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"),
	authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"),
	coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	corev1.SchemeGroupVersion.WithKind("Event"),
	corev1.SchemeGroupVersion.WithKind("Namespace"),
	eventsv1.SchemeGroupVersion.WithKind("Event"),
	corev1.SchemeGroupVersion.WithKind("DeleteOptions"),
	coordinationv1.SchemeGroupVersion.WithKind("DeleteOptions"),
}

var (
	asProtobuf = kubeprotobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	asJSON     = kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kubejson.SerializerOptions{})
)

func encode(t testing.TB, by runtime.Encoder, object runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, by.Encode(object, &b))
	return b.Bytes()
}

// TestObjectsAreWhatTheirJSONIs compares what is read from the bodies of random
// objects, byte for byte.
func TestObjectsAreWhatTheirJSONIs(t *testing.T) {
	for _, gvk := range kinds {
		t.Run(gvk.GroupVersion().String()+" "+gvk.Kind, func(t *testing.T) {
			fields := map[string]bool{}
			for seed := range uint64(2000) {
				body := encode(t, asProtobuf, random(t, gvk, seed))
				object, _, err := asProtobuf.Decode(body, nil, nil)
				require.NoError(t, err)
				want := bytes.TrimSpace(encode(t, asJSON, object))
				got, err := kubeproto.Decode(body, kubeproto.TypeMeta{})
				require.NoError(t, err, "seed %d: %s", seed, want)
				require.Equal(t, string(want), string(got), "seed %d", seed)
				collect(t, fields, got)
			}
			// A field that Kubernetes has and no object had would not have been compared.
			for _, name := range fieldNames(reflect.TypeOf(random(t, gvk, 0)).Elem()) {
				assert.True(t, fields[name], "no object had a %s", name)
			}
		})
	}
}

// TestDefaultsOfTheType: an API server takes the type that a body leaves out from
// what was asked for.
func TestDefaultsOfTheType(t *testing.T) {
	seconds := int64(0)
	options := &metav1.DeleteOptions{GracePeriodSeconds: &seconds}
	got, err := kubeproto.Decode(encode(t, asProtobuf, options), kubeproto.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"})
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`, string(got))
}

// FuzzDecode changes bodies. Whatever both sides read, they read as the same; what
// only Kubernetes takes is listed, and nothing but that.
func FuzzDecode(f *testing.F) {
	for i, gvk := range kinds {
		f.Add(encode(f, asProtobuf, random(f, gvk, uint64(i))))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		object, _, theirs := asProtobuf.Decode(body, nil, nil)
		got, ours := kubeproto.Decode(body, kubeproto.TypeMeta{})
		if theirs != nil || !known(object) {
			return
		}
		if ours != nil {
			require.Regexp(t, refused, ours.Error())
			return
		}
		var b bytes.Buffer
		require.NoError(t, asJSON.Encode(object, &b))
		require.Equal(t, string(bytes.TrimSpace(b.Bytes())), string(got))
	})
}

// refused is what Kubernetes takes and kubeproto does not: numbers and tags that do
// not fit (they are read without the bits that are too many), map entries with other
// wire types or with values longer than the entry, text that is not UTF-8, times that
// no calendar has, managed fields that are no JSON, contents that say they are encoded
// or of another type (nobody looks).
const refused = `(is not written as protobuf is|(labels|annotations)\.(key|value): (has wire type \d, not 2|is cut short)` +
	`|is not UTF-8|is not in the years 1 to 9999|is not JSON|is not supported)$`

func known(object runtime.Object) bool {
	gvk := object.GetObjectKind().GroupVersionKind()
	for _, k := range kinds {
		if k == gvk {
			return true
		}
	}
	return false
}

// random returns an object of the kind, the same one for the same seed.
func random(t testing.TB, gvk schema.GroupVersionKind, seed uint64) runtime.Object {
	t.Helper()
	object, err := scheme.Scheme.New(gvk)
	require.NoError(t, err)
	source := rand.New(rand.NewPCG(seed, 4))
	filler := randfill.NewWithSeed(int64(seed)).NilChance(0.3).NumElements(1, 3).Funcs(
		func(*metav1.TypeMeta, randfill.Continue) {},
		func(s *string, _ randfill.Continue) { *s = pick(source, texts) },
		func(n *int32, _ randfill.Continue) { *n = int32(pick(source, numbers)) },
		func(n *int64, _ randfill.Continue) { *n = pick(source, numbers) },
		func(at *metav1.Time, _ randfill.Continue) { at.Time = pick(source, times) },
		func(at *metav1.MicroTime, _ randfill.Continue) { at.Time = pick(source, times) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString(pick(source, managed)) },
	)
	filler.Fill(object)
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

var (
	texts = []string{
		"", "web", "kubevirt.io/v1", "ünï ☃ 🖥", "<b>&\"\\/'", "a\nb\t\r\x00\x7f", "\u2028\u2029\ufffd",
		"spec.containers{compute}", "7f107e54-9d79-405e-bd6b-000000000001",
	}
	numbers = []int64{0, 1, -1, 127, 128, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 30}
	times   = []time.Time{
		{},
		time.Unix(0, 0),
		time.Unix(0, 1),
		time.Unix(-1, 999_999_999),
		time.Date(2026, 12, 2, 6, 7, 8, 123_456_789, time.FixedZone("", 3600)),
		time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
		time.Date(1, 1, 1, 0, 0, 0, 2000, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
	}
	managed = []string{"", "{}", "null", `{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`, "{ \"f:a<b\" :\n {} }"}
)

// collect adds the names of all members in an object.
func collect(t *testing.T, to map[string]bool, object []byte) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(object, &value))
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				to[name] = true
				walk(member)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(value)
}

// fieldNames are the names in JSON of all fields of a type and of what it contains.
func fieldNames(of reflect.Type) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		return nil
	}
	var names []string
	for field := range of.Fields() {
		tag, _, _ := bytes.Cut([]byte(field.Tag.Get("json")), []byte(","))
		if name := string(tag); name != "" && name != "-" {
			names = append(names, name)
		}
		names = append(names, fieldNames(field.Type)...)
	}
	return names
}
