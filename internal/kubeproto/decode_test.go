package kubeproto_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/vmikit/vmikit/internal/kubeproto"
)

var none kubeproto.TypeMeta

// recorded returns the bodies that a client sent, by request.
func recorded(tb testing.TB) map[string][]byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/bodies.txt")
	require.NoError(tb, err)
	bodies := make(map[string][]byte)
	request := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case strings.Contains(line, " "):
			request = line
		default:
			body, err := base64.StdEncoding.DecodeString(line)
			require.NoError(tb, err)
			// The second one of a path is told apart by its place.
			if bodies[request] != nil {
				request += " again"
			}
			bodies[request] = body
		}
	}
	return bodies
}

const reviews = "POST /apis/authorization.k8s.io/v1/selfsubject"

func TestRecordedBodies(t *testing.T) {
	want := map[string]string{
		reviews + "accessreviews": `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},` +
			`"spec":{"resourceAttributes":{"namespace":"lab","verb":"list","group":"kubevirt.io","version":"*","resource":"virtualmachineinstances"}},` +
			`"status":{"allowed":false}}`,
		reviews + "accessreviews again": `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},` +
			`"spec":{"nonResourceAttributes":{"path":"/healthz","verb":"get"}},"status":{"allowed":false}}`,
		reviews + "rulesreviews": `{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","metadata":{},` +
			`"spec":{"namespace":"lab"},"status":{"resourceRules":null,"nonResourceRules":null,"incomplete":false}}`,
		"POST /api/v1/namespaces/lab/events": `{"kind":"Event","apiVersion":"v1","metadata":{"name":"web.18a1","namespace":"lab"},` +
			`"involvedObject":{"kind":"VirtualMachineInstance","namespace":"lab","name":"web","uid":"7f107e54-9d79-405e-bd6b-000000000001",` +
			`"apiVersion":"kubevirt.io/v1","resourceVersion":"17"},"reason":"Started","message":"VirtualMachineInstance started.",` +
			`"source":{"component":"virt-handler","host":"worker-01"},"firstTimestamp":"2026-12-02T06:07:08Z",` +
			`"lastTimestamp":"2026-12-02T06:07:08Z","count":1,"type":"Normal","eventTime":null,` +
			`"reportingComponent":"virt-handler","reportingInstance":"worker-01"}`,
		"POST /apis/events.k8s.io/v1/namespaces/lab/events": `{"kind":"Event","apiVersion":"events.k8s.io/v1",` +
			`"metadata":{"name":"web.18a2","namespace":"lab"},"eventTime":"2026-12-02T06:07:08.123456Z",` +
			`"series":{"count":2,"lastObservedTime":"2026-12-02T06:07:08.123456Z"},"reportingController":"virt-controller",` +
			`"reportingInstance":"virt-controller-7d","action":"Migrate","reason":"Migrated",` +
			`"regarding":{"kind":"VirtualMachineInstance","namespace":"lab","name":"web"},"note":"to \u003cworker-02\u003e","type":"Normal",` +
			`"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}`,
		"POST /apis/coordination.k8s.io/v1/namespaces/lab/leases": `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",` +
			`"metadata":{"name":"manager","namespace":"lab"},"spec":{"holderIdentity":"manager-0_7f107e54","leaseDurationSeconds":15,` +
			`"acquireTime":"2026-12-02T06:07:08.123456Z","renewTime":"2026-12-02T06:07:08.123456Z","leaseTransitions":0}}`,
		"POST /api/v1/namespaces": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"lab","labels":{"app":"a","team":"b"}},"spec":{},"status":{}}`,
		"DELETE /apis/coordination.k8s.io/v1/namespaces/lab/leases/manager": `{"kind":"DeleteOptions","apiVersion":"coordination.k8s.io/v1",` +
			`"gracePeriodSeconds":0,"preconditions":{"uid":"7f107e54-9d79-405e-bd6b-000000000001","resourceVersion":"17"},` +
			`"propagationPolicy":"Background","dryRun":["All"]}`,
		"DELETE /api/v1/namespaces/lab": `{"kind":"DeleteOptions","apiVersion":"v1"}`,
	}
	bodies := recorded(t)
	require.Len(t, bodies, len(want))
	for request, body := range bodies {
		got, err := kubeproto.Decode(body, none)
		require.NoError(t, err, request)
		assert.Equal(t, want[request], string(got), request)
	}
}

// The bodies below are made by hand: field builds one field of a message.
func field(number protowire.Number, value any) []byte {
	switch v := value.(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(v))
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), v)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), v)
	}
	panic(fmt.Sprintf("no field of %T", value))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// envelope is a body: an object of that type, and what else the envelope has.
func envelope(apiVersion, kind string, object []byte, more ...[]byte) []byte {
	return join([]byte("k8s\x00"), field(1, join(field(1, apiVersion), field(2, kind))), field(2, object), join(more...))
}

// metadata is a Namespace with that metadata.
func metadata(fields ...[]byte) []byte {
	return envelope("v1", "Namespace", field(1, join(fields...)))
}

func TestWhatIsOnTheWireTwice(t *testing.T) {
	entry := func(key, value string) []byte { return field(11, join(field(1, key), field(2, value))) }
	got, err := kubeproto.Decode(envelope("v1", "Namespace", join(
		field(1, join(field(1, "first"), entry("a", "1"), entry("b", "1"), field(8, field(1, 1)))),
		field(1, join(field(3, "kept"), entry("b", "2"), field(14, "x"))),
		field(1, join(field(1, "last"), field(14, "y"), field(8, field(1, 60)))),
	)), none)
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"last","namespace":"kept",`+
		`"creationTimestamp":"1970-01-01T00:01:00Z","labels":{"a":"1","b":"2"},"finalizers":["x","y"]},"spec":{},"status":{}}`, string(got))
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	group := join(protowire.AppendTag(nil, 90, protowire.StartGroupType), field(1, 2), protowire.AppendTag(nil, 90, protowire.EndGroupType))
	fixed := protowire.AppendFixed64(protowire.AppendTag(nil, 91, protowire.Fixed64Type), 1)
	body := envelope("v1", "Namespace",
		join(group, field(1, join(field(99, "new"), field(1, "lab"), fixed)), field(100, 1)), field(50, "new"))
	got, err := kubeproto.Decode(body, none)
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"lab"},"spec":{},"status":{}}`, string(got))
}

func TestTypesFromTheRequest(t *testing.T) {
	lab := field(1, field(1, "lab"))
	defaults := kubeproto.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
	for _, body := range [][]byte{envelope("", "", lab), join([]byte("k8s\x00"), field(2, lab))} {
		got, err := kubeproto.Decode(body, defaults)
		require.NoError(t, err)
		assert.Equal(t, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"lab"},"spec":{},"status":{}}`, string(got))
		_, err = kubeproto.Decode(body, none)
		assert.EqualError(t, err, "protobuf body: does not say its kind and apiVersion")
	}
	// What a body says counts.
	got, err := kubeproto.Decode(envelope("v1", "DeleteOptions", nil), defaults)
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"DeleteOptions","apiVersion":"v1"}`, string(got))
}

func TestUnknownKinds(t *testing.T) {
	for _, of := range [][2]string{{"v1", "Pod"}, {"kubevirt.io/v1", "VirtualMachineInstance"}, {"v1beta1", "Event"}} {
		_, err := kubeproto.Decode(envelope(of[0], of[1], nil), none)
		assert.ErrorIs(t, err, kubeproto.ErrUnknownKind)
		assert.EqualError(t, err, fmt.Sprintf("protobuf body: %q of %q: no such kind is read as protobuf", of[1], of[0]))
	}
	_, err := kubeproto.Decode(envelope("v1", strings.Repeat("k\n", 1000), nil), none)
	assert.ErrorIs(t, err, kubeproto.ErrUnknownKind)
	assert.Less(t, len(err.Error()), 300)
}

func TestBadBodies(t *testing.T) {
	long := strings.Repeat("a", 200)
	for name, row := range map[string]struct {
		body []byte
		want string
	}{
		"nothing":         {nil, `does not begin with "k8s\x00"`},
		"JSON":            {[]byte(`{"kind":"Event"}`), `does not begin with "k8s\x00"`},
		"another prefix":  {[]byte("k8s\x01"), `does not begin with "k8s\x00"`},
		"prefix alone":    {[]byte("k8s\x00"), "is empty"},
		"too large":       {make([]byte, kubeproto.MaxSize+1), "3145729 bytes are more than 3145728"},
		"cut short":       {envelope("v1", "Namespace", field(1, field(1, "lab")))[:20], "typeMeta: is cut short"},
		"long length":     {envelope("v1", "Namespace", []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f}), "Namespace: metadata: is cut short"},
		"endless varint":  {metadata(bytes.Repeat([]byte{0xff}, 11)), "Namespace: metadata: is not written as protobuf is"},
		"field zero":      {metadata([]byte{0x02, 0x00}), "Namespace: metadata: is not written as protobuf is"},
		"end of no group": {metadata([]byte{0x0c}), "Namespace: metadata.name: has wire type 4, not 2"},
		"end of unknown":  {metadata(protowire.AppendTag(nil, 90, protowire.EndGroupType)), "Namespace: metadata: is not written as protobuf is"},
		"deep groups":     {metadata(bytes.Repeat(protowire.AppendTag(nil, 90, protowire.StartGroupType), 100_000)), "Namespace: metadata: is not written as protobuf is"},
		"wrong wire type": {metadata(field(1, 5)), "Namespace: metadata.name: has wire type 0, not 2"},
		"number as text":  {metadata(field(7, "5")), "Namespace: metadata.generation: has wire type 2, not 0"},
		"not UTF-8":       {metadata(field(3, "\xff"+long)), "Namespace: metadata.namespace: is not UTF-8"},
		"key not UTF-8":   {metadata(field(11, field(1, "\xff"+long))), "Namespace: metadata.labels: is not UTF-8"},
		"item not UTF-8":  {metadata(field(14, "a"), field(14, "\xff")), "Namespace: metadata.finalizers.1: is not UTF-8"},
		"kind not UTF-8":  {envelope("v1", "\xff", nil), "kind: is not UTF-8"},
		"group not UTF-8": {envelope("\xff", "DeleteOptions", nil), "apiVersion: is not UTF-8"},
		"year 0":          {metadata(field(9, field(1, -62135596801))), "Namespace: metadata.deletionTimestamp: is not in the years 1 to 9999"},
		"year 10000":      {metadata(field(9, field(1, 253402300800))), "Namespace: metadata.deletionTimestamp: is not in the years 1 to 9999"},
		"end of time":     {metadata(field(9, field(1, -1<<63))), "Namespace: metadata.deletionTimestamp: is not in the years 1 to 9999"},
		"no JSON":         {metadata(field(17, field(7, field(1, "{"+long)))), "Namespace: metadata.managedFields.0.fieldsV1: is not JSON"},
		"JSON not UTF-8":  {metadata(field(17, field(7, field(1, "{\"\xff\":{}}")))), "Namespace: metadata.managedFields.0.fieldsV1: is not JSON"},
		"compressed":      {envelope("v1", "Namespace", nil, field(3, "gzip")), "contentEncoding: is not supported"},
		"JSON inside":     {envelope("v1", "Namespace", []byte("{}"), field(4, "application/json")), "contentType: is not supported"},
		"many items":      {metadata(bytes.Repeat(field(14, ""), 1<<16+1)), "Namespace: metadata.finalizers: there are more than 65536 items"},
		"many map items":  {metadata(bytes.Repeat(field(11, ""), 1<<16+1)), "Namespace: metadata.labels: there are more than 65536 items"},
	} {
		got, err := kubeproto.Decode(row.body, none)
		if !assert.Error(t, err, name) {
			continue
		}
		assert.Nil(t, got, name)
		assert.EqualError(t, err, "protobuf body: "+row.want, name)
	}
}

func TestContentTypeMayBeSaid(t *testing.T) {
	_, err := kubeproto.Decode(envelope("v1", "Namespace", nil, field(4, kubeproto.MediaType)), none)
	assert.NoError(t, err)
}

// TestMergingIsLinear: a message that is on the wire very often costs no more than
// its bytes. Copied anew for each occurrence it would be 400 GB.
func TestMergingIsLinear(t *testing.T) {
	got, err := kubeproto.Decode(envelope("v1", "Namespace", bytes.Repeat(field(1, field(1, "lab")), 300_000)), none)
	require.NoError(t, err)
	assert.Contains(t, string(got), `"metadata":{"name":"lab"}`)
}
