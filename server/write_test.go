package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
)

// send is do with a body. A patch is told by what its body begins with.
func (f *fixture) send(method, path, body string, headers ...string) reply {
	f.t.Helper()
	media := "application/json"
	switch {
	case method == http.MethodPatch && strings.HasPrefix(body, "["):
		media = "application/json-patch+json"
	case method == http.MethodPatch:
		media = "application/merge-patch+json"
	}
	req, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	require.NoError(f.t, err)
	req.Header.Set("Content-Type", media)
	req.Header.Set("User-Agent", "rec/1")
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		req.Header.Set(name, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(f.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	return reply{res, data}
}

// vm is a machine to write, with some members of its metadata.
func vm(name string, meta ...string) string {
	return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":%q%s},"spec":{"domain":{"devices":{},"resources":{"requests":{"memory":"64Mi"}}}}}`,
		name, strings.Join(append([]string{""}, meta...), ","))
}

type written struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		CreationTimestamp, DeletionTimestamp  string
		DeletionGracePeriodSeconds            *int
		Generation                            int
		Labels                                map[string]string
		Finalizers                            []string
		ManagedFields                         []struct{ Manager, Operation string }
	}
	Status struct{ Phase string }
}

func (r reply) written(t *testing.T, status int) written {
	t.Helper()
	require.Equal(t, status, r.StatusCode, string(r.body))
	var w written
	require.NoError(t, json.Unmarshal(r.body, &w))
	return w
}

