package server_test

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
	"github.com/vmikit/vmikit/server/store"
)

// shown are rows of DIFFERENCES.md that are shown in a few lines, by their first cells.
var shown = map[string]func(t *testing.T){
	"an object with a value outside an enum, a bad MAC, `cores: 0`": func(t *testing.T) {
		f := start(t)
		for _, domain := range []string{
			`{"devices":{},"cpu":{"cores":0}}`, `{"devices":{"interfaces":[{"name":"a","macAddress":"x"}]}}`,
		} {
			refused := f.send("POST", inVMs, strings.Replace(vm("a"), `{"devices":{}`, strings.TrimSuffix(domain, "}"), 1))
			assert.Equal(t, 422, refused.StatusCode, string(refused.body))
		}
		assert.Equal(t, 422, f.send("POST", inVMs, strings.Replace(vm("a"), `"spec":{`, `"spec":{"evictionStrategy":"Perhaps",`, 1)).StatusCode)
	},
	"managedFields in a write that cannot be read (a `time` that is none)": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs, vm("a")).written(t, 201)
		owners := f.get(inVMs+"/a").written(t, 200).Metadata.ManagedFields
		patch := `{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"kubevirt.io/v1","fieldsType":"FieldsV1","fieldsV1":{},"time":"nope"}]}}`
		assert.Equal(t, owners, f.send("PATCH", inVMs+"/a", patch).written(t, 200).Metadata.ManagedFields)
	},
	"a value that the definition alone has a rule for (`memory.guest: x`, cores beyond 32 bits)": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs, vm("a")).written(t, 201)
		f.send("PATCH", inVMs+"/a", `{"spec":{"domain":{"memory":{"guest":"x"},"cpu":{"cores":4294967296}}}}`).written(t, 200)
	},
	"a whole number written as `1.0` or `1e3`": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs, vm("a")).written(t, 201)
		for _, cores := range []string{"1.0", "1e3"} {
			refused := f.send("PATCH", inVMs+"/a", `{"spec":{"domain":{"cpu":{"cores":`+cores+`}}}}`).status(t)
			assert.Contains(t, refused.Message, "must be written without fraction and exponent")
		}
	},
	"text that is no Unicode (`\"\\ud800\"`, bytes that are not UTF-8)": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs, vm("a")).written(t, 201)
		for _, text := range []string{`\ud800`, "\xff"} {
			refused := f.send("PATCH", inVMs+"/a", `{"spec":{"hostname":"`+text+`"}}`).status(t)
			assert.Equal(t, "spec.hostname", refused.Details.Causes[0].Field)
		}
	},
	"metadata whose types are wrong (`labels: {a: 1}`), beside a name": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs, vm("a")).written(t, 201)
		for _, r := range []reply{
			f.send("POST", inVMs, vm("b", `"labels":{"a":1}`)),
			f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"a":1}}}`),
			f.send("PATCH", inVMs+"/a?fieldManager=m", vm("a", `"labels":{"a":1}`), "Content-Type: application/apply-patch+yaml"),
		} {
			s := r.status(t)
			assert.EqualValues(t, 422, s.Code)
			assert.Equal(t, "metadata.labels.a", s.Details.Causes[0].Field)
		}
	},
	"a watch over a WebSocket": func(t *testing.T) {
		w := start(t).watch(inVMs+"?watch=1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Origin: http://127.0.0.1")
		assert.Equal(t, 200, w.StatusCode)
	},
	"a field that is there twice in YAML": func(t *testing.T) {
		r := start(t).send("POST", inVMs, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec: {domain: {devices: {}}, hostname: a, hostname: b}\n", "Content-Type: application/yaml")
		assert.Equal(t, 201, r.StatusCode)
		assert.Equal(t, `299 - "duplicate field \"spec.hostname\""`, r.Header.Get("Warning"))
	},
	"`DELETE …?dryRun=All` with DeleteOptions in the body that say nothing of it": func(t *testing.T) {
		f := start(t).create("vms/a")
		assert.Equal(t, 200, f.send("DELETE", inVMs+"/a?dryRun=All", `{"kind":"DeleteOptions","apiVersion":"v1"}`).StatusCode)
		assert.Equal(t, 200, f.get(inVMs+"/a").StatusCode)
	},
	"an apply whose list has two items with one key, or an item without one": func(t *testing.T) {
		f := start(t)
		for _, owners := range []string{
			`[{"apiVersion":"v1","kind":"A","name":"a","uid":"1"},{"apiVersion":"v1","kind":"A","name":"b","uid":"1"}]`,
			`[{"apiVersion":"v1","kind":"A","name":"a"}]`,
		} {
			r := f.send("PATCH", inVMs+"/a?fieldManager=x", vm("a", `"ownerReferences":`+owners), "Content-Type: application/apply-patch+yaml")
			assert.Equal(t, 422, r.StatusCode, string(r.body))
		}
	},
	"in YAML: the key `<<`, text such as `1e400`": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs, vm("a", `"annotations":{"a":"1e400"}`, `"labels":null`)).written(t, 201)
		f.send("PATCH", inVMs+"/a?fieldValidation=Ignore", `{"spec":{"<<":"x"}}`).written(t, 200)
		text := string(f.get(inVMs+"/a", "Accept: application/yaml").body)
		assert.Contains(t, text, `a: "1e400"`)
		assert.Contains(t, text, `"<<": x`)
	},
	"in YAML: numbers": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs+"?fieldValidation=Ignore", strings.Replace(vm("a"), `"spec":{`, `"spec":{"x":1.50,"z":1e40,`, 1)).written(t, 201)
		text := string(f.get(inVMs+"/a", "Accept: application/yaml").body)
		assert.Contains(t, text, "x: 1.50\n")
		assert.Contains(t, text, "z: 1e40\n")
	},
	"no credentials, when there are tokens or client CAs": func(t *testing.T) {
		f := start(t, tokens(t))
		for _, path := range []string{inVMs, "/version", "/readyz", "/nosuch"} {
			assert.Equal(t, 401, f.get(path).StatusCode, path)
		}
		assert.Equal(t, 200, start(t, tokens(t), server.WithAnonymous()).get("/version").StatusCode)
	},
	"a token, when there are none": func(t *testing.T) {
		assert.Equal(t, 200, start(t).get(inVMs, "Authorization: Bearer whatever").StatusCode)
	},
	"`/metrics`, `/debug/pprof`": func(t *testing.T) {
		for _, path := range []string{"/metrics", "/debug/pprof/"} {
			assert.Equal(t, "404 page not found\n", string(start(t).get(path).body))
		}
	},
	"how a user is impersonated, when one of several ways was found before": func(t *testing.T) {
		f := start(t, impersonatorTokens(t), impersonators(t))
		before := f.as("older", "User: jim").status(t).Message
		assert.Contains(t, before, "impersonate-on:user-info")
		assert.Equal(t, 200, f.as("older", "User: jane").StatusCode, "by the older way")
		assert.Equal(t, before, f.as("older", "User: jim").status(t).Message)
	},
	"Impersonate-Group, -Uid or -Extra-* without Impersonate-User": func(t *testing.T) {
		r := start(t).get(inVMs, "Impersonate-Group: a")
		assert.Equal(t, "Impersonate-Group, Impersonate-Uid and Impersonate-Extra-* need Impersonate-User beside them", r.status(t).Message)
	},
	"a service account impersonates the node that it is on (`impersonate:associated-node`)": func(t *testing.T) {
		const agent = "system:serviceaccount:vms:agent"
		p, err := rbac.New(
			[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"agent"},"rules":[`+
				`{"verbs":["impersonate-on:associated-node:list"],"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"]},`+
				`{"verbs":["impersonate:associated-node"],"apiGroups":["authentication.k8s.io"],"resources":["nodes"]}]}`),
			[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"agent"},`+
				`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"agent"},`+
				`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+agent+`"}]}`))
		require.NoError(t, err)
		users, err := server.ReadTokens(strings.NewReader("agenttoken," + agent + ",1\n"))
		require.NoError(t, err)
		r := start(t, server.WithPolicy(p), server.WithTokens(users)).as("agent", "User: system:node:n1")
		assert.Equal(t, 403, r.StatusCode)
		assert.Contains(t, r.status(t).Message, "impersonate-on:arbitrary-node:list")
	},
	"names in the Host header": func(t *testing.T) {
		assert.Equal(t, 403, start(t).get(inVMs, "Host: example.org").StatusCode)
		assert.Equal(t, 200, start(t, server.WithHosts("example.org")).get(inVMs, "Host: example.org").StatusCode)
	},
	"namespaces": func(t *testing.T) {
		f := start(t)
		assert.Equal(t, "default kube-system kubevirt", f.get(namespaces).named(t))
		f.send("POST", inVMs, vm("a")).written(t, 201)
		assert.Equal(t, "default kube-system kubevirt vms", f.get(namespaces).named(t))
		assert.Equal(t, 404, start(t, server.WithStrictNamespaces()).send("POST", inVMs, vm("a")).StatusCode)
	},
	"pods, secrets, persistent volume claims": func(t *testing.T) {
		f := start(t)
		for _, kind := range []string{"pods", "secrets", "persistentvolumeclaims"} {
			assert.Empty(t, f.get("/api/v1/namespaces/vms/"+kind).named(t))
			assert.Equal(t, 405, f.send("POST", "/api/v1/namespaces/vms/"+kind, `{}`).StatusCode)
		}
	},
	"the definition of the machines": func(t *testing.T) {
		r := start(t).get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachineinstances.kubevirt.io")
		assert.Contains(t, string(r.body), `"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)
	},
	"unknown fields of events, leases, namespaces": func(t *testing.T) {
		f := start(t)
		f.send("POST", leases, strings.Replace(lease1, `"spec":{`, `"spec":{"bogus":1,`, 1)).written(t, 201)
		assert.Contains(t, string(f.get(leases+"/l").body), `"bogus":1`)
	},
	"where events and leases are kept": func(t *testing.T) {
		st := store.NewMemory()
		first, second := startStore(t, st), startStore(t, st)
		first.create("vms/a").send("POST", leases, lease1).written(t, 201)
		assert.Equal(t, 200, second.get(inVMs+"/a").StatusCode)
		assert.Equal(t, 404, second.get(leases+"/l").StatusCode)
	},
	"PUT …/subresources.kubevirt.io/…": func(t *testing.T) {
		r := start(t).create("vms/a").send("PUT", "/apis/subresources.kubevirt.io/v1/namespaces/vms/virtualmachineinstances/a/pause", `{}`)
		assert.Contains(t, r.status(t).Message, "nothing that runs")
	},
	"spec of a new machine (`--admission=kubevirt`)": func(t *testing.T) {
		f := admitting(t)
		body := strings.NewReplacer(`"64Mi"`, `"0.5Gi"`, `"devices":{}`, `"devices":{"bogus":0}`).Replace(vm("a"))
		made := string(f.send("POST", inVMs+"?fieldValidation=Ignore", body, asJane).body)
		assert.Contains(t, made, `"0.5Gi"`)
		assert.Contains(t, made, `"bogus":0`)
	},
	"the finalizer in a machine that has it already (`--admission=kubevirt`)": func(t *testing.T) {
		made := admitting(t).send("POST", inVMs, vm("a", `"finalizers":["`+finalizer+`"]`), asJane)
		assert.Contains(t, string(made.body), `"finalizers":["`+finalizer+`"]`)
	},
	"an object that breaks the document (`--admission=kubevirt`)": func(t *testing.T) {
		refused := admitting(t).send("POST", inVMs, strings.Replace(vm("a"), `"devices":{}`, `"devices":{},"cpu":{"cores":0}`, 1), asJane)
		assert.Equal(t, []vmi.StatusCause{{Reason: "FieldValueInvalid", Message: "Invalid value: 0: must be at least 1", Field: "spec.domain.cpu.cores"}},
			refused.status(t).Details.Causes)
	},
	"unknown": func(t *testing.T) {
		document, err := os.ReadFile("../openapi/kubevirt.gen.yaml")
		require.NoError(t, err)
		require.NotContains(t, string(document), "priorityClassName:", "it is the definition that names it")
		for field, warnings := range map[string]int{"priorityClassName": 0, "priorityClassNames": 1} {
			r := start(t).send("POST", inVMs, strings.Replace(vm("a"), `"spec":{`, `"spec":{"`+field+`":"x",`, 1))
			assert.Equal(t, 201, r.StatusCode)
			assert.Len(t, r.Header.Values("Warning"), warnings, field)
		}
	},
	"a whole number beyond 64 bits, where nobody names the field": func(t *testing.T) {
		r := start(t).send("POST", inVMs, strings.Replace(vm("a"), `"spec":{`, `"spec":{"bogus":123456789012345678901234567890,`, 1))
		assert.Equal(t, []vmi.StatusCause{{Reason: "FieldValueInvalid", Message: "Invalid value: 123456789012345678901234567890: must fit into 64 bits", Field: "spec.bogus"}},
			r.status(t).Details.Causes)
	},
	"unknown fields in a machine, when it is patched (JSON patch, merge patch)": func(t *testing.T) {
		f := start(t)
		f.send("POST", inVMs+"?fieldValidation=Ignore", strings.Replace(vm("a"), `"spec":{`, `"spec":{"bogus":1,`, 1)).written(t, 201)
		for patch, warnings := range map[string]int{`{"metadata":{"labels":{"a":"b"}}}`: 0, `{"spec":{"hostname":"b"}}`: 1} {
			r := f.send("PATCH", inVMs+"/a", patch)
			assert.Len(t, r.Header.Values("Warning"), warnings, patch)
			assert.Contains(t, string(r.body), `"bogus":1`)
		}
	},
	"grace periods, Foreground and Orphan": func(t *testing.T) {
		f := start(t)
		for _, policy := range []string{"Foreground", "Orphan", "Background"} {
			f.send("POST", inVMs, vm("a")).written(t, 201)
			assert.Equal(t, 200, f.do("DELETE", inVMs+"/a?gracePeriodSeconds=600&propagationPolicy="+policy).StatusCode)
			assert.Equal(t, 404, f.get(inVMs+"/a").StatusCode, policy)
		}
	},
	"machines that were loaded": func(t *testing.T) {
		assert.NotContains(t, string(start(t).create("vms/a").get(inVMs+"/a").body), "managedFields")
	},
	"first resourceVersion": func(t *testing.T) {
		first, err := strconv.ParseInt(start(t).revision(), 10, 64)
		require.NoError(t, err)
		assert.Greater(t, first, int64(1e15))
	},
	"a selector with more than eight bad values": func(t *testing.T) {
		var values []string
		for i := range 12 {
			values = append(values, fmt.Sprintf("b%d%%25", i))
		}
		many := start(t).get(inVMs + "?labelSelector=a+in+(" + strings.Join(values, ",") + ")").status(t)
		assert.Equal(t, 8, strings.Count(many.Message, "Invalid value"), many.Message)
	},
	"trailing slash on `/api/`, `/apis/`, `/healthz/`, `/version/`": func(t *testing.T) {
		for _, path := range []string{"/api/", "/apis/", "/healthz/", "/version/"} {
			assert.Equal(t, 200, start(t).get(path).StatusCode, path)
		}
	},
	"Accept of discovery and version": func(t *testing.T) {
		f := start(t)
		assert.Equal(t, 406, f.get("/apis", "Accept: text/html").StatusCode)
		assert.Equal(t, "application/yaml", f.get("/apis", "Accept: application/yaml").Header.Get("Content-Type"))
		assert.Equal(t, 200, f.get("/version", "Accept: text/html").StatusCode)
	},
	"a bad parameter with an Accept that nothing satisfies": func(t *testing.T) {
		assert.Equal(t, 400, start(t).get(inVMs+"?limit=x", "Accept: text/html").StatusCode)
	},
	"`application/json;q=0`, `application/yaml;q=0`": func(t *testing.T) {
		for _, accept := range []string{"application/json;q=0", "application/yaml;q=0"} {
			assert.Equal(t, 406, start(t).get(inVMs, "Accept: "+accept).StatusCode, accept)
		}
	},
	"`application/json;v=v1` without `as`": func(t *testing.T) {
		assert.Equal(t, 200, start(t).get(inVMs, "Accept: application/json;v=v1").StatusCode)
	},
	"`..` or `%` as a name": func(t *testing.T) {
		for _, name := range []string{"%2E%2E", "%25"} {
			assert.Equal(t, 404, start(t).get(inVMs+"/"+name).StatusCode, name)
		}
	},
	"HEAD of `/version` and discovery": func(t *testing.T) {
		for _, path := range []string{"/version", "/api", "/apis", "/apis/kubevirt.io", "/apis/kubevirt.io/v1"} {
			assert.Equal(t, 200, start(t).do(http.MethodHead, path).StatusCode, path)
		}
	},
}
