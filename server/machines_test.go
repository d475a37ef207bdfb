package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

func TestListEnvelope(t *testing.T) {
	f := start(t).create("vms/b", "vms/a", "other/c")

	r := f.get(inVMs)
	assert.Equal(t, "vms/a vms/b", names(r.list(t)))
	assert.True(t, strings.HasPrefix(string(r.body), `{"apiVersion":"kubevirt.io/v1","items":[{"apiVersion":`))
	assert.True(t, strings.HasSuffix(string(r.body), "}\n"))
	assert.Contains(t, string(r.body), `"kind":"VirtualMachineInstanceList","metadata":{"continue":"","resourceVersion":"`)
	assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
	assert.Equal(t, "no-cache, private", r.Header.Get("Cache-Control"))
	assert.NotEmpty(t, r.Header.Get("Audit-Id"))
	assert.Equal(t, []string{"chunked"}, r.TransferEncoding, "a list with items is streamed")

	assert.Equal(t, "other/c vms/a vms/b", names(f.get(all).list(t)))
	assert.Equal(t, "other/c vms/a vms/b", names(f.get("/apis/kubevirt.io/v1/namespaces//virtualmachineinstances").list(t)))
	assert.Equal(t, "vms/a vms/b", names(f.get(inVMs+"/").list(t)), "a trailing slash is the same path")
}

func TestListOfNothing(t *testing.T) {
	f := start(t)
	for _, ns := range []string{"nosuch", "Bad_NS", "%2e%2e"} {
		r := f.get("/apis/kubevirt.io/v1/namespaces/" + ns + "/virtualmachineinstances")
		assert.Empty(t, r.list(t).Items)
		assert.Contains(t, string(r.body), `"items":[]`)
		assert.Positive(t, r.ContentLength)
	}
}

func TestGet(t *testing.T) {
	f := start(t).create("vms/a")
	r := f.get(inVMs + "/a")
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.True(t, strings.HasSuffix(string(r.body), "}}\n"))
	assert.EqualValues(t, len(r.body), r.ContentLength)

	assert.Equal(t, r.body, f.get(inVMs+"/%61/").body, "a percent-encoded letter is the letter")
	assert.Equal(t, r.body, f.get(inVMs+"/a?watch=true").body, "watch means nothing here")
	assert.Equal(t, r.body, f.get(inVMs+"/a?resourceVersion=0").body)

	head := f.do(http.MethodHead, inVMs+"/a")
	assert.Equal(t, http.StatusOK, head.StatusCode)
	assert.Empty(t, head.body)
	assert.Equal(t, http.StatusNotFound, f.do(http.MethodHead, inVMs+"/b").StatusCode)
	assert.Equal(t, http.StatusOK, f.do(http.MethodHead, inVMs).StatusCode)
}

func TestGetOfNothing(t *testing.T) {
	f := start(t).create("vms/a")
	for path, message := range map[string]string{
		inVMs + "/nosuch":                       `virtualmachineinstances.kubevirt.io "nosuch" not found`,
		inVMs + "/NotValid_Name":                `virtualmachineinstances.kubevirt.io "NotValid_Name" not found`,
		inVMs + "/a%20b":                        `virtualmachineinstances.kubevirt.io "a b" not found`,
		inVMs + "/..%2fa":                       `virtualmachineinstances.kubevirt.io ".." not found`,
		inVMs + "/%00":                          `virtualmachineinstances.kubevirt.io "\x00" not found`,
		inVMs + "/%C3%BC":                       `virtualmachineinstances.kubevirt.io "ü" not found`,
		inVMs + "/%FF":                          `virtualmachineinstances.kubevirt.io "\xff" not found`,
		inVMs + "/" + strings.Repeat("x", 2000): `virtualmachineinstances.kubevirt.io "` + strings.Repeat("x", 2000) + `" not found`,
		inVMs + "/a/status":                     `virtualmachineinstances.kubevirt.io "a" not found`,
		inVMs + "/a/x/y":                        `virtualmachineinstances.kubevirt.io "a" not found`,
	} {
		s := f.get(path).status(t)
		assert.Equal(t, message, s.Message, path)
		assert.Equal(t, "NotFound", s.Reason)
		assert.Equal(t, "virtualmachineinstances", s.Details.Kind)
		assert.Equal(t, "kubevirt.io", s.Details.Group)
	}
	other := f.get("/apis/kubevirt.io/v1/namespaces/other/virtualmachineinstances/a").status(t)
	assert.Equal(t, "NotFound", other.Reason)
}

