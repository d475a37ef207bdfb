package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

const (
	yaml      = "Accept: application/yaml"
	yamlTable = "Accept: application/yaml;as=Table;v=v1;g=meta.k8s.io"
	curl      = "User-Agent: curl/8.5.0"
)

// fromYAML is the JSON of an answer in YAML.
func (r reply) fromYAML(t *testing.T) string {
	t.Helper()
	assert.Equal(t, "application/yaml", r.Header.Get("Content-Type"))
	assert.True(t, strings.HasSuffix(string(r.body), "\n") && !strings.HasSuffix(string(r.body), "\n\n"))
	var read []string
	// A list is one object here: its kind is not looked at.
	text := strings.Replace(string(r.body), "\nitems:", "\nItems:", 1)
	for o, err := range manifest.Read("body", strings.NewReader(text)) {
		require.NoError(t, err, "%s", r.body)
		read = append(read, strings.Replace(string(o.JSON), `"Items":`, `"items":`, 1))
	}
	require.Len(t, read, 1, "%s", r.body)
	return read[0]
}

// Every form in YAML is the same as in JSON.
func TestYAML(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC) // tables show ages
	f := start(t, server.WithClock(func() time.Time { return now })).create("vms/a app=web", "vms/b 1=2", "other/c")
	for path, form := range map[string]string{
		inVMs + "/a":                          "",
		inVMs:                                 "",
		inVMs + "?limit=1":                    "",
		inVMs + "?labelSelector=no":           "",
		all:                                   "",
		inVMs + "/b":                          ";as=Table;v=v1;g=meta.k8s.io",
		inVMs + "?limit=2":                    ";as=Table;v=v1;g=meta.k8s.io",
		inVMs + "?includeObject=Object":       ";as=Table;v=v1beta1;g=meta.k8s.io",
		inVMs + "?labelSelector=nothing":      ";as=Table;v=v1;g=meta.k8s.io",
		inVMs + "/a?x":                        ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		inVMs + "?x":                          ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
		inVMs + "/nosuch":                     "",
		inVMs + "?fieldSelector=status.phase": "",
		"/api":                                "",
		"/apis":                               "",
		"/apis/kubevirt.io":                   "",
		"/apis/kubevirt.io/v1":                "",
		"/api/v1":                             "",
		"/api/v1/namespaces":                  "",
		"/api/v1/nodes":                       "",
		"/api/v1/nodes?x":                     ";as=Table;v=v1;g=meta.k8s.io",
		"/api/v1/events":                      "",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": "",
		"/api/v1/namespaces/vms":                                  "",
	} {
		want, got := f.get(path, "Accept: application/json"+form), f.get(path, "Accept: application/yaml"+form)
		assert.Equal(t, want.StatusCode, got.StatusCode, path)
		if path == "/api" || path == "/apis" { // No object of kind and apiVersion: a reader of manifests has no use for it.
			assert.Contains(t, string(got.body), "kind: API", path)
			continue
		}
		assert.JSONEq(t, string(want.body), got.fromYAML(t), path)
	}
}

// The texts are those recorded of a Kubernetes API server.
func TestYAMLText(t *testing.T) {
	f := start(t).create("vms/a")
	r := f.get(inVMs+"/nosuch", yaml)
	assert.Equal(t, "apiVersion: v1\ncode: 404\ndetails:\n  group: kubevirt.io\n  kind: virtualmachineinstances\n  name: nosuch\nkind: Status\n"+
		"message: virtualmachineinstances.kubevirt.io \"nosuch\" not found\nmetadata: {}\nreason: NotFound\nstatus: Failure\n", string(r.body))
	assert.EqualValues(t, len(r.body), r.ContentLength)

	assert.Regexp(t, `^apiVersion: kubevirt\.io/v1\nitems: \[\]\nkind: VirtualMachineInstanceList\nmetadata:\n  continue: ""\n  resourceVersion: "\d+"\n$`,
		string(f.get("/apis/kubevirt.io/v1/namespaces/nosuch/virtualmachineinstances", yaml).body))
	assert.Regexp(t, `^apiVersion: kubevirt\.io/v1\nitems:\n- apiVersion: kubevirt\.io/v1\n  kind: VirtualMachineInstance\n  metadata:\n(    .*\n)+  spec:\n(    .*\n)+  status:\n(    .*\n)+`+
		`kind: VirtualMachineInstanceList\nmetadata:\n  continue: ""\n  resourceVersion: "\d+"\n$`, string(f.get(inVMs, yaml).body))
	assert.Regexp(t, `(?s)^apiVersion: meta\.k8s\.io/v1\ncolumnDefinitions:\n- description: 'Name must be .*\nkind: Table\nmetadata:\n  resourceVersion: "\d+"\nrows:\n- cells:\n  - a\n`,
		string(f.get(inVMs, yamlTable).body))

	aggregated := ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	r = f.get("/apis", yaml+aggregated)
	assert.Equal(t, "application/yaml"+aggregated, r.Header.Get("Content-Type"))
	assert.Regexp(t, `^apiVersion: apidiscovery\.k8s\.io/v2\nitems:\n- metadata:\n    name: \S+\n  versions:\n  - freshness: Current\n`, string(r.body))
}

