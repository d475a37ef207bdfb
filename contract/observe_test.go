package contract_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

const (
	allMachines  = "/apis/kubevirt.io/v1/virtualmachineinstances"
	prodMachines = "/apis/kubevirt.io/v1/namespaces/prod/virtualmachineinstances"
	tableAccept  = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
)

// onlooker is an observer beside a server.
type onlooker struct {
	t *testing.T
	*contract.Observer
	handler http.Handler
	now     time.Time
}

func watched(t *testing.T, handler http.Handler, options ...contract.Option) *onlooker {
	t.Helper()
	o, err := contract.NewObserver("https://target.example", options...)
	require.NoError(t, err)
	return &onlooker{t, o, handler, time.Now()}
}

// exchange asks the server and returns the observation of it, a second long and a
// second behind the one before. Headers are written "Name: value".
func (o *onlooker) exchange(method, uri string, headers ...string) contract.Observation {
	o.t.Helper()
	r := httptest.NewRequest(method, uri, nil)
	r.Header.Set("Authorization", "Bearer "+mutant.GoodToken)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	o.handler.ServeHTTP(w, r)
	o.now = o.now.Add(2 * time.Second)
	return contract.Observation{
		Method: method, URL: r.URL, RequestHeader: r.Header, Status: w.Code, Header: w.Result().Header,
		Body: w.Body.Bytes(), Started: o.now, Ended: o.now.Add(time.Second),
	}
}

func (o *onlooker) get(uri string, headers ...string) []contract.Violation {
	o.t.Helper()
	return o.Observe(o.exchange(http.MethodGet, uri, headers...))
}

// ids are those of the checks that violations are of, "ID" or "ID (warning)".
func ids(violations []contract.Violation) []string {
	var out []string
	for _, v := range violations {
		id := v.Check.ID
		if v.Outcome != contract.Fail {
			id += fmt.Sprintf(" (%s)", v.Outcome)
		}
		out = append(out, id)
	}
	return out
}

// what clients ask of a right server.
var ordinary = []string{
	allMachines, prodMachines, prodMachines + "/vm01", prodMachines + "/nosuch", prodMachines + "?limit=5", allMachines,
	prodMachines + "?labelSelector=app%3Dweb", prodMachines + "?labelSelector=app%20in%20(web,db),tier!%3Dgold,!none",
	allMachines + "?fieldSelector=metadata.name%3Dvm01", allMachines + "?fieldSelector=metadata.namespace!%3Dprod",
	"/apis/kubevirt.io/v1", "/api/v1/namespaces/prod/events",
}

func TestObserverOfARightServer(t *testing.T) {
	for _, profile := range openapi.Profiles() {
		for _, s := range []*mutant.Server{mutant.New(mutant.Fleet()), mutant.NewMinimal(mutant.Fleet())} {
			if s.Minimal && profile != openapi.ProfileDocument {
				continue
			}
			o := watched(t, s, contract.WithProfile(profile))
			for _, uri := range ordinary {
				assert.Empty(t, ids(o.get(uri)), "%s: %s", profile, uri)
			}
			report := o.Report()
			assert.Empty(t, with(report, contract.Fail))
			assert.Equal(t, contract.ExitGood, report.ExitCode(), report.TooLittle())
			assert.Equal(t, len(ordinary), report.Requests)
			assert.Positive(t, report.Objects)
			if profile != openapi.ProfileDocument {
				assert.Equal(t, 20, report.Objects)
				assert.Contains(t, result(t, report, "service.passed-by").Notes, "requests that the document does not have for machines: 2")
			}
		}
	}
}