func TestUnknownPathsAreText(t *testing.T) {
	f := start(t).create("vms/a")
	for _, path := range []string{
		"/nosuch", "/", "/apis/kubevirt.io/v2/namespaces/vms/virtualmachineinstances", "/apis/kubevirt.io/v1/namespaces/vms/virtualmachines",
		"/apis/example.com/v1/things", all + "/a", "//apis/kubevirt.io/v1/virtualmachineinstances", "/api/v1/namespaces/vms/services", "/api/v1/configmaps", "/api/v1/namespaces/vms/nodes",
		"/apis/apps/v1", "/apis/apps", "/openapi/v3/apis/apps/v1",
	} {
		r := f.get(path)
		assert.Equal(t, http.StatusNotFound, r.StatusCode, path)
		assert.Equal(t, "404 page not found\n", string(r.body), path)
		assert.Equal(t, "text/plain; charset=utf-8", r.Header.Get("Content-Type"))
		assert.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
	}
}

func TestMethods(t *testing.T) {
	f := start(t).create("vms/a")
	for _, c := range []struct{ method, path, message, reason string }{
		{"OPTIONS", inVMs, ` is not supported on resources of kind "virtualmachineinstances.kubevirt.io"`, "MethodNotAllowed"},
		{"TRACE", inVMs + "/a", ` is not supported on resources of kind "virtualmachineinstances.kubevirt.io"`, "MethodNotAllowed"},
		{"FOO", inVMs, ` is not supported on resources of kind "virtualmachineinstances.kubevirt.io"`, "MethodNotAllowed"},
		{"POST", inVMs + "/a", `create is not supported on resources of kind "virtualmachineinstances.kubevirt.io"`, "MethodNotAllowed"},
		{"PUT", inVMs, "name must be provided", "BadRequest"},
		{"PATCH", inVMs, "name must be provided", "BadRequest"},
		{"DELETE", "/api/v1/namespaces", `deletecollection is not supported on resources of kind "namespaces"`, "MethodNotAllowed"},
		{"OPTIONS", "/version", "the server does not allow this method on the requested resource", "MethodNotAllowed"},
		{"OPTIONS", "/apis/kubevirt.io/v1", "the server does not allow this method on the requested resource", "MethodNotAllowed"},
		{"OPTIONS", "/api/v1/namespaces", ` is not supported on resources of kind "namespaces"`, "MethodNotAllowed"},
		{"POST", "/version", "the server does not allow this method on the requested resource", "MethodNotAllowed"},
		{"PUT", "/apis/subresources.kubevirt.io/v1/namespaces/vms/virtualmachines/a/start",
			"this server has VirtualMachineInstances, but nothing that runs: there is nothing to start in virtualmachines", "NotFound"},
	} {
		s := f.do(c.method, c.path).status(t)
		assert.Equal(t, c.message, s.Message, c)
		assert.Equal(t, c.reason, s.Reason, c)
	}
	for _, method := range []string{"POST", "DELETE", "OPTIONS", "PUT"} {
		assert.Equal(t, "404 page not found\n", string(f.do(method, all).body), method)
	}
	assert.Equal(t, "404 page not found\n", string(f.do("OPTIONS", "/nosuch").body))
}