// What is written is answered in YAML, too, and what cannot be read is told in it.
func TestYAMLOfWrites(t *testing.T) {
	f := start(t)
	r := f.send(http.MethodPost, inVMs, string(machine("vms/a")), yaml)
	require.Equal(t, http.StatusCreated, r.StatusCode)
	assert.JSONEq(t, string(f.get(inVMs+"/a").body), r.fromYAML(t))
	again := f.send(http.MethodPost, inVMs, string(machine("vms/a")), yaml)
	assert.Contains(t, again.fromYAML(t), `"reason":"AlreadyExists"`)
	gone := f.do(http.MethodDelete, inVMs+"/a", yaml)
	assert.Contains(t, gone.fromYAML(t), `"status":"Success"`)
}

func TestYAMLIsChosenByPreference(t *testing.T) {
	f := start(t).create("vms/a")
	for accept, want := range map[string]string{
		"application/yaml,application/json":                             "application/yaml",
		"application/json,application/yaml":                             "application/json",
		"application/json;q=0.1,application/yaml;q=0.9":                 "application/yaml",
		"*/*,application/yaml":                                          "application/yaml",
		"application/*,application/yaml":                                "application/yaml",
		"application/yaml;q=0.5,*/*":                                    "application/json",
		"application/yaml;charset=utf-8":                                "application/yaml",
		"application/yaml;as=Bogus;v=v1;g=meta.k8s.io,application/json": "application/json",
		"application/yaml;as=Table;v=v2;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io": "application/json",
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/yaml":                             "application/json",
		"text/html,application/yaml": "application/yaml",
	} {
		r := f.get(inVMs+"/a", "Accept: "+accept)
		assert.Equal(t, http.StatusOK, r.StatusCode, accept)
		assert.Equal(t, want, r.Header.Get("Content-Type"), accept)
		assert.Equal(t, want == "application/json", json.Valid(r.body), accept)
	}
	assert.Equal(t, "only the following media types are accepted: application/json, application/yaml", f.get(inVMs, "Accept: text/html").status(t).Message)
	assert.Equal(t, http.StatusNotAcceptable, f.get(inVMs, "Accept: application/yaml;q=0").StatusCode)
	assert.Equal(t, http.StatusNotAcceptable, f.get("/openapi/v3", yaml).StatusCode, "it goes out byte for byte")
}

// Errors are in the first plain form that the client takes. JSON for people is what
// is left.
func TestFormOfErrors(t *testing.T) {
	f := start(t)
	table := "application/json;as=Table;v=v1;g=meta.k8s.io"
	for accept, want := range map[string]string{
		"":                          "compact",
		"application/json":          "compact",
		"*/*":                       "compact",
		table + ",application/json": "compact",
		table:                       "indented",
		"application/yaml;as=Table;v=v1;g=meta.k8s.io": "indented",
		"text/html":                 "indented",
		"application/yaml":          "yaml",
		table + ",application/yaml": "yaml",
	} {
		for _, path := range []string{inVMs + "/nosuch", inVMs + "/nosuch?resourceVersion=x", inVMs + "/nosuch?pretty=false"} {
			r := f.get(path, "Accept: "+accept)
			got := "compact"
			switch {
			case r.Header.Get("Content-Type") == "application/yaml":
				got = "yaml"
			case bytes.HasPrefix(r.body, []byte("{\n  \"kind\": \"Status\",\n")):
				got = "indented"
				assert.True(t, bytes.HasSuffix(r.body, []byte("\n}")))
			default:
				assert.True(t, bytes.HasPrefix(r.body, []byte(`{"kind":"Status",`)))
			}
			assert.Equal(t, want, got, "%s %s", path, accept)
			assert.EqualValues(t, len(r.body), r.ContentLength)
		}
	}
}

