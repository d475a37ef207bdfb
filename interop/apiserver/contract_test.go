package apiserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/interop/apiserver"
	"github.com/vmikit/vmikit/openapi"
)

// sizes are the fleets that a real API server is judged with.
func sizes() []apiserver.FleetOptions {
	all := []apiserver.FleetOptions{
		{Machines: 20, Namespaces: 3, Seed: 20},
		{Machines: 0},
		{Machines: 1000, Namespaces: 10, Seed: 1000},
	}
	if testing.Short() {
		return all[:1]
	}
	return all
}

// A real API server is right, whether it stands still or somebody changes its
// objects meanwhile, so the contract must not accuse it.
func TestNoFalseAlarm(t *testing.T) {
	for i, size := range sizes() {
		t.Run(fmt.Sprintf("%d machines", size.Machines), func(t *testing.T) {
			server := start(t, apiserver.Options{Anonymous: i%2 == 1})
			fleet := create(t, server, size)
			for _, profile := range []openapi.Profile{openapi.ProfileKubernetes, openapi.ProfileKubeVirt} {
				t.Run(string(profile), func(t *testing.T) {
					report := judge(t, target(server), profile)
					assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
					assert.Equal(t, size.Machines, report.Objects)
				})
			}
			if size.Machines == 0 {
				return
			}
			t.Run("one namespace", func(t *testing.T) {
				target := target(server)
				target.Namespace, target.Token = "tenant-1", server.NamespaceViewerToken("tenant-1")
				report := judge(t, target, openapi.ProfileKubeVirt)
				assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
			})
			t.Run("changing", func(t *testing.T) {
				done := churn(t, fleet)
				for _, profile := range []openapi.Profile{openapi.ProfileKubernetes, openapi.ProfileKubeVirt} {
					judge(t, target(server), profile)
				}
				changes := done()
				assert.Positive(t, changes)
				t.Logf("%d changes meanwhile", changes)
			})
		})
	}
}

// The given document forbids what every API server does: it says that limit is at
// least 1, and an API server takes 0 and less for no limit. Nothing else fails.
func TestDocument(t *testing.T) {
	server := start(t, apiserver.Options{})
	create(t, server, apiserver.FleetOptions{Machines: 20, Namespaces: 2, Seed: 7})
	target := target(server)
	target.Namespace = "tenant-1"
	report, err := contract.Run(t.Context(), target, contract.WithProfile(openapi.ProfileDocument), contract.WithRate(0))
	require.NoError(t, err)
	assert.Contains(t, with(report, contract.Fail), "paging.limit-zero", text(t, report))
	for _, result := range report.Results {
		for _, finding := range result.Findings {
			if finding.Outcome == contract.Fail {
				assert.Regexp(t, `limit=(0|-1)\b`, finding.Curl, text(t, report))
			}
		}
	}
}

// target is the server as somebody sees it who may read machines.
func target(server *apiserver.Server) contract.Target {
	return contract.Target{
		URL: server.URL, HTTPClient: server.HTTPClient(),
		Token: server.ViewerToken, ForbiddenToken: server.NobodyToken,
	}
}

// judge runs the contract, of which nothing may fail.
func judge(t *testing.T, target contract.Target, profile openapi.Profile) *contract.Report {
	t.Helper()
	report, err := contract.Run(t.Context(), target, contract.WithProfile(profile), contract.WithRate(0))
	require.NoError(t, err)
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Empty(t, with(report, contract.Error), text(t, report))
	want := contract.ExitGood
	if report.Objects == 0 {
		want = contract.ExitTooLittle
	}
	assert.Equal(t, want, report.ExitCode(), report.TooLittle())
	t.Log(report.Summary())
	for _, result := range report.Results {
		if result.Outcome == contract.Warning {
			t.Logf("%s: %s %+v", result.ID, result.Message, result.Findings)
		}
	}
	return report
}

// churn changes the fleet until the function that it returns is called, which
// returns how many changes there were.
func churn(t *testing.T, fleet *apiserver.Fleet) (end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	changes := make(chan int, 1)
	go func() {
		n, err := fleet.Churn(ctx, 20)
		assert.NoError(t, err)
		changes <- n
	}()
	return func() int {
		cancel()
		return <-changes
	}
}

func with(report *contract.Report, outcome contract.Outcome) []string {
	var ids []string
	for _, result := range report.Results {
		if result.Outcome == outcome {
			ids = append(ids, result.ID)
		}
	}
	return ids
}

func text(t *testing.T, report *contract.Report) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.WriteText(&b))
	return b.String()
}
