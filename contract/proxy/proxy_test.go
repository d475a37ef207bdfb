package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
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
	"github.com/vmikit/vmikit/contract/proxy"
)

func TestPassesOn(t *testing.T) {
	var seen *http.Request
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen, sent = r.Clone(t.Context()), string(body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "old"`)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "{}")
	}))
	t.Cleanup(s.Close)
	b := inFrontOf(t, s.URL+"/base/")
	r := b.request(http.MethodPost, inProd+"?fieldManager=a%2Fb", "Connection: X-Hop", "X-Hop: 1", "X-Forwarded-For: 203.0.113.9", "Accept: application/json;as=Table")
	r.Body = io.NopCloser(strings.NewReader("what is sent"))
	resp, err := b.client.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusCreated, resp.StatusCode)
	assert.Equal(t, `299 - "old"`, resp.Header.Get("Warning"))
	assert.Equal(t, "{}", string(body))
	assert.Equal(t, "what is sent", sent)
	assert.Equal(t, "/base"+inProd+"?fieldManager=a%2Fb", seen.URL.String())
	assert.Equal(t, "Bearer "+token, seen.Header.Get("Authorization"))
	assert.Equal(t, "application/json;as=Table", seen.Header.Get("Accept"))
	assert.Empty(t, seen.Header.Get("X-Hop"))
	assert.Equal(t, "127.0.0.1", seen.Header.Get("X-Forwarded-For"), "what a client says of itself is not believed")
	assert.Equal(t, strings.TrimPrefix(b.url, "http://"), seen.Header.Get("X-Forwarded-Host"))
	assert.Equal(t, strings.TrimPrefix(s.URL, "http://"), seen.Host)
	assert.Equal(t, []string{"requests that the document does not have for machines: 1"}, b.notes())
}

func TestFindsWhatPassesBy(t *testing.T) {
	for _, test := range []struct {
		name, path, body string
		want             []string
	}{
		{"right list", all, list(machine("a", "1"), machine("b", "2")), nil},
		{"right get", inProd + "/a", machine("a", "1"), nil},
		{"broken item", all, list(machine("a", "1"), broken("b")), []string{"schema.object"}},
		{"another object", inProd + "/a", machine("b", "1"), []string{"consistency.get"}},
		{"selector", inProd + "?labelSelector=app%3Ddb", list(machine("a", "1")), []string{"selector.equals"}},
		{"limit", inProd + "?limit=1", list(machine("a", "1"), machine("b", "2")), []string{"paging.limit"}},
		{"no JSON", all, "<html>", []string{"schema.json"}},
		{"not ours", "/apis", "<html>", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := start(t, answering(test.body))
			resp, body := b.get(test.path)
			assert.Equal(t, http.StatusOK, resp.StatusCode)
			assert.Equal(t, test.body, body)
			assert.Equal(t, test.want, b.failures())
		})
	}
}

// A compressed answer passes as it is and is judged all the same.
func TestCompressedAnswers(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, list(broken("a")))
	require.NoError(t, z.Close())
	encoding, body := "gzip", zipped.Bytes()
	var asked string
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", encoding)
		w.Write(body)
	}))
	resp, got := b.get(all, "Accept-Encoding: gzip")
	assert.Equal(t, "gzip", asked)
	assert.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	assert.Equal(t, zipped.String(), got)
	assert.Equal(t, []string{"schema.object"}, b.failures())

	b.get(all)
	assert.Equal(t, "identity", asked)
	encoding = "br"
	b.get(all, "Accept-Encoding: gzip, br")
	assert.Equal(t, []string{"answers in an encoding that cannot be read: 1"}, b.notes())
	assert.Equal(t, []string{"schema.object"}, b.failures())
	b.get(all)
	assert.Equal(t, []string{"schema.object", "schema.json"}, b.failures(), "nobody asked for it")

	b = start(t, b.upstream)
	encoding, body = "gzip", zipped.Bytes()[:zipped.Len()-9]
	b.get(all)
	assert.Equal(t, []string{"schema.json"}, b.failures(), "it breaks off")
}

// An event reaches the client before the upstream sends the next one, and is judged.
func TestWatchesPassEventByEvent(t *testing.T) {
	next := make(chan string)
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		for e := range next {
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	})
	for _, options := range [][]proxy.Option{nil, {proxy.Enforce()}} {
		next = make(chan string)
		b := start(t, upstream, options...)
		resp, err := b.client.Do(b.request(http.MethodGet, all+"?watch=true", "Accept-Encoding: gzip"))
		require.NoError(t, err)
		lines := bufio.NewReader(resp.Body)
		for i := range 3 {
			sent := event("ADDED", machine(fmt.Sprint("vm", i), "7"))
			next <- sent
			got, err := lines.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, sent, got)
		}
		next <- event("MODIFIED", machine("vm0", "6"))
		got, err := lines.ReadString('\n')
		require.NoError(t, err)
		if options == nil {
			assert.Equal(t, event("MODIFIED", machine("vm0", "6")), got)
			close(next)
		} else {
			var e struct {
				Type   string
				Object struct {
					Kind, Reason string
					Code         int
					Details      struct {
						Causes []struct{ Reason, Message, Field string }
					}
				}
			}
			require.NoError(t, json.Unmarshal([]byte(got), &e))
			assert.Equal(t, "ERROR", e.Type)
			assert.Equal(t, "Status", e.Object.Kind)
			assert.Equal(t, 502, e.Object.Code)
			require.Len(t, e.Object.Details.Causes, 1)
			assert.Equal(t, "consistency.repeat", e.Object.Details.Causes[0].Reason)
		}
		_, err = lines.ReadByte()
		assert.Equal(t, io.EOF, err)
		resp.Body.Close()
		assert.Equal(t, []string{"consistency.repeat"}, b.failures())
		if options != nil {
			close(next)
		}
	}
}

func TestEnforce(t *testing.T) {
	body := list(machine("a", "1"))
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Upstream", "1")
		answering(body)(w, r)
	}), proxy.Enforce())
	resp, got := b.get(all)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, body, got)

	for range 2 { // the second time the text of the item is known
		body = list(broken("b"))
		resp, got = b.get(all, "Accept-Encoding: gzip")
		assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
		assert.Empty(t, resp.Header.Get("X-Upstream"))
		assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		var status struct {
			Kind, APIVersion, Status, Reason, Message string
			Code                                      int
			Details                                   struct {
				Causes []struct{ Reason, Message, Field string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(got), &status))
		assert.Equal(t, "Status v1 Failure ContractBroken 502", fmt.Sprint(status.Kind, " ", status.APIVersion, " ", status.Status, " ", status.Reason, " ", status.Code))
		require.Len(t, status.Details.Causes, 1)
		assert.Equal(t, "schema.object", status.Details.Causes[0].Reason)
		assert.Equal(t, "/status/phase", status.Details.Causes[0].Field)
		assert.Contains(t, status.Details.Causes[0].Message, `"Runing"`)
	}
	// What is not judged passes, and so does what only warns.
	body = "<html>"
	resp, got = b.get("/apis")
	assert.Equal(t, "200 <html>", fmt.Sprint(resp.StatusCode, " ", got))
	body = list(strings.Replace(machine("a", "2"), `"spec":{`, `"spec":{"networks":[],"domain_":{},`, 1))
	resp, _ = b.get(all + "?limit=0")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}

func TestEnforceOfWatches(t *testing.T) {
	body := event("ADDED", machine("a", "1")) + strings.TrimSuffix(event("ADDED", machine("b", "2")), "\n")
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answering(body)(w, r) }), proxy.Enforce(), proxy.WithMaxBody(2000))
	_, got := b.get(all + "?watch=true")
	assert.Equal(t, body, got)
	large := event("ADDED", strings.Replace(machine("a", "1"), `"status"`, `"x":"`+strings.Repeat("x", 5000)+`","status"`, 1))
	body = large + event("ADDED", machine("b", "2")) + event("ADDED", broken("c")) + event("ADDED", machine("d", "2"))
	_, got = b.get(all + "?watch=true")
	assert.True(t, strings.HasPrefix(got, large+event("ADDED", machine("b", "2"))+`{"type":"ERROR","object":{"kind":"Status"`), got)
	assert.NotContains(t, got, "uid-of-c")
	assert.NotContains(t, got, "uid-of-d")
	assert.Equal(t, []string{"events that are too large to be judged: 1"}, b.notes())

	body = list(machine("a", "1"))
	_, got = b.get(all + "?watch=true")
	assert.Contains(t, got, "a watch is answered with something else than events")
}

func TestUpstreamInTrouble(t *testing.T) {
	status := func(b *between, path string) string {
		resp, body := b.get(path)
		var s struct{ Kind, Reason, Message string }
		require.NoError(t, json.Unmarshal([]byte(body), &s), body)
		assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
		assert.Equal(t, "Status UpstreamUnreachable", s.Kind+" "+s.Reason)
		return s.Message
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	assert.Contains(t, status(inFrontOf(t, "http://"+l.Addr().String()), all), "connection refused")

	release := make(chan struct{})
	hanging := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("begin") {
			io.WriteString(w, "{")
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	assert.Contains(t, status(start(t, hanging, proxy.WithTimeout(50*time.Millisecond)), all), "no answer after 50ms")
	assert.Contains(t, status(start(t, hanging, proxy.WithTimeout(50*time.Millisecond), proxy.Enforce()), all+"?begin"), "no answer after 50ms")
	close(release)

	// One that breaks off is the upstream's fault, whether it is held back or not.
	cut := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "{")
	})
	b := start(t, cut)
	resp, err := b.client.Do(b.request(http.MethodGet, all))
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	assert.Error(t, err)
	resp.Body.Close()
	assert.Equal(t, []string{"schema.json"}, b.failures())
	b = start(t, cut, proxy.Enforce())
	resp, _ = b.get(all)
	assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
}

// A client that does not wait is no fault of the upstream.
func TestClientHangsUp(t *testing.T) {
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	resp, err := b.client.Do(b.request(http.MethodGet, all))
	require.NoError(t, err)
	resp.Body.Close()
	b.client.CloseIdleConnections()
	require.Eventually(t, func() bool { return len(b.notes()) > 0 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, []string{"answers that the client did not wait for: 1"}, b.notes())
	assert.Empty(t, b.failures())
}

func TestLargeAnswersPassUnjudged(t *testing.T) {
	body := list(broken("a"), broken("b"), broken("c"))
	for _, options := range [][]proxy.Option{nil, {proxy.Enforce()}} {
		b := start(t, answering(body), append(options, proxy.WithMaxBody(500))...)
		resp, got := b.get(all)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		assert.Equal(t, body, got)
		assert.Empty(t, b.failures())
		assert.Equal(t, []string{"answers that are too large to be judged: 1"}, b.notes())
	}
}

func TestUpgrades(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 1, r.ProtoMajor)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer conn.Close()
		fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		rw.Flush()
		line, _ := rw.ReadString('\n')
		rw.WriteString("echo " + line)
		rw.Flush()
	})
	s := httptest.NewUnstartedServer(upstream)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	b := inFrontOf(t, s.URL, proxy.WithClient(s.Client()))
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	// SPDY, as kubectl exec has it: no transport knows by itself that it needs HTTP/1.1.
	fmt.Fprintf(conn, "GET %s/a/console HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n", inProd)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	io.WriteString(conn, "hello\n")
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "echo hello\n", line)
}

func TestSpeaksHTTP2(t *testing.T) {
	var proto string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto = r.Proto
		answering(list())(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	b := inFrontOf(t, s.URL, proxy.WithClient(s.Client()))
	b.get(all)
	assert.Equal(t, "HTTP/2.0", proto)
}

type adding struct {
	credential string
	next       http.RoundTripper
}

func (a adding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Seen", r.Header.Get("Authorization"))
	r.Header.Set("Authorization", a.credential)
	return a.next.RoundTrip(r)
}

func TestGuards(t *testing.T) {
	var seen http.Header
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		answering(list())(w, r)
	})
	own := &http.Client{Transport: adding{"Bearer own", http.DefaultTransport}}
	b := start(t, upstream, proxy.WithClient(own), proxy.WithCredential(), proxy.WithHosts("gateway.example"))
	host := strings.TrimPrefix(b.url, "http://")
	for _, test := range []struct {
		header string
		status int
	}{
		{"Host: " + host, 200},
		{"Host: localhost:1234", 200},
		{"Host: [::1]:1", 200},
		{"Host: Gateway.Example.:6444", 200},
		{"Host: evil.example", 403},
		{"Origin: http://" + host, 200},
		{"Origin: http://evil.example", 403},
		{"Origin: null", 403},
	} {
		resp, body := b.get(all, test.header)
		assert.Equal(t, test.status, resp.StatusCode, test.header)
		if test.status == 403 {
			assert.Contains(t, body, `"kind":"Status"`)
		}
	}
	b.get(all)
	assert.Equal(t, "Bearer own", seen.Get("Authorization"))
	assert.Empty(t, seen.Get("X-Seen"), "the client's credential is not passed on")
}

func TestManyClients(t *testing.T) {
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			answering(event("ADDED", machine("a", "1"))+event("MODIFIED", broken("b")))(w, r)
			return
		}
		answering(list(machine("a", "1"), broken("b")))(w, r)
	}))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				b.get(all)
				b.get(all + "?watch=true")
			}
		})
	}
	group.Wait()
	assert.Equal(t, []string{"schema.object"}, b.failures())
	report := b.observer.Report()
	assert.Equal(t, 80, report.Requests)
	for _, r := range report.Results {
		for _, f := range r.Findings {
			if f.Outcome == contract.Fail {
				assert.Equal(t, 80, f.Count)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	observer, err := contract.NewObserver("http://target.example")
	require.NoError(t, err)
	good := &url.URL{Scheme: "http", Host: "target.example"}
	_, err = proxy.New(good, observer)
	require.NoError(t, err)
	for name, f := range map[string]func() (*proxy.Proxy, error){
		"no upstream": func() (*proxy.Proxy, error) { return proxy.New(nil, observer) },
		"scheme":      func() (*proxy.Proxy, error) { return proxy.New(&url.URL{Scheme: "ftp", Host: "h"}, observer) },
		"no host":     func() (*proxy.Proxy, error) { return proxy.New(&url.URL{Scheme: "http"}, observer) },
		"no observer": func() (*proxy.Proxy, error) { return proxy.New(good, nil) },
		"time-out":    func() (*proxy.Proxy, error) { return proxy.New(good, observer, proxy.WithTimeout(0)) },
		"body":        func() (*proxy.Proxy, error) { return proxy.New(good, observer, proxy.WithMaxBody(0)) },
		"credential":  func() (*proxy.Proxy, error) { return proxy.New(good, observer, proxy.WithCredential()) },
	} {
		_, err := f()
		assert.Error(t, err, name)
	}
}