func TestCreate(t *testing.T) {
	f := start(t)
	got := f.send("POST", inVMs, vm("wr1", `"labels":{"a":"1"}`, `"uid":"mine"`, `"creationTimestamp":"2001-01-01T00:00:00Z"`, `"generation":7`)).written(t, 201)
	m := got.Metadata
	assert.Equal(t, "vms", m.Namespace)
	assert.Regexp(t, `^[0-9a-f-]{36}$`, m.UID)
	assert.NotContains(t, m.CreationTimestamp, "2001")
	assert.Equal(t, 1, m.Generation)
	assert.Equal(t, f.revision(), m.ResourceVersion)
	assert.Equal(t, "rec", m.ManagedFields[0].Manager)
	assert.Equal(t, string(f.get(inVMs+"/wr1").body), string(f.send("PATCH", inVMs+"/wr1", "{}").body), "nothing changes")

	again := f.send("POST", inVMs, vm("wr1")).status(t)
	assert.Equal(t, `virtualmachineinstances.kubevirt.io "wr1" already exists`, again.Message)
	assert.Equal(t, "AlreadyExists", again.Reason)
	assert.Equal(t, "virtualmachineinstances", again.Details.Kind)

	dry := f.send("POST", inVMs+"?dryRun=All", vm("dry")).written(t, 201)
	assert.NotEmpty(t, dry.Metadata.UID)
	assert.Empty(t, dry.Metadata.ResourceVersion)
	assert.Equal(t, 404, f.get(inVMs+"/dry").StatusCode)
	assert.Equal(t, "AlreadyExists", f.send("POST", inVMs+"?dryRun=All", vm("wr1")).status(t).Reason)

	named := f.send("POST", inVMs, vm("", `"generateName":"gen-"`)).written(t, 201)
	assert.Regexp(t, `^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$`, named.Metadata.Name)
	nameless := strings.Replace(vm("", `"generateName":"gen-"`), `"name":"",`, "", 1)
	assert.NotEqual(t, named.Metadata.Name, f.send("POST", inVMs, nameless).written(t, 201).Metadata.Name)
	long := f.send("POST", inVMs, vm("", `"generateName":"`+strings.Repeat("g", 100)+`"`)).written(t, 201)
	assert.Len(t, long.Metadata.Name, 63)

	yaml := f.send("POST", inVMs, "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: from-yaml}\nspec: {domain: {devices: {}}}\n", "Content-Type: application/yaml")
	assert.Equal(t, "from-yaml", yaml.written(t, 201).Metadata.Name)
	table := f.send("POST", inVMs, vm("tab"), "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
	assert.Contains(t, string(table.body), `"kind":"Table"`)
	assert.Equal(t, 201, table.StatusCode)
}

// What a Kubernetes API server refuses, in its words where they are recorded.
func TestCreateRefused(t *testing.T) {
	f := start(t)
	spec := func(spec string) string {
		return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"x"},"spec":` + spec + `}`
	}
	for _, c := range []struct {
		query, body    string
		code           int
		reason         string
		message, field string
	}{
		{"?dryRun=Bad", vm("x"), 422, "Invalid", `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Bad"]: supported values: "All"`, "dryRun"},
		{"?fieldValidation=Bad", vm("x"), 422, "Invalid", `CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Bad": supported values: "", "Ignore", "Strict", "Warn"`, "fieldValidation"},
		{"?fieldManager=" + strings.Repeat("m", 129), vm("x"), 422, "Invalid", `fieldManager: Too long`, "fieldManager"},
		{"?fieldManager=%00", vm("x"), 422, "Invalid", `should only contain printable characters`, "fieldManager"},
		{"", vm(""), 422, "Invalid", `VirtualMachineInstance.kubevirt.io "" is invalid: metadata.name: Required value: name or generateName is required`, "metadata.name"},
		{"", vm("Bad_Name"), 422, "Invalid", `VirtualMachineInstance.kubevirt.io "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name"`, "metadata.name"},
		{"", vm("x", `"namespace":"empty"`), 400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request", ""},
		{"", spec(`{"domain":{"devices":{"disks":[{"disk":{}}]}}}`), 422, "Invalid", `VirtualMachineInstance.kubevirt.io "x" is invalid: spec.domain.devices.disks[0].name: Required value`, "spec.domain.devices.disks[0].name"},
		{"", spec(`{"domain":{"cpu":{"cores":"two"}}}`), 422, "Invalid", `spec.domain.cpu.cores: Invalid value: "two"`, "spec.domain.cpu.cores"},
		{"", spec(`{"domain":{"devices":{"disks":[{"name":"a","disk":{"bus":"usb3"}}]}}}`), 422, "Invalid", `spec.domain.devices.disks[0].disk.bus: Unsupported value: "usb3"`, "spec.domain.devices.disks[0].disk.bus"},
		{"", strings.Replace(vm("x"), "VirtualMachineInstance", "VirtualMachine", 1), 422, "Invalid", `VirtualMachine.kubevirt.io "x" is invalid: kind: Invalid value: "VirtualMachine": must be VirtualMachineInstance`, "kind"},
		{"", strings.Replace(vm("x"), "kubevirt.io/v1", "kubevirt.io/v2", 1), 400, "BadRequest", "the API version in the data (kubevirt.io/v2) does not match the expected API version (kubevirt.io/v1)", ""},
		{"", strings.Replace(vm("x"), "kubevirt.io/v1", "kubevirt.io/v1alpha3", 1), 400, "BadRequest", "the API version in the data", ""},
		{"", vm("x", `"labels":{"a b":"c d"}`), 422, "Invalid", `metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters`, "metadata.labels"},
		{"", vm("x", `"annotations":{"a":"`+strings.Repeat("x", 300<<10)+`"}`), 422, "Invalid", "metadata.annotations: Too long: may not be more than 262144 bytes", "metadata.annotations"},
		{"", vm("x", `"finalizers":["no spaces please"]`), 422, "Invalid", "metadata.finalizers: Invalid value", "metadata.finalizers"},
		{"", vm("x", `"resourceVersion":"5"`), 400, "BadRequest", "resourceVersion should not be set on objects to be created", ""},
		{"?fieldValidation=Strict", spec(`{"domain":{"devices":{}},"bogus":1}`), 400, "BadRequest", `VirtualMachineInstance in version "v1" cannot be handled as a VirtualMachineInstance: strict decoding error: unknown field "spec.bogus"`, ""},
		{"?fieldValidation=Strict", spec(`{"domain":{"devices":{},"devices":{}}}`), 400, "BadRequest", `strict decoding error: duplicate field "spec.domain.devices"`, ""},
		{"", `{not json`, 400, "BadRequest", "couldn't get version/kind; json parse error", ""},
		{"", ``, 400, "BadRequest", "couldn't get version/kind; json parse error", ""},
		{"", `[1]`, 400, "BadRequest", "couldn't get version/kind; json parse error", ""},
		{"", `{}`, 400, "BadRequest", "Object 'Kind' is missing", ""},
		{"", vm("x") + vm("y"), 400, "BadRequest", "it is not one JSON value", ""},
		{"", strings.Repeat(`{"a":`, 20000), 400, "BadRequest", "json parse error", ""},
		{"", vm("x", `"annotations":{"a":"`+strings.Repeat("x", 4<<20)+`"}`), 413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", ""},
	} {
		r := f.send("POST", inVMs+c.query, c.body)
		require.Equal(t, c.code, r.StatusCode, "%.300s %.300s", c.body, r.body)
		s := r.status(t)
		assert.Equal(t, c.reason, s.Reason, s.Message)
		assert.Contains(t, s.Message, c.message)
		if c.field != "" {
			require.NotEmpty(t, s.Details.Causes, s.Message)
			assert.Equal(t, c.field, s.Details.Causes[0].Field)
		}
	}
	assert.Equal(t, "UnsupportedMediaType", f.send("POST", inVMs, vm("x"), "Content-Type: text/plain").status(t).Reason)
	assert.Empty(t, f.get(all).list(t).Items)
}

// Fields that nobody names are kept, and told of as the client wants.
func TestFieldValidation(t *testing.T) {
	f := start(t)
	body := `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","bogus":1,"metadata":{"name":"%s"},"spec":{"domain":{"devices":{}},"bogus":{"a":[1.50,1e40]},"bogus":2.500}}`
	for query, want := range map[string][]string{
		"":                        {`299 - "unknown field \"bogus\""`, `299 - "unknown field \"spec.bogus\""`, `299 - "duplicate field \"spec.bogus\""`},
		"?fieldValidation=Warn":   {`299 - "unknown field \"bogus\""`, `299 - "unknown field \"spec.bogus\""`, `299 - "duplicate field \"spec.bogus\""`},
		"?fieldValidation=Ignore": nil,
	} {
		name := "u" + strings.ToLower(regexp.MustCompile(`\W`).ReplaceAllString(query, ""))
		r := f.send("POST", inVMs+query, fmt.Sprintf(body, name))
		require.Equal(t, 201, r.StatusCode, string(r.body))
		assert.ElementsMatch(t, want, r.Header.Values("Warning"), query)
		assert.Contains(t, string(f.get(inVMs+"/"+name).body), `"bogus":2.500`)
	}
}

func TestReplace(t *testing.T) {
	f := start(t)
	first := f.send("POST", inVMs, vm("wr1", `"labels":{"a":"1"}`)).written(t, 201).Metadata
	rv := `"resourceVersion":"` + first.ResourceVersion + `"`
	second := f.send("PUT", inVMs+"/wr1", vm("wr1", rv, `"labels":{"b":"2"}`)).written(t, 200).Metadata
	assert.Equal(t, map[string]string{"b": "2"}, second.Labels)
	assert.Equal(t, first.UID, second.UID)
	assert.Equal(t, first.CreationTimestamp, second.CreationTimestamp)
	assert.Equal(t, 1, second.Generation, "metadata alone")
	assert.Greater(t, second.ResourceVersion, first.ResourceVersion)

	for _, c := range []struct {
		name, body, reason, message string
		code                        int
	}{
		{"wr1", vm("wr1", rv), "Conflict", `Operation cannot be fulfilled on virtualmachineinstances.kubevirt.io "wr1": the object has been modified; please apply your changes to the latest version and try again`, 409},
		{"wr1", vm("wr1"), "Invalid", `virtualmachineinstances.kubevirt.io "wr1" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`, 422},
		{"wr1", vm("wr1", `"resourceVersion":"00"`), "Invalid", "must be specified for an update", 422},
		{"wr1", vm("", rv), "BadRequest", "the name of the object (wr1 based on URL) was undeterminable: name must be provided", 400},
		{"wr1", vm("other", rv), "BadRequest", "the name of the object (other) does not match the name on the URL (wr1)", 400},
		{"wr1", vm("wr1", `"resourceVersion":"`+second.ResourceVersion+`"`, `"uid":"x"`), "Conflict", "Precondition failed: UID in precondition: x, UID in object meta: " + first.UID, 409},
		// Differs: PUT or PATCH to a resourceVersion that is no number
		{"wr1", vm("wr1", `"resourceVersion":"abc"`), "BadRequest", `invalid resource version`, 400},
		{"wr1", vm("wr1", `"resourceVersion":"-1"`), "BadRequest", `invalid resource version`, 400},
		{"wr1", vm("wr1", `"resourceVersion":"9`+second.ResourceVersion+`"`), "Conflict", `the object has been modified`, 409},
		{"nosuch", vm("nosuch", rv), "NotFound", `virtualmachineinstances.kubevirt.io "nosuch" not found`, 404},
	} {
		s := f.send("PUT", inVMs+"/"+c.name, c.body).status(t)
		assert.EqualValues(t, c.code, s.Code, s.Message)
		assert.Equal(t, c.reason, s.Reason)
		assert.Contains(t, s.Message, c.message)
	}
	now := string(f.get(inVMs + "/wr1").body)
	same := f.send("PUT", inVMs+"/wr1", now)
	assert.Equal(t, now, string(same.body), "what changes nothing keeps its version")
	linked := f.send("PUT", inVMs+"/wr1", strings.Replace(now, `"metadata":{`, `"metadata":{"selfLink":"/x",`, 1))
	assert.Equal(t, now, string(linked.body), "no links are kept")
	dry := f.send("PUT", inVMs+"/wr1?dryRun=All", strings.Replace(now, `"64Mi"`, `"128Mi"`, 1)).written(t, 200)
	assert.Equal(t, 2, dry.Metadata.Generation)
	assert.Equal(t, now, string(f.get(inVMs+"/wr1").body))
	third := f.send("PUT", inVMs+"/wr1", strings.Replace(now, `"64Mi"`, `"128Mi"`, 1)).written(t, 200)
	assert.Equal(t, 2, third.Metadata.Generation, "a change beyond metadata")
}

func TestPatch(t *testing.T) {
	f := start(t)
	first := f.send("POST", inVMs, vm("wr1", `"labels":{"a":"1"}`)).written(t, 201).Metadata
	got := f.send("PATCH", inVMs+"/wr1", `{"status":{"phase":"Running"}}`).written(t, 200)
	assert.Equal(t, "Running", got.Status.Phase)
	assert.Equal(t, 2, got.Metadata.Generation)
	got = f.send("PATCH", inVMs+"/wr1", `[{"op":"test","path":"/metadata/labels/a","value":"1"},{"op":"add","path":"/metadata/labels/z","value":"9"},{"op":"remove","path":"/metadata/labels/a"}]`).written(t, 200)
	assert.Equal(t, map[string]string{"z": "9"}, got.Metadata.Labels)
	assert.Equal(t, 2, got.Metadata.Generation)

	const required = `virtualmachineinstances.kubevirt.io "wr1" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`
	const rejected = "the server rejected our request due to an error in our request"
	for _, c := range []struct {
		body, reason, message string
		code                  int
	}{
		{`[{"op":"test","path":"/metadata/labels/z","value":"8"}]`, "Invalid", rejected, 422},
		{`[{"op":"remove","path":"/metadata/labels/nosuch"}]`, "Invalid", rejected, 422},
		{`[{"op":"add","path":"/spec/volumes/4000000000","value":1}]`, "Invalid", rejected, 422},
		{`[{"op":"replace","path":"","value":[]}]`, "Invalid", "the patch leaves no object", 422},
		{`[{"op":"move","from":"/spec","path":"/spec/domain"}]`, "Invalid", "", 422},
		{`[{"op":"frobnicate","path":"/spec"}]`, "Invalid", rejected, 422},
		{"[" + strings.Repeat(`{"op":"add","path":"/metadata/labels/n","value":"1"},`, 10_000) + `{"op":"add","path":"/x","value":1}]`, "RequestEntityTooLarge", "The allowed maximum operations in a JSON patch is 10000, got 10001", 413},
		{`[{"op":"add","path":"/bogus","value":["` + strings.Repeat("x", 1000) + `"]}` + strings.Repeat(`,{"op":"copy","from":"/bogus","path":"/bogus/-"}`, 14) + "]", "Invalid", rejected, 422},
		{"[" + strings.Repeat("[", 5000), "BadRequest", "error decoding patch", 400},
		{strings.Repeat(`{"a":`, 5000), "BadRequest", "error decoding patch", 400},
		{strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), "BadRequest", "nested more than 1000 deep", 400},
		{`{"spec":{"domain":{"cpu":{"cores":0}}}}`, "Invalid", `VirtualMachineInstance.kubevirt.io "wr1" is invalid: spec.domain.cpu.cores: Invalid value: 0: must be at least 1`, 422},
		{`{"metadata":{"resourceVersion":"5","labels":{"q":"1"}}}`, "Conflict", "the object has been modified", 409},
		{`{"metadata":{"name":"other"}}`, "BadRequest", "does not match the name on the URL (wr1)", 400},
		{`{"metadata":null}`, "BadRequest", "the name of the object (wr1 based on URL) was undeterminable: name must be provided", 400},
		{`{"metadata":{"name":null}}`, "BadRequest", "was undeterminable", 400},
		{`[{"op":"remove","path":"/metadata/resourceVersion"}]`, "Invalid", required, 422},
		{`{"metadata":{"resourceVersion":null}}`, "Invalid", required, 422},
		{`{"metadata":{"resourceVersion":"","labels":{"q":"1"}}}`, "Invalid", required, 422},
		{`{"metadata":{"resourceVersion":"0"}}`, "Invalid", required, 422},
		{`{"kind":"VirtualMachine"}`, "Invalid", "must be VirtualMachineInstance", 422},
		{`"text"`, "BadRequest", "error decoding patch", 400},
		{``, "BadRequest", "error decoding patch", 400},
	} {
		r := f.send("PATCH", inVMs+"/wr1", c.body)
		require.Equal(t, c.code, r.StatusCode, "%.300s %.300s", c.body, r.body)
		s := r.status(t)
		assert.Equal(t, c.reason, s.Reason)
		assert.Contains(t, s.Message, c.message)
	}
	s := f.send("PATCH", inVMs+"/wr1", `{"a":1}`, "Content-Type: application/json-patch+json").status(t)
	assert.Equal(t, "BadRequest", s.Reason)
	assert.Equal(t, "NotFound", f.send("PATCH", inVMs+"/nosuch", "{}").status(t).Reason)
	for _, media := range []string{"application/strategic-merge-patch+json", "application/json", ""} {
		s := f.send("PATCH", inVMs+"/wr1", "{}", "Content-Type: "+media).status(t)
		assert.Equal(t, "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml", s.Message)
		assert.EqualValues(t, 415, s.Code)
	}
	assert.Contains(t, f.send("PATCH", inVMs+"/wr1?force=true", "{}").status(t).Message, "force: Forbidden: may not be specified for non-apply patch")

	own := f.send("PATCH", inVMs+"/wr1", `{"metadata":{"uid":null,"creationTimestamp":null,"generation":99,"namespace":null}}`).written(t, 200).Metadata
	assert.Equal(t, first.UID, own.UID)
	assert.Equal(t, 2, own.Generation)
	assert.Empty(t, own.DeletionTimestamp)
	assert.Equal(t, got.Metadata.ResourceVersion, own.ResourceVersion, "nothing of it may change")
}