func TestSelectors(t *testing.T) {
	f := start(t).create("vms/a app=web tier=gold", "vms/b app=db", "vms/c", "other/a app=web")
	for query, want := range map[string]string{
		"labelSelector=app%3Dweb":                                "vms/a",
		"labelSelector=app!%3Dweb":                               "vms/b vms/c",
		"labelSelector=app+in+(web,db),tier":                     "vms/a",
		"labelSelector=!app":                                     "vms/c",
		"labelSelector=":                                         "vms/a vms/b vms/c",
		"fieldSelector=metadata.name%3Db":                        "vms/b",
		"fieldSelector=metadata.name!%3Db":                       "vms/a vms/c",
		"fieldSelector=metadata.namespace%3Dother":               "",
		"fieldSelector=metadata.name%3Da&labelSelector=app%3Ddb": "",
		"labelSelector=app%3Dweb&labelSelector=app%3Ddb":         "vms/a",
		"unknown=1&labelSelector=app%3Ddb":                       "vms/b",
	} {
		assert.Equal(t, want, names(f.get(inVMs+"?"+query).list(t)), query)
	}
	for query, message := range map[string]string{
		"labelSelector=app+in+web":                      "unable to parse requirement: found 'web' expected: '('",
		"labelSelector=app%3Dweb%2C%2Ctier":             "found ',', expected: identifier after ','",
		"fieldSelector=status.phase%3DRunning":          "field label not supported: status.phase",
		"fieldSelector=metadata.name":                   "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
		"labelSelector=" + strings.Repeat("(", 100_000): "",
	} {
		s := f.get(inVMs + "?" + query).status(t)
		assert.Equal(t, "BadRequest", s.Reason)
		if message != "" {
			assert.Equal(t, message, s.Message)
		}
	}
}

func TestPages(t *testing.T) {
	f := start(t).create("vms/a", "vms/b", "vms/c", "vms/d", "vms/e", "other/x")
	first := f.get(inVMs + "?limit=2").list(t)
	assert.Equal(t, "vms/a vms/b", names(first))
	require.NotNil(t, first.Metadata.RemainingItemCount)
	assert.EqualValues(t, 3, *first.Metadata.RemainingItemCount)

	// What happens between the pages does not show in them.
	require.NoError(t, f.writer.Delete(t.Context(), "vms", "d"))
	f.create("vms/bb")
	second := f.get(inVMs + "?limit=2&continue=" + first.Metadata.Continue).list(t)
	assert.Equal(t, "vms/c vms/d", names(second))
	assert.Equal(t, first.Metadata.ResourceVersion, second.Metadata.ResourceVersion)
	third := f.get(inVMs + "?limit=2&continue=" + second.Metadata.Continue).list(t)
	assert.Equal(t, "vms/e", names(third))
	assert.Empty(t, third.Metadata.Continue)
	assert.Nil(t, third.Metadata.RemainingItemCount)

	assert.Equal(t, "vms/c vms/d vms/e", names(f.get(inVMs+"?continue="+first.Metadata.Continue).list(t)), "without a limit the rest comes")
	exact := f.get(inVMs + "?limit=5").list(t)
	assert.Empty(t, exact.Metadata.Continue)
	assert.Nil(t, f.get(inVMs+"?limit=1&labelSelector=!x").list(t).Metadata.RemainingItemCount, "no count with a selector")

	overAll := f.get(all + "?limit=2").list(t)
	assert.Equal(t, "other/x vms/a", names(overAll))
	assert.Equal(t, "vms/b vms/bb", names(f.get(all+"?limit=2&continue="+overAll.Metadata.Continue).list(t)))
}

func token(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }

func TestBadTokens(t *testing.T) {
	f := start(t).create("vms/a", "vms/b")
	const bad = "invalid continue token: continue key is not valid: "
	for tok, message := range map[string]string{
		token("garbage"): bad + "invalid character 'g' looking for beginning of value",
		token(`{"v":"meta.k8s.io/v2","rv":12,"start":"vm2\u0000"}`): bad + "server does not recognize this encoded version meta.k8s.io/v2",
		token(`{"v":"meta.k8s.io/v1","rv":0,"start":"vm2\u0000"}`):  bad + "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
		token(`{"v":"meta.k8s.io/v1","rv":12,"start":""}`):          bad + "encoded start key empty (version meta.k8s.io/v1)",
		token(`{"v":"meta.k8s.io/v1","rv":12,"start":"../x"}`):      bad + "../x",
		"%25%25": bad + "illegal base64 data at input byte 0",
	} {
		s := f.get(inVMs + "?limit=2&continue=" + tok).status(t)
		assert.Equal(t, message, s.Message)
		assert.Equal(t, "BadRequest", s.Reason)
	}
	assert.Empty(t, f.get(inVMs+"?continue="+token(`{"v":"meta.k8s.io/v1","rv":-1,"start":"zzz\u0000"}`)).list(t).Items)
	first := f.get(inVMs + "?limit=1").list(t)
	s := f.get(inVMs + "?limit=1&resourceVersion=12&continue=" + first.Metadata.Continue).status(t)
	assert.Equal(t, "specifying resource version is not allowed when using continue", s.Message)
}

