package managedfields_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/managedfields"
)

// What a Kubernetes API server was seen to answer to the same writes, messages
// included.
func TestApply(t *testing.T) {
	const spec = `"domain":{"cpu":{"cores":2},"devices":{}},"nodeSelector":{"x":"y"},"resourceClaims":[{"name":"c1","request":"r"}]`
	m := newMachine(t)
	m.mustApply("m1", `"labels":{"a":"b"}`, spec)
	first := `m1 Apply 1 {"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:domain":{"f:cpu":{"f:cores":{}},"f:devices":{}},"f:nodeSelector":{"f:x":{}},` +
		`"f:resourceClaims":{"k:{\"name\":\"c1\"}":{".":{},"f:name":{},"f:request":{}}}}}`
	assert.Equal(t, []string{first}, m.owners())
	before := m.live
	m.mustApply("m1", `"labels":{"a":"b"},"creationTimestamp":null`, spec)
	assert.Equal(t, string(before), string(m.live), "what is applied again changes nothing, not even times")

	err := m.apply("m2", "", `"domain":{"cpu":{"cores":3}}`, false)
	assert.EqualError(t, err, `Apply failed with 1 conflict: conflict with "m1": .spec.domain.cpu.cores`)
	m.put("up", `"labels":{"a":"b"}`, strings.Replace(spec, `"cores":2`, `"cores":2,"sockets":1`, 1))
	second := `up Update 4 {"f:spec":{"f:domain":{"f:cpu":{"f:sockets":{}}}}}`
	assert.Equal(t, []string{first, second}, m.owners())
	const change = `"domain":{"cpu":{"cores":3,"sockets":5},"devices":{}},"resourceClaims":[{"name":"c1","request":"q"}]`
	err = m.apply("m2", "", change, false)
	assert.EqualError(t, err, "Apply failed with 3 conflicts: conflicts with \"m1\":\n- .spec.domain.cpu.cores\n- .spec.resourceClaims[name=\"c1\"].request\n"+
		"conflicts with \"up\" using kubevirt.io/v1:\n- .spec.domain.cpu.sockets")
	var conflicts managedfields.Conflicts
	require.ErrorAs(t, err, &conflicts)
	require.Len(t, conflicts, 3)
	assert.Equal(t, managedfields.Conflict{Field: ".spec.domain.cpu.sockets", Manager: "up", Operation: managedfields.OperationUpdate, APIVersion: v1,
		Time: time.Date(2026, 8, 1, 12, 4, 0, 0, time.UTC)}, conflicts[2])
	assert.Equal(t, `conflict with "up" using kubevirt.io/v1`, conflicts[2].Message())

	require.NoError(t, m.apply("m2", "", change, true))
	assert.Equal(t, []string{
		`m1 Apply 1 {"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:domain":{"f:devices":{}},"f:nodeSelector":{"f:x":{}},"f:resourceClaims":{"k:{\"name\":\"c1\"}":{".":{},"f:name":{}}}}}`,
		`m2 Apply 6 {"f:spec":{"f:domain":{"f:cpu":{"f:cores":{},"f:sockets":{}},"f:devices":{}},"f:resourceClaims":{"k:{\"name\":\"c1\"}":{".":{},"f:name":{},"f:request":{}}}}}`,
	}, m.owners(), "a forced apply takes fields from others")
	m.mustApply("m1", "", `"domain":{"devices":{}}`)
	assert.Equal(t, `{"domain":{"cpu":{"cores":3,"sockets":5},"devices":{}},"resourceClaims":[{"name":"c1","request":"q"}]}`, m.spec(),
		"what only its manager owned goes when it is applied no more")
	m.mustApply("m2", "", `"domain":{"devices":{}}`)
	assert.Equal(t, `{"domain":{"devices":{}}}`, m.spec())
	assert.Equal(t, []string{`m1 Apply 7 {"f:spec":{"f:domain":{"f:devices":{}}}}`, `m2 Apply 8 {"f:spec":{"f:domain":{"f:devices":{}}}}`}, m.owners())
}