func TestPretty(t *testing.T) {
	f := start(t).create("vms/a", "vms/b")
	for query, agents := range map[string][3]bool{ // for a program, curl and a browser
		"":                          {false, true, true},
		"?pretty=true":              {true, true, true},
		"?pretty=1":                 {true, true, true},
		"?pretty=True":              {true, true, true},
		"?pretty=false":             {false, false, false},
		"?pretty=0":                 {false, false, false},
		"?pretty=abc":               {false, false, false},
		"?pretty=":                  {false, true, true},
		"?pretty":                   {false, true, true},
		"?pretty=true&pretty=false": {true, true, true},
		"?pretty=false&pretty=true": {false, false, false},
	} {
		for i, agent := range []string{"client/1", "curl/8", "Mozilla/5.0 (X11)"} {
			for _, path := range []string{inVMs, inVMs + "/a", inVMs + "/nosuch", "/apis/kubevirt.io/v1", "/api"} {
				r := f.get(path+query, "User-Agent: "+agent)
				plain := f.get(path+"?pretty=0", "User-Agent: "+agent)
				want := plain.body
				if agents[i] {
					var indented bytes.Buffer
					require.NoError(t, json.Indent(&indented, bytes.TrimSpace(plain.body), "", "  "))
					want = indented.Bytes()
				}
				assert.Equal(t, string(want), string(r.body), "%s%s %s", path, query, agent)
			}
		}
	}
	for agent, want := range map[string]bool{"curl": true, "Curl/8": false, "Wget/1.2": true, "wget": false, "Mozilla/4.0": false, "libcurl/8": false, "": false} {
		assert.Equal(t, want, bytes.Contains(f.get(inVMs, "User-Agent: "+agent).body, []byte("\n  ")), agent)
	}
	assert.Contains(t, string(f.get(inVMs, "Accept: application/json;pretty=1").body), "\n  ", "kube-apiserver's older spelling")
	assert.Contains(t, string(f.get(inVMs, asTable, curl).body), "\n  \"rows\": [\n    {\n      \"cells\": [\n        \"a\",\n")
	assert.NotContains(t, string(f.get("/openapi/v3", curl).body), "\n  ", "it goes out byte for byte")
	assert.Equal(t, f.get("/version").body, f.get("/version?pretty=false").body)
	assert.Equal(t, "ok", string(f.get("/readyz?pretty=true").body))
	assert.True(t, strings.HasPrefix(string(f.get(inVMs, yaml, curl).body), "apiVersion: "))

	w := f.watch(inVMs+"?watch=1&timeoutSeconds=1&pretty=true", curl)
	events, _ := w.next(2)
	assert.Len(t, events, 2)
}

// HEAD has the head of GET.
func TestHeadOfRenditions(t *testing.T) {
	f := start(t).create("vms/a", "vms/b")
	for _, path := range []string{inVMs + "/a", inVMs, inVMs + "/nosuch", "/version", "/apis", "/healthz", inVMs + "?labelSelector=none", "/nosuch"} {
		for _, header := range []string{"X: y", yaml, curl, asTable, yamlTable, "Accept: text/html"} {
			get, head := f.get(path, header), f.do(http.MethodHead, path, header)
			assert.Equal(t, get.StatusCode, head.StatusCode, "%s %s", path, header)
			assert.Empty(t, head.body)
			assert.Equal(t, get.ContentLength, head.ContentLength, "%s %s", path, header)
			assert.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"), "%s %s", path, header)
		}
	}
	head := f.do(http.MethodHead, inVMs+"?watch=1", "X: y")
	assert.Equal(t, http.StatusOK, head.StatusCode)
	assert.Empty(t, head.body)
}

// brokenStore has an object that is no JSON at the end of its lists.
type brokenStore struct {
	store.Store
	before int
}

func (b *brokenStore) List(ctx context.Context, o store.ListOptions) (*store.Page, error) {
	page, err := b.Store.List(ctx, o)
	if err != nil {
		return nil, err
	}
	first := page.Objects[0]
	page.Objects = nil
	for range b.before {
		page.Objects = append(page.Objects, first)
	}
	page.Objects = append(page.Objects, &store.Object{Key: first.Key, JSON: []byte("{")})
	return page, nil
}

// A list that cannot be written to its end does not look as if it were whole.
func TestYAMLOfABrokenObject(t *testing.T) {
	st := &brokenStore{Store: store.NewMemory()}
	f := startStore(t, st, server.WithResponseValidation(server.ValidateOff)).create("vms/a")
	s := f.get(inVMs, yaml).status(t)
	assert.Equal(t, "Internal error occurred", s.Message)
	assert.EqualValues(t, http.StatusInternalServerError, s.Code)

	st.before = 1000
	req, err := http.NewRequest(http.MethodGet, f.url+inVMs, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/yaml")
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, http.StatusOK, res.StatusCode)
	var body bytes.Buffer
	_, err = body.ReadFrom(res.Body)
	assert.Error(t, err)
	assert.False(t, errors.Is(err, context.DeadlineExceeded))
}