// Nobody's change is lost.
func TestConcurrentPatches(t *testing.T) {
	f := start(t)
	f.send("POST", inVMs, vm("wr1", `"labels":{}`)).written(t, 201)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 5 {
				for {
					r := f.send("PATCH", inVMs+"/wr1", fmt.Sprintf(`{"metadata":{"labels":{"l%d-%d":"x"}}}`, i, n))
					if r.StatusCode != http.StatusConflict {
						assert.Equal(t, 200, r.StatusCode)
						break
					}
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, f.get(inVMs+"/wr1").written(t, 200).Metadata.Labels, 20)
	one := f.get(inVMs+"/wr1").written(t, 200).Metadata.ResourceVersion
	var ok, late int
	var mu sync.Mutex
	for i := range 8 {
		wg.Go(func() {
			r := f.send("PUT", inVMs+"/wr1", vm("wr1", `"resourceVersion":"`+one+`"`, fmt.Sprintf(`"labels":{"w":"%d"}`, i)))
			mu.Lock()
			defer mu.Unlock()
			if r.StatusCode == 200 {
				ok++
			} else if r.StatusCode == 409 {
				late++
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []int{1, 7}, []int{ok, late}, "one writer wins")
}

func TestDelete(t *testing.T) {
	f := start(t)
	m := f.send("POST", inVMs, vm("wr1")).written(t, 201).Metadata
	w := f.watch(inVMs + "?watch=1&resourceVersion=" + m.ResourceVersion)
	for _, c := range []struct {
		query, body, reason, message string
		code                         int
	}{
		{"", `{"preconditions":{"uid":"x"}}`, "Conflict", `Operation cannot be fulfilled on VirtualMachineInstance.kubevirt.io "wr1": the UID in the precondition (x) does not match the UID in record (` + m.UID + `). The object might have been deleted and then recreated`, 409},
		{"", `{"preconditions":{"resourceVersion":"3"}}`, "Conflict", `the ResourceVersion in the precondition (3) does not match the ResourceVersion in record (` + m.ResourceVersion + `). The object might have been modified`, 409},
		{"", `{"preconditions":{"uid":""}}`, "Conflict", `the UID in the precondition () does not match`, 409},
		{"", `{"preconditions":{"resourceVersion":""}}`, "Conflict", `the ResourceVersion in the precondition () does not match`, 409},
		{"?propagationPolicy=", ``, "Invalid", `propagationPolicy: Unsupported value: ""`, 422},
		{"", `{"propagationPolicy":""}`, "Invalid", `propagationPolicy: Unsupported value: ""`, 422},
		{"", `{"gracePeriodSeconds":"soon"}`, "BadRequest", "must be DeleteOptions", 400},
		{"?dryRun=Some", ``, "Invalid", `DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]`, 422},
		{"?propagationPolicy=Never", ``, "Invalid", "propagationPolicy: Unsupported value", 422},
		{"?propagationPolicy=Orphan&orphanDependents=true", ``, "Invalid", "cannot be both set", 422},
		{"?gracePeriodSeconds=soon", ``, "BadRequest", "", 400},
		{"", `{"kind":"Pod"}`, "BadRequest", "must be DeleteOptions", 400},
		{"", `{"dryRun":7}`, "BadRequest", "must be DeleteOptions", 400},
	} {
		s := f.send("DELETE", inVMs+"/wr1"+c.query, c.body).status(t)
		assert.EqualValues(t, c.code, s.Code, s.Message)
		assert.Equal(t, c.reason, s.Reason)
		assert.Contains(t, s.Message, c.message)
	}
	assert.EqualValues(t, 409, f.send("DELETE", inVMs, `{"preconditions":{"uid":"x"}}`).status(t).Code, "of a collection, too")
	assert.EqualValues(t, 400, f.send("DELETE", inVMs+"/wr1", "k8s\x00", "Content-Type: application/vnd.kubernetes.protobuf").status(t).Code)
	want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"wr1","group":"kubevirt.io","kind":"virtualmachineinstances","uid":"` + m.UID + `"}}` + "\n"
	for query, body := range map[string]string{"?dryRun=All": "", "?dryRun=All&x": `{"kind":"DeleteOptions","apiVersion":"v1"}`, "": `{"dryRun":["All"]}`} {
		assert.Equal(t, want, string(f.send("DELETE", inVMs+"/wr1"+query, body).body))
		assert.Equal(t, 200, f.get(inVMs+"/wr1").StatusCode, "it was said to be a try")
	}
	assert.Equal(t, want, string(f.send("DELETE", inVMs+"/wr1", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","preconditions":{"uid":"`+m.UID+`"}}`).body))
	assert.Equal(t, "NotFound", f.send("DELETE", inVMs+"/wr1", "").status(t).Reason)
	_, names := w.next(1)
	assert.Equal(t, []string{"DELETED vms/wr1"}, names)
}

