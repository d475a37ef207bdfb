package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/proxy"
)

const (
	all    = "/apis/kubevirt.io/v1/virtualmachineinstances"
	inProd = "/apis/kubevirt.io/v1/namespaces/prod/virtualmachineinstances"
	token  = "client-token-8f14"
)

// machine is one that all profiles take.
func machine(name, version string) string {
	return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"creationTimestamp":"2026-05-01T08:00:00Z",`+
		`"labels":{"app":"web"},"name":%q,"namespace":"prod","resourceVersion":%q,"uid":"uid-of-%s"},`+
		`"spec":{"domain":{"devices":{}}},"status":{"phase":"Running"}}`, name, version, name)
}

func list(items ...string) string {
	return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{"resourceVersion":"1000","continue":""},"items":[` + strings.Join(items, ",") + "]}\n"
}

func event(kind, object string) string { return `{"type":"` + kind + `","object":` + object + "}\n" }

// broken is a machine that no profile takes.
func broken(name string) string {
	return strings.Replace(machine(name, "7"), `"Running"`, `"Runing"`, 1)
}

// answering is an upstream that answers everything alike.
func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}
}

// between is a proxy in front of an upstream.
type between struct {
	t        *testing.T
	upstream http.Handler
	url      string
	proxy    *proxy.Proxy
	observer *contract.Observer
	client   *http.Client
}

func start(t *testing.T, upstream http.Handler, options ...proxy.Option) *between {
	t.Helper()
	s := httptest.NewServer(upstream)
	t.Cleanup(s.Close)
	b := inFrontOf(t, s.URL, options...)
	b.upstream = upstream
	return b
}

func inFrontOf(t *testing.T, upstream string, options ...proxy.Option) *between {
	t.Helper()
	u, err := url.Parse(upstream)
	require.NoError(t, err)
	observer, err := contract.NewObserver(upstream)
	require.NoError(t, err)
	p, err := proxy.New(u, observer, options...)
	require.NoError(t, err)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	return &between{t: t, url: s.URL, proxy: p, observer: observer, client: client}
}

func (b *between) request(method, path string, headers ...string) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, nil)
	require.NoError(b.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	return r
}

// get returns the answer to a request and its body.
func (b *between) get(path string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	resp, err := b.client.Do(b.request(http.MethodGet, path, headers...))
	require.NoError(b.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return resp, string(body)
}

// failures are the IDs of the checks that failed.
func (b *between) failures() []string {
	b.proxy.Wait()
	var ids []string
	for _, r := range b.observer.Report().Results {
		if r.Outcome == contract.Fail {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func (b *between) notes() []string {
	b.proxy.Wait()
	for _, r := range b.observer.Report().Results {
		if r.ID == "service.passed-by" {
			return r.Notes
		}
	}
	assert.Fail(b.t, "no result of what passed by")
	return nil
}
