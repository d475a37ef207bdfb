//go:build unix

package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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

// cpuTime is the CPU time of the process, garbage collection included. On a
// machine that does other things, too, it says more than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

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

// once answers one request into a writer that keeps nothing, and returns the CPU
// time it took.
func once(b *testing.B, h http.Handler, req *http.Request) time.Duration {
	w := &discard{header: make(http.Header)}
	begin := cpuTime()
	h.ServeHTTP(w, req)
	took := cpuTime() - begin
	if w.status != http.StatusOK {
		b.Fatalf("%s: %d", req.URL, w.status)
	}
	return took
}

func request(path string) *http.Request {
	return httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
}

// Goal: at most 60 µs of CPU with both validations (envelope, the default).
func BenchmarkGet(b *testing.B) {
	req := request("/apis/kubevirt.io/v1/namespaces/team-7/virtualmachineinstances/web-00007")
	for _, m := range []struct {
		name string
		mode server.ResponseValidation
	}{{"off", server.ValidateOff}, {"envelope", server.ValidateEnvelope}, {"full", server.ValidateFull}} {
		b.Run(m.name, func(b *testing.B) {
			h := handler(b, server.WithResponseValidation(m.mode))
			b.ReportAllocs()
			begin := cpuTime()
			for b.Loop() {
				h.ServeHTTP(&discard{header: make(http.Header)}, req)
			}
			b.ReportMetric(float64((cpuTime()-begin).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// Goals: at most 1.1 times the CPU of writing the same bytes with validation off,
// and at least 100 times less than the naive way. The first two take turns, so
// that what else the machine does hits both.
func BenchmarkList10000(b *testing.B) {
	req := request(all)
	off, validated := handler(b, server.WithResponseValidation(server.ValidateOff)), handler(b)
	var cpu [2]time.Duration
	rounds := 0
	for b.Loop() {
		for i, h := range []http.Handler{off, validated} {
			took := once(b, h, req)
			cpu[i] += took
		}
		rounds++
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(rounds) }
	naive := naiveList(b)
	b.ReportMetric(each(cpu[0]), "cpu-ms-off")
	b.ReportMetric(each(cpu[1]), "cpu-ms-validated")
	b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "validated/off")
	b.ReportMetric(float64(naive.Microseconds())/1000, "cpu-ms-naive")
	b.ReportMetric(float64(naive.Microseconds())/1000/each(cpu[1]), "naive/validated")
}

// naiveList is what a server does that keeps typed objects: copy them into a list,
// encode it, validate the whole answer.
func naiveList(b *testing.B) time.Duration {
	doc, err := openapi.LoadServer(openapi.ProfileKubeVirt)
	require.NoError(b, err)
	page, err := fleet().List(context.Background(), store.ListOptions{})
	require.NoError(b, err)
	typed := make([]vmi.VirtualMachineInstance, len(page.Objects))
	for i, o := range page.Objects {
		require.NoError(b, json.Unmarshal(o.JSON, &typed[i]))
	}
	begin := cpuTime()
	body, err := json.Marshal(vmi.VirtualMachineInstanceList{
		APIVersion: "kubevirt.io/v1", Kind: "VirtualMachineInstanceList",
		Metadata: vmi.ListMeta{ResourceVersion: "1"}, Items: typed,
	})
	require.NoError(b, err)
	issues := doc.ValidateResponse(openapi.Response{
		Operation: doc.Operation("listVirtualMachineInstanceForAllNamespaces"),
		Form:      openapi.FormList, Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	})
	require.Empty(b, issues)
	_, _ = (&discard{header: make(http.Header)}).Write(body)
	return cpuTime() - begin
}

// A page as kubectl asks for it.
func BenchmarkTable500(b *testing.B) {
	h := handler(b)
	req := request(all + "?limit=500")
	req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	for b.Loop() {
		h.ServeHTTP(&discard{header: make(http.Header)}, req)
	}
}

// A merge patch of one annotation of a machine whose every field has an owner.
func BenchmarkPatch(b *testing.B) {
	h, err := server.New(store.NewMemory())
	require.NoError(b, err)
	const list = "http://localhost/apis/kubevirt.io/v1/namespaces/team-0/virtualmachineinstances"
	create := httptest.NewRequest(http.MethodPost, list, bytes.NewReader(bigMachine(0)))
	create.Header.Set("Content-Type", "application/json")
	made := httptest.NewRecorder()
	h.ServeHTTP(made, create)
	require.Equal(b, http.StatusCreated, made.Code, made.Body)
	var spent time.Duration
	n := 0
	for b.Loop() {
		n++
		req := httptest.NewRequest(http.MethodPatch, list+"/web-00000",
			strings.NewReader(fmt.Sprintf(`{"metadata":{"annotations":{"example.com/change":"%d"}}}`, n)))
		req.Header.Set("Content-Type", "application/merge-patch+json")
		spent += once(b, h, req)
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(n), "cpu-us/op")
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

// What a list costs in the forms that clients ask for, beside the bytes as they are.
// Goal: YAML and indented JSON of any length in the memory of one object.
func BenchmarkRenditions(b *testing.B) {
	h := handler(b)
	for _, c := range []struct{ name, header, value string }{
		{"as-is", "Accept", "application/json"},
		{"indented", "User-Agent", "curl/8"},
		{"yaml", "Accept", "application/yaml"},
		{"gzip", "Accept-Encoding", "gzip"},
	} {
		b.Run(c.name, func(b *testing.B) {
			req := request(all + "?limit=1000")
			req.Header.Set(c.header, c.value)
			var cpu time.Duration
			b.ReportAllocs()
			for b.Loop() {
				cpu += once(b, h, req)
			}
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
