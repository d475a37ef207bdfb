package contract_test

import (
	_ "embed"
	"strings"
	"testing"
	"testing/synctest"
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

// waits says whether a fault keeps the tester waiting, so that its run has a time of
// its own. A connection that breaks needs a network.
func waits(m mutant.Mutant) bool {
	return m.Subject == mutant.Latency && m.Name != "flaky-connection-closed" || m.Needs == mutant.NeedsWrite
}

// runApart runs the tester on one of the servers that were written apart from the
// checks, given what there is to notice its fault by.
func runApart(t *testing.T, m mutant.Mutant, s *mutant.Server) *contract.Report {
	t.Helper()
	if m.Needs == mutant.NeedsWrite {
		return runWrite(t, s, contract.WithOnly("write", "schema"))
	}
	target := far(s)
	if !waits(m) {
		target = targetOf(t, s)
	}
	options := []contract.Option{contract.WithTimeout(5 * time.Second)}
	if m.Profile != "" {
		options = append(options, contract.WithProfile(openapi.Profile(m.Profile)))
	}
	switch m.Needs {
	case mutant.NeedsFixtures:
		target.Fixtures = asFixtures(mutant.Fleet())
	case mutant.NeedsProbeMethods:
		options = append(options, contract.WithProbeMethods())
	}
	report, err := contract.Run(t.Context(), target, options...)
	require.NotNil(t, report, err)
	return report
}

// Every fault is noticed by the check that is about it. Most were thought of by
// somebody who had not read the checks.
func TestFaultsWrittenApart(t *testing.T) {
	ids := catches()
	all := mutant.All()
	assert.Len(t, ids, len(all))
	for i, m := range all {
		if testing.Short() && i%20 != 0 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			if waits(m) {
				synctest.Test(t, func(t *testing.T) { assertCaught(t, m, ids[m.Name]) })
				return
			}
			assertCaught(t, m, ids[m.Name])
		})
	}
}

// assertCaught asserts that a fault is noticed by a check.
func assertCaught(t *testing.T, m mutant.Mutant, id string) {
	t.Helper()
	s := m.Server()
	report := runApart(t, m, s)
	if m.Needs == mutant.NeedsWrite {
		assertFirst(t, report, id)
		assertNamed(t, report, s)
	}
	got := result(t, report, id)
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
}

// Every check has a fault that it must fail by, or warn or note if it does no more
// than that.
func TestEveryCheckHasAMutant(t *testing.T) {
	ids, fails, warns := catches(), make(map[string]bool), make(map[string]bool)
	for _, m := range mutant.All() {
		if m.Warns {
			warns[ids[m.Name]] = true
		} else {
			fails[ids[m.Name]] = true
		}
	}
	for _, c := range contract.Checks() {
		switch {
		case c.ID == "schema.drift": // warns of what the document alone objects to, see odd_test.go
		case c.Subject() == "fuzz": // only when asked for, see generate_test.go
		case c.Subject() == "prose" || c.Subject() == "service":
			assert.True(t, warns[c.ID], c.ID)
		default:
			assert.True(t, fails[c.ID], c.ID)
		}
	}
}

// The servers without a fault are accused of nothing.
func TestRightServersWrittenApart(t *testing.T) {
	for _, needs := range []string{"", mutant.NeedsFixtures, mutant.NeedsProbeMethods} { // see TestRightWriting for writes
		for _, profile := range []string{"", "document"} {
			m := mutant.Mutant{Profile: profile, Needs: needs}
			report := runApart(t, m, m.Right())
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Equal(t, contract.ExitGood, report.ExitCode())
		}
	}
}