// What has finalizers goes when the last of them does.
func TestFinalizers(t *testing.T) {
	f := start(t)
	m := f.send("POST", inVMs, vm("fin", `"finalizers":["kubevirt.io/foregroundDeleteVirtualMachine"]`)).written(t, 201).Metadata
	w := f.watch(inVMs + "?watch=1&resourceVersion=" + m.ResourceVersion)
	going := f.send("DELETE", inVMs+"/fin", "").written(t, 200).Metadata
	assert.NotEmpty(t, going.DeletionTimestamp)
	assert.Equal(t, 0, *going.DeletionGracePeriodSeconds)
	assert.Equal(t, 2, going.Generation)
	again := f.send("DELETE", inVMs+"/fin", "").written(t, 200).Metadata
	assert.Equal(t, going, again)
	s := f.send("PATCH", inVMs+"/fin", `{"metadata":{"finalizers":["kubevirt.io/foregroundDeleteVirtualMachine","example.com/more"]}}`).status(t)
	assert.Contains(t, s.Message, "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted")
	assert.Equal(t, 200, f.send("PATCH", inVMs+"/fin?dryRun=All", `{"metadata":{"finalizers":null}}`).StatusCode)
	assert.Equal(t, going, f.get(inVMs+"/fin").written(t, 200).Metadata, "it was said to be a try")
	assert.Equal(t, 200, f.send("PATCH", inVMs+"/fin", `{"metadata":{"finalizers":null,"deletionTimestamp":null}}`).StatusCode)
	assert.Equal(t, 404, f.get(inVMs+"/fin").StatusCode)
	_, names := w.next(2)
	assert.Equal(t, []string{"MODIFIED vms/fin", "DELETED vms/fin"}, names)
}

