package mutant_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// status is the error that an answer carries.
type status struct {
	Kind, APIVersion, Status, Message, Reason string
	Code                                      int
}

// list is a list as far as these tests look at it.
type list struct {
	Kind, APIVersion string
	Items            []struct {
		Metadata struct{ Name, Namespace string }
	}
	Metadata struct {
		ResourceVersion, Continue string
		RemainingItemCount        *int
	}
}

func (l list) names() string {
	names := []string{}
	for _, i := range l.Items {
		names = append(names, i.Metadata.Namespace+"/"+i.Metadata.Name)
	}
	return strings.Join(names, " ")
}

func decode[T any](t *testing.T, s seen) (v T) {
	t.Helper()
	require.Equal(t, "application/json", s.Header["Content-Type"])
	require.NoError(t, json.Unmarshal([]byte(s.Body), &v), s.Body)
	return v
}

func TestRightLists(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.New(mutant.Fleet()))
	const prodWeb = "prod/vm01 prod/vm02 prod/vm07 prod/vm08"
	for _, test := range []struct{ path, query, names string }{
		{prod, "labelSelector=app=web", prodWeb},
		{prod, "labelSelector=app==web", prodWeb},
		{prod, "labelSelector=app in (web,nosuch)", prodWeb},
		{prod, "labelSelector=app in (nosuch, web)", prodWeb},
		{prod, "labelSelector=app=web,tier=gold", "prod/vm01 prod/vm07"},
		{prod, "labelSelector=app=web,!tier", "prod/vm02 prod/vm08"},
		{prod, "labelSelector=app!=web,app!=db,app!=cache", "prod/vm03 prod/vm05 prod/vm09 prod/vm11"},
		{prod, "labelSelector=app notin (web,db,cache)", "prod/vm03 prod/vm05 prod/vm09 prod/vm11"},
		{prod, "labelSelector=!app", "prod/vm03 prod/vm05 prod/vm09 prod/vm11"},
		{prod, "labelSelector=kubevirt.io/os=Fedora,app", "prod/vm04 prod/vm10"},
		{prod, "labelSelector=os", ""},
		{prod, "labelSelector=app=WEB", ""},
		{prod, "labelSelector=app=we", ""},
		{prod, "labelSelector=app=", ""},
		{all, "labelSelector=canary=", "test/other"},
		{all, "labelSelector=canary", "test/other"},
		{all, "labelSelector=canary in ()", "test/other"},
		{all, "labelSelector=tier>1", ""},
		{all, "fieldSelector=metadata.name=vm10", "prod/vm10 stage/vm10"},
		{all, "fieldSelector=metadata.name=vm10,metadata.namespace!=prod", "stage/vm10"},
		{all, "fieldSelector=metadata.name=vm10&labelSelector=app=db", "stage/vm10"},
		{in("test"), "", "test/alone test/other"},
		{in("nosuch"), "", ""},
		{in("pro"), "", ""},
		{in("PROD"), "", ""},
		{prod, "limit=2", "prod/vm00 prod/vm01"},
		{prod, "limit=2&limit=5", "prod/vm00 prod/vm01"},
		{prod, "limit=2&labelSelector=tier=silver", "prod/vm03 prod/vm04"},
		{in("test"), "limit=9223372036854775807", "test/alone test/other"},
		{in("test"), "nosuch=1&pretty=true", "test/alone test/other"},
	} {
		query := strings.ReplaceAll(test.query, " ", "%20")
		s := c.one(t, request{method: "GET", path: test.path + "?" + query, auth: good})
		require.Equal(t, http.StatusOK, s.Code, test.query)
		l := decode[list](t, s)
		assert.Equal(t, test.names, l.names(), "%s?%s", test.path, test.query)
		assert.Equal(t, "kubevirt.io/v1 VirtualMachineInstanceList 1000", l.APIVersion+" "+l.Kind+" "+l.Metadata.ResourceVersion)
		assert.NotNil(t, l.Items)
	}
}

func TestRightPages(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.New(mutant.Fleet()))
	whole := decode[list](t, c.one(t, request{method: "GET", path: all, auth: good}))
	require.Len(t, whole.Items, 20)
	for _, limit := range []struct {
		query        string
		pages, first int // first is the remainingItemCount of the first page, -1 for none
	}{{"limit=1", 20, 19}, {"limit=7", 3, 13}, {"limit=19", 2, 1}, {"limit=20", 1, -1}, {"limit=21", 1, -1}, {"limit=1&labelSelector=!nosuch", 20, -1}} {
		pages := c.all(t, request{method: "GET", path: all + "?" + limit.query, auth: good, walk: true})
		require.Len(t, pages, limit.pages, limit.query)
		joined := list{}
		for i, p := range pages {
			l := decode[list](t, p)
			joined.Items = append(joined.Items, l.Items...)
			assert.Equal(t, i == len(pages)-1, l.Metadata.Continue == "")
			if i == 0 && limit.first >= 0 {
				require.NotNil(t, l.Metadata.RemainingItemCount)
				assert.Equal(t, limit.first, *l.Metadata.RemainingItemCount)
			}
			if i == len(pages)-1 || limit.first < 0 {
				assert.Nil(t, l.Metadata.RemainingItemCount)
			}
		}
		assert.Equal(t, whole.names(), joined.names(), limit.query)
	}
}

