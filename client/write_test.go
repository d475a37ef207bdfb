package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/servertest"
)

func TestCreateOfEveryForm(t *testing.T) {
	s := servertest.New(t)
	fromServer, err := client.NewVMI([]byte(`{"metadata":{"name":"bytes"},"spec":{"architecture":"arm64"},"status":{"new":1.50}}`))
	require.NoError(t, err)
	byValue, err := client.NewVMI([]byte(`{"metadata":{"name":"value"}}`))
	require.NoError(t, err)
	for name, object := range map[string]any{
		"text":    `{"metadata":{"name":"text"}}`,
		"slice":   []byte(` {"kind":"VirtualMachineInstance","metadata":{"name":"slice"}}`),
		"raw":     json.RawMessage(`{"apiVersion":"kubevirt.io/v1","metadata":{"name":"raw"}}`),
		"bytes":   fromServer,
		"value":   reflect.ValueOf(byValue).Elem().Interface(), // which vet would warn of
		"typed":   vmi.VirtualMachineInstance{Metadata: vmi.ObjectMeta{Name: "typed"}},
		"pointer": &vmi.VirtualMachineInstance{Metadata: vmi.ObjectMeta{Name: "pointer"}},
		"map":     map[string]any{"metadata": map[string]any{"name": "map"}},
	} {
		vm, err := s.Client.Create(t.Context(), "vms", object, client.WriteOptions{})
		require.NoError(t, err, name)
		assert.Equal(t, name, vm.Name())
		assert.Equal(t, "vms", vm.Namespace())
		assert.NotEmpty(t, vm.UID())
	}
	vm, err := s.Client.Get(t.Context(), "vms", "bytes")
	require.NoError(t, err)
	assert.Contains(t, string(vm.Raw), `"status":{"new":1.50}`)

	vm, err = s.Client.Create(t.Context(), "vms", `{"metadata":{"generateName":"web-"}}`, client.WriteOptions{})
	require.NoError(t, err)
	assert.Regexp(t, "^web-.+", vm.Name())
}

func TestCreateOfWhatIsNoObjectIsNotSent(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for _, tc := range []struct {
		object any
		want   string
	}{
		{"", "create vmi vms/: not JSON: unexpected end of JSON input"},
		{"{", "create vmi vms/: not JSON: unexpected end of JSON input"},
		{"{} {}", "create vmi vms/: not JSON: invalid character '{' after top-level value"},
		{" [1]", "create vmi vms/: the object is a JSON array"},
		{"null", "create vmi vms/: the object is a JSON null"},
		{nil, "create vmi vms/: the object is a JSON null"},
		{(*vmi.VirtualMachineInstance)(nil), "create vmi vms/: the object is nil"},
		{(*client.VMI)(nil), "create vmi vms/: the object is nil"},
		{map[string]any{"a": math.NaN()}, "create vmi vms/: a map[string]interface {} is no JSON: json: unsupported value: NaN"},
	} {
		vm, err := c.Create(t.Context(), "vms", tc.object, client.WriteOptions{})
		assert.Nil(t, vm)
		assert.EqualError(t, err, tc.want)
	}
	for _, namespace := range []string{"", "..", "a/b"} {
		_, err := c.Create(t.Context(), namespace, object("web", ""), client.WriteOptions{})
		assert.ErrorContains(t, err, "the namespace ")
		assert.Error(t, c.Delete(t.Context(), namespace, "web", client.DeleteOptions{}))
		_, err = c.Patch(t.Context(), namespace, "web", client.MergePatch("{}"), client.WriteOptions{})
		assert.Error(t, err)
	}
}

