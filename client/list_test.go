package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
)

func TestListSendsWhatIsSetAndNothingElse(t *testing.T) {
	var path, query string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		path, query = r.URL.Path, r.URL.RawQuery
		_, _ = w.Write(recorded(t, "empty.json"))
	})
	_, err := c.List(t.Context(), "vms", client.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, machines, path)
	assert.Empty(t, query)

	_, err = c.List(t.Context(), "", client.ListOptions{
		LabelSelector: "app in (web,db), tier!=a+b&c=d", FieldSelector: "metadata.name!=ü", Limit: 3,
		Continue: "eyJ2Ijoi+/==", ResourceVersion: "0", ResourceVersionMatch: "NotOlderThan",
	})
	require.NoError(t, err)
	assert.Equal(t, "/apis/kubevirt.io/v1/virtualmachineinstances", path)
	sent, err := url.ParseQuery(query)
	require.NoError(t, err)
	assert.Equal(t, url.Values{
		"labelSelector": {"app in (web,db), tier!=a+b&c=d"}, "fieldSelector": {"metadata.name!=ü"}, "limit": {"3"},
		"continue": {"eyJ2Ijoi+/=="}, "resourceVersion": {"0"}, "resourceVersionMatch": {"NotOlderThan"},
	}, sent)
}

func TestListOptionsThatNoServerTakes(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	_, err := c.List(t.Context(), "", client.ListOptions{Limit: -1})
	assert.EqualError(t, err, "list vmis in all namespaces: limit -1 is below zero")
	_, err = c.List(t.Context(), "vms", client.ListOptions{ResourceVersionMatch: "Exact"})
	assert.EqualError(t, err, "list vmis in vms: a resourceVersionMatch needs a resourceVersion")
}

func TestListOfNothing(t *testing.T) {
	for _, body := range []string{string(recorded(t, "empty.json")), strings.Replace(page(""), "[]", "null", 1)} {
		list, err := serve(t, answer(200, "application/json", body)).List(t.Context(), "vms", client.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, &client.List{Items: []*client.VMI{}, ResourceVersion: "12"}, list)
	}
}

func TestListItemsAreTypedAndExact(t *testing.T) {
	item := strings.TrimSpace(string(recorded(t, "get.json")))
	spaced := " \n" + strings.Replace(object("web", `,"spec":{"x": 1.50}`), ":", " : ", 1) + "\t"
	// Members in another order than a cluster's, one that nobody knows, a count.
	body := `{"metadata":{"remainingItemCount":5,"continue":"next","resourceVersion":"40","shard":{}},` +
		`"kind":"VirtualMachineInstanceList","more":[{"items":[1]}],"items":[` + item + "," + spaced + `]}`
	list, err := serve(t, answer(200, "application/json", body)).List(t.Context(), "vms", client.ListOptions{Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"vm1", "web"}, names(list.Items))
	assert.Equal(t, item, string(list.Items[0].Raw))
	assert.Equal(t, strings.TrimSpace(spaced), string(list.Items[1].Raw))
	assert.Equal(t, "10.1.2.3", view(t, list.Items[0]).Status.Interfaces[0].IPAddress)
	assert.Equal(t, "40", list.ResourceVersion)
	assert.Equal(t, "next", list.Continue)
	assert.Equal(t, int64(5), *list.RemainingItemCount)
}

func TestListOfAnotherKindOfBodyIsAnErrorNeverEmpty(t *testing.T) {
	json := "application/json"
	for want, body := range map[string][2]string{
		"answer is not JSON but text/html":                             {"text/html", "<html>log in</html>"},
		"answer is not JSON but text/plain":                            {"text/plain", "ok"},
		"answer is not JSON: invalid character 'o'":                    {json, "ok"},
		"answer is empty":                                              {json, ""},
		"answer is no JSON object, not a VirtualMachineInstanceList":   {json, "[]"},
		"answer is no JSON object, not a":                              {json, "null"},
		"answer has no kind, it is not a VirtualMachineInstanceList":   {json, "{}"},
		"answer has no kind, it":                                       {json, `{"type":"ADDED","object":{}}`},
		"answer has no kind":                                           {json, `{"Kind":"VirtualMachineInstanceList","items":[]}`},
		"answer is a Status, not a VirtualMachineInstanceList: no!":    {json, `{"kind":"Status","message":"no!","items":[]}`},
		"answer is a PodList, not a VirtualMachineInstanceList":        {json, `{"kind":"PodList","items":[]}`},
		"answer is a VirtualMachineInstance, not a":                    {json, object("web", "")},
		"answer is a list without items":                               {json, `{"kind":"VirtualMachineInstanceList"}`},
		"answer is a list without items (":                             {json, `{"kind":"VirtualMachineInstanceList","Items":[]}`},
		"answer has items that are no array":                           {json, strings.Replace(page(""), "[]", "{}", 1)},
		"answer has its items twice":                                   {json, strings.Replace(page(""), "[]", `[],"items":[]`, 1)},
		"answer has something after its JSON":                          {json, page("") + "x"},
		"answer breaks off in the middle of its JSON":                  {json, strings.TrimSuffix(page(""), "}\n")},
		"answer breaks off in the middle":                              {json, `{"items":[` + object("web", "")},
		"answer breaks off in":                                         {json, `{`},
		"answer is not JSON: invalid":                                  {json, `{"items":[` + object("web", "") + `,]}`},
		"answer is not JSON: ":                                         {json, `{"items":[{"a":01}]}`},
		"answer has an unreadable /metadata/remainingItemCount: json:": {json, strings.Replace(page(""), `"continue":""`, `"remainingItemCount":"5"`, 1)},
		"answer has an unreadable /metadata: string where":             {json, `{"kind":"VirtualMachineInstanceList","items":[],"metadata":"x"}`},
	} {
		list, err := serve(t, answer(200, body[0], body[1])).List(t.Context(), "vms", client.ListOptions{})
		var wrong *client.Error
		require.ErrorAs(t, err, &wrong, want)
		assert.Equal(t, 200, wrong.Status)
		assert.ErrorContains(t, err, "list vmis in vms: "+want)
		assert.Nil(t, list)
	}
}