func TestDeleteCollection(t *testing.T) {
	f := start(t).create("vms/a k=1", "vms/b k=2", "vms/c k=1", "other/a k=1")
	f.send("POST", inVMs, vm("d", `"finalizers":["example.com/stay"]`, `"labels":{"k":"1"}`)).written(t, 201)
	gone := f.send("DELETE", inVMs+"?labelSelector=k%3D1&dryRun=All", "").list(t)
	assert.Equal(t, "vms/a vms/c vms/d", names(gone))
	assert.Equal(t, "vms/a vms/c vms/d", names(f.send("DELETE", inVMs+"?labelSelector=k%3D1", "").list(t)))
	assert.Equal(t, "other/a vms/b vms/d", names(f.get(all).list(t)))
	assert.Equal(t, "vms/b vms/d", names(f.send("DELETE", inVMs, "").list(t)))
	assert.Equal(t, "other/a vms/d", names(f.get(all).list(t)))
	assert.Empty(t, f.send("DELETE", "/apis/kubevirt.io/v1/namespaces/empty/virtualmachineinstances", "").list(t).Items)
	assert.Equal(t, "BadRequest", f.send("DELETE", inVMs+"?labelSelector=a+b", "").status(t).Reason)
}

// What has come after the state that a deletion names stays, as in a cluster.
func TestDeleteCollectionOfAState(t *testing.T) {
	f := start(t).create("vms/a k=1")
	state := f.get(inVMs).list(t).Metadata.ResourceVersion
	f.create("vms/b k=1")
	assert.Equal(t, "Expired", f.send("DELETE", inVMs+"?resourceVersion=1", "").status(t).Reason)
	assert.Equal(t, "vms/a", names(f.send("DELETE", inVMs+"?resourceVersion="+state, "").list(t)))
	assert.Equal(t, "vms/b", names(f.get(inVMs).list(t)))
	assert.Equal(t, "vms/b", names(f.send("DELETE", inVMs+"?resourceVersion=0", "").list(t)))
}