func TestSharedFields(t *testing.T) {
	m := newMachine(t)
	m.mustApply("m1", "", `"nodeSelector":{"a":"1","b":"2"}`)
	m.mustApply("m2", "", `"nodeSelector":{"a":"1"}`)
	assert.Equal(t, []string{`m2 Apply - {"f:spec":{"f:nodeSelector":{"f:a":{}}}}`, `m1 Apply 1 {"f:spec":{"f:nodeSelector":{"f:a":{},"f:b":{}}}}`}, m.owners(),
		"the same value has two owners, and an entry no time as long as it changed nothing")
	m.mustApply("m1", "", ``)
	assert.Equal(t, `{"nodeSelector":{"a":"1"}}`, m.spec(), "what another manager owns stays")
	m.mustApply("m2", "", ``)
	assert.NotContains(t, string(m.live), "nodeSelector")
}

func TestLists(t *testing.T) {
	m := newMachine(t)
	m.mustApply("m1", `"finalizers":["a/b","c/d"],"ownerReferences":[{"uid":"1","name":"a"}]`,
		`"volumes":[{"name":"v"}],"topologySpreadConstraints":[{"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}}]`)
	assert.Equal(t, []string{`m1 Apply 1 {"f:metadata":{"f:finalizers":{"v:\"a/b\"":{},"v:\"c/d\"":{}},"f:ownerReferences":{"k:{\"uid\":\"1\"}":{}}},` +
		`"f:spec":{"f:topologySpreadConstraints":{"k:{\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}":{".":{},"f:labelSelector":{},"f:topologyKey":{},"f:whenUnsatisfiable":{}}},"f:volumes":{}}}`}, m.owners())
	err := m.apply("m2", `"finalizers":["x/y","c/d"],"ownerReferences":[{"uid":"2"},{"uid":"1","name":"b"}]`,
		`"volumes":[],"topologySpreadConstraints":[{"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"c":"d"}}}]`, false)
	assert.EqualError(t, err, "Apply failed with 3 conflicts: conflicts with \"m1\":\n- .metadata.ownerReferences[uid=\"1\"]\n- .spec.volumes\n"+
		"- .spec.topologySpreadConstraints[topologyKey=\"z\",whenUnsatisfiable=\"DoNotSchedule\"].labelSelector")
	require.NoError(t, m.apply("m2", `"finalizers":["x/y","c/d"],"ownerReferences":[{"uid":"2"},{"uid":"1","name":"b"}]`, ``, true))
	assert.Contains(t, string(m.live), `"finalizers":["a/b","x/y","c/d"]`, "items keep the order that is applied, with others in between")
	assert.Contains(t, string(m.live), `"ownerReferences":[{"uid":"2"},{"name":"b","uid":"1"}]`)
	m.mustApply("m2", "", ``)
	assert.Contains(t, string(m.live), `"finalizers":["a/b","c/d"]`)
	assert.NotContains(t, string(m.live), `ownerReferences`)
}

func TestBytesAreKept(t *testing.T) {
	m := newMachine(t)
	m.put("p", `"x":"<é\u2028\\"`, `"unknown":{"b":1.50,"a":[{"z":1e3,"y":123456789012345678901234567890}]},"terminationGracePeriodSeconds":10.0`)
	m.mustApply("a", "", `"other":{"list":[{"b":1,"a":0.10}]}`)
	assert.Equal(t, `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"managedFields":`+m.fields()+`,"name":"a","x":"<é\u2028\\"},`+
		`"spec":{"other":{"list":[{"a":0.10,"b":1}]},"terminationGracePeriodSeconds":10.0,"unknown":{"a":[{"y":123456789012345678901234567890,"z":1e3}],"b":1.50}}}`, string(m.live))
	m.mustApply("b", "", `"terminationGracePeriodSeconds":10`)
	assert.Contains(t, string(m.live), `"terminationGracePeriodSeconds":10.0`, "the same number is no change")
}