// A list is followed to its end, over and over, while objects come and go.
func TestObserverOfPages(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	from := func(start int) string {
		if start == 0 {
			return ""
		}
		return "&continue=" + s.Token(start)
	}
	o := watched(t, s)
	for _, start := range []int{0, 5, 5, 10, 0} {
		assert.Empty(t, o.get(prodMachines+"?limit=5"+from(start)))
	}
	assert.Equal(t, contract.Pass, result(t, o.Report(), "paging.pages").Outcome)

	s.Page = func(items []mutant.Object, start, limit int) ([]mutant.Object, int) {
		return items[max(0, start-1) : start+limit], start + limit
	}
	assert.Empty(t, o.get(prodMachines+"?limit=3"))
	assert.Equal(t, []string{"paging.limit", "paging.pages"}, ids(o.get(prodMachines+"?limit=3"+from(3))))
	// Positions move where the list is of another state.
	envelope, n := s.Envelope, 0
	s.Envelope = func(items, meta string) string {
		n++
		return envelope(items, strings.Replace(meta, "1000", fmt.Sprint(1000+n), 1))
	}
	s.Page = func(items []mutant.Object, start, limit int) ([]mutant.Object, int) { return items[:3], start + limit }
	assert.Empty(t, o.get(prodMachines+"?limit=4"))
	assert.Empty(t, o.get(prodMachines+"?limit=4"+from(4)))
}

