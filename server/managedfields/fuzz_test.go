package managedfields_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/managedfields"
)

var when = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// seeds are objects to begin with.
var seeds = []string{
	`{}`, `null`, `[]`, `{"metadata":null}`, `{"a":{"a":1},"a":2}`, `{"a":"\ud800\u0000é"}`,
	manifest("", `"hostname":"h"`),
	manifest(`"labels":{"a":"b"},"finalizers":["a/b","c/d"],"ownerReferences":[{"uid":"1"},{"uid":"2"}]`,
		`"domain":{"cpu":{"cores":2}},"resourceClaims":[{"name":"a"},{"name":"b","x":{"y":[]}}],"topologySpreadConstraints":[{"topologyKey":"z"},{"topologyKey":"z","whenUnsatisfiable":1.0}]`),
	manifest(`"finalizers":["a/b","a/b",null]`, `"resourceClaims":null,"utilityVolumes":{},"domain":[]`),
	manifest(`"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1",`+
		`"fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"a/b\"":{},"v:1.0":{}}},"f:spec":{"f:hostname":{},"f:resourceClaims":{"k:{\"name\":\"a\"}":{"f:x":{}}}}}},`+
		`{"manager":"n","operation":"Update","apiVersion":"kubevirt.io/v1alpha3","time":"2026-08-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"i:1":{}}}}]`,
		`"hostname":"h","resourceClaims":[{"name":"a","x":1}]`),
	manifest(`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachineInstance\",\"spec\":{\"hostname\":\"h\"}}"}`, `"hostname":"h"`),
}

func FuzzUpdate(f *testing.F) {
	for _, live := range seeds {
		for _, object := range seeds {
			f.Add([]byte(live), []byte(object))
		}
	}
	f.Fuzz(func(t *testing.T, live, object []byte) {
		w := managedfields.Write{Manager: "m", APIVersion: v1, Time: when}
		created, err := managedfields.VirtualMachineInstance.Update(nil, object, w)
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil || members == nil {
			assert.Error(t, err, "what encoding/json takes for no object is none")
			return
		}
		require.NoError(t, err)
		requireFields(t, created)
		if fields, err := managedfields.VirtualMachineInstance.Update(live, object, w); err == nil {
			requireFields(t, fields)
		}
	})
}

// requireFields holds that fields are none or such as can be read again.
func requireFields(t *testing.T, fields []byte) {
	if fields == nil {
		return
	}
	var entries []map[string]any
	require.NoError(t, json.Unmarshal(fields, &entries), "%s", fields)
	require.NotEmpty(t, entries)
	var canonical bytes.Buffer
	enc := json.NewEncoder(&canonical)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(entries))
	require.Equal(t, canonical.String(), string(fields)+"\n", "the server stores them as they are")
}

func FuzzApply(f *testing.F) {
	for _, live := range seeds {
		for _, applied := range seeds {
			f.Add([]byte(live), []byte(applied), true, "m")
			f.Add([]byte(live), []byte(applied), false, "kubectl")
		}
	}
	f.Fuzz(func(t *testing.T, live, applied []byte, force bool, manager string) {
		w := managedfields.Write{Manager: manager, APIVersion: v1, Time: when}
		out, err := managedfields.VirtualMachineInstance.Apply(live, applied, w, force)
		if err != nil {
			var conflicts managedfields.Conflicts
			if errors.As(err, &conflicts) {
				require.NotEmpty(t, conflicts)
				require.False(t, force && manager != "kubectl", "a forced apply has no conflicts")
			}
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, json.Valid(out), "%s", out)
		if manager == "kubectl" {
			return // what is in its annotation is not what was applied to it
		}
		// Who applies twice changes nothing the second time.
		w.Time = when.Add(time.Hour)
		again, err := managedfields.VirtualMachineInstance.Apply(out, applied, w, false)
		require.NoError(t, err, "%s", out)
		require.Equal(t, string(out), string(again))
	})
}