func TestBadValuesFailTheirOwnItem(t *testing.T) {
	bad := object("odd", `,"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":"null"}]}`)
	body := page("", object("a", ""), bad, "null", `"text"`, object("z", `,"spec":{"domain":{"cpu":{"cores":1e3}}}`))
	list, err := serve(t, answer(200, "application/json", body)).List(t.Context(), "vms", client.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "odd", "", "", "z"}, names(list.Items), "no item is left out")
	for i, want := range []string{
		"",
		`vmi vms/odd: /status/conditions/0/lastProbeTime: parsing time "null" as "2006-01-02T15:04:05Z07:00": cannot parse "null" as "2006"`,
		"item 2: null where an object belongs",
		"item 3: string where an object belongs",
		"vmi vms/z: /spec/domain/cpu/cores: json: cannot unmarshal number 1e3 into Go value of type int",
	} {
		v, err := list.Items[i].View()
		require.NotNil(t, v)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		var failed *client.ItemError
		require.ErrorAs(t, err, &failed)
		assert.EqualError(t, failed, want)
		assert.Equal(t, i, failed.Index)
		assert.Equal(t, string(list.Items[i].Raw), string(failed.Raw))
	}
	assert.Equal(t, bad, string(list.Items[1].Raw))
	rest, _ := list.Items[1].View()
	assert.EqualValues(t, "Running", rest.Status.Phase, "the rest is there")
	assert.Equal(t, "Ready", rest.Status.Conditions[0].Type)
}

// pieces is a body that comes in pieces of a size.
type pieces struct {
	io.Reader
	size int
}

func (p pieces) Read(to []byte) (int, error) { return p.Reader.Read(to[:min(len(to), p.size)]) }
func (pieces) Close() error                  { return nil }

// What List takes and cuts is what encoding/json takes and cuts, however it comes.
func FuzzList(f *testing.F) {
	f.Add(page("next", object("a", ""), " "+object("b", `,"x":[1.0, {"}":"\\"}]`)+"\n"), byte(3))
	f.Add(string(recorded(f, "empty.json")), byte(1))
	f.Add(`{"items":null,"metadata":null,"\u006bind":"VirtualMachineInstanceList"} `, byte(7))
	f.Add(`{"kind":"VirtualMachineInstanceList","items":[1,2.5,-0,"x",[],null,true],"metadata":{},"kind":"VirtualMachineInstanceList"}`, byte(2))
	f.Add(`{"kind":"VirtualMachineInstanceList","items":[1,],"metadata":{"continue":1}}`, byte(250))
	f.Add(`{"kind":"VirtualMachineInstanceList",,"items":[1 2]}{`, byte(0))
	f.Fuzz(func(t *testing.T, body string, size byte) {
		hc := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: pieces{strings.NewReader(body), 1 + int(size)}}, nil
		})}
		list, err := connect(t, "http://localhost", client.WithHTTPClient(hc)).List(t.Context(), "", client.ListOptions{})
		var members map[string]json.RawMessage
		valid := json.Unmarshal([]byte(body), &members)
		if err != nil {
			var kind string
			var items []json.RawMessage
			isList := valid == nil && json.Unmarshal(members["kind"], &kind) == nil && kind == "VirtualMachineInstanceList" &&
				members["items"] != nil && json.Unmarshal(members["items"], &items) == nil && members["metadata"] == nil
			require.False(t, isList && !repeats(body), "%v", err)
			return
		}
		require.NoError(t, valid)
		var items []json.RawMessage
		require.NoError(t, json.Unmarshal(members["items"], &items))
		require.Len(t, list.Items, len(items))
		for i, vm := range list.Items {
			require.Equal(t, string(items[i]), string(vm.Raw))
			if vm.Raw[0] == '{' {
				require.Equal(t, exact(string(items[i])), light(vm))
			}
		}
	})
}