func TestObserverFindsFaults(t *testing.T) {
	change := func(from, to string) func(*mutant.Server) {
		return func(s *mutant.Server) {
			s.Send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				w.Write([]byte(strings.ReplaceAll(body, from, to)))
			}
		}
	}
	for name, test := range map[string]struct {
		fault func(*mutant.Server)
		uris  []string
		want  string
	}{
		"enum in a list":        {change(`"phase":"Running"`, `"phase":"Runing"`), []string{prodMachines}, "schema.object"},
		"enum in a get":         {change(`"phase":"Running"`, `"phase":"Runing"`), []string{prodMachines + "/vm01"}, "schema.object"},
		"list without items":    {change(`"items":`, `"things":`), []string{prodMachines}, "schema.list"},
		"kind of a list":        {change(`VirtualMachineInstanceList`, `List`), []string{prodMachines}, "schema.list"},
		"duplicate key":         {change(`"cores":2`, `"cores":2,"cores":2`), []string{prodMachines + "/vm01"}, "schema.json"},
		"error of another code": {change(`"code":404`, `"code":400`), []string{prodMachines + "/nosuch"}, "schema.error"},
		"content type": {func(s *mutant.Server) {
			s.Send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
				w.Header().Set("Content-Type", "text/plain")
				w.WriteHeader(code)
				w.Write([]byte(body))
			}
		}, []string{prodMachines}, "schema.content-type"},
		"status code": {func(s *mutant.Server) {
			s.Send = func(w http.ResponseWriter, _ *http.Request, _ int, body string) { w.WriteHeader(http.StatusTeapot) }
		}, []string{prodMachines}, "schema.status-code"},
		"another namespace": {func(s *mutant.Server) { s.InNamespace = func(string, mutant.Object) bool { return true } }, []string{prodMachines}, "namespace.items"},
		"no namespace":      {change(`"namespace":"prod",`, ``), []string{prodMachines}, "namespace.items"},
		"another name": {func(s *mutant.Server) {
			s.Find = func(string, string) (mutant.Object, bool) { return s.Objects[1], true }
		}, []string{prodMachines + "/vm05"}, "consistency.get"},
		"selector ignored":      {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=app%3Dweb"}, "selector.equals"},
		"selector == ignored":   {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=app%3D%3Dweb"}, "selector.double-equals"},
		"selector != ignored":   {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=app!%3Dweb"}, "selector.not-equals"},
		"selector in ignored":   {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=app+in+(web)"}, "selector.in"},
		"selector out ignored":  {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=app+notin+(web,db)"}, "selector.not-in"},
		"selector key ignored":  {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=app"}, "selector.exists"},
		"selector !key ignored": {func(s *mutant.Server) { s.MatchLabel = func(mutant.Term, map[string]string) bool { return true } }, []string{prodMachines + "?labelSelector=!app"}, "selector.not-exists"},
		"selector or": {func(s *mutant.Server) {
			s.All = func(met []bool) bool { return met[0] }
		}, []string{prodMachines + "?labelSelector=app%3Dweb,tier%3Dgold"}, "selector.and"},
		"field ignored": {func(s *mutant.Server) { s.MatchField = func(mutant.Term, mutant.Object) bool { return true } }, []string{prodMachines + "?fieldSelector=metadata.name%3Dvm01"}, "selector.field-name"},
		"home ignored":  {func(s *mutant.Server) { s.MatchField = func(mutant.Term, mutant.Object) bool { return true } }, []string{allMachines + "?fieldSelector=metadata.namespace%3Dprod"}, "selector.field-namespace"},
		"limit ignored": {func(s *mutant.Server) { s.Query = func(_ string, q url.Values) { q.Del("limit") } }, []string{prodMachines + "?limit=3"}, "paging.limit"},
		"listed twice":  {func(s *mutant.Server) { s.Objects = append(s.Objects, s.Objects[0]) }, []string{allMachines}, "consistency.list"},
		"get differs": {func(s *mutant.Server) {
			s.InGet = func(o mutant.Object) string { return o.Edited("node-1", "node-2").Body }
		}, []string{prodMachines, prodMachines + "/vm01"}, "consistency.get"},
		"version back": {func(s *mutant.Server) {
			s.InGet = func(o mutant.Object) string { return o.Edited(`"resourceVersion":"1`, `"resourceVersion":"0`).Body }
		}, []string{prodMachines, prodMachines + "/vm01"}, "consistency.repeat"},
		"creation moves": {func(s *mutant.Server) {
			s.InGet = func(o mutant.Object) string {
				return o.Edited(`"creationTimestamp":"2026-05`, `"creationTimestamp":"2026-06`).Body
			}
		}, []string{prodMachines, prodMachines + "/vm01"}, "consistency.repeat"},
		"uid of two":      {change(`"uid":"00000000-0000-4000-8000-0000000000`, `"uid":"00000000-0000-4000-8000-000000000001","x":"`), []string{prodMachines + "/vm01", prodMachines + "/vm02"}, "prose.unique-uid (warning)"},
		"table of no row": {change(`VirtualMachineInstanceList`, `Table`), []string{"TABLE " + prodMachines}, "schema.list"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			o := watched(t, s)
			test.fault(s)
			var last []contract.Violation
			for i, uri := range test.uris {
				var headers []string
				if rest, ok := strings.CutPrefix(uri, "TABLE "); ok {
					uri, headers = rest, []string{"Accept: " + tableAccept}
				}
				last = o.get(uri, headers...)
				if i < len(test.uris)-1 {
					assert.Empty(t, ids(last))
				}
			}
			assert.Contains(t, ids(last), test.want)
			for _, v := range last {
				assert.True(t, v.New, v)
			}
			// Once more the same: it is no news and not forgotten, though the text of the
			// items was judged before.
			again := o.get(strings.TrimPrefix(test.uris[len(test.uris)-1], "TABLE "))
			if !strings.HasPrefix(test.uris[0], "TABLE") {
				assert.Contains(t, ids(again), test.want)
				for _, v := range again {
					assert.False(t, v.New, v)
				}
			}
			if !strings.HasSuffix(test.want, "(warning)") {
				assert.Equal(t, contract.ExitFailures, o.Report().ExitCode())
			}
		})
	}
}

func TestObserverComparesLists(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	envelope, version := s.Envelope, "1000"
	s.Envelope = func(items, meta string) string { return envelope(items, strings.Replace(meta, "1000", version, 1)) }
	o := watched(t, s)
	for _, test := range []struct {
		version, uri string
		want         []string
	}{
		{"1000", prodMachines, nil},
		{"1001", prodMachines, nil},
		{"1000", prodMachines + "?resourceVersion=0", nil},
		{"1000", prodMachines + "?limit=2&continue=2", nil},
		{"x", prodMachines, nil},
		{"999", allMachines, nil},
		{"1000", prodMachines + "?limit=2", []string{"consistency.repeat"}},
	} {
		version = test.version
		assert.Equal(t, test.want, ids(o.get(test.uri)), "%s at %s", test.uri, test.version)
	}
}

// What changes meanwhile, or is older because the client asked for it, is no fault.
func TestObserverAndMovingObjects(t *testing.T) {
	version := 100
	s := mutant.New(mutant.Fleet()[:1])
	s.InGet = func(o mutant.Object) string {
		return o.Edited(`"resourceVersion":"101"`, fmt.Sprintf(`"resourceVersion":"%d"`, version)).Edited("node-1", fmt.Sprint("node-", version)).Body
	}
	s.InList = s.InGet
	o := watched(t, s)
	for version = 100; version < 110; version++ {
		assert.Empty(t, o.get(prodMachines))
		assert.Empty(t, o.get(prodMachines+"/vm00"))
	}
	// Older states: of a cache, of a page, and of an answer on the way meanwhile.
	version = 105
	assert.Empty(t, o.get(prodMachines+"?resourceVersion=0"))
	assert.Empty(t, o.get(prodMachines+"/vm00?resourceVersion=0"))
	assert.Empty(t, o.get(prodMachines+"?continue=0"))
	late := o.exchange(http.MethodGet, prodMachines+"/vm00")
	late.Started = o.now.Add(-time.Hour)
	assert.Empty(t, o.Observe(late))
	assert.Equal(t, []string{"consistency.repeat"}, ids(o.get(prodMachines+"/vm00")))
}

func TestObserverLooksAtTheFormThatWasAskedFor(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	table := func(name string) string {
		return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"","priority":0}],` +
			`"rows":[{"cells":["` + name + `"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"` + name + `","namespace":"stage","uid":"u","resourceVersion":"7"}}}]}`
	}
	answer := ""
	s.Send = func(w http.ResponseWriter, _ *http.Request, code int, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		w.Write([]byte(answer))
	}
	o := watched(t, s)
	answer = table("vm10")
	stage := strings.Replace(prodMachines, "prod", "stage", 1)
	assert.Empty(t, ids(o.get(stage, "Accept: "+tableAccept)))
	assert.Equal(t, []string{"namespace.items"}, ids(o.get(prodMachines, "Accept: "+tableAccept)))
	assert.Contains(t, ids(o.get(stage)), "schema.list", "nobody asked for a Table")
	answer = strings.Replace(table("vm10"), `"rows":[{"cells":["vm10"]`, `"rows":[{"cells":7`, 1)
	assert.Contains(t, ids(o.get(stage, "Accept: "+tableAccept)), "schema.form")

	// What is no JSON because the client wants it so is not judged; a list of
	// machines answers whoever would rather have had a Table.
	yaml := o.exchange(http.MethodGet, stage, "Accept: application/yaml")
	yaml.Header, yaml.Body = http.Header{"Content-Type": {"application/yaml"}}, []byte("items: []")
	assert.Empty(t, ids(o.Observe(yaml)))
	answer = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{"resourceVersion":"1"},"items":[]}`
	assert.Empty(t, ids(o.get(stage, "Accept: "+tableAccept)))
	report := o.Report()
	assert.Contains(t, result(t, report, "service.passed-by").Notes, "answers in a form other than JSON, which the client asked for: 1")
}

func TestObserverPassesBy(t *testing.T) {
	o := watched(t, mutant.New(mutant.Fleet()))
	for _, test := range []struct {
		status int
		header string
		method string
		note   string
	}{
		{503, "", "GET", "requests that were answered with status 503: 1"},
		{304, "If-None-Match: x", "GET", "conditional and partial requests: 1"},
		{101, "Upgrade: websocket", "GET", "upgraded connections: 1"},
		{500, "", "POST", "requests that the document does not have for machines, answered with status 500: 1"},
	} {
		ob := o.exchange(test.method, prodMachines, test.header)
		ob.Status, ob.Body = test.status, []byte("<html>")
		assert.Empty(t, ids(o.Observe(ob)))
		assert.Contains(t, result(t, o.Report(), "service.passed-by").Notes, test.note)
	}
	large := o.exchange(http.MethodGet, prodMachines)
	large.Body, large.Untold = nil, "too large"
	assert.Empty(t, ids(o.Observe(large)))
	assert.Contains(t, result(t, o.Report(), "service.passed-by").Notes, "too large: 1")
	short := o.exchange(http.MethodGet, prodMachines)
	short.Body, short.Cut = short.Body[:100], "the body ends before its length"
	assert.Equal(t, []string{"schema.json"}, ids(o.Observe(short)))

	// An observer that saw nothing proves nothing.
	assert.Equal(t, contract.ExitTooLittle, watched(t, mutant.New(nil)).Report().ExitCode())
}

func TestObserverTellsClients(t *testing.T) {
	o := watched(t, mutant.New(mutant.Fleet()))
	got := o.get(prodMachines + "?limit=many")
	require.Equal(t, []string{"client.request (warning)"}, ids(got)[:1])
	assert.Contains(t, got[0].Message, "/query/limit")
	assert.Equal(t, "/query/limit", got[0].Pointer())
	assert.Contains(t, got[0].String(), "client.request\n")
}

func TestObserverOptions(t *testing.T) {
	broken := func() *mutant.Server {
		s := mutant.New(mutant.Fleet())
		s.InNamespace = func(string, mutant.Object) bool { return true }
		return s
	}
	var mu sync.Mutex
	var told []contract.Violation
	o := watched(t, broken(), contract.WithViolations(func(v contract.Violation) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, v)
	}))
	assert.Equal(t, ids(o.get(prodMachines)), ids(told))

	o = watched(t, broken(), contract.WithSkip("namespace"))
	assert.Empty(t, ids(o.get(prodMachines)))
	assert.Equal(t, contract.Skipped, result(t, o.Report(), "namespace.items").Outcome)

	o = watched(t, broken(), contract.WithKnownFailures(contract.KnownFailure{ID: "namespace.items"}))
	assert.Equal(t, []string{"namespace.items (known failure)"}, ids(o.get(prodMachines)))
	assert.Equal(t, contract.ExitGood, o.Report().ExitCode())
	o = watched(t, mutant.New(mutant.Fleet()), contract.WithKnownFailures(contract.KnownFailure{ID: "namespace.items"}))
	o.get(prodMachines)
	assert.Equal(t, contract.ExitFailures, o.Report().ExitCode(), "a known failure that is none any more")

	for _, option := range []contract.Option{contract.WithViolations(nil), contract.WithSkip("nosuch")} {
		_, err := contract.NewObserver("http://target.example", option)
		assert.Error(t, err)
	}
	_, err := contract.NewObserver("target")
	assert.Error(t, err)
}

// No report has a credential of a client in it, wherever the target repeats it.
func TestObserverKeepsSecrets(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.Authenticate = func(string) int { return 0 }
	const token, password, inQuery, key = "client-token-5e1f", "pass:word-77aa", "query-token-31bb", "key-of-a-header-aa91"
	secret := ""
	s.InList = func(o mutant.Object) string { return o.Edited("node-1", secret).Edited("Running", secret).Body }
	o := watched(t, s)
	for _, header := range []string{"Bearer " + token, token, "Basic dXNlcjpwYXNzOndvcmQtNzdhYQ=="} {
		for _, secret = range []string{token, password, inQuery, "dXNlcjpwYXNzOndvcmQtNzdhYQ=="} {
			o.get(prodMachines+"?access_token="+inQuery, "Authorization: "+header, "X-Api-Key: "+key)
		}
	}
	report := o.Report()
	require.Equal(t, contract.ExitFailures, report.ExitCode())
	for _, r := range report.Results {
		for _, f := range r.Findings {
			all := fmt.Sprintf("%+v %+v", f, f.Exchange)
			for _, text := range []string{inQuery, key, mutant.CloudInitSecret} {
				assert.NotContains(t, all, text)
			}
			assert.NotContains(t, fmt.Sprint(f.Exchange.RequestHeader, f.Curl), token)
			assert.NotContains(t, fmt.Sprint(f.Exchange.RequestHeader, f.Curl), password)
		}
	}
	one := watched(t, s)
	secret = token
	one.get(prodMachines, "Authorization: Bearer "+token)
	assert.NotContains(t, text(t, one.Report()), token)
	assert.Contains(t, text(t, one.Report()), `Authorization: Bearer $TOKEN`)
}

func TestObserverFromManySides(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.InGet = func(o mutant.Object) string { return o.Edited(`"phase":"Running"`, `"phase":"Runing"`).Body }
	o := watched(t, s)
	var observations []contract.Observation
	for range 5 {
		for _, uri := range ordinary {
			observations = append(observations, o.exchange(http.MethodGet, uri))
		}
	}
	var group sync.WaitGroup
	for side := range 4 {
		group.Go(func() {
			for i := side; i < len(observations); i += 4 {
				o.Observe(observations[i])
				o.Judges(http.MethodGet, observations[i].URL)
			}
			o.Report()
		})
	}
	group.Wait()
	report := o.Report()
	assert.Equal(t, len(observations), report.Requests)
	assert.Equal(t, 5, result(t, report, "schema.object").Findings[0].Count)
}

// Keys of objects stand in messages; whoever makes up new ones does not fill memory.
func TestObserverIsBounded(t *testing.T) {
	s := mutant.New(mutant.Fleet()[:1])
	n := 0
	s.InGet = func(o mutant.Object) string {
		n++
		return o.Edited(`"app":"db"`, fmt.Sprintf(`"app%d":7`, n)).Edited(`"resourceVersion":"101"`, fmt.Sprintf(`"resourceVersion":"%d"`, 200+n)).Body
	}
	o := watched(t, s)
	for range 300 {
		o.get(prodMachines + "/vm00")
	}
	findings := result(t, o.Report(), "schema.object").Findings
	assert.LessOrEqual(t, len(findings), 101)
	sum := 0
	for _, f := range findings {
		sum += f.Count
	}
	assert.Equal(t, 300, sum)
}

func TestObserverChecks(t *testing.T) {
	lines := strings.Split(string(openapi.Source(openapi.ProfileDocument)), "\n")
	seen := make(map[string]bool)
	for _, c := range contract.ObserverChecks() {
		assert.False(t, seen[c.ID], c.ID)
		seen[c.ID] = true
		assert.Regexp(t, `^[a-z]+\.[a-z-]+$`, c.ID)
		assert.NotEmpty(t, c.Explain, c.ID)
		if c.Clause.Line != 0 {
			assert.Equal(t, strings.TrimSpace(lines[c.Clause.Line-1]), c.Clause.Text, c.ID)
		}
	}
	for _, id := range []string{"consistency.get", "consistency.repeat", "paging.pages", "schema.event", "selector.and", "client.request"} {
		assert.True(t, seen[id], id)
	}
}

// A credential that is added behind the observer, and comes back in an answer, is
// kept out of its reports.
func TestKnownSecretsAreKeptOut(t *testing.T) {
	const secret = "added-behind-5f2c"
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"phase":"Running"`, `"phase":"`+secret+`"`)(s)
	o := watched(t, s, contract.WithSecrets(secret))
	o.Observe(o.exchange("GET", prodMachines))
	report := o.Report()
	assert.Contains(t, with(report, contract.Fail), "schema.object")
	assert.NotContains(t, text(t, report), secret)
	var page testWriter
	require.NoError(t, report.WriteHTML(&page))
	assert.NotContains(t, string(page), secret)
}