func TestErrorsOfWrites(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web","labels":{"a":"1"}}}`))
	ctx, c := t.Context(), s.Client
	web, err := c.Get(ctx, "default", "web")
	require.NoError(t, err)
	old := client.MergePatch(`{"metadata":{"resourceVersion":"` + web.ResourceVersion() + `","labels":{"a":"2"}}}`)
	_, err = c.Patch(ctx, "default", "web", old, client.WriteOptions{})
	require.NoError(t, err)

	create := func(object string) error {
		_, err := c.Create(ctx, "default", object, client.WriteOptions{FieldValidation: "Strict"})
		return err
	}
	patch := func(name string, p client.Patch) error {
		_, err := c.Patch(ctx, "default", name, p, client.WriteOptions{FieldManager: "me"})
		return err
	}
	for name, tc := range map[string]struct {
		err, is error
	}{
		"create twice":     {create(`{"metadata":{"name":"web"}}`), client.ErrAlreadyExists},
		"create invalid":   {create(`{"metadata":{"name":"b"},"status":{"phase":"Runing"}}`), client.ErrInvalid},
		"create strict":    {create(`{"metadata":{"name":"b"},"bogus":1}`), client.ErrBadRequest},
		"patch old":        {patch("web", old), client.ErrConflict},
		"patch missing":    {patch("db", old), client.ErrNotFound},
		"patch test":       {patch("web", client.JSONPatch(`[{"op":"test","path":"/metadata/name","value":"x"}]`)), client.ErrInvalid},
		"apply of another": {applyTwice(t, c), client.ErrConflict},
		"delete missing":   {c.Delete(ctx, "default", "db", client.DeleteOptions{}), client.ErrNotFound},
		"delete another":   {c.Delete(ctx, "default", "web", client.DeleteOptions{UID: "another"}), client.ErrConflict},
		"delete old":       {c.Delete(ctx, "default", "web", client.DeleteOptions{ResourceVersion: web.ResourceVersion()}), client.ErrConflict},
	} {
		for _, kind := range kinds {
			assert.Equal(t, kind == tc.is, errors.Is(tc.err, kind), "%s: %v %v", name, kind, tc.err)
		}
		var refused *client.Error
		if assert.ErrorAs(t, tc.err, &refused, name) {
			assert.NotEmpty(t, refused.Reason, name)
			assert.NotEqual(t, "GET", refused.Method)
		}
	}
}

// applyTwice has two managers want different values of a field.
func applyTwice(t *testing.T, c *client.Client) error {
	apply := func(manager, value string, force bool) error {
		object := `{"metadata":{"name":"applied","labels":{"tier":"` + value + `"}}}`
		_, err := c.Patch(t.Context(), "default", "applied", client.ApplyPatch(object, force), client.WriteOptions{FieldManager: manager})
		return err
	}
	require.NoError(t, apply("one", "1", false))
	conflict := apply("two", "2", false)
	require.NoError(t, apply("two", "2", true))
	return conflict
}

func TestPatchesThatAreNoneAreNotSent(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for want, patch := range map[string]client.Patch{
		"patch vmi vms/web: the patch is none; make it with MergePatch, JSONPatch or ApplyPatch": {},
		"patch vmi vms/web: patch: not JSON: unexpected end of JSON input":                       client.MergePatch(`{"a":`),
		"patch vmi vms/web: patch: a chan int is no JSON: json: unsupported type: chan int":      client.JSONPatch(make(chan int)),
		"apply vmi vms/web: patch: the object is a JSON string":                                  client.ApplyPatch(`"x"`, false),
		"apply vmi vms/web: apply needs a FieldManager":                                          client.ApplyPatch(`{}`, false),
	} {
		_, err := c.Patch(t.Context(), "vms", "web", patch, client.WriteOptions{})
		assert.EqualError(t, err, want)
	}
}

