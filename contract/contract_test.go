package contract_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/openapi"
)

func run(t *testing.T, target contract.Target, options ...contract.Option) *contract.Report {
	t.Helper()
	report, err := contract.Run(t.Context(), target, options...)
	require.NoError(t, err)
	return report
}

// with returns the IDs of the checks with an outcome.
func with(report *contract.Report, outcome contract.Outcome) []string {
	var ids []string
	for _, r := range report.Results {
		if r.Outcome == outcome {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func text(t *testing.T, report *contract.Report) string {
	t.Helper()
	var b testWriter
	require.NoError(t, report.WriteText(&b))
	return string(b)
}

type testWriter []byte

func (w *testWriter) Write(p []byte) (int, error) { *w = append(*w, p...); return len(p), nil }

// A right server passes under every profile, and nothing is left out: the fleet
// has all that the checks need.
func TestRightServer(t *testing.T) {
	for _, profile := range openapi.Profiles() {
		t.Run(string(profile), func(t *testing.T) {
			target := newServer(fleet()).target(t)
			if profile == openapi.ProfileDocument {
				target.Namespace = "prod"
			}
			report := run(t, target, contract.WithProfile(profile))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Empty(t, with(report, contract.NotExercised), text(t, report))
			assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
			if profile != openapi.ProfileDocument {
				assert.Empty(t, with(report, contract.Skipped), text(t, report))
				assert.Empty(t, with(report, contract.Warning), text(t, report))
			}
			assert.Equal(t, contract.ExitGood, report.ExitCode())
			assert.LessOrEqual(t, report.Requests, 400)
		})
	}
}

// Under profile document nothing is asked that the document does not name.
func TestMinimalServerPassesTheDocument(t *testing.T) {
	report := run(t, newMinimalServer(fleet()).target(t), contract.WithProfile(openapi.ProfileDocument))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Empty(t, with(report, contract.NotExercised), text(t, report))
	assert.Equal(t, []string{
		"consistency.head", "namespace.union", "selector.field-namespace", "paging.pages", "schema.error", "schema.drift",
	}, with(report, contract.Skipped))
	assert.Equal(t, contract.ExitGood, report.ExitCode())
}

func TestFleetsOfEverySize(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 520} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var objects []object
			for i := range n {
				labels := map[string]string{"n": fmt.Sprint(i % 7)}
				if i%3 == 0 {
					labels = map[string]string{}
				}
				objects = append(objects, machine(i, "many", fmt.Sprintf("vm%04d", i), labels))
			}
			report := run(t, newServer(objects).target(t))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.LessOrEqual(t, report.Requests, 400)
			assert.Equal(t, contract.ExitGood, report.ExitCode())
			assert.Equal(t, n, report.Objects)
		})
	}
}

// Nothing to tell by is never a pass.
func TestNotExercised(t *testing.T) {
	same := map[string]string{"app": "web"}
	objects := []object{machine(1, "a", "one", same), machine(2, "a", "two", same)}
	report := run(t, newServer(objects).target(t), contract.WithOnly("selector"))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Equal(t, []string{"selector.near-miss", "selector.field-name"}, with(report, contract.Pass))
	assert.Subset(t, with(report, contract.NotExercised), []string{
		"selector.equals", "selector.not-equals", "selector.in", "selector.not-in", "selector.exists", "selector.not-exists", "selector.and",
		"selector.field-namespace",
	})
}