func TestExpiredPage(t *testing.T) {
	f := startStore(t, store.NewMemory(store.WithHistory(store.History{Count: 1, Changes: 1}))).create("vms/a", "vms/b", "vms/c")
	first := f.get(inVMs + "?limit=1").list(t)
	f.create("vms/d")
	// The next pin pushes the only one out.
	f.get(inVMs + "?limit=1").list(t)
	f.create("vms/e")
	gone := f.get(inVMs + "?limit=1&continue=" + first.Metadata.Continue).status(t)
	assert.Equal(t, http.StatusGone, int(gone.Code))
	assert.Equal(t, "Expired", gone.Reason)
	assert.True(t, strings.HasPrefix(gone.Message, "The provided continue parameter is too old"))
	rest := f.get(inVMs + "?continue=" + gone.Metadata.Continue).list(t)
	assert.Equal(t, "vms/b vms/c vms/d vms/e", names(rest))

	s := f.get(inVMs + "?resourceVersionMatch=Exact&resourceVersion=1").status(t)
	assert.Equal(t, "The resourceVersion for the provided list is too old.", s.Message)
}

func TestResourceVersions(t *testing.T) {
	f := start(t).create("vms/a")
	rv := f.get(inVMs).list(t).Metadata.ResourceVersion
	assert.Len(t, f.get(inVMs+"?resourceVersionMatch=Exact&resourceVersion="+rv).list(t).Items, 1)
	assert.Len(t, f.get(inVMs+"?resourceVersionMatch=NotOlderThan&resourceVersion="+rv).list(t).Items, 1)
	assert.Len(t, f.get(inVMs+"?resourceVersion=1").list(t).Items, 1)
	f.create("vms/b")
	f.remove("vms", "a")
	for query, want := range map[string]string{
		"resourceVersionMatch=Exact&resourceVersion=":                "vms/a",
		"limit=5&resourceVersion=":                                   "vms/a", // without a match the old meaning of a limit
		"limit=5&resourceVersionMatch=Exact&resourceVersion=":        "vms/a",
		"resourceVersion=":                                           "vms/b",
		"limit=5&resourceVersionMatch=NotOlderThan&resourceVersion=": "vms/b",
	} {
		l := f.get(inVMs + "?" + query + rv).list(t)
		assert.Equal(t, want, names(l), query)
		assert.Equal(t, want == "vms/a", l.Metadata.ResourceVersion == rv)
	}
	f.remove("vms", "b")
	f.create("vms/a")
	for query, message := range map[string]string{
		"resourceVersionMatch=Exact":                   `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
		"resourceVersionMatch=Exact&resourceVersion=0": `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
		"resourceVersionMatch=Bad&resourceVersion=17":  `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Bad": supported values: "Exact", "NotOlderThan", ""`,
		"resourceVersionMatch=NotOlderThan&continue=x": `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]`,
		"sendInitialEvents=true":                       `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
		"resourceVersion=abc":                          `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
		"resourceVersion=-1":                           `invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax`,
	} {
		assert.Equal(t, message, f.get(inVMs+"?"+query).status(t).Message)
	}
	s := f.get(inVMs + "/a?resourceVersion=abc").status(t)
	assert.Equal(t, "BadRequest", s.Reason, "a real API server answers 500 here")
}

func TestFutureResourceVersion(t *testing.T) {
	t.Parallel()
	f := start(t).create("vms/a")
	for _, path := range []string{inVMs, inVMs + "/a", "/api/v1/namespaces"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r := f.get(path + "?resourceVersion=9000000000000000000")
			s := r.status(t)
			assert.Equal(t, http.StatusGatewayTimeout, r.StatusCode)
			assert.Contains(t, s.Message, "Timeout: Too large resource version: 9000000000000000000, current: ")
			assert.Equal(t, "1", r.Header.Get("Retry-After"))
			assert.EqualValues(t, 1, s.Details.RetryAfterSeconds)
		})
	}
}