func TestRightGets(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.New(mutant.Fleet()))
	whole := c.one(t, request{method: "GET", path: all, auth: good})
	for _, o := range mutant.Fleet() {
		path := in(o.Namespace) + "/" + o.Name
		got := c.one(t, request{method: "GET", path: path, auth: good})
		require.Equal(t, http.StatusOK, got.Code)
		assert.Equal(t, o.Body, got.Body)
		assert.Contains(t, whole.Body, got.Body)
		head := c.one(t, request{method: "HEAD", path: path, auth: "bearer " + mutant.GoodToken})
		got.Body = ""
		assert.Equal(t, got, head)
	}
	for _, path := range []string{prod + "/%76m00", in("%70rod") + "/vm%30%30", "/apis/kubevirt%2Eio/v1/namespaces/prod/virtualmachineinstances/vm00", prod + "/vm00?limit=abc"} {
		assert.Equal(t, mutant.Fleet()[0].Body, c.one(t, request{method: "GET", path: path, auth: good}).Body, path)
	}
}

func TestRightRefusals(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.New(mutant.Fleet()))
	refused := func(r request, code int, reason string) status {
		t.Helper()
		s := c.one(t, r)
		require.Equal(t, code, s.Code, r.String())
		assert.Equal(t, "nosniff", s.Header["X-Content-Type-Options"])
		got := decode[status](t, s)
		assert.Equal(t, status{"Status", "v1", "Failure", got.Message, reason, code}, got, r.String())
		assert.NotContains(t, s.Body, "<")
		assert.NotContains(t, s.Body, mutant.CloudInitSecret)
		return got
	}
	for _, name := range []string{"nosuch", "alone", "VM00", "vm0", "vm000", "vm00%00", "vm00%20", "..%2F..%2Ftest%2Falone", "x%2F..%2Fvm00", "vm%2530%2530", "%D1%8F", "%FF", "%2A", "vm00.json", strings.Repeat("v", 300), "%3Cb%3E"} {
		refused(request{method: "GET", path: prod + "/" + name, auth: good}, 404, "NotFound")
	}
	refused(request{method: "GET", path: in("nosuch") + "/vm00", auth: good}, 404, "NotFound")
	for _, query := range []string{"limit=abc", "limit=", "limit=0", "limit=-1", "limit=1.5", "limit=9223372036854775808", "limit=+", "continue=nonsense", "continue=e30"} {
		refused(request{method: "GET", path: prod + "?" + query, auth: good}, 400, "BadRequest")
	}
	for _, selector := range []string{"app=web,", ",app", "a,,b", "app in web", "app in (web", "app in (web) x", "app in (a b)", "=", "=web", "!", "!app=web", "app!", "-bad=x", "app=-x", "app=a b", "app===x", "a/b/c", "A.b/c", "/c", "x>y", "<b>", "app=\x00",
		"ключ", "app=\xff", strings.Repeat("w", 64), "app=" + strings.Repeat("w", 64), strings.Repeat("a.", 127) + "b/c"} {
		refused(request{method: "GET", path: prod + "?labelSelector=" + url.QueryEscape(selector), auth: good}, 400, "BadRequest")
	}
	for _, selector := range []string{"status.phase=Running", "nosuch=x", "metadata.name"} {
		refused(request{method: "GET", path: all + "?fieldSelector=" + url.QueryEscape(selector), auth: good}, 400, "BadRequest")
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO", "get"} {
		refused(request{method: method, path: prod + "/nosuch", auth: good}, 405, "MethodNotAllowed")
	}
	for _, path := range []string{all + "x", prod + "/vm00/status", prod + "/", all + "/vm00", "/apis/kubevirt.io/v9/virtualmachineinstances", "/", root + "/namespaces//virtualmachineinstances"} {
		assert.Equal(t, 404, c.one(t, request{method: "GET", path: path, auth: good}).Code, path)
	}
}

// Who may not read learns nothing, whatever is there.
func TestRightAuthorization(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.New(mutant.Fleet()))
	paths := []string{all, prod, in("nosuch"), prod + "/vm00", prod + "/nosuch", in("nosuch") + "/x", prod + "?limit=abc", "/nosuch"}
	for _, auth := range []string{"", "Bearer", "Bearer ", "Bearer  " + mutant.GoodToken, "Bearer x", "Basic " + mutant.GoodToken, mutant.GoodToken, "Bearer " + mutant.GoodToken + "x", "Bearer " + strings.ToUpper(mutant.GoodToken)} {
		var first seen
		for i, path := range paths {
			s := c.one(t, request{method: "GET", path: path, auth: auth})
			require.Equal(t, 401, s.Code, "%s %q", path, auth)
			assert.Equal(t, "Bearer", s.Header["WWW-Authenticate"])
			if i == 0 {
				first = s
			}
			assert.Equal(t, first, s)
		}
	}
	assert.Equal(t, 401, c.one(t, request{method: "GET", path: all + "?access_token=" + mutant.GoodToken}).Code)
	for _, path := range paths {
		s := c.one(t, request{method: "GET", path: path, auth: "Bearer " + mutant.ForbiddenToken})
		require.Equal(t, 403, s.Code, path)
		got := decode[status](t, s)
		assert.Equal(t, status{"Status", "v1", "Failure", got.Message, "Forbidden", 403}, got)
	}
	there := c.one(t, request{method: "GET", path: prod + "/vm00", auth: "Bearer " + mutant.ForbiddenToken}).Body
	missing := c.one(t, request{method: "GET", path: prod + "/vm99", auth: "Bearer " + mutant.ForbiddenToken}).Body
	assert.Equal(t, there, strings.ReplaceAll(missing, "vm99", "vm00"))
}