func TestVersions(t *testing.T) {
	m := newMachine(t)
	m.mustApply("m", "", `"hostname":"h"`)
	w := m.by("m")
	w.APIVersion = "kubevirt.io/v1alpha3"
	out, err := managedfields.VirtualMachineInstance.Apply(m.live, []byte(strings.Replace(manifest("", `"hostname":"h"`), v1, w.APIVersion, 1)), w, false)
	require.NoError(t, err)
	m.live = []byte(strings.Replace(string(out), w.APIVersion, v1, 1))
	assert.Contains(t, string(out), `{"apiVersion":"kubevirt.io/v1alpha3","fieldsType":"FieldsV1"`, "an applier has one entry, of the version it applied last")
	assert.Equal(t, []string{`m Apply 1 {"f:spec":{"f:hostname":{}}}`}, m.owners())
}

// kubectl apply --server-side takes over what kubectl apply did without it.
func TestLastApplied(t *testing.T) {
	annotation := func(spec string) string {
		text, err := json.Marshal(manifest(`"labels":{"z":"1"}`, spec) + "\n")
		require.NoError(t, err)
		return `"labels":{"z":"1"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":` + string(text) + `}`
	}
	m := newMachine(t)
	m.put("kubectl-client-side-apply", annotation(`"domain":{"cpu":{"cores":1}}`), `"domain":{"cpu":{"cores":1}}`)
	assert.Error(t, m.apply("other", "", `"domain":{"cpu":{"cores":2}}`, false))
	m.mustApply("kubectl", `"labels":{"z":"1"}`, `"domain":{"cpu":{"cores":2}}`)
	assert.Equal(t, []string{
		`kubectl Apply 3 {"f:metadata":{"f:labels":{"f:z":{}}},"f:spec":{"f:domain":{"f:cpu":{"f:cores":{}}}}}`,
		`kubectl-client-side-apply Update 1 {"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},` +
			`"f:labels":{".":{},"f:z":{}}},"f:spec":{".":{},"f:domain":{".":{},"f:cpu":{}}}}`}, m.owners())
	assert.Contains(t, string(m.live), `{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachineInstance\",`+
		`\"metadata\":{\"labels\":{\"z\":\"1\"},\"name\":\"a\"},\"spec\":{\"domain\":{\"cpu\":{\"cores\":2}}}}\n"}`, "the annotation follows")

	m.put("hand", annotation(`"domain":{"cpu":{"cores":2}}`), `"hostname":"h","domain":{"cpu":{"cores":2}}`)
	err := m.apply("kubectl", "", `"hostname":"i","domain":{"cpu":{"cores":3}}`, false)
	assert.EqualError(t, err, `Apply failed with 1 conflict: conflict with "hand" using kubevirt.io/v1: .spec.hostname`)

	large := strings.Repeat("x", 256<<10)
	require.NoError(t, m.apply("kubectl", "", `"hostname":"`+large+`"`, true))
	assert.Contains(t, string(m.live), `"annotations":{}`, "an annotation that would be too large goes")
}

