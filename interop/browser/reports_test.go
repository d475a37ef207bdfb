package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/server/servertest"
)

// rightServer has some machines in two namespaces.
func rightServer(t *testing.T) string {
	t.Helper()
	var options []servertest.Option
	for i := range 12 {
		labels := `{}`
		if i%3 > 0 {
			labels = fmt.Sprintf(`{"app":"a%d","tier":"gold"}`, i%3)
		}
		options = append(options, servertest.WithObjects(fmt.Sprintf(
			`{"metadata":{"name":"vm%d","namespace":%q,"labels":%s},"spec":{"domain":{"cpu":{"cores":2},"devices":{}}},"status":{"phase":"Running"}}`,
			i, []string{"prod", "stage"}[i%2], labels)))
	}
	return servertest.New(t, options...).URL
}

// passing is the report of a right server.
func passing(t *testing.T) *contract.Report {
	return runAgainst(t, contract.Target{URL: rightServer(t)})
}

// failing is the report of a server with faults of several kinds: selectors with
// more than one requirement are taken for none, machines have too few cores, and a
// page may be longer than its limit. Anybody may read.
func failing(t *testing.T) *contract.Report {
	t.Helper()
	right, err := url.Parse(rightServer(t))
	require.NoError(t, err)
	broken := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(right)
			q := r.Out.URL.Query()
			if strings.Contains(q.Get("labelSelector"), "!") {
				q.Del("labelSelector")
			}
			if q.Get("limit") == "1" {
				q.Set("limit", "2")
			}
			r.Out.URL.RawQuery = q.Encode()
		},
		ModifyResponse: func(resp *http.Response) error {
			body, err := io.ReadAll(resp.Body)
			body = bytes.ReplaceAll(body, []byte(`"cores":2`), []byte(`"cores":0`))
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return err
		},
	})
	t.Cleanup(broken.Close)
	return runAgainst(t, contract.Target{URL: broken.URL, Token: "anything"})
}

// hostile is the report of a server whose every text wants to be more than text.
// trap is an address that must not be asked for anything.
func hostile(t *testing.T, trap string) *contract.Report {
	t.Helper()
	attacks := []string{
		`</script><script>window.pwned = 1</script>`,
		`</style><style>body { display: none }</style>`,
		`"><img src="` + trap + `/img" onerror="window.pwned = 1">`,
		`' onfocus='window.pwned = 1' autofocus='`,
		"`${window.pwned = 1}` <!--",
		`javascript:window.pwned = 1//`,
		"\u202e\u2066gpj.exe\u2069 \u0645\u0631\u062d\u0628\u0627",
		`<link rel="stylesheet" href="` + trap + `/css"><base href="` + trap + `/">`,
		strings.Repeat("long", 2560),
	}
	object := func(i int) map[string]any {
		text := attacks[i]
		return map[string]any{
			"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
			"metadata": map[string]any{"name": fmt.Sprint(i, text), "namespace": "prod", "uid": text, "labels": map[string]string{text: text}},
			"spec":     map[string]any{"domain": map[string]any{"devices": map[string]any{"disks": []any{map[string]any{"name": text, "disk": map[string]any{"bus": text}, text: 1}}}}},
			"status":   map[string]any{"phase": text, "conditions": []any{map[string]any{"type": text, "message": text}}},
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := time.Now().Nanosecond() % len(attacks)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Attack", strings.ReplaceAll(attacks[i], "\n", " "))
		var items []any
		for i := range attacks {
			items = append(items, object(i))
		}
		json.NewEncoder(w).Encode(map[string]any{"apiVersion": attacks[0], "kind": attacks[1], "items": items, "metadata": map[string]any{}})
	}))
	t.Cleanup(server.Close)
	return runAgainst(t, contract.Target{URL: server.URL, Token: "of-a-hostile-server"})
}

func runAgainst(t *testing.T, target contract.Target) *contract.Report {
	t.Helper()
	report, err := contract.Run(t.Context(), target)
	require.NoError(t, err)
	return report
}

// huge is a report with 200 findings, each with an exchange.
func huge(t *testing.T) *contract.Report {
	t.Helper()
	report := failing(t)
	var one contract.Finding
	for _, result := range report.Results {
		for _, f := range result.Findings {
			if f.Exchange != nil {
				one = f
			}
		}
	}
	require.NotNil(t, one.Exchange)
	for i := range 4 {
		result := contract.Result{ID: fmt.Sprintf("schema.many-%d", i), Explain: "There are many.", Outcome: contract.Fail}
		for n := range 50 {
			f := one
			f.Message = fmt.Sprintf("/spec/field%d breaks type", n)
			result.Findings = append(result.Findings, f)
		}
		report.Results = append(report.Results, result)
	}
	return report
}
