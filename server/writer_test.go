package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

func writer(t *testing.T, opts ...server.Option) *server.Writer {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 8, 1, 12, 0, 0, 5e8, time.UTC) }
	opts = append([]server.Option{server.WithClock(now), server.WithIDs(func() string { return "made-up" })}, opts...)
	w, err := server.NewWriter(store.NewMemory(store.WithClock(func() time.Time { return time.UnixMicro(100) })), opts...)
	require.NoError(t, err)
	return w
}

func TestCreateGivesWhatAServerGives(t *testing.T) {
	w := writer(t)
	o, err := w.Create(t.Context(), []byte(`{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{"name":"a"},"b<&>":{"z":1.50,"a":123456789012345678901234567890.0}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"apiVersion":"kubevirt.io/v1","b<&>":{"a":123456789012345678901234567890.0,"z":1.50},"kind":"VirtualMachineInstance",`+
		`"metadata":{"creationTimestamp":"2026-08-01T12:00:00Z","generation":1,"name":"a","namespace":"default","resourceVersion":"101","uid":"made-up"}}`,
		string(o.JSON), "sorted keys, numbers as they were written, unknown fields kept")
}

func TestCreateKeepsWhatTheObjectHas(t *testing.T) {
	w := writer(t)
	o, err := w.Create(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1alpha3","kind":"VirtualMachineInstance","metadata":{"name":"a","namespace":"vms","uid":"own",
		"creationTimestamp":"2020-01-01T00:00:00Z","generation":8,"resourceVersion":"602262","labels":{"l":"1"},"annotations":{"a":"2"},"managedFields":[{"manager":"m"}]},"status":{"phase":"Failed"}}`))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(o.JSON, &m))
	assert.Equal(t, "kubevirt.io/v1", m["apiVersion"], "as a cluster would answer it")
	assert.Equal(t, map[string]any{"name": "a", "namespace": "vms", "uid": "own", "creationTimestamp": "2020-01-01T00:00:00Z", "generation": 8.0,
		"resourceVersion": "101", "labels": map[string]any{"l": "1"}, "annotations": map[string]any{"a": "2"}, "managedFields": []any{map[string]any{"manager": "m"}}}, m["metadata"])
	v, _ := o.Label("l")
	assert.Equal(t, "1", v)
}

// What a POST takes, a file takes as well.
func TestWriterForgetsNulls(t *testing.T) {
	const begin = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","finalizers":null,"labels":{"l":null}},"spec":{"nodeSelector":null,"hostname":null,"domain":{"cpu":null}}`
	o, err := writer(t).Create(t.Context(), []byte(begin+`,"status":null}`))
	require.NoError(t, err)
	assert.NotContains(t, string(o.JSON), "null")
	v, there := o.Label("l")
	assert.True(t, there)
	assert.Empty(t, v)

	for rest, want := range map[string]string{
		`,"spec":{"hostname":null}}`:                             "/spec json-duplicate-key",
		`,"status":{"phase":"Runing","conditions":null}}`:        "/status/phase enum",
		`,"Status":null}`:                                        "/Status json-key-case",
		`,"status":{"interfaces":[null],"migrationState":null}}`: "/status/interfaces/0 type",
	} {
		_, err := writer(t).Create(t.Context(), []byte(begin+rest))
		var invalid *server.InvalidError
		require.ErrorAs(t, err, &invalid, rest)
		require.Len(t, invalid.Issues, 1, rest)
		assert.Equal(t, want, invalid.Issues[0].Pointer+" "+invalid.Issues[0].Rule)
	}
}

func TestUpdateKeepsIdentity(t *testing.T) {
	w := writer(t)
	_, err := w.Create(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","uid":"own","creationTimestamp":"2020-01-01T00:00:00Z"}}`))
	require.NoError(t, err)
	o, err := w.Update(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"status":{"phase":"Running"}}`))
	require.NoError(t, err)
	assert.Contains(t, string(o.JSON), `"uid":"own"`)
	assert.Contains(t, string(o.JSON), `"creationTimestamp":"2020-01-01T00:00:00Z"`)
	assert.Contains(t, string(o.JSON), `"resourceVersion":"102"`)

	_, err = w.Update(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"nosuch"}}`))
	assert.ErrorIs(t, err, store.ErrNotFound)
	_, err = w.Create(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"}}`))
	assert.ErrorIs(t, err, store.ErrExists)
	require.NoError(t, w.Delete(t.Context(), "default", "a"))
	assert.ErrorIs(t, w.Delete(t.Context(), "default", "a"), store.ErrNotFound)
}