func TestApply(t *testing.T) {
	f := start(t)
	f.send("POST", inVMs, vm("wr1", `"labels":{"a":"1"}`)).written(t, 201)
	apply := func(query, body string) reply {
		return f.send("PATCH", inVMs+"/wr1"+query, body, "Content-Type: application/apply-patch+yaml")
	}
	const other = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"wr1","labels":{"a":"other"}}}`
	assert.Equal(t, `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`, apply("", other).status(t).Message)
	s := apply("?fieldManager=me", other).status(t)
	assert.Equal(t, `Apply failed with 1 conflict: conflict with "rec" using kubevirt.io/v1: .metadata.labels.a`, s.Message)
	assert.Equal(t, "Conflict", s.Reason)
	require.Len(t, s.Details.Causes, 1)
	assert.Equal(t, "FieldManagerConflict", s.Details.Causes[0].Reason)
	assert.Equal(t, ".metadata.labels.a", s.Details.Causes[0].Field)

	got := apply("?fieldManager=me&force=true", other).written(t, 200).Metadata
	assert.Equal(t, "other", got.Labels["a"])
	assert.Len(t, got.ManagedFields, 2)
	again := apply("?fieldManager=me&force=true", other).written(t, 200).Metadata
	assert.Equal(t, got.ResourceVersion, again.ResourceVersion, "nothing changes")
	// In YAML; what is no longer applied goes.
	yaml := "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: wr1, labels: {b: '2'}}\n"
	assert.Equal(t, map[string]string{"b": "2"}, apply("?fieldManager=me", yaml).written(t, 200).Metadata.Labels)

	made := f.send("PATCH", inVMs+"/ssa1?fieldManager=me", vm("ssa1"), "Content-Type: application/apply-patch+yaml").written(t, 201).Metadata
	assert.Equal(t, "Apply", made.ManagedFields[0].Operation)
	assert.Equal(t, 1, made.Generation)
	s = f.send("PATCH", inVMs+"/new?fieldManager=me", vm("new", `"uid":"x"`), "Content-Type: application/apply-patch+yaml").status(t)
	assert.Equal(t, "Conflict", s.Reason)
	assert.Contains(t, s.Message, "uid mismatch")
	for body, message := range map[string]string{
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"x"}}`:                             "does not match the name on the URL (wr1)",
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"wr1","namespace":"x"}}`:           "does not match the namespace sent on the request",
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"wr1","managedFields":[{}]}}`:      "managedFields must be nil",
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"wr1"},"status":{"phase":"Nope"}}`: `status.phase: Unsupported value: "Nope"`,
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"wr1","resourceVersion":"3"}}`:     "the object has been modified",
		"a: b: c": "error converting YAML to JSON", "": "there is no object", "[1]": "",
	} {
		r := apply("?fieldManager=me", body)
		assert.GreaterOrEqual(t, r.StatusCode, 400, body)
		assert.Less(t, r.StatusCode, 500, body)
		assert.Contains(t, r.status(t).Message, message)
	}
}

