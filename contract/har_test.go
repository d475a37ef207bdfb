package contract_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

type har struct {
	Log struct {
		Version string
		Creator struct{ Name, Version string }
		Entries []harEntry
	}
}

type harEntry struct {
	StartedDateTime time.Time
	Time            float64
	Timings         map[string]float64
	Comment         string
	Checks          []struct{ ID, Outcome, Message string } `json:"_checks"`
	Request         struct {
		Method, URL, HTTPVersion string
		Headers, QueryString     []struct{ Name, Value string }
		Cookies                  []any
	}
	Response struct {
		Status     int
		StatusText string
		Content    struct {
			Size           int
			MimeType, Text string
		}
	}
}

func harOf(t *testing.T, report *contract.Report) har {
	t.Helper()
	var b testWriter
	require.NoError(t, report.WriteHAR(&b))
	for _, text := range []string{mutant.GoodToken, mutant.ForbiddenToken, mutant.CloudInitSecret, ": null,"} {
		assert.False(t, strings.Contains(string(b), text), text)
	}
	var archive har
	require.NoError(t, json.Unmarshal(b, &archive))
	assert.Equal(t, "1.2", archive.Log.Version)
	assert.Equal(t, "vmikit", archive.Log.Creator.Name)
	assert.NotEmpty(t, archive.Log.Creator.Version)
	return archive
}

func TestHAR(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.MatchLabel = func(mutant.Term, map[string]string) bool { return true }
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	report := run(t, targetOf(t, s))
	entries := harOf(t, report).Log.Entries
	require.NotEmpty(t, entries)
	assert.True(t, slices.IsSortedFunc(entries, func(a, b harEntry) int { return a.StartedDateTime.Compare(b.StartedDateTime) }))

	seen := make(map[string]bool)
	for _, e := range entries {
		require.NotEmpty(t, e.Checks)
		for _, c := range e.Checks {
			seen[c.ID] = true
			assert.Contains(t, e.Comment, c.ID+": "+c.Message)
		}
		assert.Equal(t, http.MethodGet, e.Request.Method)
		assert.NotNil(t, e.Request.Cookies)
		assert.Equal(t, "OK", e.Response.StatusText)
		assert.Equal(t, "application/json", e.Response.Content.MimeType)
		assert.Len(t, e.Response.Content.Text, e.Response.Content.Size)
		total := 0.0
		for _, part := range e.Timings {
			assert.GreaterOrEqual(t, part, 0.0)
			total += part
		}
		assert.Equal(t, e.Time, total)
		assert.Len(t, e.Timings, 3)
		if e.Checks[0].ID == "selector.equals" {
			require.Len(t, e.Request.QueryString, 1)
			assert.Equal(t, "labelSelector", e.Request.QueryString[0].Name)
			assert.Contains(t, e.Request.QueryString[0].Value, "=", "the value is decoded")
		}
	}
	for _, r := range report.Results {
		for _, f := range r.Findings {
			assert.Equal(t, f.Exchange != nil, seen[r.ID], r.ID)
		}
	}
}

// An exchange that shows several faults is one entry.
func TestHAREntryForEachExchange(t *testing.T) {
	at := time.Date(2026, 12, 2, 3, 4, 5, 0, time.UTC)
	ex := func(url string, started time.Time) *contract.Exchange {
		return &contract.Exchange{Method: http.MethodPost, URL: url, RequestBody: "{}", RequestHeader: http.Header{"Content-Type": {"a/b"}}, Status: 409, Started: started, Duration: 1500 * time.Microsecond}
	}
	finding := func(ex *contract.Exchange) contract.Finding {
		return contract.Finding{Outcome: contract.Fail, Message: "m", Exchange: ex}
	}
	report := &contract.Report{Results: []contract.Result{
		{ID: "a.late", Findings: []contract.Finding{finding(ex("http://x/?a=%zz&a=1%262", at.Add(time.Second)))}},
		{ID: "a.one", Findings: []contract.Finding{finding(ex("http://x/", at)), finding(nil)}},
		{ID: "a.two", Findings: []contract.Finding{finding(ex("http://x/", at))}},
	}}
	entries := harOf(t, report).Log.Entries
	require.Len(t, entries, 2)
	assert.Equal(t, "fail a.one: m; fail a.two: m", entries[0].Comment)
	assert.Len(t, entries[0].Checks, 2)
	assert.Equal(t, 1.5, entries[0].Time)
	assert.Equal(t, at, entries[0].StartedDateTime)
	query := entries[1].Request.QueryString
	require.Len(t, query, 2)
	assert.Equal(t, "%zz", query[0].Value)
	assert.Equal(t, "1&2", query[1].Value)
}

func TestHAROfARightServer(t *testing.T) {
	assert.Empty(t, harOf(t, run(t, targetOf(t, mutant.New(mutant.Fleet())), contract.WithOnly("consistency"))).Log.Entries)
}
