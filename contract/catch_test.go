package contract_test

import (
	_ "embed"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

//go:embed testdata/catches.txt
var catchesText string

// catches has the check that must notice each fault.
func catches() map[string]string {
	ids := make(map[string]string)
	for line := range strings.Lines(catchesText) {
		if fields := strings.Fields(line); len(fields) == 2 {
			ids[fields[0]] = fields[1]
		}
	}
	return ids
}

// runApart runs the tester on one of the servers that were written apart from the
// checks, given what there is to notice its fault by.
func runApart(t *testing.T, m mutant.Mutant, s *mutant.Server) *contract.Report {
	t.Helper()
	hs := httptest.NewServer(s)
	t.Cleanup(hs.Close)
	hs.Config.ErrorLog = quiet
	target := contract.Target{URL: hs.URL, Token: mutant.GoodToken, ForbiddenToken: mutant.ForbiddenToken}
	options := []contract.Option{contract.WithTimeout(5 * time.Second)}
	if m.Profile != "" {
		options = append(options, contract.WithProfile(openapi.Profile(m.Profile)))
		target.Namespace = "prod"
	}
	switch m.Needs {
	case mutant.NeedsFixtures:
		var fixtures []mutant.Object
		for _, o := range mutant.Fleet() {
			fixtures = append(fixtures, mutant.Object{Body: o.Body})
		}
		target.Fixtures = asFixtures(fixtures)
	case mutant.NeedsProbeMethods:
		options = append(options, contract.WithProbeMethods())
	}
	report, err := contract.Run(t.Context(), target, options...)
	require.NotNil(t, report, err)
	return report
}

// Every fault that somebody thought of who has not read the checks is noticed, by
// the check that is about it.
func TestFaultsWrittenApart(t *testing.T) {
	ids := catches()
	all := mutant.All()
	assert.Len(t, ids, len(all))
	for i, m := range all {
		if testing.Short() && i%10 != 0 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			report := runApart(t, m, m.Server())
			require.Contains(t, ids, m.Name)
			got := result(t, report, ids[m.Name])
			switch {
			case got.Subject() == "service":
				assert.NotEmpty(t, got.Notes, text(t, report))
			case m.Warns:
				assert.Contains(t, []contract.Outcome{contract.Warning, contract.Fail}, got.Outcome, text(t, report))
			default:
				assert.Equal(t, contract.Fail, got.Outcome, text(t, report))
				assert.Equal(t, contract.ExitFailures, report.ExitCode())
			}
			assert.NotContains(t, text(t, report), mutant.CloudInitSecret)
		})
	}
}

// Every check that can fail has a fault that it alone is named for.
func TestEveryCheckHasAMutant(t *testing.T) {
	caught := make(map[string]bool)
	for _, id := range catches() {
		caught[id] = true
	}
	for _, c := range contract.Checks() {
		switch {
		case c.ID == "schema.drift": // only ever warns
		case c.Subject() == "fuzz": // only when asked for, see generate_test.go
		case c.Subject() == "write": // their mutants are of a real API server: interop/apiserver
		default:
			assert.True(t, caught[c.ID], c.ID)
		}
	}
}

// The servers without a fault are accused of nothing.
func TestRightServersWrittenApart(t *testing.T) {
	for _, needs := range []string{"", mutant.NeedsFixtures, mutant.NeedsProbeMethods} {
		for _, profile := range []string{"", "document"} {
			m := mutant.Mutant{Profile: profile, Needs: needs}
			report := runApart(t, m, m.Right())
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Equal(t, contract.ExitGood, report.ExitCode())
		}
	}
}