// Writes want their own verbs, and an apply that creates wants both.
func TestWritesNeedTheirVerbs(t *testing.T) {
	f := start(t, tokens(t), policy(t))
	for method, verb := range map[string]string{"POST": "create", "DELETE": "deletecollection"} {
		assert.Contains(t, f.send(method, inVMs, vm("x"), "Authorization: Bearer viewertoken").status(t).Message, `cannot `+verb+` resource`)
	}
	for method, verb := range map[string]string{"PUT": "update", "PATCH": "patch", "DELETE": "delete"} {
		assert.Contains(t, f.send(method, inVMs+"/a", vm("a"), "Authorization: Bearer viewertoken").status(t).Message, `cannot `+verb+` resource`)
	}
	patches, err := rbac.New(
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"patch"},
			"rules":[{"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"],"verbs":["patch"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"patch"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"patch"},
			"subjects":[{"kind":"User","name":"viewer","apiGroup":"rbac.authorization.k8s.io"}]}`))
	require.NoError(t, err)
	f = start(t, tokens(t), server.WithPolicy(patches)).create("vms/there")
	for name, code := range map[string]int{"there": 200, "new": 403} {
		r := f.send("PATCH", inVMs+"/"+name+"?fieldManager=me&force=true", vm(name), "Content-Type: application/apply-patch+yaml", "Authorization: Bearer viewertoken")
		assert.Equal(t, code, r.StatusCode, string(r.body))
	}
}

// A body that breaks off is refused, and nothing of it is stored.
func TestCutShortBody(t *testing.T) {
	f := start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	body := vm("cut")
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", inVMs, len(body)+1, body)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, "the body of the request ends before its length", reply{res, data}.status(t).Message)
	assert.Equal(t, 404, f.get(inVMs+"/cut").StatusCode)
}