func TestParameters(t *testing.T) {
	f := start(t).create("vms/a", "vms/b")
	for query, message := range map[string]string{
		"limit=abc":                  `strconv.ParseInt: parsing "abc": invalid syntax`,
		"limit=":                     `strconv.ParseInt: parsing "": invalid syntax`,
		"limit=1.5":                  `strconv.ParseInt: parsing "1.5": invalid syntax`,
		"limit=99999999999999999999": `strconv.ParseInt: parsing "99999999999999999999": value out of range`,
		"timeoutSeconds=abc":         `strconv.ParseInt: parsing "abc": invalid syntax`,
	} {
		s := f.get(inVMs + "?" + query).status(t)
		assert.Equal(t, message, s.Message)
		name, _, _ := strings.Cut(query, "=")
		require.Len(t, s.Details.Causes, 1)
		assert.Equal(t, name, s.Details.Causes[0].Field)
	}
	for _, limit := range []string{"0", "-1"} {
		s := f.get(inVMs + "?limit=" + limit).status(t)
		assert.Contains(t, s.Message, "limit")
		assert.Contains(t, s.Message, "minimum")
		assert.Equal(t, "BadRequest", s.Reason)
	}
	long := f.get(inVMs + "?limit=" + strings.Repeat("a", 100_000))
	assert.Less(t, len(long.status(t).Message), 200, "what was sent is not sent back whole")
	assert.Len(t, f.get(inVMs+"?limit=1&limit=2").list(t).Items, 1, "the first one counts")
	assert.Len(t, f.get(inVMs+"?%zz&"+url.QueryEscape("nosuch\x00")+"=1").list(t).Items, 2)
}

// hurried is a store that notes how much time a list is given.
type hurried struct {
	store.Store
	left time.Duration
}

func (h *hurried) List(ctx context.Context, o store.ListOptions) (*store.Page, error) {
	end, _ := ctx.Deadline()
	h.left = time.Until(end)
	return h.Store.List(ctx, o)
}

func TestTimeoutSecondsIsADeadline(t *testing.T) {
	h := &hurried{Store: store.NewMemory()}
	f := startStore(t, h)
	for query, most := range map[string]time.Duration{
		"":                                    time.Minute,
		"?timeoutSeconds=7":                   7 * time.Second,
		"?timeoutSeconds=0":                   time.Minute,
		"?timeoutSeconds=7200":                time.Minute, // not beyond that of the server
		"?timeoutSeconds=9223372036854775807": time.Minute,
	} {
		f.get(inVMs + query).list(t)
		assert.LessOrEqual(t, h.left, most, query)
		assert.Greater(t, h.left, most-5*time.Second, query)
	}
}

func TestNamespacesComeInPages(t *testing.T) {
	f := start(t).create("a/x", "a-b/x", "b/x", "c/x")
	page := func(query string) vmi.NamespaceList {
		var l vmi.NamespaceList
		r := f.get("/api/v1/namespaces" + query)
		require.Equal(t, 200, r.StatusCode, "%s", r.body)
		require.NoError(t, json.Unmarshal(r.body, &l))
		return l
	}
	var names []string
	next := ""
	for {
		l := page("?limit=2&continue=" + next)
		for _, n := range l.Items {
			names = append(names, n.Metadata.Name)
		}
		if next = l.Metadata.Continue; next == "" {
			break
		}
		require.NotNil(t, l.Metadata.RemainingItemCount)
		assert.EqualValues(t, 7-len(names), *l.Metadata.RemainingItemCount)
	}
	assert.Equal(t, []string{"a", "a-b", "b", "c", "default", "kube-system", "kubevirt"}, names)
	assert.Contains(t, f.get("/api/v1/namespaces?limit=0").status(t).Message, "minimum")
	assert.Equal(t, "BadRequest", f.get("/api/v1/namespaces?continue=zzz").status(t).Reason)
	assert.Equal(t, "Invalid", f.get("/api/v1/namespaces?resourceVersionMatch=Exact").status(t).Reason)
	assert.Equal(t, "Expired", f.get("/api/v1/namespaces?resourceVersionMatch=Exact&resourceVersion=1").status(t).Reason)
}

func TestSelectedPageWithoutARestHasNoToken(t *testing.T) {
	f := start(t).create("vms/a app=web", "vms/b app=web")
	l := f.get(inVMs + "?limit=2&labelSelector=app%3Dweb").list(t)
	assert.Len(t, l.Items, 2)
	assert.Empty(t, l.Metadata.Continue)
}
