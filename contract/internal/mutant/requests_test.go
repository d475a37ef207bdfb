package mutant_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract/internal/mutant"
)

const (
	root = "/apis/kubevirt.io/v1"
	all  = root + "/virtualmachineinstances"
	prod = root + "/namespaces/prod/virtualmachineinstances"
	good = "Bearer " + mutant.GoodToken
)

func in(namespace string) string {
	return root + "/namespaces/" + namespace + "/virtualmachineinstances"
}

// request is one request, or with walk the chain of pages that it begins.
type request struct {
	method, path, auth string
	walk               bool
	subject            string // of the mutants that are likely to show here, "" for all
	needs              string // as Mutant.Needs
}

func (r request) String() string { return fmt.Sprintf("%s %s (%.12s)", r.method, r.path, r.auth) }

// requests is everything that is asked of every server, in this order.
func requests() []request {
	var requests []request
	marked := 0
	// mark gives those since the last mark a subject.
	mark := func(subject string) {
		for ; marked < len(requests); marked++ {
			requests[marked].subject = subject
		}
	}
	get := func(paths ...string) {
		for _, p := range paths {
			requests = append(requests, request{method: "GET", path: p, auth: good})
		}
	}
	head := func(paths ...string) {
		for _, p := range paths {
			requests = append(requests, request{method: "HEAD", path: p, auth: good})
		}
	}
	lists := []string{all, in("prod"), in("stage"), in("test")}
	var items []string
	for _, o := range mutant.Fleet() {
		items = append(items, in(o.Namespace)+"/"+o.Name)
	}

	get(lists...)
	get(items...)
	get(prod+"/nosuch", in("nosuch"), in("nosuch")+"/vm00", in("nosuch"))
	head(all, prod, prod+"/vm00", prod+"/nosuch", in("nosuch"))

	get(all+"?labelSelector=app%3Dweb", prod+"?fieldSelector=metadata.name%3Dvm10", all+"?limit=abc", all+"?labelSelector=a%2C%2Cb", in("pro"), in("PROD"), in("pro")+"/vm00", in("PROD")+"/vm00")
	requests = append(requests, request{method: "GET", path: all + "?limit=4", auth: good, walk: true}, request{method: "GET", path: all})
	mark("")

	// selectors
	for _, text := range []string{
		"app=web", "app==web", "app!=web", "app=WEB", "app==Web", "app=we", "app=webx", "app=eb", "app=gold", "app=", "app==", "app!=", "app!=WEB", "app!=we", "tier=gold",
		"nosuch", "nosuch=x", "nosuch!=x", "canary", "!canary", "canary=", "canary=x", "canary!=", "app in (web,db)", "app in (db, web)", "app in (db,web,cache)", "app in (WEB)", "app in (w)", "app in (webx,y)", "app in (web)",
		"app in (nosuch)", "app notin (web,db)", "app notin (db,web)", "app notin (web)", "app notin (WEB,x)", "app notin (nosuch)", "app", "!app", "APP", "App=web", "ap", "tier", "!tier", "os", "os=Fedora",
		"kubevirt.io/os", "!kubevirt.io/os", "kubevirt.io/os=Fedora", "kubevirt.io/os=fedora", "kubevirt.io/os!=Fedora", "app=web,tier=gold", "tier=gold,app=web", "tier=gold,app=web,!kubevirt.io/os",
		"tier=silver,app=cache,app=web", "app!=web,app!=db", "app=web,tier in (gold,silver)", "app!=web,tier=gold", "!app,kubevirt.io/os", " app = web ",
		"app=web,", "app in web", "=", "-bad=x", "app=a b", "a,,b", "app in (web", "!app=web", strings.Repeat("w", 70), "app=" + strings.Repeat("w", 1200), "app%3Dweb", "ключ=web", "app=\x00", "<b>",
	} {
		get(all+"?labelSelector="+url.QueryEscape(text), prod+"?labelSelector="+url.QueryEscape(text))
	}
	get(all+"?labelSelector="+url.QueryEscape("app notin ("+strings.Repeat("aaaaaaaaa,", 300)+"web)"), prod+"?labelSelector="+url.QueryEscape(strings.Repeat("nosuch!=x,", 500)+"app=web"))
	for _, text := range []string{
		"metadata.name=vm10", "metadata.name==vm10", "metadata.name!=vm10", "metadata.name=vm1", "metadata.name=VM10", "metadata.namespace=stage", "metadata.namespace!=stage",
		"metadata.name=vm10,metadata.namespace=stage", "metadata.name=vm10,metadata.name=vm11", "metadata.name=alone", "status.phase=Failed", "spec.nosuch=x", "nosuch=x", "metadata.name",
	} {
		get(all+"?fieldSelector="+url.QueryEscape(text), prod+"?fieldSelector="+url.QueryEscape(text))
	}
	get(all+"?fieldSelector=metadata.name%3Dvm10&labelSelector=app%3Dweb", all+"?fieldSelector=metadata.name%3Dvm10&labelSelector=tier%3Dgold")

	mark(mutant.Selector)

	// limits and pages
	for _, q := range []string{"limit=1", "limit=2", "limit=5", "limit=19", "limit=20", "limit=21", "limit=11", "limit=12", "limit=13", "limit=4&labelSelector=tier", "limit=1&labelSelector=tier",
		"limit=1&fieldSelector=metadata.name%3Dvm10", "limit=1&fieldSelector=metadata.name!%3Dvm10", "limit=3&labelSelector=app%3Dweb", "limit=20&labelSelector=app%3Dweb"} {
		for _, list := range []string{all, prod, in("test")} {
			requests = append(requests, request{method: "GET", path: list + "?" + q, auth: good, walk: true})
		}
	}
	mark(mutant.Paging)

	// parameters and paths
	for _, limit := range []string{"0", "-1", "-5", "abc", "", "1.5", "1e3", "2x", "+2", "0x10", "9223372036854775807", "9223372036854775808", "18446744073709551618", "4294967297", strings.Repeat("9", 40)} {
		get(all+"?limit="+url.QueryEscape(limit), prod+"?limit="+url.QueryEscape(limit))
	}
	get(all+"?labelSelector=", prod+"?continue=", all+"?LabelSelector=nosuch", all+"?limit=2&limit=5", all+"?labelSelector=app%3Dweb&labelSelector=tier%3Dgold", all+"?fieldSelector=metadata.name%3Dvm10&fieldSelector=metadata.name%3Dvm11",
		all+"?nosuch=1", prod+"?nosuch=x&limit=2", prod+"/vm00?nosuch=1", all+"?continue=nonsense", all+"?continue=nonsense&limit=2", all+"?pretty=false")

	for _, name := range []string{"%76m00", "vm%30%30", "vm%2530%2530", "%2576m00", "vm%25252530", "..%2F..%2Ftest%2Fvirtualmachineinstances%2Falone", "x%2F..%2Fvm00", "..%2Ftest%2Falone", "%2E%2E%2Fvm00", `x%5C..%5Cvm00`,
		"vm00%00", "vm00.", "%C1%B6m00", "%EF%BD%96m00", "vm00%2Fx", "vm00%00x", "vm%0000", "vm00%0A", "vm00%01", "%D1%8Fvm00", "vm00%E2%80%8B", "%FFvm00", "vm00%20", "%20vm00", "VM00", "vm0", "vm", "m00", "vm000", "vm00x", "vm00.json", "vm00;x=1", "vm00%3Bx",
		"vm0%25", "vm0_", "vm%2A", "%2A", "vm0%3F", strings.Repeat("v", 254), strings.Repeat("v", 300), strings.Repeat("v", 6000), "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%22%3E", "vm00/", "/vm00", "vm00/status", "vm00/x/y"} {
		get(prod + "/" + name)
	}
	get(prod+"/alone", prod+"/other", in("test")+"/vm00", in("stage")+"/vm00", in("test")+"/vm10", in("PROD"), in("pro"), in("PROD")+"/vm00", in("pro")+"/vm00", in("p"), in("rod"), in("*"), in("nosuch")+"/%2e%2e/%2e%2e/prod/virtualmachineinstances/vm00", in("%70rod"), in("%70rod")+"/vm00",
		in(strings.Repeat("n", 300)), in(strings.Repeat("n", 300))+"/vm00", in("prod%20"), in("prod%2F..%2Ftest")+"/alone", root+"/namespaces/..%2Fprod/virtualmachineinstances", all+"x", prod+"x", prod+"x/vm00",
		strings.Replace(prod, "/v1/", "/v9/", 1), strings.Replace(all, "/v1/", "/v9/", 1), "/", "/nosuch", "/login", root)

	mark(mutant.Edge)

	// who asks
	wrong := []string{"", "Bearer wrong", "Bearer " + mutant.GoodToken + "x", "Bearer good-token", "Bearer " + strings.ToUpper(mutant.GoodToken), "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Basic " + mutant.GoodToken,
		"Token " + mutant.GoodToken, mutant.GoodToken, "Digest x"}
	objects := []string{prod + "/vm00", in("test") + "/alone", prod + "/nosuch", in("nosuch") + "/vm00"}
	get(all, prod, in("test"))
	get(objects...)
	for _, auth := range wrong {
		for _, p := range append([]string{all, prod, in("test"), in("nosuch"), prod + "?limit=1", prod + "?labelSelector=app", all + "?labelSelector=app%3Dweb"}, objects...) {
			requests = append(requests, request{method: "GET", path: p, auth: auth})
		}
		for _, p := range []string{all, objects[0], objects[2]} {
			requests = append(requests, request{method: "HEAD", path: p, auth: auth})
		}
	}
	for _, p := range append([]string{all, prod}, objects...) {
		for _, key := range []string{"access_token", "token"} {
			requests = append(requests, request{method: "GET", path: p + "?" + key + "=" + mutant.GoodToken}, request{method: "HEAD", path: p + "?" + key + "=" + mutant.GoodToken})
		}
	}
	requests = append(requests,
		// The token of a page that was given to somebody else; it is the right server's.
		request{method: "GET", path: prod + "?limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAwMCwic3RhcnQiOjJ9"},
		request{method: "GET", path: prod, auth: "bearer " + mutant.GoodToken})

	mark(mutant.Auth)

	// everything once more
	get(lists...)
	get(items...)
	get(lists...)
	get(prod+"/nosuch", in("nosuch"))
	head(lists...)
	head(items...)
	head(in("nosuch"), prod+"/nosuch", prod+"?labelSelector=app%3Dweb", prod+"?limit=abc")

	mark(mutant.Consistency)

	for _, p := range append([]string{all, prod, in("test"), in("nosuch"), prod + "?limit=1", prod + "?labelSelector=app"}, objects...) {
		for _, method := range []string{"GET", "HEAD"} {
			requests = append(requests, request{method: method, path: p, auth: "Bearer " + mutant.ForbiddenToken, needs: mutant.NeedsForbiddenToken})
		}
	}
	mark(mutant.Auth)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO"} {
		for _, auth := range []string{good, ""} {
			requests = append(requests, request{method: method, path: prod + "/nosuch", auth: auth, needs: mutant.NeedsProbeMethods})
		}
	}
	mark(mutant.Method)
	return requests
}