// What goes over the wire.
func TestWritesOnTheWire(t *testing.T) {
	type sent struct{ method, uri, contentType, body string }
	var got sent
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = sent{r.Method, r.RequestURI, r.Header.Get("Content-Type"), string(body)}
		answer(200, "application/json", object("web", ""))(w, r)
	})
	all := client.WriteOptions{DryRun: true, FieldManager: "me", FieldValidation: "Strict"}
	const query = "?dryRun=All&fieldManager=me&fieldValidation=Strict"
	do := func(_ *client.VMI, err error) sent { require.NoError(t, err); return got }

	assert.Equal(t, sent{"POST", machines + query, "application/json", object("web", "")},
		do(c.Create(t.Context(), "vms", object("web", ""), all)))
	assert.Equal(t, sent{"PATCH", machines + "/web" + query, "application/merge-patch+json", `{"a":"<"}`},
		do(c.Patch(t.Context(), "vms", "web", client.MergePatch(map[string]string{"a": "<"}), all)))
	assert.Equal(t, sent{"PATCH", machines + "/web", "application/json-patch+json", `[]`},
		do(c.Patch(t.Context(), "vms", "web", client.JSONPatch("[]"), client.WriteOptions{})))
	assert.Equal(t, sent{"PATCH", machines + "/web" + query + "&force=true", "application/apply-patch+yaml", `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"}`},
		do(c.Patch(t.Context(), "vms", "web", client.ApplyPatch("{}", true), all)))

	require.NoError(t, c.Delete(t.Context(), "vms", "web", client.DeleteOptions{}))
	assert.Equal(t, sent{"DELETE", machines + "/web", "application/json", `{"apiVersion":"v1","kind":"DeleteOptions"}`}, got)
	require.NoError(t, c.Delete(t.Context(), "vms", "web", client.DeleteOptions{
		UID: "u", ResourceVersion: "1", GracePeriodSeconds: new(int64(0)), Propagation: client.PropagateForeground, DryRun: true}))
	assert.JSONEq(t, `{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u","resourceVersion":"1"},
		"gracePeriodSeconds":0,"propagationPolicy":"Foreground","dryRun":["All"]}`, got.body)
}

func TestDeleteAtTheReferenceServer(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"}}`, `{"metadata":{"name":"kept","finalizers":["example.com/x"]}}`))
	require.NoError(t, s.Client.Delete(t.Context(), "default", "web", client.DeleteOptions{DryRun: true}))
	web, err := s.Client.Get(t.Context(), "default", "web")
	require.NoError(t, err)
	require.NoError(t, s.Client.Delete(t.Context(), "default", "web", client.DeleteOptions{UID: web.UID(), ResourceVersion: web.ResourceVersion()}))
	_, err = s.Client.Get(t.Context(), "default", "web")
	assert.ErrorIs(t, err, client.ErrNotFound)

	require.NoError(t, s.Client.Delete(t.Context(), "default", "kept", client.DeleteOptions{Propagation: client.PropagateBackground}))
	kept, err := s.Client.Get(t.Context(), "default", "kept")
	require.NoError(t, err)
	assert.Contains(t, string(kept.Raw), `"deletionTimestamp"`)
}

func TestAnswersToADeletionThatAreNone(t *testing.T) {
	for want, tc := range map[string]http.HandlerFunc{
		"answer is not JSON but text/html (200)":                       answer(200, "text/html", "<html>log in</html>"),
		"answer is empty (202)":                                        answer(202, "application/json", ""),
		"no content (204)":                                             answer(204, "application/json", ""),
		"answer is a Status, not a VirtualMachineInstance: no (200)":   answer(200, "application/json", `{"kind":"Status","status":"Failure","message":"no"}`),
		"answer has no kind, it is not a VirtualMachineInstance (200)": answer(200, "application/json", `{}`),
		"answer breaks off in the middle of its JSON (200)":            answer(200, "application/json", `{"kind":"Status","st`),
		"answer is a Table, not a VirtualMachineInstance (200)":        answer(200, "application/json", `{"kind":"Table"}`),
		"the object has been modified (409)": func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, 409, "Conflict", "the object has been modified")
		},
	} {
		err := serve(t, tc).Delete(t.Context(), "vms", "web", client.DeleteOptions{})
		assert.EqualError(t, err, "delete vmi vms/web: "+want)
	}
}