func TestInvalidObjectsAreRefusedWithAllIssues(t *testing.T) {
	for object, want := range map[string][]string{
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"spec":{"domain":{"cpu":{"cores":0},"devices":{"interfaces":[{"name":"n","macAddress":"no"}]}}},"status":{"phase":"Runing"}}`: {
			"/spec/domain/cpu/cores minimum", "/spec/domain/devices/interfaces/0/macAddress pattern", "/status/phase enum"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{}}`:                                    {"/metadata/name required"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"}`:                                                  {"/metadata/name required"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"A_b","namespace":"a.b"}}`:      {"/metadata/name kubernetes-name", "/metadata/namespace kubernetes-name"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"../x"}}`:                       {"/metadata/name kubernetes-name"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","labels":{"k\u0000":"v"}}}`: {"/metadata/labels kubernetes-label"},
		`{"apiVersion":"kubevirt.io/v1alpha2","kind":"VirtualMachineInstance","metadata":{"name":"a"}}`:                    {"/apiVersion enum"},
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`:                                                         {"/apiVersion enum", "/kind enum"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","name":"b"}}`:               {"/metadata/name json-duplicate-key"},
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"Status":{"phase":"x"}}`:   {"/Status json-key-case"},
	} {
		_, err := writer(t).Create(t.Context(), []byte(object))
		var invalid *server.InvalidError
		require.ErrorAs(t, err, &invalid, object)
		var got []string
		for _, i := range invalid.Issues {
			got = append(got, i.Pointer+" "+i.Rule)
		}
		assert.Equal(t, want, got, object)
	}
	for _, object := range []string{"", "null", "[]", `"x"`, "{", "{}", "{}{}", "\xff", "\ufeff{}"} {
		_, err := writer(t).Create(t.Context(), []byte(object))
		var invalid *server.InvalidError
		assert.ErrorAs(t, err, &invalid, "%q", object)
	}
}

func TestEnumUnknownCanBeSoftened(t *testing.T) {
	odd := []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"status":{"phase":"Brand New"}}`)
	var told []string
	warnings := server.WithWarnings(func(k store.Key, i openapi.Issue) { told = append(told, k.String()+" "+i.Pointer+" "+i.Value) })
	_, err := writer(t, server.WithEnumUnknown(server.EnumWarn), warnings).Create(t.Context(), odd)
	assert.NoError(t, err)
	assert.Equal(t, []string{`default/a /status/phase "Brand New"`}, told)
	_, err = writer(t, server.WithEnumUnknown(server.EnumWarn)).Create(t.Context(), []byte(`{"apiVersion":"v1","kind":"VirtualMachineInstance","metadata":{"name":"a"}}`))
	assert.Error(t, err, "what the object is stays closed")
}

func TestProfileDecides(t *testing.T) {
	modern := []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"spec":{"evictionStrategy":"LiveMigrateIfPossible"}}`)
	for p, ok := range map[openapi.Profile]bool{openapi.ProfileDocument: false, openapi.ProfileKubernetes: false, openapi.ProfileKubeVirt: true} {
		_, err := writer(t, server.WithProfile(p)).Create(t.Context(), modern)
		assert.Equal(t, ok, err == nil, p)
	}
}

func TestUpdatesAtTheSameTime(t *testing.T) {
	w := writer(t)
	_, err := w.Create(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"}}`))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, err := w.Update(t.Context(), []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"}}`))
				assert.NoError(t, err, "whatever version is there")
			}
		})
	}
	wg.Wait()
}

// meddling is a store in which somebody replaces an object just before the first
// update of it.
type meddling struct {
	*store.Memory
	meddle func()
}

func (m *meddling) Update(ctx context.Context, d store.Draft, expected int64) (*store.Object, error) {
	if meddle := m.meddle; meddle != nil {
		m.meddle = nil
		meddle()
	}
	return m.Memory.Update(ctx, d, expected)
}

func TestUpdateInheritsFromWhatIsThereInTheEnd(t *testing.T) {
	st := &meddling{Memory: store.NewMemory()}
	w, err := server.NewWriter(st)
	require.NoError(t, err)
	object := func(uid string) []byte {
		return []byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"` + uid + `}}`)
	}
	_, err = w.Create(t.Context(), object(`,"uid":"first"`))
	require.NoError(t, err)
	st.meddle = func() {
		require.NoError(t, w.Delete(t.Context(), "default", "a"))
		_, err := w.Create(t.Context(), object(`,"uid":"second"`))
		require.NoError(t, err)
	}
	o, err := w.Update(t.Context(), object(""))
	require.NoError(t, err)
	assert.Contains(t, string(o.JSON), `"uid":"second"`)
}

// There is no subresource for the status, so every change beyond metadata counts.
func TestWriterCountsGenerations(t *testing.T) {
	f := start(t).create("vms/a")
	generation := func() int { return f.get(inVMs+"/a").written(t, 200).Metadata.Generation }
	assert.Equal(t, 1, generation())
	f.update("vms/a app=web")
	assert.Equal(t, 1, generation(), "labels are metadata")
	_, err := f.writer.Update(t.Context(), bytes.Replace(machine("vms/a"), []byte("Running"), []byte("Failed"), 1))
	require.NoError(t, err)
	assert.Equal(t, 2, generation())
}