// seen is all of an answer that a tester can see.
type seen struct {
	Code   int
	Header map[string]string
	Body   string
	Broken bool // the connection ended before the body did, or there was no answer
}

// caller asks one server.
type caller struct {
	base   string
	client *http.Client
}

func call(t *testing.T, h http.Handler) caller {
	t.Helper()
	hs := httptest.NewUnstartedServer(h)
	hs.Config.ErrorLog = quiet
	hs.Start()
	t.Cleanup(hs.Close)
	return caller{hs.URL, &http.Client{
		Timeout: 10 * time.Second,
		// As it is on the wire: nothing unpacked, no redirect followed.
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c caller) one(t *testing.T, r request) seen {
	t.Helper()
	req, err := http.NewRequest(r.method, c.base+r.path, nil)
	require.NoError(t, err)
	if r.auth != "" {
		req.Header.Set("Authorization", r.auth)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return seen{Broken: true}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	s := seen{Code: res.StatusCode, Header: map[string]string{}, Body: string(data), Broken: err != nil}
	for _, key := range []string{"Content-Type", "Content-Encoding", "Content-Length", "Location", "Allow", "WWW-Authenticate", "X-Content-Type-Options", "Cache-Control"} {
		if v := res.Header.Values(key); len(v) > 0 {
			s.Header[key] = strings.Join(v, "\n")
		}
	}
	return s
}

// all follows the pages of a walk, thirty at most.
func (c caller) all(t *testing.T, r request) (answers []seen) {
	t.Helper()
	next := r
	for range 30 {
		s := c.one(t, next)
		answers = append(answers, s)
		var list struct {
			Metadata struct {
				Continue any `json:"continue"`
			} `json:"metadata"`
		}
		if !r.walk || json.Unmarshal([]byte(s.Body), &list) != nil || list.Metadata.Continue == nil || list.Metadata.Continue == "" {
			break
		}
		next.path = r.path + "&continue=" + url.QueryEscape(fmt.Sprint(list.Metadata.Continue))
	}
	return answers
}