func TestRefusals(t *testing.T) {
	const object = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance"`
	const typed = "failed to create typed patch object (/a; kubevirt.io/v1, Kind=VirtualMachineInstance): "
	for _, c := range []struct{ applied, want string }{
		{`[]`, "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{`"x"`, "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}"},
		{`5`, "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go value of type map[string]interface {}"},
		{`true`, "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal bool into Go value of type map[string]interface {}"},
		{`{`, "error decoding patch: invalid JSON at byte 1: expected the name of a member"},
		{`null`, "invalid object type: /, Kind="},
		{`{"metadata":{"name":"a"}}`, "invalid object type: /, Kind="},
		{`{"apiVersion":"v1","kind":"Pod"}`, "invalid object type: /v1, Kind=Pod"},
		{`{"apiVersion":"kubevirt.io/v1alpha3","kind":"VirtualMachineInstance"}`, "invalid object type: kubevirt.io/v1alpha3, Kind=VirtualMachineInstance"},
		{`{"apiVersion":5,"kind":"VirtualMachineInstance"}`, "invalid object type: /, Kind=VirtualMachineInstance"},
		{`{"apiVersion":"a/b/c","kind":"VirtualMachineInstance"}`, "invalid object type: /, Kind=VirtualMachineInstance"},
		{object + `,"metadata":{"managedFields":[{"manager":"x"}]}}`, "metadata.managedFields must be nil"},
		{object + `,"metadata":{"managedFields":[]}}`, "metadata.managedFields must be nil"},
		{object + `,"metadata":5}`, "failed to create typed patch object (/; kubevirt.io/v1, Kind=VirtualMachineInstance): .metadata: expected map, got 5"},
		{manifest("", `"resourceClaims":[{"name":"a"},{"name":"a"}]`), typed + `.spec.resourceClaims: duplicate entries for key [name="a"]`},
		{manifest("", `"resourceClaims":[{"request":"a"}]`), typed + `.spec.resourceClaims: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`},
		{manifest("", `"resourceClaims":[null]`), typed + `.spec.resourceClaims: element 0: associative list with keys may not have a null element`},
		{manifest("", `"resourceClaims":["x"]`), typed + `.spec.resourceClaims: element 0: associative list with keys may not have non-map elements`},
		{manifest(`"finalizers":["x/y","x/y"]`, ""), typed + `.metadata.finalizers: duplicate entries for key [="x/y"]`},
		{manifest(`"finalizers":[null]`, ""), typed + `.metadata.finalizers: element 0: associative list without keys has an element that's an explicit null`},
		{manifest(`"finalizers":[{}]`, ""), typed + `.metadata.finalizers: element 0: associative list without keys has an element that's a map type`},
		{manifest(`"finalizers":[[]]`, ""), typed + `.metadata.finalizers: element 0: not supported: associative list with lists as elements`},
		{manifest(`"ownerReferences":[{"uid":"1"},{"uid":"1"}]`, ""), typed + `.metadata.ownerReferences: duplicate entries for key [uid="1"]`},
		{manifest("", `"accessCredentials":[{"sshPublicKey":{"propagationMethod":{"qemuGuestAgent":{"users":["a","a"]}}}}]`),
			typed + `.spec.accessCredentials[0].sshPublicKey.propagationMethod.qemuGuestAgent.users: duplicate entries for key [="a"]`},
		{manifest(`"finalizers":[1,1.0]`, `"utilityVolumes":[{}]`), typed + "errors:\n  .metadata.finalizers: duplicate entries for key [=1]\n" +
			`  .spec.utilityVolumes: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`},
	} {
		_, err := managedfields.VirtualMachineInstance.Apply(nil, []byte(c.applied), managedfields.Write{Manager: "m", APIVersion: v1}, true)
		assert.EqualError(t, err, c.want, c.applied)
		var bad *managedfields.BadRequestError
		var wrong *managedfields.TypeError
		if strings.HasPrefix(c.want, "failed to create") {
			assert.ErrorAs(t, err, &wrong)
		} else {
			assert.ErrorAs(t, err, &bad)
		}
	}
	for live, want := range map[string]string{
		`{`:  "live object: invalid JSON at byte 1: expected the name of a member",
		`[]`: "live object: not a JSON object",
		manifest("", `"resourceClaims":[{}]`): "failed to create typed live object (/a; kubevirt.io/v1, Kind=VirtualMachineInstance): .spec.resourceClaims: element 0: associative list with keys has " +
			`an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
	} {
		_, err := managedfields.VirtualMachineInstance.Apply([]byte(live), []byte(manifest("", "")), managedfields.Write{APIVersion: v1}, false)
		assert.EqualError(t, err, want, live)
	}
}

func TestUnreadableOwners(t *testing.T) {
	m := newMachine(t)
	m.live = []byte(manifest(`"managedFields":[{"manager":"x","operation":"?"}]`, `"hostname":"h"`))
	m.mustApply("m", "", `"subdomain":"s"`)
	assert.Equal(t, []string{`m Apply 1 {"f:spec":{"f:subdomain":{}}}`, `before-first-apply Update 1 {"f:spec":{".":{},"f:hostname":{}}}`}, m.owners())
}
