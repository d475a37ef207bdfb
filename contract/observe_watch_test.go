package contract_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// stream begins to observe a watch.
func (o *onlooker) stream(uri string, headers ...string) *contract.Watch {
	o.t.Helper()
	r := httptest.NewRequest(http.MethodGet, uri, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	o.now = o.now.Add(time.Second)
	return o.Watch(contract.Observation{
		Method: http.MethodGet, URL: r.URL, RequestHeader: r.Header, Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"application/json"}}, Started: o.now,
	})
}

// at is a machine at a resourceVersion.
func at(o mutant.Object, version string) mutant.Object {
	from := o.Body[strings.Index(o.Body, `"resourceVersion":`):]
	return o.Edited(from[:strings.Index(from, ",")], `"resourceVersion":"`+version+`"`)
}

func eventOf(kind, object string) string { return `{"type":"` + kind + `","object":` + object + `}` }

func TestObserverOfWatches(t *testing.T) {
	vm := mutant.Fleet()[0]
	elsewhere := mutant.Fleet()[12]
	const labelled = prodMachines + "?watch=true&labelSelector=app%3Ddb"
	for name, test := range map[string]struct {
		uri    string
		events []string
		want   []string
	}{
		"right": {labelled, []string{
			eventOf("ADDED", at(vm, "101").Body), eventOf("MODIFIED", at(vm, "102").Body), eventOf("MODIFIED", at(vm, "105").Edited("node-1", "node-2").Body),
			eventOf("DELETED", at(vm, "106").Body), eventOf("BOOKMARK", `{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{"resourceVersion":"107"}}`),
			"", eventOf("ADDED", at(vm, "108").Edited("000000000001", "000000000077").Body),
			eventOf("ERROR", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}`),
		}, nil},
		"left the selection": {labelled, []string{eventOf("DELETED", at(vm, "109").Edited(`"app":"db"`, `"app":"x"`).Body)}, nil},
		"goes back":          {labelled, []string{eventOf("ADDED", at(vm, "105").Body), eventOf("MODIFIED", at(vm, "104").Body)}, []string{"consistency.repeat"}},
		"two contents":       {labelled, []string{eventOf("ADDED", at(vm, "105").Body), eventOf("MODIFIED", at(vm, "105").Edited("node-1", "node-2").Body)}, []string{"consistency.get"}},
		"unknown type":       {labelled, []string{eventOf("CHANGED", vm.Body)}, []string{"schema.event"}},
		"schema":             {labelled, []string{eventOf("ADDED", vm.Edited(`"phase":"Running"`, `"phase":"Runing"`).Body)}, []string{"schema.object"}},
		"bookmark of nothing": {labelled, []string{eventOf("BOOKMARK", `{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{}}`)},
			[]string{"schema.event"}},
		"another namespace": {prodMachines + "?watch=1", []string{eventOf("ADDED", elsewhere.Body)}, []string{"namespace.items"}},
		"not selected":      {labelled, []string{eventOf("ADDED", vm.Edited(`"app":"db"`, `"app":"x"`).Body)}, []string{"selector.equals"}},
		"a list": {prodMachines + "?watch", []string{`{"kind":"VirtualMachineInstanceList",`, `"items":[]}`, eventOf("CHANGED", vm.Body)},
			[]string{"schema.event"}},
		"no JSON": {prodMachines + "?watch", []string{eventOf("ADDED", vm.Edited(`"cores":2`, `"cores":2,"cores":3`).Body)}, []string{"schema.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := watched(t, mutant.New(nil))
			w := o.stream(test.uri)
			require.NotNil(t, w)
			assert.Empty(t, w.Begin())
			var found []contract.Violation
			for _, line := range test.events {
				o.now = o.now.Add(time.Second)
				found = append(found, w.Event([]byte(line), o.now)...)
			}
			assert.Equal(t, test.want, ids(found), found)
			assert.Equal(t, 1, o.Report().Requests)
		})
	}
}

// What a watch showed holds for a later get, too.
func TestObserverComparesWatchAndGet(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	o := watched(t, s)
	w := o.stream(allMachines + "?watch=true")
	require.Empty(t, w.Event([]byte(eventOf("MODIFIED", at(mutant.Fleet()[0], "500").Body)), o.now))
	assert.Equal(t, []string{"consistency.repeat"}, ids(o.get(prodMachines+"/vm00")))
	s.Objects[0] = at(mutant.Fleet()[0], "500").Edited("node-1", "node-2")
	assert.Equal(t, []string{"consistency.get"}, ids(o.get(prodMachines+"/vm00")))
	s.Objects[0] = at(mutant.Fleet()[0], "500")
	assert.Empty(t, ids(o.get(prodMachines+"/vm00")))
}

func TestObserverOfOtherWatches(t *testing.T) {
	o := watched(t, mutant.New(nil))
	assert.Nil(t, o.stream(prodMachines))
	assert.Nil(t, o.stream(prodMachines+"?watch=false"))
	assert.Nil(t, o.stream(prodMachines+"/vm00?watch=true"))
	assert.Nil(t, o.stream("/api/v1/namespaces/prod/events?watch=true"))
	w := o.stream(prodMachines+"?watch=true", "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json")
	partial := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"%","uid":"u","resourceVersion":"7"}}`
	assert.Empty(t, ids(w.Event([]byte(eventOf("ADDED", strings.Replace(partial, "%", "prod", 1))), o.now)))
	assert.Equal(t, []string{"namespace.items", "prose.unique-uid (warning)"}, ids(w.Event([]byte(eventOf("ADDED", strings.Replace(partial, "%", "stage", 1))), o.now)))
	w.Untold("too large")
	assert.Contains(t, result(t, o.Report(), "service.passed-by").Notes, "too large: 1")
}

func FuzzObserver(f *testing.F) {
	vm := mutant.Fleet()[0].Body
	f.Add(prodMachines+"?watch=1&labelSelector=a in (b,", tableAccept, "application/json", []byte(eventOf("ADDED", vm)))
	f.Add(prodMachines+"?limit=1&fieldSelector=metadata.name=,", "*/*", "text/html", []byte(`{"metadata":{"continue":7},"items":[`+vm+`,1]}`))
	f.Add(prodMachines+"/vm00", "", "", []byte(vm))
	f.Fuzz(func(t *testing.T, uri, accept, contentType string, body []byte) {
		r, err := http.NewRequest(http.MethodGet, "http://target.example", nil)
		require.NoError(t, err)
		if r.URL, err = r.URL.Parse(uri); err != nil {
			return
		}
		o := watched(t, mutant.New(nil))
		ob := contract.Observation{
			Method: http.MethodGet, URL: r.URL, RequestHeader: http.Header{"Accept": {accept}, "Authorization": {accept}},
			Status: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: body,
		}
		for range 2 {
			o.Observe(ob)
			if w := o.Watch(ob); w != nil {
				w.Begin()
				w.Event(body, time.Now())
			}
		}
		require.NoError(t, o.Report().WriteText(new(testWriter)))
	})
}
