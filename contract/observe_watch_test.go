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
func (o object) at(version string) object {
	from := o.body[strings.Index(o.body, `"resourceVersion":`):]
	return o.edited(from[:strings.Index(from, ",")], `"resourceVersion":"`+version+`"`)
}

func eventOf(kind, object string) string { return `{"type":"` + kind + `","object":` + object + `}` }

func TestObserverOfWatches(t *testing.T) {
	vm := fleet()[0]
	elsewhere := fleet()[12]
	const labelled = prodMachines + "?watch=true&labelSelector=app%3Ddb"
	for name, test := range map[string]struct {
		uri    string
		events []string
		want   []string
	}{
		"right": {labelled, []string{
			eventOf("ADDED", vm.at("101").body), eventOf("MODIFIED", vm.at("102").body), eventOf("MODIFIED", vm.at("105").edited("node-1", "node-2").body),
			eventOf("DELETED", vm.at("106").body), eventOf("BOOKMARK", `{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{"resourceVersion":"107"}}`),
			"", eventOf("ADDED", vm.at("108").edited("000000000001", "000000000077").body),
			eventOf("ERROR", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}`),
		}, nil},
		"left the selection": {labelled, []string{eventOf("DELETED", vm.at("109").edited(`"app":"db"`, `"app":"x"`).body)}, nil},
		"goes back":          {labelled, []string{eventOf("ADDED", vm.at("105").body), eventOf("MODIFIED", vm.at("104").body)}, []string{"consistency.repeat"}},
		"two contents":       {labelled, []string{eventOf("ADDED", vm.at("105").body), eventOf("MODIFIED", vm.at("105").edited("node-1", "node-2").body)}, []string{"consistency.get"}},
		"unknown type":       {labelled, []string{eventOf("CHANGED", vm.body)}, []string{"schema.event"}},
		"schema":             {labelled, []string{eventOf("ADDED", vm.edited(`"phase":"Running"`, `"phase":"Runing"`).body)}, []string{"schema.object"}},
		"bookmark of nothing": {labelled, []string{eventOf("BOOKMARK", `{"kind":"VirtualMachineInstance","apiVersion":"kubevirt.io/v1","metadata":{}}`)},
			[]string{"schema.event"}},
		"another namespace": {prodMachines + "?watch=1", []string{eventOf("ADDED", elsewhere.body)}, []string{"namespace.items"}},
		"not selected":      {labelled, []string{eventOf("ADDED", vm.edited(`"app":"db"`, `"app":"x"`).body)}, []string{"selector.equals"}},
		"a list": {prodMachines + "?watch", []string{`{"kind":"VirtualMachineInstanceList",`, `"items":[]}`, eventOf("CHANGED", vm.body)},
			[]string{"schema.event"}},
		"no JSON": {prodMachines + "?watch", []string{eventOf("ADDED", vm.edited(`"cores":2`, `"cores":2,"cores":3`).body)}, []string{"schema.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := watched(t, newServer(nil))
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
	s := newServer(fleet())
	o := watched(t, s)
	w := o.stream(allMachines + "?watch=true")
	require.Empty(t, w.Event([]byte(eventOf("MODIFIED", fleet()[0].at("500").body)), o.now))
	assert.Equal(t, []string{"consistency.repeat"}, ids(o.get(prodMachines+"/vm00")))
	s.objects[0] = fleet()[0].at("500").edited("node-1", "node-2")
	assert.Equal(t, []string{"consistency.get"}, ids(o.get(prodMachines+"/vm00")))
	s.objects[0] = fleet()[0].at("500")
	assert.Empty(t, ids(o.get(prodMachines+"/vm00")))
}

func TestObserverOfOtherWatches(t *testing.T) {
	o := watched(t, newServer(nil))
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
	vm := fleet()[0].body
	f.Add(prodMachines+"?watch=1&labelSelector=a in (b,", tableAccept, "application/json", []byte(eventOf("ADDED", vm)))
	f.Add(prodMachines+"?limit=1&fieldSelector=metadata.name=,", "*/*", "text/html", []byte(`{"metadata":{"continue":7},"items":[`+vm+`,1]}`))
	f.Add(prodMachines+"/vm00", "", "", []byte(vm))
	f.Fuzz(func(t *testing.T, uri, accept, contentType string, body []byte) {
		r, err := http.NewRequest(http.MethodGet, "http://target.example", nil)
		require.NoError(t, err)
		if r.URL, err = r.URL.Parse(uri); err != nil {
			return
		}
		o := watched(t, newServer(nil))
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
