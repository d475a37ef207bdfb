package store_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// machine is the draft of an object of 3.6 to 4.6 KB with six labels, as virtual
// machines in a cluster have them: some shared by many, some by few, two of
// its own.
func machine(i, version int) store.Draft {
	size := 3600 + i*37%1000
	name := fmt.Sprintf("vm-%06d", i)
	labels := map[string]string{
		"app":                  fmt.Sprintf("app-%02d", i%100),
		"tier":                 []string{"gold", "silver", "bronze"}[i%3],
		"n":                    fmt.Sprint(i % 1000),
		"kubevirt.io/nodeName": fmt.Sprintf("node-%03d", i%250),
		"kubevirt.io/vm":       name,
		"vm.kubevirt.io/uid":   fmt.Sprintf("6d47-41f3-95ee-%08d", i),
	}
	head := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns-%d","resourceVersion":"`, name, i%10)
	tail := fmt.Sprintf(`"},"spec":{"version":%d,"padding":"`, version)
	tail += strings.Repeat("x", size-len(head)-len(tail)-len(`"}}`)) + `"}}`
	return store.Draft{
		Key:        store.Key{Namespace: fmt.Sprintf("ns-%d", i%10), Name: name},
		JSON:       []byte(head + tail),
		RevisionAt: len(head),
		Labels:     labels,
	}
}

// machines stores that many.
func machines(tb testing.TB, s store.Store, n int) {
	tb.Helper()
	for i := range n {
		_, err := s.Create(context.Background(), machine(i, 0))
		require.NoError(tb, err)
	}
}

// churn updates objects in turn, a third of them with another label.
func churn(tb testing.TB, s store.Store, step, objects int) {
	tb.Helper()
	d := machine(step%objects, step)
	if step%3 == 0 {
		d.Labels["kubevirt.io/nodeName"] = fmt.Sprintf("node-%03d", step%250)
	}
	_, err := s.Update(context.Background(), d, 0)
	require.NoError(tb, err)
}

// heap returns what is in use once the garbage is gone. Interned strings need
// a second collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestHeapPerObject(t *testing.T) {
	const objects = 3000
	before := heap()
	s := store.NewMemory()
	machines(t, s, objects)
	used := heap() - before
	page, err := s.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	var json int64
	for _, o := range page.Objects {
		json += int64(len(o.JSON))
	}
	require.Less(t, float64(used), 1.5*float64(json), "%d objects use %d bytes for %d of JSON", objects, used, json)
	runtime.KeepAlive(s)
}

func TestNewObject(t *testing.T) {
	d := machine(7, 0)
	o, err := store.NewObject(d, 41)
	require.NoError(t, err)
	require.Contains(t, string(o.JSON), `"resourceVersion":"41"`)
	require.Len(t, o.JSON, len(d.JSON)+2)

	deleted := o.WithRevision(1042)
	require.Equal(t, o.Key, deleted.Key)
	require.EqualValues(t, 1042, deleted.Revision)
	require.Equal(t, string(bytes.Replace(o.JSON, []byte(`"41"`), []byte(`"1042"`), 1)), string(deleted.JSON))
	require.EqualValues(t, 41, o.Revision)
	require.Contains(t, string(o.JSON), `"resourceVersion":"41"`)
	require.Equal(t, `"43"`, string(deleted.WithRevision(43).JSON[d.RevisionAt-1:d.RevisionAt+3]))
	for key, value := range d.Labels {
		got, ok := deleted.Label(key)
		require.True(t, ok)
		require.Equal(t, value, got)
	}
}