func TestMinimalHasTheDocumentAndNoMore(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.NewMinimal(mutant.Fleet()))
	l := c.one(t, request{method: "GET", path: prod + "?labelSelector=app%3Ddb&limit=1", auth: good})
	assert.Equal(t, "prod/vm00", decode[list](t, l).names())
	assert.NotContains(t, l.Body, `"resourceVersion":"1000"`)
	for r, code := range map[request]int{
		{method: "GET", path: prod + "/vm00", auth: good}:                                200,
		{method: "GET", path: prod + "/nosuch", auth: good}:                              404,
		{method: "GET", path: all, auth: good}:                                           404,
		{method: "HEAD", path: prod, auth: good}:                                         405,
		{method: "GET", path: prod}:                                                      401,
		{method: "GET", path: prod, auth: "Bearer " + mutant.ForbiddenToken}:             403,
		{method: "GET", path: prod + "?limit=0", auth: good}:                             400,
		{method: "GET", path: prod + "?continue=nonsense&labelSelector=app", auth: good}: 200,
	} {
		s := c.one(t, r)
		assert.Equal(t, code, s.Code, r.String())
		if code >= 400 && code != 404 {
			assert.Empty(t, s.Body)
		}
	}
}

func TestFleet(t *testing.T) {
	t.Parallel()
	fleet := mutant.Fleet()
	assert.Len(t, fleet, 20)
	assert.True(t, slices.IsSortedFunc(fleet, func(a, b mutant.Object) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	}))
	uids := map[string]bool{}
	for _, o := range fleet {
		var vmi struct {
			Metadata struct {
				Name, Namespace, UID string
				Labels               map[string]string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(o.Body), &vmi))
		assert.Equal(t, o.Name+o.Namespace, vmi.Metadata.Name+vmi.Metadata.Namespace)
		assert.Equal(t, o.Labels, vmi.Metadata.Labels)
		uids[vmi.Metadata.UID] = true
	}
	assert.Len(t, uids, 20)
	fleet[0].Labels["app"] = "changed"
	assert.Equal(t, "db", mutant.Fleet()[0].Labels["app"])
	assert.Panics(t, func() { fleet[0].Edited("nosuch", "") })
}

func TestServesManyAtOnce(t *testing.T) {
	t.Parallel()
	c := call(t, mutant.New(mutant.Fleet()))
	var all8 sync.WaitGroup
	for range 8 {
		all8.Go(func() {
			for range 20 {
				assert.Equal(t, 200, c.one(t, request{method: "GET", path: all + "?limit=3", auth: good}).Code)
			}
		})
	}
	all8.Wait()
}

// Whatever is asked, the right server neither fails nor gives another object away.
func FuzzRightServer(f *testing.F) {
	for _, r := range requests() {
		if r.method == "GET" && r.auth == good {
			path, query, _ := strings.Cut(r.path, "?")
			f.Add(path, query)
		}
	}
	s := mutant.New(mutant.Fleet())
	f.Fuzz(func(t *testing.T, path, query string) {
		u, err := url.Parse("http://localhost" + path)
		if err != nil || !strings.HasPrefix(path, "/") {
			t.Skip("no path that a request can have")
		}
		u.RawQuery = query
		w := httptest.NewRecorder()
		s.ServeHTTP(w, &http.Request{Method: "GET", URL: u, Header: http.Header{"Authorization": {good}}})
		require.Less(t, w.Code, 500)
		if w.Code == 404 && w.Header().Get("Content-Type") != "application/json" {
			return
		}
		require.True(t, json.Valid(w.Body.Bytes()), w.Body.String())
	})
}

func FuzzParseLabels(f *testing.F) {
	for _, text := range []string{"", "app=web", "a in (b,,c), !d", "a>1,b<-2", "a!=", "x.y/z notin ()", "(", "a,", "!!a", "in in (in)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms, err := mutant.ParseLabels(text)
		if err != nil {
			require.Nil(t, terms)
			return
		}
		for _, term := range terms {
			require.NotEmpty(t, term.Key)
			require.NotEmpty(t, term.Values)
			require.Contains(t, []string{"", "!", "=", "==", "!=", "in", "notin", "<", ">"}, term.Op)
			require.NotPanics(t, func() { term.MatchLabel(map[string]string{term.Key: term.Values[0]}) })
		}
	})
}
