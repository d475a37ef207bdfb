package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// discard is a response writer that keeps nothing.
type discard struct {
	header http.Header
	status int
	bytes  int64
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(code int)        { d.status = code }
func (d *discard) Write(p []byte) (int, error) { d.bytes += int64(len(p)); return len(p), nil }

const fleetSize = 10_000

// fleet is a store of machines of about 4 KB in ten namespaces, made once.
var fleet = sync.OnceValue(func() store.Store {
	st := store.NewMemory()
	w, err := server.NewWriter(st)
	if err != nil {
		panic(err)
	}
	for i := range fleetSize {
		if _, err := w.Create(context.Background(), bigMachine(i)); err != nil {
			panic(err)
		}
	}
	return st
})

// bigMachine is a machine with the weight and shape of one from a cluster.
func bigMachine(i int) []byte {
	var disks, volumes, phases, conditions []string
	for d := range 4 {
		disks = append(disks, fmt.Sprintf(`{"name":"disk%d","bootOrder":%d,"disk":{"bus":"virtio"},"cache":"none"}`, d, d+1))
		volumes = append(volumes, fmt.Sprintf(`{"name":"disk%d","persistentVolumeClaim":{"claimName":"web-%d-disk%d"}}`, d, i, d))
	}
	for _, p := range []string{"Pending", "Scheduling", "Scheduled", "Running"} {
		phases = append(phases, fmt.Sprintf(`{"phase":%q,"phaseTransitionTimestamp":"2026-08-01T12:00:00Z"}`, p))
	}
	for _, c := range []string{"Ready", "LiveMigratable", "StorageLiveMigratable", "AgentConnected"} {
		conditions = append(conditions, fmt.Sprintf(`{"type":%q,"status":"True","lastProbeTime":null,"lastTransitionTime":"2026-08-01T12:00:00Z"}`, c))
	}
	padding := strings.Repeat(`{"manager":"virt-controller","operation":"Update","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:phase":{},"f:nodeName":{}}}},`, 8)
	return fmt.Appendf(nil, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web-%05d","namespace":"team-%d","uid":"7f107e54-9d79-405e-bd6b-%012d",`+
		`"creationTimestamp":"2026-08-01T12:00:00Z","labels":{"app":"web-%d","tier":"t%d","kubevirt.io/nodeName":"node-%d"},"managedFields":[%s]},`+
		`"spec":{"evictionStrategy":"LiveMigrateIfPossible","terminationGracePeriodSeconds":30,"domain":{"cpu":{"cores":2,"sockets":1,"threads":1,"model":"host-model"},"memory":{"guest":"2Gi"},`+
		`"machine":{"type":"q35"},"devices":{"disks":[%s],"interfaces":[{"name":"default","masquerade":{},"macAddress":"02:00:00:00:00:01","model":"virtio"}],"rng":{}},"features":{"acpi":{"enabled":true}},`+
		`"firmware":{"uuid":"29a40a00-5a03-58cd-9ae2-d55b1d312b2a"}},"networks":[{"name":"default","pod":{}}],"volumes":[%s]},`+
		`"status":{"phase":"Running","nodeName":"node-%d","conditions":[%s],"phaseTransitionTimestamps":[%s],`+
		`"interfaces":[{"name":"default","mac":"02:00:00:00:00:01","ipAddress":"192.0.2.10","ipAddresses":["192.0.2.10","2001:db8::10"]}],`+
		`"guestOSInfo":{"name":"Fedora","version":"40","id":"fedora","prettyName":"Fedora Linux 40"}}}`,
		i, i%10, i, i%100, i%3, i%50, strings.TrimSuffix(padding, ","), strings.Join(disks, ","), strings.Join(volumes, ","), i%50,
		strings.Join(conditions, ","), strings.Join(phases, ","))
}

func handler(b *testing.B, opts ...server.Option) http.Handler {
	b.Helper()
	h, err := server.New(fleet(), opts...)
	require.NoError(b, err)
	return h
}

// serve measures one request into a writer that keeps nothing, and returns the
// nanoseconds it takes.
func serve(b *testing.B, h http.Handler, path string) float64 {
	b.Helper()
	req := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	b.ReportAllocs()
	var bytes int64
	for b.Loop() {
		w := &discard{header: make(http.Header)}
		h.ServeHTTP(w, req)
		if w.status != http.StatusOK {
			b.Fatalf("%s: %d", path, w.status)
		}
		bytes = w.bytes
	}
	b.SetBytes(bytes)
	return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}

// Goal: at most 60 µs with both validations.
func BenchmarkGet(b *testing.B) {
	path := "/apis/kubevirt.io/v1/namespaces/team-7/virtualmachineinstances/web-00007"
	for name, mode := range modes {
		b.Run(name, func(b *testing.B) { serve(b, handler(b, server.WithResponseValidation(mode)), path) })
	}
}

var modes = map[string]server.ResponseValidation{"off": server.ValidateOff, "envelope": server.ValidateEnvelope, "full": server.ValidateFull}

// Goals: at most 1.1 times writing the same bytes with validation off, and at
// least 100 times less than the naive way.
func BenchmarkList10000(b *testing.B) {
	var off, validated float64
	b.Run("validation-off", func(b *testing.B) { off = serve(b, handler(b, server.WithResponseValidation(server.ValidateOff)), all) })
	b.Run("validated", func(b *testing.B) {
		validated = serve(b, handler(b), all)
		b.ReportMetric(validated/off, "times-off")
	})
	b.Run("naive", func(b *testing.B) {
		b.ReportMetric(naiveList(b)/validated, "times-validated")
	})
}

// naiveList is what a server does that keeps typed objects: copy them into a list,
// encode it, validate the whole answer.
func naiveList(b *testing.B) float64 {
	doc, err := openapi.LoadServer(openapi.ProfileKubeVirt)
	require.NoError(b, err)
	page, err := fleet().List(context.Background(), store.ListOptions{})
	require.NoError(b, err)
	typed := make([]vmi.VirtualMachineInstance, len(page.Objects))
	for i, o := range page.Objects {
		require.NoError(b, json.Unmarshal(o.JSON, &typed[i]))
	}
	op := doc.Operation("listVirtualMachineInstanceForAllNamespaces")
	for b.Loop() {
		body, err := json.Marshal(vmi.VirtualMachineInstanceList{
			APIVersion: "kubevirt.io/v1", Kind: "VirtualMachineInstanceList",
			Metadata: vmi.ListMeta{ResourceVersion: "1"}, Items: typed,
		})
		require.NoError(b, err)
		issues := doc.ValidateResponse(openapi.Response{
			Operation: op, Form: openapi.FormList, Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
		})
		require.Empty(b, issues)
		w := &discard{header: make(http.Header)}
		_, _ = w.Write(body)
	}
	return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}

// A page as kubectl asks for it.
func BenchmarkTable500(b *testing.B) {
	h := handler(b)
	req := httptest.NewRequest(http.MethodGet, "http://localhost"+all+"?limit=500", nil)
	req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	for b.Loop() {
		h.ServeHTTP(&discard{header: make(http.Header)}, req)
	}
}

// Objects on their way into the store: validated, completed, rendered.
func BenchmarkCreate(b *testing.B) {
	st := store.NewMemory()
	w, err := server.NewWriter(st)
	require.NoError(b, err)
	objects := make([][]byte, 2000)
	for i := range objects {
		objects[i] = bigMachine(i)
	}
	b.SetBytes(int64(len(objects[0])))
	i := 0
	for b.Loop() {
		o := objects[i%len(objects)]
		if i >= len(objects) {
			_, err = w.Update(context.Background(), o)
		} else {
			_, err = w.Create(context.Background(), o)
		}
		require.NoError(b, err)
		i++
	}
}
