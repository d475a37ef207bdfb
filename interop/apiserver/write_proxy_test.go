package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/interop/apiserver"
)

// call is a request that is not a watch, and answer what it is answered with.
type call struct {
	context.Context
	method, path string
	query        url.Values
	header       http.Header
	body         string
}

type answer struct {
	code   int
	header http.Header
	body   string
}

// respond answers calls. What shall be otherwise wraps one.
type respond func(call) answer

// answered changes how some calls are answered.
func answered(which func(call) bool, how func(next respond, c call, a answer) answer) func(respond) respond {
	return func(next respond) respond {
		return func(c call) answer {
			a := next(c)
			if which(c) {
				a = how(next, c, a)
			}
			return a
		}
	}
}

// sent changes the metadata of the machines that some calls send.
func sent(which func(call) bool, how func(metadata map[string]any)) func(respond) respond {
	return func(next respond) respond {
		return func(c call) answer {
			if which(c) {
				c.body = edited(c.body, how)
			}
			return next(c)
		}
	}
}

func creates(c call) bool   { return c.writes(http.MethodPost) }
func generates(c call) bool { return creates(c) && strings.Contains(c.body, "generateName") }

func (c call) writes(method string) bool { return c.method == method && !c.query.Has("dryRun") }

func (c call) onItem() bool { return !strings.HasSuffix(c.path, "/virtualmachineinstances") }

// read is the get of the machine that the call is for, or creates.
func (c call) read() call {
	if !c.onItem() {
		name, _ := metadata(object(c.body))["name"].(string)
		c.path += "/" + name
	}
	c.method, c.query, c.body = http.MethodGet, nil, ""
	return c
}

// object returns a JSON object, metadata that part of it.
func object(body string) map[string]any {
	var o map[string]any
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber() // the machines have one that a double does not hold
	if dec.Decode(&o) != nil || o == nil {
		o = make(map[string]any)
	}
	return o
}

func metadata(o map[string]any) map[string]any {
	m, ok := o["metadata"].(map[string]any)
	if !ok {
		m = make(map[string]any)
	}
	return m
}

// edited returns a machine with its metadata edited.
func edited(body string, edit func(metadata map[string]any)) string {
	o := object(body)
	edit(metadata(o))
	text, err := json.Marshal(o)
	if err != nil {
		return body
	}
	return string(text)
}

// proxied is a real API server behind a handler that may change what is asked and
// answered.
type proxied struct {
	upstream *apiserver.Server
	respond  respond
}

func (p *proxied) forward(c call) answer {
	r, err := http.NewRequestWithContext(c, c.method, p.upstream.URL+c.path+"?"+c.query.Encode(), strings.NewReader(c.body))
	if err != nil {
		return answer{code: http.StatusBadGateway}
	}
	r.Header = c.header.Clone()
	r.Header.Del("Accept-Encoding")
	response, err := p.upstream.HTTPClient().Do(r)
	if err != nil {
		return answer{code: http.StatusBadGateway}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{code: http.StatusBadGateway}
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (p *proxied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Has("watch") {
		p.stream(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a := p.respond(call{r.Context(), r.Method, r.URL.EscapedPath(), query, r.Header, string(body)})
	for name, values := range a.header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(a.code)
	io.WriteString(w, a.body)
}

func (p *proxied) stream(w http.ResponseWriter, r *http.Request) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.upstream.URL+r.URL.RequestURI(), nil)
	if err != nil {
		return
	}
	out.Header = r.Header.Clone()
	out.Header.Del("Accept-Encoding")
	response, err := p.upstream.HTTPClient().Do(out)
	if err != nil {
		return
	}
	defer response.Body.Close()
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	http.NewResponseController(w).Flush()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		io.WriteString(w, lines.Text()+"\n")
		http.NewResponseController(w).Flush()
	}
}

// behind makes a proxy before the server. wrap may be nil.
func behind(server *apiserver.Server, wrap func(respond) respond) *proxied {
	p := &proxied{upstream: server}
	if p.respond = p.forward; wrap != nil {
		p.respond = wrap(p.forward)
	}
	return p
}

// target is the proxy as an admin sees it.
func (p *proxied) target(t *testing.T) contract.Target {
	t.Helper()
	front := httptest.NewServer(p)
	t.Cleanup(front.Close)
	return contract.Target{URL: front.URL, Token: p.upstream.AdminToken}
}

// leftIn returns the names of the machines in a namespace.
func leftIn(t *testing.T, server *apiserver.Server, namespace string) []string {
	t.Helper()
	code, body := ask(t, server, http.MethodGet, within(namespace), server.AdminToken, "")
	assert.Equal(t, http.StatusOK, code)
	var names []string
	var all struct{ Items []machine }
	assert.NoError(t, json.Unmarshal(body, &all))
	for _, m := range all.Items {
		names = append(names, m.Metadata.Name)
	}
	return names
}

// findings is the report without the checks that were not asked for.
func findings(t *testing.T, report *contract.Report) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text(t, report)) {
		if !strings.HasPrefix(line, "skipped") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
